//! The thread that scrapes, with a source and a clock of the test's own.

use std::time::Duration;

use fizeau_core::Nanos;
use fizeau_telemetry::{
    Labels, Metrics, Pace, Page, PageError, ScrapeSettings, Scraper, SeriesName, Source,
};

use super::pages::Ticking;

const PATIENCE: Duration = Duration::from_secs(60);

/// Counts how often it is asked; every third time there is nothing.
struct Counting(u32);

impl Source for Counting {
    type Error = PageError;

    fn page(&mut self) -> Result<Page, PageError> {
        self.0 += 1;
        let text = match self.0 % 3 {
            0 => String::new(),
            _ => format!("vllm:prompt_tokens_total {}\nunknown_total 1\n", self.0),
        };
        Page::read(text.as_bytes(), None)
    }
}

#[test]
fn pages_on_demand_are_there_when_it_says_so() {
    let settings =
        ScrapeSettings { interval: Nanos::from_secs(3_600), ..ScrapeSettings::default() };
    let scraper = Scraper::start(Counting(0), Ticking::default(), settings).unwrap();
    for _ in 0..3 {
        assert!(scraper.scrape_now(PATIENCE));
    }
    let seen = scraper.look(|report| (report.history.fetches().len(), report.history.failed()));
    assert_eq!(seen, (3, 1));
    let report = scraper.stop();
    let name = SeriesName::new("vllm:prompt_tokens_total", Labels::default());
    let values: Vec<_> = report.history.points(&name).map(|point| point.value).collect();
    assert_eq!(values, [Some(1.0), Some(2.0), Some(4.0)]);
    // What nobody knows the meaning of is not kept.
    assert_eq!(report.history.metrics(), ["vllm:prompt_tokens_total"]);
    assert_eq!((report.cost.pages, report.cost.failed), (3, 1));
    assert!(report.cost.bytes > 0 && report.cost.mean_fetch().is_some());
    assert!(report.history.failures()[0].why.contains("empty"));
}

/// A source that never answers, and one that does at once.
struct Stuck(bool);

impl Source for Stuck {
    type Error = PageError;

    fn page(&mut self) -> Result<Page, PageError> {
        if self.0 {
            loop {
                std::thread::park();
            }
        }
        Page::read(b"up 1\n", None)
    }
}

#[test]
fn nobody_waits_for_a_source_that_is_stuck() {
    let start = |is_stuck: bool| {
        let settings =
            ScrapeSettings { interval: Nanos::from_secs(3_600), ..ScrapeSettings::default() };
        Scraper::start(Stuck(is_stuck), Ticking::default(), settings).unwrap()
    };
    let all: Vec<Scraper> = [false, true, true, true].map(start).into();
    assert!(Scraper::scrape_all(&all[..1], PATIENCE) == [true]);
    // Orders that nobody takes do not pile up into waiting, and all have the same deadline.
    for _ in 0..3 {
        let came = Scraper::scrape_all(&all[1..], Duration::from_millis(1));
        assert_eq!(came, [false; 3]);
    }
    for scraper in all {
        drop(scraper.stop());
    }
}

#[test]
fn a_watch_without_end_forgets() {
    let keep = Some(Nanos::from_millis(20));
    let settings =
        ScrapeSettings { interval: Nanos::from_secs(3_600), keep, metrics: Metrics::All };
    let scraper = Scraper::start(Counting(0), Ticking::default(), settings).unwrap();
    for _ in 0..50 {
        assert!(scraper.scrape_now(PATIENCE));
    }
    let history = scraper.stop().history;
    assert!(history.fetches().len() < 20);
    assert!(history.metrics().contains(&"unknown_total"));
}

#[test]
fn a_page_that_takes_long_is_asked_for_less_often() {
    let mut pace = Pace::every(Nanos::from_secs(1));
    pace.took(Nanos::from_millis(200));
    assert_eq!(pace.interval(), Nanos::from_secs(1));
    pace.took(Nanos::from_millis(297));
    assert_eq!(pace.interval(), Nanos::from_millis(1_485));
    pace.took(Nanos::ZERO);
    assert_eq!(pace.interval(), Nanos::from_secs(1));
}
