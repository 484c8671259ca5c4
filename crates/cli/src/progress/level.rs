//! The level under way.

use std::time::Duration;

use fizeau::core::{Nanos, Tape};
use fizeau::harness::InFlight;
use fizeau::metrics::{LatencyHistogram, RequestMetrics};

use super::left::{self, Left, Next};

/// The level under way.
pub(crate) struct Running {
    /// Its load: `concurrency 16`.
    pub(crate) name: String,
    /// Its place, from 1, and how many there are.
    pub(crate) place: Option<(usize, usize)>,
    /// How many requests it has at the most.
    pub(crate) requests: u64,
    pub(super) next: Next,
    pub(super) begun: Duration,
    /// Since when requests count; none while it warms up.
    measuring: Option<Duration>,
    in_flight: InFlight,
    pub(crate) done: u64,
    pub(crate) failed: u64,
    tokens: u64,
    ttft: LatencyHistogram,
}

impl Running {
    pub(super) fn new(
        name: String,
        place: Option<(usize, usize)>,
        requests: u64,
        (next, begun): (Next, Duration),
    ) -> Self {
        Self {
            name,
            place,
            requests,
            next,
            begun,
            measuring: None,
            in_flight: InFlight::default(),
            done: 0,
            failed: 0,
            tokens: 0,
            ttft: LatencyHistogram::new(),
        }
    }

    /// Requests count from `now`.
    pub(super) fn warmed_up(&mut self, in_flight: InFlight, now: Duration) {
        (self.in_flight, self.measuring) = (in_flight, Some(now));
    }

    /// A request of the load ended.
    pub(super) fn ended(&mut self, tape: &Tape, metrics: &RequestMetrics) {
        self.done += 1;
        self.failed += u64::from(!tape.is_success());
        self.tokens += tape.output_tokens().get();
        if let Some(ttft) = metrics.ttft {
            self.ttft.record(ttft);
        }
    }

    /// How long requests have counted by `now`; none while it warms up.
    pub(crate) fn measured(&self, now: Duration) -> Option<Duration> {
        self.measuring.map(|since| now.saturating_sub(since))
    }

    /// How long it goes on by `now`.
    pub(crate) fn elapsed(&self, now: Duration) -> Duration {
        self.measured(now).unwrap_or_else(|| now.saturating_sub(self.begun))
    }

    /// How many requests are in flight at this moment.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight.get()
    }

    /// How many requests it ends with, where that is what ends it.
    pub(crate) fn goal(&self) -> Option<u64> {
        self.next.time.is_none().then_some(self.requests)
    }

    /// Output tokens per second of the requests that ended, over the level so far; none before the first.
    pub(crate) fn output_tps(&self, now: Duration) -> Option<f64> {
        let seconds = self.measured(now).filter(|time| !time.is_zero())?.as_secs_f64();
        (self.done > 0).then_some(self.tokens as f64 / seconds)
    }

    /// How many requests have had a first token so far.
    pub(crate) fn ttfts(&self) -> u64 {
        self.ttft.count()
    }

    /// A percentile of the time to first token so far.
    pub(crate) fn ttft(&self, percent: f64) -> Option<Nanos> {
        self.ttft.percentile(percent)
    }

    /// How much of it is done, from 0 to 1.
    #[cfg(feature = "tui")]
    pub(crate) fn share(&self, now: Duration) -> f64 {
        match (self.next.time, self.measured(now)) {
            (_, None) => 0.0,
            (Some(time), Some(measured)) => measured.as_secs_f64() / time.as_secs_f64(),
            (None, Some(_)) => self.done as f64 / self.requests.max(1) as f64,
        }
    }

    /// How long it still takes, about.
    pub(crate) fn left(&self, now: Duration) -> Option<Left> {
        left::left(self, now)
    }
}
