//! A search as `search.json`.

use fizeau_core::{LevelLoad, LoadKind, Nanos};
use fizeau_metrics::Verdict;
use fizeau_pareto::{FigureEstimate, SearchEnding};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    MoreTime, SearchJudgement, SearchPurpose, SearchReport, SearchTarget, SearchedLevel, TimedLoad,
};
use crate::{Checklist, GoalDocument, RunSetup};

/// `search.json` (schema `fizeau.search/2`): the highest load within goals, and how it was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Search"))]
pub struct SearchDocument {
    #[cfg_attr(feature = "schema", schemars(extend("const" = SEARCH)))]
    #[serde(deserialize_with = "present_schema")]
    schema: String,
    version: String,
    /// What was run.
    pub setup: RunSetup,
    /// The worst verdict of the levels that the answer rests on.
    pub verdict: Verdict,
    /// What had to hold.
    pub slo: String,
    /// Which load was searched.
    pub over: LoadKind,
    /// The precision, the confidence and the time that were requested.
    #[serde(alias = "asked")]
    pub requested: SearchTargetDocument,
    /// Whether a load was found, and confirmed where that was asked for.
    pub met: bool,
    /// The load that was found; null with the reason where there is none.
    #[serde(alias = "found")]
    pub answer: Option<FoundLoadDocument>,
    /// Why there is none.
    #[serde(alias = "found_reason", skip_serializing_if = "Option::is_none")]
    pub answer_reason: Option<String>,
    /// What ended it.
    pub ending: String,
    /// How many levels it took, long ones at the end not counted.
    pub runs: usize,
    /// Whether no lower load missed what a higher one kept.
    pub monotone: bool,
    /// Loads of which the lower one missed what the higher one kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_monotone: Option<NonMonotoneLoads>,
    /// The best load that kept the goals, whether or not a long level confirmed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<TimedLoad>,
    /// The lowest load above it that missed them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowest_missed: Option<TimedLoad>,
    /// How long all of it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<f64>,
    /// What more time would buy; absent where it would buy nothing that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_time: Option<MoreTime>,
    /// The long level at the load that was found; null if there was none.
    pub confirmation: Option<ConfirmationDocument>,
    /// The checklist of what the search must show before it is believed.
    pub checklist: Checklist,
    /// All levels, in the order in which they were measured.
    pub levels: Vec<SearchedLevelDocument>,
}

pub(crate) const SEARCH: &str = "fizeau.search/2";

/// A document of an earlier schema is read as one of the present.
fn present_schema<'de, D: Deserializer<'de>>(schema: D) -> Result<String, D::Error> {
    IgnoredAny::deserialize(schema).map(|_| SEARCH.to_owned())
}

/// What was asked of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SearchTarget"))]
#[non_exhaustive]
pub struct SearchTargetDocument {
    /// The most levels.
    pub max_runs: u32,
    /// Half the width of its interval over it, at most.
    pub tolerance: f64,
    /// How sure the interval was to be.
    pub confidence: f64,
    /// The time for all of it, where there was a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_s: Option<f64>,
}

/// The load that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FoundLoadDocument {
    /// The highest that kept the goals.
    pub load: LevelLoad,
    /// Where the goals break.
    pub edge: f64,
    /// The lower end of its interval.
    pub edge_low: f64,
    /// The upper end; null where no load was beyond the goals.
    pub edge_high: Option<f64>,
    /// Whether the levels next to the edge had intervals of their own: else the confidence of these is assumed.
    pub confidence_known: bool,
    /// The goal that breaks first beyond it; null where none does.
    pub first_broken: Option<String>,
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

/// The long level at the load that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ConfirmationDocument {
    /// Its load.
    pub load: LevelLoad,
    /// Whether the goals held.
    pub met: bool,
    /// The higher loads at which a long level missed the goals.
    pub missed_at: Vec<LevelLoad>,
    /// How each goal came out.
    pub goals: Vec<GoalDocument>,
}

/// A level of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SearchedLevel"))]
#[non_exhaustive]
pub struct SearchedLevelDocument {
    /// What it was for.
    pub purpose: SearchPurpose,
    /// Its load.
    pub load: LevelLoad,
    /// On which side of the edge it lies: `good`, `bad` or `undecided`.
    #[serde(alias = "standing")]
    pub side: String,
    /// Whether the goals held.
    pub judgement: SearchJudgement,
    /// Whether its queue grew to the end.
    pub saturated: bool,
    /// Whether to believe it.
    pub verdict: Verdict,
    /// Its folder; null if none was written.
    pub folder: Option<String>,
    /// How long it took.
    pub duration_s: f64,
    /// How many requests were sent.
    pub requests: u64,
    /// How each goal came out.
    pub goals: Vec<GoalDocument>,
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(SearchReport, SearchDocument);

impl From<SearchReport> for SearchDocument {
    fn from(report: SearchReport) -> Self {
        let SearchTarget { most_levels, tolerance, confidence, load, budget, .. } =
            report.requested;
        let budget_s = budget.map(Nanos::as_secs_f64);
        let found = report.load().zip(report.result.edge);
        let is_run = |level: &&SearchedLevel| level.purpose != SearchPurpose::Confirmation;
        Self {
            schema: SEARCH.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            verdict: report.verdict(),
            slo: report.slo.to_string(),
            over: load,
            requested: SearchTargetDocument {
                max_runs: most_levels,
                tolerance,
                confidence,
                budget_s,
            },
            met: report.is_met(),
            answer_reason: found.is_none().then(|| report.answer()),
            answer: found.map(|(load, edge)| report.found_load(load, edge)),
            ending: report.result.ending.as_str().to_owned(),
            runs: report.levels.iter().filter(is_run).count(),
            monotone: report.result.not_monotone.is_none(),
            not_monotone: report.wrong_way(),
            best: report.best_kept().map(TimedLoad::from),
            lowest_missed: report.lowest_missed().map(TimedLoad::from),
            elapsed_s: report.elapsed.map(Nanos::as_secs_f64),
            more_time: report.more_time(),
            confirmation: report.confirmed().map(|last| report.confirmation(last)),
            levels: report.levels.iter().map(|level| report.level(level)).collect(),
            setup: report.setup,
            checklist: report.checklist,
        }
    }
}

impl SearchReport {
    fn found_load(&self, load: LevelLoad, edge: FigureEstimate) -> FoundLoadDocument {
        let is_open = self.result.ending == SearchEnding::AllGood || edge.high().is_infinite();
        FoundLoadDocument {
            load,
            edge: edge.value(),
            edge_low: edge.low(),
            edge_high: (!is_open).then(|| edge.high()),
            confidence_known: self.result.has_errors,
            first_broken: self.first_broken.map(|goal| goal.to_string()),
        }
    }

    fn wrong_way(&self) -> Option<NonMonotoneLoads> {
        let (missed, kept) = self.result.not_monotone?;
        let load = |index| Some(self.evaluation(index)?.level.load.value());
        Some(NonMonotoneLoads { missed_at: load(missed)?, kept_at: load(kept)? })
    }

    fn confirmation(&self, last: &SearchedLevel) -> ConfirmationDocument {
        let goals = self.goals_at(last).into_iter().map(GoalDocument::from).collect();
        let others = self.refuted().filter(|level| level.level.load != last.level.load);
        let missed_at = others.map(|level| level.level.load).collect();
        ConfirmationDocument { load: last.level.load, met: last.holds(), missed_at, goals }
    }

    fn level(&self, searched: &SearchedLevel) -> SearchedLevelDocument {
        let level = &searched.level;
        SearchedLevelDocument {
            purpose: searched.purpose,
            load: level.load,
            side: searched.side_key().to_owned(),
            judgement: searched.judgement,
            saturated: level.is_saturated(),
            verdict: level.validity.verdict,
            folder: level.folder.clone(),
            duration_s: level.summary.throughput.duration.get(),
            requests: level.summary.requests.sent,
            goals: self.goals_at(searched).into_iter().map(GoalDocument::from).collect(),
        }
    }
}
