//! What a run has come to, over time and level by level.

use std::collections::BTreeMap;
use std::time::Duration;

use fizeau::core::FailureClass;
use fizeau::experiment::{RequestEnded, RunEvent, RunningLevel};
use fizeau::metrics::{Metric, Statistic, Verdict};
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

/// The figures that the catalogue has followed, rates first.
pub(super) fn followed() -> Vec<Metric> {
    let (latencies, rates): (Vec<_>, Vec<_>) = Metric::live().partition(|one| one.is_latency());
    [rates, latencies].concat()
}

/// The figures of a level that is over, as the table has them: rates, medians of latencies, and then their tails.
pub(super) fn tabled() -> Vec<(Metric, Statistic)> {
    let (latencies, rates): (Vec<_>, Vec<_>) = Metric::live().partition(|one| one.is_latency());
    let all = [
        (rates, Statistic::Value),
        (latencies.clone(), Statistic::P50),
        (latencies, Statistic::P99),
    ];
    let each =
        all.into_iter().map(|(of, statistic)| of.into_iter().map(move |one| (one, statistic)));
    each.flatten().collect()
}

/// What requests that ended one after another came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    /// Seconds since the run began.
    pub(super) at: f64,
    /// Of each figure that is [`followed`].
    pub(super) figures: Vec<Option<BatchFigures>>,
}

/// A figure of a few requests: a rate, or the median of their latencies and the slowest, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BatchFigures {
    pub(super) main: f64,
    pub(super) above: Option<f64>,
}

/// A level that is over.
#[derive(Debug, Clone)]
pub(super) struct Finished {
    pub(super) name: String,
    pub(super) completed: u64,
    pub(super) failed: u64,
    /// Those that are [`tabled`].
    pub(super) figures: Vec<Option<f64>>,
    pub(super) verdict: Verdict,
}

/// Requests that ended since the last point.
#[derive(Debug, Default)]
struct Batch {
    since: Duration,
    requests: u64,
    /// What each adds to each figure that is [`followed`].
    values: Vec<(Metric, Vec<f64>)>,
}

impl Batch {
    fn since(since: Duration) -> Self {
        let values = followed().into_iter().map(|metric| (metric, Vec::new()));
        Self { since, requests: 0, values: values.collect() }
    }
}

/// What `request` adds to a figure: to a rate what it counts there, to a latency its own.
fn added(metric: Metric, request: &RequestEnded) -> Option<f64> {
    match metric {
        Metric::OutputTokensPerSec => Some(request.output.get() as f64),
        Metric::RequestsPerSec => Some(1.0),
        latency => latency.of_request(&request.metrics),
    }
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
    pub(crate) fn note(&mut self, event: &RunEvent, level: &RunningLevel, now: Duration) {
        match event {
            RunEvent::LevelStarted(_) => (self.most_in_flight, self.has_point) = (0, false),
            RunEvent::WarmedUp { .. } => self.batch = Batch::since(now),
            RunEvent::RequestEnded(request) => self.ended(request, level.in_flight(), now),
            RunEvent::LevelEnded(report) => self.level_over(level, report, now),
            _ => {}
        }
    }

    /// A request of the load ended, and left so many in flight.
    fn ended(&mut self, request: &RequestEnded, in_flight: u64, now: Duration) {
        if let Some(class) = request.failure {
            *self.errors.entry(class).or_default() += 1;
        }
        self.most_in_flight = self.most_in_flight.max(in_flight);
        let batch = &mut self.batch;
        batch.requests += 1;
        for (metric, values) in &mut batch.values {
            values.extend(added(*metric, request));
        }
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
            figures: tabled()
                .iter()
                .map(|(of, statistic)| of.measured(*statistic, summary))
                .collect(),
            verdict: report.validity.verdict,
        });
    }

    /// Makes a point of what has come since the last.
    fn close(&mut self, now: Duration) {
        let batch = std::mem::replace(&mut self.batch, Batch::since(now));
        let seconds = now.saturating_sub(batch.since).as_secs_f64().max(1e-3);
        let figure = |(metric, values): (Metric, Vec<f64>)| match metric.is_latency() {
            true => batch_figures(values),
            false => Some(BatchFigures { main: values.iter().sum::<f64>() / seconds, above: None }),
        };
        let figures = batch.values.into_iter().map(figure).collect();
        self.points.push(Point { at: now.as_secs_f64(), figures });
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

fn batch_figures(mut latencies: Vec<f64>) -> Option<BatchFigures> {
    latencies.sort_by(f64::total_cmp);
    let median = *latencies.get(latencies.len() / 2)?;
    Some(BatchFigures { main: median, above: latencies.last().copied() })
}
