//! A search: the highest load within goals, and how it was found.

mod best;
mod json;
mod words;

pub use best::{MoreTime, TimedLoad};
pub(crate) use json::SEARCH;
pub use json::{
    ConfirmationDocument, FoundLoadDocument, NonMonotoneLoads, SearchDocument,
    SearchTargetDocument, SearchedLevelDocument,
};

use fizeau_core::{LevelLoad, LoadKind, Nanos};
use fizeau_metrics::{Goal, Slo, Verdict};
use fizeau_pareto::{EdgeSide, SearchEnding, SearchResult};
use serde::{Deserialize, Serialize};

use crate::{Checklist, EngineRecord, GoalResult, LevelReport, RunSetup};

/// The outcome of a search. It serializes as a [`SearchDocument`].
#[derive(Debug, Clone, Serialize)]
#[serde(into = "SearchDocument")]
#[non_exhaustive]
pub struct SearchReport {
    /// What was run.
    pub setup: RunSetup,
    /// What had to hold.
    pub slo: Slo,
    /// What was asked of the answer.
    pub requested: SearchTarget,
    /// The answer, in the unit of [`SearchTarget::load`]. Its indices are of the evaluations alone, in their order.
    pub result: SearchResult,
    /// The goal that breaks first beyond it; none where no goal does.
    pub first_broken: Option<Goal>,
    /// All levels, in the order in which they were measured.
    pub levels: Vec<SearchedLevel>,
    /// How long all of it took, on the clock that it was measured by.
    pub elapsed: Option<Nanos>,
    /// The checklist of what the search must show before it is believed.
    pub checklist: Checklist,
}

impl SearchReport {
    /// The `result` of a search within `slo` over `levels`; no goal breaks beyond it, and nobody took the time.
    #[must_use]
    pub const fn new(
        setup: RunSetup,
        slo: Slo,
        requested: SearchTarget,
        result: SearchResult,
        levels: Vec<SearchedLevel>,
        checklist: Checklist,
    ) -> Self {
        Self { setup, slo, requested, result, first_broken: None, levels, elapsed: None, checklist }
    }
}

/// What was asked of the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchTarget {
    /// Which load was searched.
    pub load: LoadKind,
    /// The most levels, long ones at the end not counted.
    pub most_levels: u32,
    /// Half the width of the answer's interval over the answer, at most.
    pub tolerance: f64,
    /// How sure the interval was to be.
    pub confidence: f64,
    /// The lowest load to try, where it was given.
    pub from: Option<f64>,
    /// The highest.
    pub to: Option<f64>,
    /// The time for all of it, where there was a limit.
    pub budget: Option<Nanos>,
    /// The most that a level may take which confirms the answer; none where none is asked for.
    pub confirm: Option<Nanos>,
}

/// A level of a search.
#[derive(Debug, Clone)]
pub struct SearchedLevel {
    /// What it was for.
    pub purpose: SearchPurpose,
    /// On which side of the edge it lies, by itself.
    pub side: EdgeSide,
    /// Whether the goals held, by the judgement that steered the search.
    pub judgement: SearchJudgement,
    /// What was measured.
    pub level: LevelReport,
}

/// How a level of a search came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SearchJudgement {
    /// Each goal was met, and the load was borne.
    Held,
    /// A goal was missed.
    Missed,
    /// Too many requests failed.
    Failing,
    /// The queue grew to the end.
    Saturated,
}

/// What a level of a search was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SearchPurpose {
    /// A closed loop that says where to begin.
    Start,
    /// To find the edge.
    Evaluation,
    /// To see whether the goals hold for long.
    Confirmation,
}

impl SearchReport {
    /// The load that was found, and confirmed where that was asked for; none if there is none.
    #[must_use]
    pub fn load(&self) -> Option<LevelLoad> {
        Some(self.requested.load.at(self.result.load?))
    }

    /// Whether an answer was found, and the goals held in the long level, where there was one.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let is_found = self.result.load.is_some()
            && !matches!(self.result.ending, SearchEnding::Unmet | SearchEnding::BrokenOff);
        is_found && self.confirmed().is_none_or(SearchedLevel::holds)
    }

    /// The gravest verdict of all levels.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        // A load beyond the edge may fail as it likes.
        let levels = self.levels.iter().filter(|level| level.side != EdgeSide::Bad);
        let verdicts = levels.map(|level| level.level.validity.verdict);
        verdicts.max().unwrap_or(Verdict::Valid)
    }

    /// How the goals came out at a level.
    #[must_use]
    pub fn goals_at(&self, level: &SearchedLevel) -> Vec<GoalResult> {
        crate::goal::results(&self.slo, &level.level.summary)
    }

    /// The last long level.
    fn confirmed(&self) -> Option<&SearchedLevel> {
        self.levels.iter().rfind(|level| level.purpose == SearchPurpose::Confirmation)
    }

    /// The long levels that missed the goals.
    fn refuted(&self) -> impl Iterator<Item = &SearchedLevel> {
        let long = self.levels.iter().filter(|level| level.purpose == SearchPurpose::Confirmation);
        long.filter(|level| !level.holds())
    }

    const fn is_simulated(&self) -> bool {
        matches!(self.setup.engine, EngineRecord::Simulated { .. })
    }

    /// The evaluations alone.
    fn evaluations(&self) -> impl Iterator<Item = &SearchedLevel> {
        self.levels.iter().filter(|level| level.purpose == SearchPurpose::Evaluation)
    }

    fn evaluation(&self, index: usize) -> Option<&SearchedLevel> {
        self.evaluations().nth(index)
    }
}

impl SearchedLevel {
    /// On which side of the edge it lies, as files have it.
    #[must_use]
    pub const fn side_key(&self) -> &'static str {
        match self.side {
            EdgeSide::Good => "good",
            EdgeSide::Bad => "bad",
            EdgeSide::Undecided => "undecided",
        }
    }

    fn holds(&self) -> bool {
        self.judgement == SearchJudgement::Held
    }
}
