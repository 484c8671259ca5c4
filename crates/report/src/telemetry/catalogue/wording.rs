//! How figures are shown.

use std::collections::BTreeMap;
use std::fmt::Display;

use fizeau_record::LevelTelemetry;
use fizeau_record::text::{number, percent};
use fizeau_telemetry::{ReportedCounter, ReportedHistogram, ServerWindow, WitnessShare};

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

/// Counters are whole, but for an edge within a load.
pub(in super::super) fn whole(counted: f64) -> String {
    format!("{counted:.0}")
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
