//! The figures of a level, with their intervals.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_metrics::{Metric, Statistic};
use fizeau_roofline::{EstimateKind, PowerDraw, System, UniformLoad};

use super::Row;
use super::list::FieldSource;
use fizeau_record::{LevelReport, requests_interval};

/// A figure, and the ends of its 95 % interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Figure {
    pub(crate) value: Option<f64>,
    pub(crate) ends: Option<(f64, f64)>,
    /// Whether the greatest value stands in for a 99th percentile.
    pub(crate) is_stand_in: bool,
}

impl Figure {
    fn new(value: Option<f64>, ends: Option<(f64, f64)>) -> Self {
        // An interval that does not hold its figure would be refused by whoever reads it.
        let ends = ends.zip(value).map(|((low, high), value)| (low.min(value), high.max(value)));
        Self { value, ends, is_stand_in: false }
    }

    /// The same, of which `by` is taken.
    pub(crate) fn times(self, by: Option<f64>) -> Self {
        let Some(by) = by else { return Self::default() };
        Self {
            value: self.value.map(|value| value * by),
            ends: self.ends.map(|(low, high)| (low * by, high * by)),
            ..self
        }
    }

    /// `of` divided by it: the ends change places.
    fn under(self, of: f64) -> Self {
        let inverse = |value: f64| (value > 0.0).then(|| of / value);
        let ends = self.ends.and_then(|(low, high)| Some((inverse(high)?, inverse(low)?)));
        Self { value: self.value.and_then(inverse), ends, ..self }
    }
}

/// A figure of the catalogue, with the greatest value in place of a 99th percentile, as a sweep's own table and frontier have it;
/// `greatest_for_p99` says where.
pub(crate) fn of_metric(level: &LevelReport, metric: Metric, statistic: Statistic) -> Figure {
    let summary = &level.summary;
    let ends = match metric {
        Metric::RequestsPerSec => requests_interval(summary),
        _ => metric.interval(statistic, summary).map(|ends| (ends.low, ends.high)),
    };
    let tail = metric.distribution(summary).filter(|_| statistic == Statistic::P99);
    let Some(sample) = tail else {
        return Figure::new(metric.measured(statistic, summary), ends);
    };
    let reading = sample.value_or_max(statistic);
    let is_stand_in = reading.is_some_and(|of| of.stand_in.is_some());
    Figure { is_stand_in, ..Figure::new(reading.map(|of| of.value.get()), ends) }
}

fn output(row: &Row<'_>) -> Figure {
    of_metric(row.level, Metric::OutputTokensPerSec, Statistic::Value)
}

pub(super) fn per_device(row: &Row<'_>) -> Figure {
    output(row).times(row.run.devices.map(|devices| 1.0 / devices.max(1) as f64))
}

/// What one user sees.
pub(super) fn user(row: &Row<'_>) -> Figure {
    of_metric(row.level, Metric::Tpot, Statistic::P50).under(1e3)
}

/// A million output tokens, all of the devices' time theirs.
pub(super) fn cost(row: &Row<'_>) -> Figure {
    let hourly = row.run.price.zip(row.run.devices);
    let Some((price, devices)) = hourly else { return Figure::default() };
    output(row).under(price.get() * devices as f64 / 3600.0 * 1e6)
}

/// The columns of a 99th percentile that hold the greatest value instead, since it takes 100.
pub(super) fn stand_ins(row: &Row<'_>) -> Option<String> {
    let p99 = Statistic::P99;
    let short = Metric::headline().filter(|of| of_metric(row.level, *of, p99).is_stand_in);
    let names: Vec<String> = short.filter_map(|metric| metric.column(p99)).collect();
    (!names.is_empty()).then(|| names.join(" "))
}

impl FieldSource {
    /// The figure of a row; nothing where it is not one with an interval.
    pub(super) fn figure(self, row: &Row<'_>) -> Figure {
        match self {
            Self::Figure(of) => of(row),
            Self::Metric(metric, statistic) => of_metric(row.level, metric, statistic),
            Self::Text(_) | Self::Number(_) | Self::Reported(_) => Figure::default(),
        }
    }
}

/// The format of the greatest part of the weights, by bytes; of equals the first.
pub(super) fn weights(row: &Row<'_>) -> Option<String> {
    let mut bytes: Vec<(String, f64)> = Vec::new();
    for tensors in row.run.system?.model().tensors() {
        let (format, size) = (tensors.format.to_string(), tensors.bytes().get());
        match bytes.iter_mut().find(|(known, _)| *known == format) {
            Some((_, sum)) => *sum += size,
            None => bytes.push((format, size)),
        }
    }
    bytes.into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(format, _)| format)
}

pub(super) fn kv(row: &Row<'_>) -> Option<String> {
    Some(row.run.system?.model().kv_cache().to_string())
}

/// Tokens of a completed request.
fn mean_of(row: &Row<'_>, tokens: Tokens) -> Option<f64> {
    let completed = row.level.summary.requests.completed;
    (completed > 0).then(|| tokens.get() as f64 / completed as f64)
}

pub(super) fn prompt(row: &Row<'_>) -> Option<f64> {
    mean_of(row, row.level.summary.tokens.input?)
}

pub(super) fn reply(row: &Row<'_>) -> Option<f64> {
    mean_of(row, row.level.summary.tokens.output)
}

pub(super) fn context(row: &Row<'_>) -> Option<f64> {
    Some(prompt(row)? + reply(row)?)
}

/// What the roofline model expects of requests of the mean lengths at as many in flight, by the estimate of what the device
/// draws ([`PowerDraw`]); nothing of it is measured.
pub(super) fn energy(row: &Row<'_>) -> Option<f64> {
    let system: &System = row.run.system?;
    let light = row.level.speed_of_light.comparison()?;
    let tokens = |mean: f64| Tokens::new((mean.round() as u64).max(1));
    let load = UniformLoad::new(tokens(prompt(row)?), tokens(reply(row)?), light.concurrency);
    let cached = row.level.summary.tokens.cached_share.unwrap_or(0.0) * prompt(row)?;
    let load = load.with_cached(Tokens::new(cached.round() as u64));
    let batch = light.expected.as_ref().ok()?.figures.batch;
    // Drafts that are accepted make tokens without a step of their own, and how many are is not known.
    if system.serving().tokens_per_step > NonZeroU64::MIN {
        return None;
    }
    let draw = PowerDraw::estimate(system.device()).ok()?;
    let limit = system.device().tdp()?;
    let energy = system.energy(EstimateKind::Expected, &load, batch, &draw, limit).ok()?;
    Some(energy.per_output_token.get())
}

/// The headline: of a mixture of experts that of balanced routing.
pub(super) fn light(row: &Row<'_>) -> Option<f64> {
    Some(row.level.speed_of_light.output_share()?.percent())
}

pub(super) fn saturated(row: &Row<'_>) -> Option<String> {
    Some(if row.level.is_saturated() { "yes" } else { "no" }.to_owned())
}

pub(super) fn verdict(row: &Row<'_>) -> Option<String> {
    Some(row.level.validity.verdict.as_str().to_owned())
}

/// How many requests failed; what the client itself cancelled is no failure.
pub(crate) fn failed(level: &LevelReport) -> u64 {
    let requests = &level.summary.requests;
    requests.failed.saturating_sub(requests.cancelled())
}
