//! What reading servers' pages costs, and whether it moves the latencies that are measured beside it.
//!
//! `cargo xtask bench telemetry`, or one part of it: `page` (one page of 86 kB, again and again), `scrape` (one page a second, as beside a
//! level), `watch` (a hundred pages a second, as `fizeau watch` reads them), `moved` (an A/B run, scraping off and on in turns). Pages come
//! from a process of their own.

mod moved;
mod pages;
mod threads;

use std::time::{Duration, Instant};

use anyhow::Result;
use fizeau::core::{Clock, Nanos, Stamp};
use fizeau::roofline::{Deployment, Device, KnownModel, System};
use fizeau::telemetry::{
    Fetch, FleetSettings, FleetWatch, History, PageSettings, PageSource, ScrapeSettings, Scraper,
    Source, meaning_of,
};
use fizeau::transport::MonotonicClock;

use fizeau_benches::Since;
use pages::{PageServer, page};
use threads::processor_time;

/// For how long pages are read, once a second.
const SECONDS: u64 = 20;
/// The pages of a fleet.
const FLEET: usize = 100;

/// One part of the bench, which prints what it measured.
type Part = fn() -> Result<()>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [only] = words.as_slice()
        && only == pages::SERVE
    {
        return pages::serve();
    }
    let parts: [(&str, Part); 4] =
        [("page", one_page), ("scrape", scrape), ("watch", watch), ("moved", moved::run)];
    for (name, part) in parts {
        if words.is_empty() || words.iter().any(|word| word == name) {
            part()?;
        }
    }
    Ok(())
}

/// One page, read and kept again and again: on this thread, with the fetch over loopback.
fn one_page() -> Result<()> {
    const PAGES: u32 = 2_000;
    let server = PageServer::start()?;
    let mut source = PageSource::new(server.url(0), PageSettings::default().known_only());
    let mut history = History::new();
    let keep = Nanos::from_secs(33);
    let since = Since::now();
    for second in 0..PAGES {
        let page = source.page()?;
        let at = Stamp::EPOCH + Nanos::from_secs(second.into());
        let fetch = Fetch { requested: at, answered: at };
        history.record_those(fetch, &page, |metric| meaning_of(metric).is_some());
        history.forget_before(at - keep);
    }
    let spent = since.spent();
    let micros = spent.processor.unwrap_or(spent.wall).as_secs_f64() * 1e6 / f64::from(PAGES);
    let bytes = page(0).len();
    println!(
        "a page of {bytes} bytes: {micros:.0} us of a core, {} series",
        history.series().count()
    );
    Ok(())
}

/// One server's page once a second, by a thread of its own.
fn scrape() -> Result<()> {
    let server = PageServer::start()?;
    let source = PageSource::new(server.url(0), PageSettings::default().known_only());
    let scraper = Scraper::start(source, MonotonicClock::new(), ScrapeSettings::default())?;
    scraper.scrape_now(Duration::from_secs(10));
    let (before, begun) = (processor_time("telemetry")?, Instant::now());
    std::thread::sleep(Duration::from_secs(SECONDS));
    let spent = processor_time("telemetry")?.saturating_sub(before);
    let share = spent.as_secs_f64() / begun.elapsed().as_secs_f64();
    println!("one page a second: {:.3} % of a core", share * 100.0);
    drop(scraper);
    Ok(())
}

/// As `fizeau watch` does: pages once a second, and what they come to as often. Of replicas of one model, and of pages none of which
/// names a series as another does.
fn watch() -> Result<()> {
    let server = PageServer::start()?;
    watch_fleet("names alike", |number| server.url(number))?;
    watch_fleet("names each page's own", |number| server.url_of_own_names(number))
}

fn watch_fleet(names: &str, url: impl Fn(usize) -> String) -> Result<()> {
    let device = Device::named("h100-sxm")?.clone();
    let model = KnownModel::named("llama-3.1-8b")?.model()?;
    let system = System::new(model, device, Deployment::SINGLE)?;
    let clock = MonotonicClock::new();
    let since = Since::now();
    let mut watch = FleetWatch::new(FleetSettings::new("llama-3.1-8b", system));
    let settings = PageSettings::default().assessed_only();
    for number in 0..FLEET {
        let url = url(number);
        watch.add(&url, PageSource::new(&url, settings.clone()), clock)?;
    }
    watch.ask_now(Duration::from_secs(30));
    let own = Since::now();
    let (before, begun) = (processor_time("telemetry")?, Instant::now());
    let mut telling = 0;
    // As long as the window and more, so that memory has come to rest.
    for _ in 0..2 * SECONDS {
        std::thread::sleep(Duration::from_secs(1));
        telling = watch.report(clock.now()).telling();
    }
    let share = |time: Duration| time.as_secs_f64() / begun.elapsed().as_secs_f64() * 100.0;
    let pages = share(processor_time("telemetry")?.saturating_sub(before));
    let figures = share(own.spent().processor.unwrap_or_default());
    let megabytes = since.spent().resident.map_or(f64::NAN, |bytes| bytes as f64 / 1e6);
    println!(
        "{FLEET} pages a second, {names} ({telling} tell): {pages:.1} % of a core for pages and {figures:.1} % for figures, {:.1} % together; {megabytes:.0} MB with the program",
        pages + figures,
    );
    Ok(())
}
