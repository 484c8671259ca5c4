//! The run at the operating point, after all levels.

use fizeau_core::{Estimate, LevelLoad, Millis, document};

use super::SweepReport;
use super::repeats::{mean_of, p99_of, requests, tokens};
use crate::goal::{GoalResult, results};
use crate::{GoalDocument, LevelReport, SummaryDocument};

/// A run at the load of the operating point, longer than a level: whether what the level promised can be kept up. It is no
/// further point of the frontier.
#[derive(Debug, Clone, PartialEq)]
pub struct SustainedRun {
    run: LevelReport,
    goals: Vec<GoalResult>,
}

document! {
    /// It, as `sweep.json` has it.
    pub(super) struct SustainedDocument as "Sustained", fn with(report: &SweepReport, sustained: &SustainedRun) {
        let same = report.level_of_sustained();
    } {
        load: LevelLoad = sustained.run.load,
        /// Whether it finished and met each goal, without its queue growing to the end.
        holds: bool = sustained.holds(),
        goals: Vec<GoalDocument> = sustained.goals.iter().copied().map(GoalDocument::from).collect(),
        /// The index of the level of the same load.
        level: Option<usize> = same.map(|(index, _)| index),
        /// What it had over what that level had, 1 being the same.
        of_level: Option<SharesOfLevel> = same.map(|(_, level)| SharesOfLevel::of(report, &sustained.run, level)),
        folder: Option<String> = sustained.run.folder.clone(),
        run: SummaryDocument = (&sustained.run).into(),
    }
}

document! {
    /// Figures of the sustained run as shares of the level's.
    #[derive(Copy)]
    pub(super) struct SharesOfLevel, fn of(report: &SweepReport, run: &LevelReport, level: &LevelReport) {
        let of = |own: Option<f64>, of: Option<f64>| {
            let share = own? / of.filter(|of| *of > 0.0)?;
            share.is_finite().then_some(share)
        };
        let share = |figure: fn(&LevelReport) -> Option<f64>| of(figure(run), figure(level));
        let [tail, tail_of_level] =
            [run.p99_e2el(), report.tail_at(level)].map(|tail| tail.map(|tail| tail.value().get()));
    } {
        requests_per_s: Option<f64> = share(|level| Some(requests(level))),
        output_tokens_per_s: Option<f64> = share(|level| Some(tokens(level))),
        mean_e2el: Option<f64> = share(|level| mean_of(&level.summary.metrics.e2el)),
        p99_e2el: Option<f64> = of(tail, tail_of_level),
    }
}

impl SustainedRun {
    /// It, as measured.
    #[must_use]
    pub const fn run(&self) -> &LevelReport {
        &self.run
    }

    /// How each goal came out.
    #[must_use]
    pub fn goals(&self) -> &[GoalResult] {
        &self.goals
    }

    /// Whether it came to its end, may be believed, kept up with its load, and met each goal: while a queue grows, goals that
    /// are met so far would be missed by a longer run.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.run.left_out().is_none()
            && !self.run.is_saturated()
            && self.goals.iter().all(GoalResult::is_met)
    }
}

impl SweepReport {
    /// The same, with a `run` at the load of its operating point, made after all levels: judged by that end of the goals for which
    /// the point was chosen.
    #[must_use]
    pub fn with_sustained(self, run: Option<LevelReport>) -> Self {
        let sustained = run.map(|run| {
            let kind = run.load.kind();
            let chosen = self.decisions.iter().find(|decision| decision.kind == kind);
            let slo = chosen.map(|decision| &decision.foremost().slo).or(self.slo.as_ref());
            let goals = slo.map_or_else(Vec::new, |slo| results(slo, &run.summary));
            Box::new(SustainedRun { run, goals })
        });
        Self { sustained, ..self }
    }

    /// The run at the load of its operating point, made after all levels.
    #[must_use]
    pub fn sustained(&self) -> Option<&SustainedRun> {
        self.sustained.as_deref()
    }

    /// The level of the same load as the run at the operating point, with its index; none without either.
    #[must_use]
    pub fn level_of_sustained(&self) -> Option<(usize, &LevelReport)> {
        let load = self.sustained()?.run.load;
        // Of a search the long level stands among the levels itself.
        let is_itself = self.answer == Some(load);
        let same = self.levels.iter().enumerate().find(|(_, level)| level.load == load);
        same.filter(|_| !is_itself)
    }

    /// The p99 E2EL of the load that a level stands for, over all of its runs.
    #[must_use]
    pub fn tail_at(&self, level: &LevelReport) -> Option<Estimate<Millis>> {
        let repeats = self.repeats().iter().find(|all| all.load() == Some(level.load));
        match repeats.and_then(|all| all.range(|run| p99_of(&run.summary.metrics.e2el))) {
            Some(range) => Some(Estimate::widened(Millis::new(range.median), None)),
            None => level.p99_e2el(),
        }
    }
}

impl SustainedDocument {
    pub(super) fn of(report: &SweepReport) -> Option<Self> {
        Some(Self::with(report, report.sustained()?))
    }
}
