//! A search as `search.json`.

use fizeau_core::{LevelLoad, LoadKind, Nanos, document};
use fizeau_metrics::Verdict;
use fizeau_pareto::{FigureEstimate, SearchEnding};
use serde::{Deserialize, Serialize};

use super::{
    MoreTime, SearchJudgement, SearchPurpose, SearchReport, SearchTarget, SearchedLevel, TimedLoad,
};
use crate::{Checklist, GoalDocument, RunSetup};

pub(crate) const SEARCH: &str = "fizeau.search/2";

document! {
    /// `search.json` (schema `fizeau.search/2`): the highest load within goals, and how it was found.
    pub struct SearchDocument as "Search" of SEARCH, from |report: SearchReport| {
        let result = &report.result;
        let is_run = |level: &&SearchedLevel| level.purpose != SearchPurpose::Confirmation;
    } {
        /// What was run.
        pub setup: RunSetup = report.setup.clone(),
        /// The worst verdict of the levels that the answer rests on.
        pub verdict: Verdict = report.verdict(),
        /// What had to hold.
        pub slo: String = report.slo.to_string(),
        /// Which load was searched.
        pub over: LoadKind = report.requested.load,
        /// The precision, the confidence and the time that were requested.
        #[serde(alias = "asked")]
        pub requested: SearchTargetDocument = (&report.requested).into(),
        /// Whether a load was found, and confirmed where that was asked for.
        pub met: bool = report.is_met(),
        /// The load that was found; null with the reason where there is none.
        #[serde(alias = "found")]
        pub answer,
        /// Why there is none.
        #[serde(alias = "found_reason")]
        pub answer_reason: FoundLoadDocument = match report.load().zip(result.edge) {
            Some((load, edge)) => Ok(FoundLoadDocument::of(&report, load, edge)),
            None => Err(report.answer()),
        },
        /// What ended it.
        pub ending: String = result.ending.as_str().to_owned(),
        /// How many levels it took, long ones at the end not counted.
        pub runs: usize = report.levels.iter().filter(is_run).count(),
        /// Whether no lower load missed what a higher one kept.
        pub monotone: bool = result.not_monotone.is_none(),
        /// Loads of which the lower one missed what the higher one kept.
        pub not_monotone?: NonMonotoneLoads = report.wrong_way(),
        /// The best load that kept the goals, whether or not a long level confirmed it.
        pub best?: TimedLoad = report.best_kept().map(TimedLoad::from),
        /// The lowest load above it that missed them.
        pub lowest_missed?: TimedLoad = report.lowest_missed().map(TimedLoad::from),
        /// How long all of it took.
        pub elapsed_s?: f64 = report.elapsed.map(Nanos::as_secs_f64),
        /// What more time would buy; absent where it would buy nothing that was asked for.
        pub more_time?: MoreTime = report.more_time(),
        /// The long level at the load that was found; null if there was none.
        pub confirmation: Option<ConfirmationDocument> =
            report.confirmed().map(|last| ConfirmationDocument::of(&report, last)),
        /// The checklist of what the search must show before it is believed.
        pub checklist: Checklist = report.checklist.clone(),
        /// All levels, in the order in which they were measured.
        pub levels: Vec<SearchedLevelDocument> =
            report.levels.iter().map(|level| SearchedLevelDocument::of(&report, level)).collect(),
    }
}

document! {
    /// What was asked of the answer.
    #[derive(Copy)]
    #[non_exhaustive]
    pub struct SearchTargetDocument as "SearchTarget", from |target: &SearchTarget| {} {
        /// The most levels.
        pub max_runs: u32 = target.most_levels,
        /// Half the width of its interval over it, at most.
        pub tolerance: f64 = target.tolerance,
        /// How sure the interval was to be.
        pub confidence: f64 = target.confidence,
        /// The time for all of it, where there was a limit.
        pub budget_s?: f64 = target.budget.map(Nanos::as_secs_f64),
    }
}

document! {
    /// The load that was found.
    #[non_exhaustive]
    pub struct FoundLoadDocument, fn of(report: &SearchReport, found: LevelLoad, of_edge: FigureEstimate) {
        let is_open = report.result.ending == SearchEnding::AllGood || of_edge.high().is_infinite();
    } {
        /// The highest that kept the goals.
        pub load: LevelLoad = found,
        /// Where the goals break.
        pub edge: f64 = of_edge.value(),
        /// The lower end of its interval.
        pub edge_low: f64 = of_edge.low(),
        /// The upper end; null where no load was beyond the goals.
        pub edge_high: Option<f64> = (!is_open).then(|| of_edge.high()),
        /// Whether the levels next to the edge had intervals of their own: else the confidence of these is assumed.
        pub confidence_known: bool = report.result.has_errors,
        /// The goal that breaks first beyond it; null where none does.
        pub first_broken: Option<String> = report.first_broken.map(|goal| goal.to_string()),
    }
}

/// Loads of which the lower one missed what the higher one kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NonMonotoneLoads {
    /// The lower one.
    pub missed_at: f64,
    /// The higher one.
    pub kept_at: f64,
}

document! {
    /// The long level at the load that was found.
    #[non_exhaustive]
    pub struct ConfirmationDocument, fn of(report: &SearchReport, last: &SearchedLevel) {
        let others = report.refuted().filter(|level| level.level.load != last.level.load);
    } {
        /// Its load.
        pub load: LevelLoad = last.level.load,
        /// Whether the goals held.
        pub met: bool = last.holds(),
        /// The higher loads at which a long level missed the goals.
        pub missed_at: Vec<LevelLoad> = others.map(|level| level.level.load).collect(),
        /// How each goal came out.
        pub goals: Vec<GoalDocument> = report.goals_at(last).into_iter().map(GoalDocument::from).collect(),
    }
}

document! {
    /// A level of a search.
    #[non_exhaustive]
    pub struct SearchedLevelDocument as "SearchedLevel", fn of(report: &SearchReport, searched: &SearchedLevel) {
        let level = &searched.level;
    } {
        /// What it was for.
        pub purpose: SearchPurpose = searched.purpose,
        /// Its load.
        pub load: LevelLoad = level.load,
        /// On which side of the edge it lies: `good`, `bad` or `undecided`.
        #[serde(alias = "standing")]
        pub side: String = searched.side_key().to_owned(),
        /// Whether the goals held.
        pub judgement: SearchJudgement = searched.judgement,
        /// Whether its queue grew to the end.
        pub saturated: bool = level.is_saturated(),
        /// Whether to believe it.
        pub verdict: Verdict = level.validity.verdict,
        /// Its folder; null if none was written.
        pub folder: Option<String> = level.folder.clone(),
        /// How long it took.
        pub duration_s: f64 = level.summary.throughput.duration.get(),
        /// How many requests were sent.
        pub requests: u64 = level.summary.requests.sent,
        /// How each goal came out.
        pub goals: Vec<GoalDocument> = report.goals_at(searched).into_iter().map(GoalDocument::from).collect(),
    }
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(SearchReport, SearchDocument);

impl SearchReport {
    fn wrong_way(&self) -> Option<NonMonotoneLoads> {
        let (missed, kept) = self.result.not_monotone?;
        let load = |index| Some(self.evaluation(index)?.level.load.value());
        Some(NonMonotoneLoads { missed_at: load(missed)?, kept_at: load(kept)? })
    }
}
