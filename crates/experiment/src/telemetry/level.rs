//! The threads that read pages while one level lasts, and what they come to.

use std::time::Duration;

use fizeau_core::{Clock as _, Nanos, Stamp, Tape, TokenSource, Tokens};
use fizeau_harness::{LevelRun, Notice, Observer};
use fizeau_record::{LevelTelemetry, ScrapedPages, TelemetryWindows};
use fizeau_telemetry::{
    ClientWindow, HostReading, HostWindow, ScrapeSettings, Scraper, ScraperError, Window,
};
use fizeau_transport::MonotonicClock;

use super::Telemetry;
use crate::input::ExperimentError;

/// How long a level waits for a page before it begins and after it ends, when nothing of it is in flight.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads pages while a level lasts: once more right before its first request and right after its last one, so that counters are exact.
/// It counts what the client had of the level, too. Without pages it does nothing.
#[derive(Debug, Default)]
pub(crate) struct LevelScrapers {
    scrapers: Vec<(String, Scraper)>,
    interval: Nanos,
    clock: Option<MonotonicClock>,
    /// When the warm-up was over.
    warmed_up: Option<Stamp>,
    before: HostReading,
    client: ClientTally,
}

impl LevelScrapers {
    /// Begins to read the pages of `telemetry`.
    pub(crate) fn start(telemetry: Option<&Telemetry>) -> Result<Self, ExperimentError> {
        let Some(telemetry) = telemetry else { return Ok(Self::default()) };
        let interval = telemetry.interval;
        let settings = ScrapeSettings { interval, ..ScrapeSettings::default() };
        let start = |page| {
            let source = telemetry.source(page);
            let address = source.address().to_owned();
            let scraper = Scraper::start(source, telemetry.clock, settings);
            scraper.map(|scraper| (address, scraper))
        };
        let scrapers: Result<Vec<_>, ScraperError> = telemetry.pages.iter().map(start).collect();
        let scrapers = scrapers.map_err(ExperimentError::broken)?;
        Ok(Self { scrapers, interval, clock: Some(telemetry.clock), ..Self::default() })
    }

    /// Reads all pages now, side by side. That one does not come in time shows in its history.
    fn scrape_now(&self) {
        std::thread::scope(|scope| {
            for (_, scraper) in &self.scrapers {
                let ask = move || scraper.scrape_now(PATIENCE);
                // Without a thread to ask with, the page is missing, which is noted.
                drop(std::thread::Builder::new().spawn_scoped(scope, ask));
            }
        });
    }

    /// What was said of the level that is over, and the pages themselves; none where no page was read, or nothing was sent.
    pub(crate) fn finish(self, run: &LevelRun) -> Option<ScrapedLevel> {
        let (from, to) = self.client.span.filter(|_| !self.scrapers.is_empty())?;
        self.scrape_now();
        let host = HostWindow::between(&self.before, &HostReading::now());
        let metrics = &run.summary.metrics;
        let client = ClientWindow {
            mean_ttft: metrics.ttft.mean,
            mean_tpot: metrics.tpot.mean,
            mean_e2el: metrics.e2el.mean,
            ..self.client.window
        };
        let stop =
            |(address, scraper): (_, Scraper)| ScrapedPages { address, report: scraper.stop() };
        let pages: Vec<ScrapedPages> = self.scrapers.into_iter().map(stop).collect();
        let steady = run.summary.windowed.part.as_ref().ok().map(|part| part.window.span);
        let windows = TelemetryWindows {
            level: Window::alone(from, to),
            steady: steady.map(|span| Window::within(span.from(), span.to())),
            // Without a warm-up, every page before the first request will do.
            warmed_up: self.warmed_up.unwrap_or(Stamp::EPOCH),
            interval: self.interval,
        };
        let said = LevelTelemetry::of(&pages, windows, &client).with_host(host);
        Some(ScrapedLevel { said: Box::new(said), pages })
    }
}

impl Observer for LevelScrapers {
    fn notice(&mut self, notice: Notice<'_>) {
        if self.scrapers.is_empty() {
            return;
        }
        match notice {
            Notice::WarmedUp { .. } => {
                self.warmed_up = self.clock.map(|clock| clock.now());
                self.scrape_now();
                self.before = HostReading::now();
            }
            Notice::RequestEnded(tape) => self.client.add(tape),
            _ => {}
        }
    }
}

/// What was said of a level, and the pages that say so.
#[derive(Debug, Clone)]
pub(crate) struct ScrapedLevel {
    pub(crate) said: Box<LevelTelemetry>,
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
        let is_guess = matches!(tape.token_source, TokenSource::Tokenizer | TokenSource::Events);
        let output = Some(tape.output_tokens()).filter(|_| !is_guess);
        window.output_tokens = window.output_tokens.zip(output).map(|(sum, more)| sum + more);
    }
}
