//! The best load that a search measured, and what more time would buy.

use std::cmp::Ordering;

use super::{SearchPurpose, SearchReport, SearchedLevel};
use fizeau_core::{LevelLoad, document};
use fizeau_pareto::SearchEnding;

document! {
    /// A load that was measured, and for how long.
    #[derive(Copy)]
    #[non_exhaustive]
    pub struct TimedLoad, from |searched: &SearchedLevel| {} {
        /// The load.
        pub load: LevelLoad = searched.level.load,
        /// How long the level took.
        pub duration_s: f64 = searched.level.summary.throughput.duration.get(),
        /// What the level was for: a confirmation is a long one.
        pub purpose: SearchPurpose = searched.purpose,
    }
}

document! {
    /// What more time would buy, as an estimate: an interval narrows with the root of the time.
    #[derive(Copy)]
    #[non_exhaustive]
    pub struct MoreTime {
        /// How much more time.
        pub time_s: f64,
        /// How long a level it has room for that confirms the best load; absent where one has confirmed it, or none was asked for.
        pub confirms_for_s?: f64,
        /// Half the width of the edge's interval over the edge, as it is.
        pub precision?: f64,
        /// The same as it would be with that time; absent where the edge is known as narrowly as was asked, or not enclosed yet.
        pub precision_then?: f64,
    }
}

/// A level that confirms takes at least so long, in seconds, unless less is asked for.
const CONFIRMS: f64 = 60.0;

impl SearchReport {
    /// The highest load that kept the goals: one that a long level confirmed, else the highest below the edge that a short one
    /// measured; none if none did.
    #[must_use]
    pub fn best_kept(&self) -> Option<&SearchedLevel> {
        if let Some(confirmed) = self.confirmed().filter(|level| level.holds()) {
            return Some(confirmed);
        }
        let edge = self.result.edge.map_or(f64::INFINITY, |edge| edge.value() * (1.0 + 1e-9));
        let is_below = |level: &&SearchedLevel| {
            let load = level.level.load.value();
            load <= edge && self.refuted().all(|refuted| load < refuted.level.load.value())
        };
        let kept = self.evaluations().filter(|level| level.holds()).filter(is_below);
        kept.max_by(|one, other| one.level.load.value().total_cmp(&other.level.load.value()))
    }

    /// The lowest load above the best that surely missed the goals; a long level counts before a short one.
    #[must_use]
    pub fn lowest_missed(&self) -> Option<&SearchedLevel> {
        let best = self.best_kept().map_or(0.0, |best| best.level.load.value());
        let order = |level: &SearchedLevel| {
            (level.level.load.value(), level.purpose != SearchPurpose::Confirmation)
        };
        let of_search = self.levels.iter().filter(|level| level.purpose != SearchPurpose::Start);
        let of_search = of_search.filter(|level| level.is_evidence() && !level.is_undecided());
        let missed = of_search.filter(|level| !level.holds() && level.level.load.value() > best);
        missed.min_by(|one, other| order(one).partial_cmp(&order(other)).unwrap_or(Ordering::Equal))
    }

    /// What more time would buy; none where it would buy nothing that was asked for.
    #[must_use]
    pub fn more_time(&self) -> Option<MoreTime> {
        let best = self.best_kept()?;
        let seconds = |level: &SearchedLevel| level.level.summary.throughput.duration.get();
        let requested =
            self.requested.confirm.filter(|_| best.purpose != SearchPurpose::Confirmation);
        let confirms_for_s =
            requested.map(|most| CONFIRMS.max(2.0 * seconds(best)).min(most.as_secs_f64()));
        let spent: f64 = self.evaluations().map(seconds).sum();
        let precision = self.precision();
        let is_open = !matches!(
            self.result.ending,
            SearchEnding::Decided
                | SearchEnding::Undecided
                | SearchEnding::AllGood
                | SearchEnding::Refuted
                | SearchEnding::Unmeasurable
        );
        let wide = precision.filter(|width| is_open && *width > self.requested.tolerance);
        let precision_then = wide.map(|width| self.requested.tolerance.max(width / 2.0));
        let narrows = match (wide.zip(precision_then), precision) {
            (Some((now, then)), _) => spent * ((now / then).powi(2) - 1.0),
            // As much again, to find where the goals break.
            (None, None) if is_open => spent,
            (None, _) => 0.0,
        };
        let all: f64 = self.levels.iter().map(seconds).sum();
        let around = self.elapsed.map_or(1.0, |elapsed| (elapsed.as_secs_f64() / all).max(1.0));
        let time_s = around * (narrows + confirms_for_s.unwrap_or_default());
        (time_s > 0.0).then_some(MoreTime { time_s, confirms_for_s, precision, precision_then })
    }

    /// Half the width of the edge's interval over the edge; none where no load was beyond the goals.
    pub(super) fn precision(&self) -> Option<f64> {
        let edge = self.result.edge?;
        let width = (edge.high() / edge.low()).ln() / 2.0;
        width.is_finite().then_some(width)
    }
}
