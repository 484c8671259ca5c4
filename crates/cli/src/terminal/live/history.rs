//! What a run has come to, over time and level by level.

use std::collections::BTreeMap;
use std::time::Duration;

use fizeau::core::{FailureClass, Millis};
use fizeau::experiment::{Event, RequestEnded, RunningLevel};
use fizeau::metrics::{Distribution, Verdict};
use fizeau::record::LevelReport;

/// What a run has come to.
#[derive(Default)]
pub(crate) struct History {
    /// The curves, in the order of time.
    pub(super) points: Vec<Point>,
    pub(super) finished: Vec<Finished>,
    pub(super) errors: BTreeMap<FailureClass, u64>,
    /// What was to be said meanwhile.
    pub(super) notes: Vec<String>,
    /// Whether somebody ended the run.
    pub(super) is_interrupted: bool,
    /// The most requests in flight that were seen at this level.
    pub(super) most_in_flight: u64,
    batch: Batch,
    has_point: bool,
}

/// What requests that ended one after another came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    /// Seconds since the run began.
    pub(super) at: f64,
    /// Output tokens per second.
    pub(super) output_tps: f64,
    pub(super) ttft: Option<Spread>,
    pub(super) tpot: Option<Spread>,
}

/// Latencies of a few requests, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) slowest: f64,
}

/// A level that is over.
#[derive(Debug, Clone)]
pub(super) struct Finished {
    pub(super) name: String,
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) output_tps: f64,
    pub(super) ttft: Tail,
    pub(super) tpot: Tail,
    pub(super) verdict: Verdict,
}

/// The median and the 99th percentile, where they are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    pub(super) p50: Option<Millis>,
    pub(super) p99: Option<Millis>,
}

impl Tail {
    fn of(of: &Distribution) -> Self {
        Self { p50: of.p50.value(), p99: of.p99.value() }
    }
}

/// Requests that ended since the last point.
#[derive(Debug, Default)]
struct Batch {
    since: Duration,
    requests: u64,
    tokens: u64,
    ttft: Vec<f64>,
    tpot: Vec<f64>,
}

/// A point has at least so many requests, so that one long reply makes no peak; and as many as are in flight, so that each
/// slot has its share, but no more than this.
const FEWEST: u64 = 8;
const MOST_NEEDED: u64 = 128;
/// Nor are points closer together.
const LEAST_TIME: Duration = Duration::from_millis(500);
/// More points than a terminal can show are thinned out.
const MOST_POINTS: usize = 2_048;

impl History {
    /// Takes note of what happened at a `level`.
    pub(crate) fn note(&mut self, event: &Event, level: &RunningLevel, now: Duration) {
        match event {
            Event::LevelStarted(_) => (self.most_in_flight, self.has_point) = (0, false),
            Event::WarmedUp { .. } => self.batch = Batch { since: now, ..Batch::default() },
            Event::RequestEnded(request) => self.ended(*request, level.in_flight(), now),
            Event::LevelEnded(report) => self.level_over(level, report, now),
            _ => {}
        }
    }

    /// A request of the load ended, and left so many in flight.
    fn ended(&mut self, request: RequestEnded, in_flight: u64, now: Duration) {
        if let Some(class) = request.failure {
            *self.errors.entry(class).or_default() += 1;
        }
        self.most_in_flight = self.most_in_flight.max(in_flight);
        let batch = &mut self.batch;
        batch.requests += 1;
        batch.tokens += request.output.get();
        batch.ttft.extend(request.ttft.map(|ttft| ttft.to_millis().get()));
        batch.tpot.extend(request.tpot.map(Millis::get));
        if batch.requests >= in_flight.clamp(FEWEST, MOST_NEEDED)
            && now.saturating_sub(batch.since) >= LEAST_TIME
        {
            self.close(now);
        }
    }

    /// The level `running` is over. One that was too short for a point gets one now.
    fn level_over(&mut self, running: &RunningLevel, report: &LevelReport, now: Duration) {
        if !self.has_point && self.batch.requests > 0 {
            self.close(now);
        }
        let place = running.place().map_or_else(String::new, |place| format!("{} ", place.number));
        let summary = &report.summary;
        self.finished.push(Finished {
            name: format!("{place}{}", running.name()),
            completed: summary.requests.completed,
            failed: summary.requests.failed,
            output_tps: summary.throughput.output_tokens_per_s.get(),
            ttft: Tail::of(&summary.metrics.ttft),
            tpot: Tail::of(&summary.metrics.tpot),
            verdict: report.validity.verdict,
        });
    }

    /// Makes a point of what has come since the last.
    fn close(&mut self, now: Duration) {
        let next = Batch { since: now, ..Batch::default() };
        let batch = std::mem::replace(&mut self.batch, next);
        let seconds = now.saturating_sub(batch.since).as_secs_f64().max(1e-3);
        self.points.push(Point {
            at: now.as_secs_f64(),
            output_tps: batch.tokens as f64 / seconds,
            ttft: spread(batch.ttft),
            tpot: spread(batch.tpot),
        });
        self.has_point = true;
        if self.points.len() > MOST_POINTS {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
    }
}

fn spread(mut latencies: Vec<f64>) -> Option<Spread> {
    latencies.sort_by(f64::total_cmp);
    let median = *latencies.get(latencies.len() / 2)?;
    Some(Spread { median, slowest: *latencies.last()? })
}
