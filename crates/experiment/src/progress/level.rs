//! The level under way.

use std::time::Duration;

use fizeau_core::{Nanos, PerSec};
use fizeau_harness::InFlight;
use fizeau_metrics::LatencyHistogram;

use super::left::{self, TimeLeft};
use crate::event::{LevelPosition, LevelStarted, RequestEnded};

/// The level under way.
#[derive(Debug)]
pub struct RunningLevel {
    pub(super) started: LevelStarted,
    pub(super) begun: Duration,
    /// Since when requests count; none while it warms up.
    measuring: Option<Duration>,
    /// When the first request of the load ended.
    first_end: Option<Duration>,
    in_flight: InFlight,
    done: u64,
    failed: u64,
    tokens: u64,
    ttft: LatencyHistogram,
}

impl RunningLevel {
    pub(super) fn new(started: LevelStarted, begun: Duration) -> Self {
        Self {
            started,
            begun,
            measuring: None,
            first_end: None,
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

    /// A request of the load ended by `now`.
    pub(super) fn ended(&mut self, request: &RequestEnded, now: Duration) {
        self.first_end.get_or_insert(now);
        self.done += 1;
        self.failed += u64::from(request.failure.is_some());
        self.tokens += request.output.get();
        if let Some(ttft) = request.metrics.ttft {
            self.ttft.record(ttft);
        }
    }

    /// Its load in words: `concurrency 16`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.started.name
    }

    /// Its place in the run; none of a run of one level.
    #[must_use]
    pub const fn position(&self) -> Option<LevelPosition> {
        self.started.position
    }

    /// How many measured requests ended so far.
    #[must_use]
    pub const fn done(&self) -> u64 {
        self.done
    }

    /// How many of them failed.
    #[must_use]
    pub const fn failed(&self) -> u64 {
        self.failed
    }

    /// Whether requests that end are told as they do, so that their pace is the level's.
    pub(super) const fn is_paced(&self) -> bool {
        self.started.clients == 1
    }

    /// How long the requests that have not ended take by the pace of those that have; none while there is none. What is in flight counts as
    /// half done, and once nothing is left to send, what ends from the first end on tells the pace: requests that all left at one instant
    /// are nearly over as the first of them ends.
    pub(super) fn to_go(&self, now: Duration, in_flight: u64) -> Option<Duration> {
        let measured = self.measured(now).filter(|_| self.done > 0 && self.is_paced())?;
        let (done, in_flight) = (self.done as f64, in_flight as f64);
        let to_go = (self.started.requests as f64 - done).max(0.0);
        let seconds = if in_flight >= to_go && self.done > 1 {
            let since = now.saturating_sub(self.first_end?).as_secs_f64();
            since / (done - 1.0) * to_go
        } else {
            let half = (in_flight / 2.0).min(to_go);
            measured.as_secs_f64() / (done + half) * (to_go - half)
        };
        // A level that has all but no end has all but no end.
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }

    /// How long requests have counted by `now`; none while it warms up.
    #[must_use]
    pub fn measured(&self, now: Duration) -> Option<Duration> {
        self.measuring.map(|since| now.saturating_sub(since))
    }

    /// How long it goes on by `now`.
    #[must_use]
    pub fn elapsed(&self, now: Duration) -> Duration {
        self.measured(now).unwrap_or_else(|| now.saturating_sub(self.begun))
    }

    /// How many requests are in flight at this moment.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight.get()
    }

    /// How many requests it ends with, where that is what ends it.
    #[must_use]
    pub fn goal(&self) -> Option<u64> {
        self.started.time.is_none().then_some(self.started.requests)
    }

    /// Output tokens per second of the requests that ended, over the level so far; none before the first.
    #[must_use]
    pub fn output_tps(&self, now: Duration) -> Option<PerSec> {
        let seconds = self.measured(now).filter(|time| !time.is_zero())?.as_secs_f64();
        (self.done > 0).then(|| PerSec::new(self.tokens as f64 / seconds))
    }

    /// How many requests have had a first token so far.
    #[must_use]
    pub fn ttfts(&self) -> u64 {
        self.ttft.count()
    }

    /// A percentile of the time to first token so far.
    #[must_use]
    pub fn ttft(&self, percent: f64) -> Option<Nanos> {
        self.ttft.percentile(percent)
    }

    /// How much of it is done, from 0 to 1.
    #[must_use]
    pub fn share(&self, now: Duration) -> f64 {
        match (self.started.time, self.measured(now)) {
            (_, None) => 0.0,
            (Some(time), Some(measured)) => measured.as_secs_f64() / time.as_secs_f64(),
            (None, Some(_)) => self.done as f64 / self.started.requests.max(1) as f64,
        }
    }

    /// How long it still takes, about; none while there is no pace to tell it by.
    #[must_use]
    pub fn left(&self, now: Duration) -> Option<TimeLeft> {
        left::left(self, now)
    }
}
