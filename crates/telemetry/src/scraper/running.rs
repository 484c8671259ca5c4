//! The thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fizeau_core::{Clock, Nanos};

use super::cost::{Pace, ScrapeCost};
use crate::samples::{Fetch, History};
use crate::source::Source;
use crate::vocabulary::meaning_of;

/// How a source is scraped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScrapeSettings {
    /// From one page to the next; longer by itself where a page takes more than a fifth of that.
    pub interval: Nanos,
    /// How far back pages are kept; none for a run, whose end decides.
    pub keep: Option<Nanos>,
    /// Of which metrics.
    pub metrics: Metrics,
}

/// Which metrics of a page are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Metrics {
    /// Those whose meaning is known.
    #[default]
    Known,
    /// All: for whoever looks for a name of their own.
    All,
}

impl Default for ScrapeSettings {
    /// Once a second, all pages kept, of metrics whose meaning is known.
    fn default() -> Self {
        Self { interval: Nanos::from_secs(1), keep: None, metrics: Metrics::Known }
    }
}

/// Why no thread could be started.
#[derive(Debug, thiserror::Error)]
#[error("the system refused a thread to read metrics with")]
pub struct ScraperError(#[source] std::io::Error);

/// What was scraped up to some moment.
#[derive(Debug, Clone, Default)]
pub struct ScrapeReport {
    /// The pages.
    pub history: History,
    /// What they cost.
    pub cost: ScrapeCost,
}

/// A source that a thread of its own asks again and again. Nobody else ever waits for a source longer than they have patience.
///
/// Pages before and behind a window make its figures exact: ask for both with [`Scraper::scrape_now`], and for those of several
/// sources with [`Scraper::scrape_all`].
#[derive(Debug)]
pub struct Scraper {
    orders: Sender<Order>,
    report: Arc<Mutex<ScrapeReport>>,
    is_over: Arc<AtomicBool>,
}

/// "Ask now": whoever sends it hears when that is done.
struct Order(Sender<()>);

impl Scraper {
    /// Starts to scrape `source`, with stamps from `clock`. The first page is asked for at once.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub fn start<S, C>(source: S, clock: C, settings: ScrapeSettings) -> Result<Self, ScraperError>
    where
        S: Source + Send + 'static,
        C: Clock + Send + 'static,
    {
        let (orders, heard) = channel();
        let report = Arc::new(Mutex::new(ScrapeReport::default()));
        let is_over = Arc::new(AtomicBool::new(false));
        let (theirs, ends) = (Arc::clone(&report), Arc::clone(&is_over));
        let work = Work { source, clock, settings, report: theirs, is_over: ends };
        let thread = std::thread::Builder::new().name("telemetry".to_owned());
        thread.spawn(move || work.run(&heard)).map_err(ScraperError)?;
        Ok(Self { orders, report, is_over })
    }

    /// Asks for a page now, and waits until it has come or has been given up, for at most `patience`. Whether it was asked for and
    /// answered, whatever the answer, in that time.
    pub fn scrape_now(&self, patience: Duration) -> bool {
        Self::scrape_all([self], patience) == [true]
    }

    /// Asks all of `scrapers` for a page at once, and waits for each until one of them has taken `patience`: from then on for none. Of
    /// each whether it was asked for and answered in that time.
    pub fn scrape_all<'a>(
        scrapers: impl IntoIterator<Item = &'a Self>,
        patience: Duration,
    ) -> Vec<bool> {
        let requested: Vec<Receiver<()>> = scrapers.into_iter().map(Self::ask).collect();
        let mut left = patience;
        let is_done = |when_done: &Receiver<()>| {
            let is_done = when_done.recv_timeout(left).is_ok();
            left = if is_done { left } else { Duration::ZERO };
            is_done
        };
        requested.iter().map(is_done).collect()
    }

    /// Asks for a page, and waits for nothing.
    fn ask(&self) -> Receiver<()> {
        let (done, when_done) = channel();
        // If the thread has gone, whoever listens hears so.
        self.orders.send(Order(done)).ok();
        when_done
    }

    /// Looks at what was scraped so far, while the thread waits.
    pub fn look<T>(&self, look: impl FnOnce(&ScrapeReport) -> T) -> T {
        look(&locked(&self.report))
    }

    /// Ends it, and gives all that was scraped. A page under way is not waited for: the thread ends with it, and it is in no report.
    #[must_use]
    pub fn stop(self) -> ScrapeReport {
        self.is_over.store(true, Ordering::Release);
        std::mem::take(&mut *locked(&self.report))
    }
}

impl Drop for Scraper {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
    }
}

/// A panic elsewhere leaves whole pages behind.
fn locked(report: &Mutex<ScrapeReport>) -> MutexGuard<'_, ScrapeReport> {
    report.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Work<S, C> {
    source: S,
    clock: C,
    settings: ScrapeSettings,
    report: Arc<Mutex<ScrapeReport>>,
    is_over: Arc<AtomicBool>,
}

impl<S: Source, C: Clock> Work<S, C> {
    fn run(mut self, orders: &Receiver<Order>) {
        let mut pace = Pace::every(self.settings.interval);
        loop {
            let begun = self.clock.now();
            self.scrape(&mut pace);
            let next = begun + pace.interval();
            loop {
                let wait = next.saturating_since(self.clock.now());
                let order = orders.recv_timeout(wait.into());
                if self.is_over.load(Ordering::Acquire) {
                    return;
                }
                match order {
                    Ok(first) => {
                        // One page is the answer to all that waited for one.
                        let waiting: Vec<Order> =
                            std::iter::once(first).chain(orders.try_iter()).collect();
                        self.scrape(&mut pace);
                        for Order(done) in waiting {
                            // Nobody listens any more if their patience was over.
                            done.send(()).ok();
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        }
    }

    fn scrape(&mut self, pace: &mut Pace) {
        let requested = self.clock.now();
        let page = self.source.page();
        let fetch = Fetch { requested, answered: self.clock.now() };
        pace.took(fetch.length());
        let mut report = locked(&self.report);
        let ScrapeReport { history, cost } = &mut *report;
        match page {
            Ok(page) => {
                let all = self.settings.metrics == Metrics::All;
                history.record_those(fetch, &page, |metric| all || meaning_of(metric).is_some());
                cost.add(fetch.length(), Some(page.notes.bytes));
            }
            Err(error) => {
                history.fail(fetch, &in_one_line(&error));
                cost.add(fetch.length(), None);
            }
        }
        cost.interval = pace.interval().to_millis();
        if let Some(keep) = self.settings.keep {
            history.forget_before(fetch.answered - keep);
        }
    }
}

/// An error with what caused it, and what caused that, in one line.
#[must_use]
pub fn in_one_line(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        line = format!("{line}: {error}");
        cause = error.source();
    }
    line
}
