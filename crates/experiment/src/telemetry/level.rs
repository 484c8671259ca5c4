//! The threads that read pages while one level lasts, and what they come to.

use std::time::Duration;

use fizeau_core::{Clock as _, Nanos, Stamp, Tape, TokenSource, Tokens};
use fizeau_harness::{DriveNotice, LevelRun, Observer};
use fizeau_metrics::RequestMetrics;
use fizeau_record::{LevelTelemetry, ScrapedPages, ServingDevices, TelemetryWindows};
#[cfg(feature = "nvml")]
use fizeau_telemetry::NvmlSource;
use fizeau_telemetry::{
    ClientWindow, Exporter, HostReading, HostWindow, Metrics, ScrapeSettings, Scraper,
    ScraperError, SharedSource, Window,
};
use fizeau_transport::{MonotonicClock, wall_clock_error};

#[cfg(feature = "nvml")]
use super::local_gpus::ADDRESS;
use super::passes::{PassCounts, PassStream};
use super::{Address, PageAccess, Telemetry};
use crate::input::ExperimentError;

/// How long a level waits for a page before it begins and after it ends, when nothing of it is in flight.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads pages while a level lasts: once more right before its first request and right after its last one, so that counters are exact.
/// It counts what the client had of the level, too, and looks at the client's own host before and after, where there are no pages as well.
/// Unless it is asked to it does nothing.
#[derive(Debug, Default)]
pub(crate) struct LevelScrapers {
    scrapers: Vec<(String, Scraper)>,
    /// Streams of forward passes, and what was counted of each when the level began.
    streams: Vec<PassStream>,
    passes_before: Vec<PassCounts>,
    interval: Nanos,
    /// Metrics that are kept by their names.
    metrics: Vec<String>,
    /// This host when the level began; none where nobody asked for anything.
    host: Option<HostReading>,
    /// When the warm-up had ended, that of all shards, once it has.
    warmed_up: Option<Stamp>,
    clock: MonotonicClock,
    devices: ServingDevices,
    /// Servers that have no page, by their addresses.
    unread: Vec<String>,
    /// The pages of engines, by their addresses.
    engines: Vec<String>,
    client: ClientTally,
}

impl LevelScrapers {
    /// Begins to read the pages of `telemetry`, of so many `devices` where that is known.
    pub(crate) fn start(
        telemetry: Option<&Telemetry>,
        devices: Option<u64>,
    ) -> Result<Self, ExperimentError> {
        let Some(telemetry) = telemetry else { return Ok(Self::default()) };
        let interval = telemetry.interval;
        // Pages have left out what nobody asked for.
        let metrics = if telemetry.metrics.is_empty() { Metrics::Known } else { Metrics::All };
        let settings = ScrapeSettings { interval, metrics, ..ScrapeSettings::default() };
        let start = |(page, access): &(Address, PageAccess)| {
            let source = telemetry.source(page, access);
            let address = source.address().to_owned();
            let scraper = Scraper::start(source, telemetry.clock, settings);
            scraper.map(|scraper| (address, scraper))
        };
        let own = |(name, source): &(String, SharedSource)| {
            let scraper = Scraper::start(source.clone(), telemetry.clock, settings);
            scraper.map(|scraper| (name.clone(), scraper))
        };
        let pages = telemetry.pages.iter().map(start);
        let scrapers: Result<Vec<_>, ScraperError> =
            pages.chain(telemetry.sources.iter().map(own)).collect();
        #[cfg_attr(not(feature = "nvml"), expect(unused_mut, reason = "pages alone"))]
        let mut scrapers = scrapers.map_err(ExperimentError::broken)?;
        #[cfg(feature = "nvml")]
        if let Some(source) = telemetry.gpus.as_ref().map(NvmlSource::open) {
            let source = source.map_err(ExperimentError::broken)?;
            let scraper = Scraper::start(source, telemetry.clock, settings);
            scrapers.push((ADDRESS.to_owned(), scraper.map_err(ExperimentError::broken)?));
        }
        let (host, streams) = (Some(HostReading::now()), telemetry.passes.clone());
        let devices = match devices {
            Some(count) => ServingDevices::Count(count),
            None if telemetry.are_gpus_named => ServingDevices::Named,
            None => ServingDevices::Unknown,
        };
        // Without a front end its engines speak for it.
        let is_engine = |access: &PageAccess| {
            access.exporter.is_some_and(|of| of.is_engine() && of != Exporter::Dynamo)
        };
        let engines = telemetry.pages.iter().filter(|(_, access)| is_engine(access));
        let engines = engines.map(|(page, _)| telemetry.bare_address(page)).collect();
        let (clock, metrics) = (telemetry.clock, telemetry.metrics.clone());
        let unread = telemetry.unread.clone();
        Ok(Self {
            scrapers,
            streams,
            interval,
            metrics,
            host,
            clock,
            devices,
            unread,
            engines,
            ..Self::default()
        })
    }

    /// Reads all pages now, at once. That one does not come in time shows in its history.
    fn scrape_now(&self, patience: Duration) {
        Scraper::scrape_all(self.scrapers.iter().map(|(_, scraper)| scraper), patience);
    }

    /// Reads all pages once the warm-up is over, before the first request: for no longer than half of the time until `agreed`, when other
    /// clients begin, so that this one is not late.
    fn begin(&mut self, agreed: Option<Stamp>) {
        let now = self.clock.now();
        self.warmed_up = Some(now);
        self.passes_before = PassStream::begin(&self.streams);
        let left = agreed.map(|agreed| Duration::from(agreed.saturating_since(now) / 2));
        self.scrape_now(left.map_or(PATIENCE, |left| left.min(PATIENCE)));
        self.host = Some(HostReading::now());
    }

    /// What was said of the level that is over, and the pages themselves; none where nobody asked for it, or nothing was sent.
    pub(crate) fn finish(self, run: &LevelRun) -> Option<ScrapedLevel> {
        let ((from, to), before) = (self.client.span?, self.host?);
        self.scrape_now(PATIENCE);
        let (sources, passes) = PassStream::finish(&self.streams, &self.passes_before);
        let mut host = HostWindow::between(&before, &HostReading::now());
        host.clock_error = wall_clock_error().map(Nanos::to_millis);
        let most_in_flight = run.summary.over_time.as_ref().map(|over| over.in_flight.peak);
        let client = ClientWindow { most_in_flight, ..self.client.window };
        let warmed_up = self.warmed_up.unwrap_or(from);
        let pages = pages_since(warmed_up, self.scrapers);
        let unread = unread(self.unread, &self.engines, &pages);
        let steady = run.summary.windowed.part.as_ref().ok().map(|part| part.window.span);
        let windows = TelemetryWindows {
            level: Window::alone(from, to),
            steady: steady.map(|span| Window::within(span.from(), span.to())),
            interval: self.interval,
            devices: self.devices,
            unread: &unread,
        };
        let telemetry = LevelTelemetry::of(&pages, windows, &client)
            .with_requested_metrics(&pages, &self.metrics, self.interval)
            .with_host(host)
            .with_pass_sources(sources)
            .with_passes(passes);
        Some(ScrapedLevel { telemetry: Box::new(telemetry), pages })
    }
}

/// The servers `without` a page, and the `engines` of which none of the `pages` of the level came.
fn unread(mut without: Vec<String>, engines: &[String], pages: &[ScrapedPages]) -> Vec<String> {
    let is_gone = |page: &&ScrapedPages| {
        engines.contains(&page.address) && page.report.history.fetches().len() == 0
    };
    without.extend(pages.iter().filter(is_gone).map(|page| page.address.clone()));
    without
}

/// Ends `scrapers`, and gives the pages that were asked for once the level had `warmed_up`: what the warm-up came to is no part of it.
fn pages_since(warmed_up: Stamp, scrapers: Vec<(String, Scraper)>) -> Vec<ScrapedPages> {
    let stop = |(address, scraper): (_, Scraper)| {
        let mut report = scraper.stop();
        report.history.forget_requested_before(warmed_up);
        ScrapedPages { address, report }
    };
    scrapers.into_iter().map(stop).collect()
}

impl Observer for LevelScrapers {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if self.host.is_none() {
            return;
        }
        match notice {
            DriveNotice::WarmedUp { agreed, .. } => self.begin(agreed),
            DriveNotice::RequestEnded(tape) => self.client.add(tape),
            _ => {}
        }
    }
}

/// What was said of a level, and the pages that say so.
#[derive(Debug, Clone)]
pub(crate) struct ScrapedLevel {
    pub(crate) telemetry: Box<LevelTelemetry>,
    pub(crate) pages: Vec<ScrapedPages>,
}

/// What the client had of all requests of a level, probes among them: the server counts them too.
#[derive(Debug)]
struct ClientTally {
    window: ClientWindow,
    /// From the first send to the last end.
    span: Option<(Stamp, Stamp)>,
}

impl Default for ClientTally {
    fn default() -> Self {
        let none = Some(Tokens::ZERO);
        let window =
            ClientWindow { prompt_tokens: none, output_tokens: none, ..ClientWindow::default() };
        Self { window, span: None }
    }
}

impl ClientTally {
    fn add(&mut self, tape: &Tape) {
        let window = &mut self.window;
        match tape.is_success() {
            true => window.completed += 1,
            false => window.failed += 1,
        }
        let metrics = RequestMetrics::of(tape);
        let reached = |at: Option<Stamp>| at?.since(tape.marks.send_start?).map(Nanos::to_millis);
        // Servers have that of each request that had a first token, whatever became of it.
        reached(tape.first_token()).into_iter().for_each(|ttft| window.ttft.add(ttft));
        metrics.tpot.into_iter().for_each(|tpot| window.tpot.add(tpot));
        let e2el = metrics.e2el.map(Nanos::to_millis);
        e2el.into_iter().for_each(|e2el| window.e2el.add(e2el));
        if let Some(sent) = tape.marks.send_start {
            let end = tape.marks.end.or_else(|| tape.last_output()).unwrap_or(sent);
            let (from, to) = self.span.unwrap_or((sent, end));
            self.span = Some((from.min(sent), to.max(end)));
        }
        if tape.arrivals.is_empty() && !tape.is_success() {
            return;
        }
        let prompt = tape.usage.and_then(|usage| usage.prompt_tokens);
        window.prompt_tokens = window.prompt_tokens.zip(prompt).map(|(sum, more)| sum + more);
        let output = tape.output_tokens();
        match tape.token_source {
            TokenSource::Tokenizer | TokenSource::Events => {
                window.estimated_tokens += output;
            }
            _ => window.output_tokens = window.output_tokens.map(|sum| sum + output),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use fizeau_core::{Arrival, Channel};
    use fizeau_telemetry::{Page, Source};

    use super::*;

    /// A server that has generated one more token whenever it is asked.
    struct Counting(u64);

    impl Source for Counting {
        type Error = Infallible;

        fn page(&mut self) -> Result<Page, Infallible> {
            self.0 += 1;
            let page = format!("vllm:generation_tokens_total {}\n", self.0);
            Ok(Page::read(page.as_bytes(), None).unwrap())
        }
    }

    /// One reply that broke off is estimated, and what the server told of all others stands.
    #[test]
    fn tokens_of_a_reply_that_broke_off_are_estimated() {
        let events = |count: u64| {
            let mut tape = Tape::sent_at(Stamp::EPOCH);
            let arrival = |ms: u64| {
                Arrival::tokens(Stamp::EPOCH + Nanos::from_millis(ms), 1, Channel::Visible)
            };
            tape.arrivals = (1..=count).map(arrival).collect();
            tape
        };
        let (mut whole, mut broken) = (events(60), events(40));
        whole.token_source = TokenSource::FinalUsageSpread;
        broken.token_source = TokenSource::Events;
        let mut tally = ClientTally::default();
        [whole, broken].iter().for_each(|tape| tally.add(tape));
        let told = (tally.window.output_tokens, tally.window.estimated_tokens);
        assert_eq!(told, (Some(Tokens::new(60)), Tokens::new(40)));
    }

    #[test]
    fn engines_whose_pages_are_gone_are_unread() {
        let page = |address: &str, count: u64| {
            let mut report = fizeau_telemetry::ScrapeReport::default();
            for second in 0..count {
                let at = Stamp::EPOCH + Nanos::from_secs(second);
                let page = Page::read(b"vllm:num_requests_running 1\n", None).unwrap();
                let fetch = fizeau_telemetry::Fetch { requested: at, answered: at };
                report.history.record(fetch, &page);
            }
            ScrapedPages { address: address.to_owned(), report }
        };
        let [a, b, c, dcgm] = ["a", "b", "c", "dcgm"].map(str::to_owned);
        let pages = [page("a", 9), page("b", 0), page("dcgm", 0)];
        assert_eq!(unread(vec![c.clone()], &[a, b.clone()], &pages), [c, b]);
        assert_eq!(unread(Vec::new(), &[dcgm], &pages[..1]), [""; 0]);
    }

    #[test]
    fn pages_of_the_warm_up_are_left_out_and_one_is_read_of_each_server_behind_it() {
        let clock = MonotonicClock::new();
        let settings =
            ScrapeSettings { interval: Nanos::from_secs(3600), ..ScrapeSettings::default() };
        let start =
            |name: &str| (name.to_owned(), Scraper::start(Counting(0), clock, settings).unwrap());
        let scrapers = vec![start("a"), start("b")];
        // Each has a page of the warm-up.
        for (_, scraper) in &scrapers {
            assert!(scraper.scrape_now(PATIENCE));
        }
        let mut level = LevelScrapers { scrapers, clock, ..LevelScrapers::default() };
        level.begin(None);
        let warmed_up = level.warmed_up.unwrap();
        for ScrapedPages { address, report } in pages_since(warmed_up, level.scrapers) {
            let fetches: Vec<_> = report.history.fetches().collect();
            assert_eq!(fetches.len(), 1, "{address}");
            assert!(fetches.iter().all(|fetch| fetch.requested >= warmed_up), "{address}");
        }
    }
}
