//! How figures are shown.

use std::collections::BTreeMap;
use std::fmt::Display;

use fizeau_record::LevelTelemetry;
use fizeau_record::text::{number, percent};
use fizeau_telemetry::{
    LatencyGap, ReportedCounter, ReportedGauge, ReportedHistogram, ServerWindow, WitnessShare,
};

pub(super) const fn of(said: &LevelTelemetry) -> Option<&ServerWindow> {
    said.server.as_ref()
}

/// `31 %`, or where its uncertainty shows `31 % (28 % to 34 %)`.
pub(crate) fn shown(told: &WitnessShare) -> String {
    let [low, share, high] = [told.low, told.share, told.high].map(percent);
    // Less than half of a point is no figure of a line.
    match told.high - told.low < 0.005 {
        true => share,
        false => format!("{share} ({low} to {high})"),
    }
}

/// What counters of a kind counted, by what tells them apart.
pub(super) fn numbers<K: Display>(told: &BTreeMap<K, ReportedCounter>) -> Vec<(String, f64)> {
    told.iter().map(|(name, told)| (name.to_string(), told.figure.delta)).collect()
}

/// `local_cache_hit 1200, local_compute 2800`; none where nothing is told apart.
pub(super) fn by_name(told: &[(String, f64)], shown: fn(f64) -> String) -> Option<String> {
    let each = told.iter().map(|(name, number)| format!("{name} {}", shown(*number)));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join(", "))
}

pub(super) fn gauge(told: Option<&ReportedGauge>, shown: fn(f64) -> String) -> Option<String> {
    let figure = told?.figure;
    let peak = figure.peak.map_or_else(|| "-".to_owned(), shown);
    Some(format!("{} / {peak}", shown(figure.mean)))
}

/// Counters are whole, but for an edge within a load.
pub(in super::super) fn counter(told: Option<&ReportedCounter>) -> Option<String> {
    Some(whole(told?.figure.delta))
}

pub(super) fn whole(counted: f64) -> String {
    format!("{counted:.0}")
}

pub(super) fn mean(told: Option<&ReportedHistogram>) -> Option<String> {
    told?.figure.mean.map(number)
}

/// Between which edges the percentile lies: more a histogram cannot say.
pub(super) fn bucket(told: Option<&ReportedHistogram>) -> Option<String> {
    let holding = told?.figure.holding(99.0)?;
    Some(match (holding.above, holding.up_to) {
        (Some(above), Some(to)) => format!("{} to {}", number(above), number(to)),
        (None, Some(to)) => format!("up to {}", number(to)),
        (above, None) => format!("above {}", number(above.unwrap_or(0.0))),
    })
}

pub(super) fn gap(gap: Option<LatencyGap>) -> Option<String> {
    let LatencyGap { client, server, gap } = gap?;
    let [client, server, gap] = [client, server, gap].map(|time| number(time.get()));
    Some(format!("{client} / {server} / {gap}"))
}
