//! The levels of a search side by side.

use fizeau_metrics::Slo;

use super::SweepReport;
use crate::goal::{GoalResult, results};
use crate::{LevelReport, LevelStatus, RunSetup};

impl SweepReport {
    /// The result of a search within `slo`: of its `short` levels, and of the `long` ones that showed whether a load can be kept up.
    ///
    /// A long level stands for its load in place of short ones, and what short ones kept at loads where long ones missed counts no
    /// more. The highest load that a long level kept is the one to run at, whatever short ones kept.
    #[must_use]
    pub fn of_search(
        setup: RunSetup,
        short: Vec<LevelReport>,
        long: Vec<LevelReport>,
        slo: Slo,
    ) -> Self {
        let (told, rest): (Vec<LevelReport>, Vec<LevelReport>) =
            long.into_iter().partition(is_evidence);
        let load = |level: &LevelReport| level.load.value();
        let (held, missed): (Vec<&LevelReport>, Vec<&LevelReport>) =
            told.iter().partition(|level| keeps(&slo, level));
        let kept = held.into_iter().max_by(|a, b| load(a).total_cmp(&load(b))).cloned();
        let refuted = missed.into_iter().map(load).reduce(f64::min);
        let is_outranked = |level: &LevelReport| {
            // The closed loop that a search for a rate begins with is none of its loads.
            let is_of_kind = told.iter().any(|long| long.load.kind() == level.load.kind());
            let is_beyond = match (&kept, refuted) {
                (Some(kept), Some(_)) => load(level) > load(kept),
                (None, Some(refuted)) => load(level) >= refuted,
                (_, None) => false,
            };
            told.iter().any(|long| long.load == level.load)
                || (is_of_kind && is_beyond && keeps(&slo, level))
        };
        let mut levels: Vec<LevelReport> =
            short.into_iter().filter(|level| !is_outranked(level)).collect();
        levels.extend(told.iter().cloned());
        // Stable: levels of one load stay in the order in which they were measured.
        levels.sort_by(|one, other| one.load.rising(&other.load));
        let answer = kept.as_ref().map(|level| level.load);
        let report = Self { answer, ..Self::of_runs(setup, levels, Some(slo)) };
        let profile = report.profile;
        report.with_profile(profile).with_sustained(kept.or_else(|| rest.into_iter().next()))
    }
}

/// Whether a long level tells if its load is kept: that requests fail there does.
fn is_evidence(level: &LevelReport) -> bool {
    level.status == LevelStatus::Finished && level.no_evidence().is_none()
}

/// Whether a level keeps each goal and its queue did not grow to the end.
fn keeps(slo: &Slo, level: &LevelReport) -> bool {
    level.left_out().is_none()
        && !level.is_saturated()
        && results(slo, &level.summary).iter().all(GoalResult::is_met)
}
