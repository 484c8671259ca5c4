//! How far all of a sweep is to be believed.

use fizeau_metrics::Verdict;

use crate::{LevelReport, LevelStatus, SweepReport};

impl SweepReport {
    /// The worst verdict of all runs that were measured, [as it counts](SweepReport::verdict_beside_others); invalid if there is none, since nothing
    /// was shown.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let verdicts =
            self.measured_runs().map(|run| self.verdict_beside_others(run, run.validity.verdict));
        verdicts.max().unwrap_or(Verdict::Invalid)
    }

    /// How a `verdict` on `run` counts for all of it: a run that was broken off before anything completed shows nothing either way, and
    /// beside others makes the whole suspect at worst.
    #[must_use]
    pub fn verdict_beside_others(&self, run: &LevelReport, verdict: Verdict) -> Verdict {
        let is_broken_off = |run: &LevelReport| {
            run.status != LevelStatus::Finished && run.summary.requests.completed == 0
        };
        let is_beside_others = || self.measured_runs().any(|run| !is_broken_off(run));
        if is_broken_off(run) && is_beside_others() {
            return verdict.min(Verdict::Suspect);
        }
        verdict
    }
}
