//! What a run has come to, over time and level by level.

use std::collections::BTreeMap;
use std::time::Duration;

use fizeau_core::FailureClass;
use fizeau_metrics::{Metric, Statistic, Verdict};
use fizeau_record::LevelReport;

use super::RunningLevel;
use crate::event::{RequestEnded, RunEvent};

/// What a run has come to, for curves that grow and a table of finished levels. Pure, as [`ProgressState`](super::ProgressState) is, and of
/// bounded size however long the run.
///
/// ```
/// use fizeau_experiment::RunHistory;
///
/// let history = RunHistory::default();
/// assert!(history.points.is_empty() && history.finished.is_empty());
/// // Which curves there are: each point has a figure for each of these.
/// assert!(!RunHistory::followed().is_empty());
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RunHistory {
    /// The curves, in the order of time.
    pub points: Vec<HistoryPoint>,
    /// The levels that are over, in the order in which they ended.
    pub finished: Vec<FinishedLevel>,
    /// How many requests failed, by the kind of failure.
    pub failures: BTreeMap<FailureClass, u64>,
    /// The most requests in flight that were seen at this level.
    pub most_in_flight: u64,
    batch: Batch,
    has_point: bool,
}

/// What requests that ended one after another came to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HistoryPoint {
    /// When, counted from where the run began.
    pub at: Duration,
    /// Of each figure that is [`RunHistory::followed`].
    pub figures: Vec<Option<BatchFigures>>,
}

/// A figure of a few requests.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BatchFigures {
    /// A rate, or the median of their latencies in milliseconds.
    pub main: f64,
    /// The slowest of their latencies in milliseconds; none of a rate.
    pub above: Option<f64>,
}

/// A level that is over.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FinishedLevel {
    /// Its place and its load.
    pub name: String,
    /// Its requests that completed.
    pub completed: u64,
    /// Its requests that failed.
    pub failed: u64,
    /// Those that are [`RunHistory::tabled`].
    pub figures: Vec<Option<f64>>,
    /// What is to be thought of it.
    pub verdict: Verdict,
}

/// Requests that ended since the last point.
#[derive(Debug, Default)]
struct Batch {
    since: Duration,
    requests: u64,
    /// What each adds to each figure that is followed.
    values: Vec<(Metric, Vec<f64>)>,
}

impl Batch {
    fn since(since: Duration) -> Self {
        let values = RunHistory::followed().into_iter().map(|metric| (metric, Vec::new()));
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
/// More points than anybody can see are thinned out.
const MOST_POINTS: usize = 2_048;

impl RunHistory {
    /// The figures that the catalogue has followed, rates first.
    #[must_use]
    pub fn followed() -> Vec<Metric> {
        let (latencies, rates): (Vec<_>, Vec<_>) = Metric::live().partition(|one| one.is_latency());
        [rates, latencies].concat()
    }

    /// The figures of a level that is over, as a table has them: rates, medians of latencies, and then their tails.
    #[must_use]
    pub fn tabled() -> Vec<(Metric, Statistic)> {
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

    /// Takes note of what happened `now` at a `level`.
    pub fn note(&mut self, event: &RunEvent, level: &RunningLevel, now: Duration) {
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
            *self.failures.entry(class).or_default() += 1;
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
        let place =
            running.position().map_or_else(String::new, |place| format!("{} ", place.number));
        let summary = &report.summary;
        self.finished.push(FinishedLevel {
            name: format!("{place}{}", running.name()),
            completed: summary.requests.completed,
            failed: summary.requests.failed,
            figures: Self::tabled()
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
        self.points.push(HistoryPoint { at: now, figures });
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
