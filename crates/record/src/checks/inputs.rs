//! What a row is judged by, and what is found.

use crate::text::listed;
use crate::{CheckOutcome, LevelReport, RunSetup};
use fizeau_core::LevelLoad;

/// What rows are judged by.
pub(super) struct CheckInputs<'a> {
    pub(super) setup: &'a RunSetup,
    pub(super) levels: Vec<&'a LevelReport>,
}

/// How a row came out, and what shows that.
#[derive(Debug)]
pub(super) struct CheckFinding {
    pub(super) outcome: CheckOutcome,
    pub(super) evidence: String,
}

impl CheckFinding {
    pub(super) fn pass(evidence: impl Into<String>) -> Self {
        Self { outcome: CheckOutcome::Pass, evidence: evidence.into() }
    }

    pub(super) fn fail(evidence: impl Into<String>) -> Self {
        Self { outcome: CheckOutcome::Fail, evidence: evidence.into() }
    }

    pub(super) fn unknown(evidence: impl Into<String>) -> Self {
        Self { outcome: CheckOutcome::Unknown, evidence: evidence.into() }
    }

    pub(super) fn simulated(evidence: impl Into<String>) -> Self {
        Self { outcome: CheckOutcome::Simulated, evidence: evidence.into() }
    }
}

/// As many loads as a reader takes in; the rest are counted.
const NAMED: usize = 4;

impl<'a> CheckInputs<'a> {
    /// The levels of which that holds.
    pub(super) fn levels_where(
        &self,
        holds: impl Fn(&LevelReport) -> bool,
    ) -> Vec<&'a LevelReport> {
        self.levels.iter().copied().filter(|level| holds(level)).collect()
    }

    /// Where `these` of the levels are, to stand behind a statement: ` (at concurrency 1 and 2)`; nothing where there is but one
    /// level.
    pub(super) fn at(&self, these: &[&LevelReport]) -> String {
        if self.levels.len() == 1 {
            return String::new();
        }
        if these.len() == self.levels.len() {
            return " (at every level)".to_owned();
        }
        format!(" (at {})", loads(these))
    }

    /// The range of a figure over all levels that have it, as it is to be `shown`: `12.0 to 98.1`; none if no level has.
    pub(super) fn range(
        &self,
        shown: fn(f64) -> String,
        of: impl Fn(&LevelReport) -> Option<f64>,
    ) -> Option<String> {
        let values: Vec<f64> = self.levels.iter().filter_map(|level| of(level)).collect();
        let least = values.iter().copied().min_by(f64::total_cmp)?;
        let most = values.into_iter().max_by(f64::total_cmp)?;
        let (least, most) = (shown(least), shown(most));
        Some(if least == most { least } else { format!("{least} to {most}") })
    }

    /// The level with the least of a figure, and that.
    pub(super) fn least(&self, of: impl Fn(&LevelReport) -> f64) -> Option<(&'a LevelReport, f64)> {
        let values = self.levels.iter().map(|level| (*level, of(level)));
        values.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// A count without decimals.
pub(super) fn whole(count: f64) -> String {
    format!("{count:.0}")
}

/// `concurrency 1, 2 and 4`, `concurrency 8 and 4 requests/s`.
fn loads(levels: &[&LevelReport]) -> String {
    let of = |concurrency: bool| {
        let of_kind =
            |level: &&&LevelReport| matches!(level.load, LevelLoad::Concurrency(_)) == concurrency;
        let mut loads: Vec<String> =
            levels.iter().filter(of_kind).map(|level| level.load.number()).collect();
        // A load that was measured more than once is one load.
        loads.dedup();
        let more = loads.len().saturating_sub(NAMED);
        if more > 1 {
            loads.truncate(NAMED);
            loads.push(format!("{more} more"));
        }
        listed(&loads)
    };
    let (concurrencies, rates) = (of(true), of(false));
    match (concurrencies.is_empty(), rates.is_empty()) {
        (false, true) => format!("concurrency {concurrencies}"),
        (true, false) => format!("{rates} requests/s"),
        _ => format!("concurrency {concurrencies} and {rates} requests/s"),
    }
}
