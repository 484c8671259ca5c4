//! A search: the highest load within goals, and how it was found.

mod json;
mod words;

pub(crate) use json::SEARCH;
pub use json::{
    AskedDocument, Confirmation, FoundLoad, SearchDocument, SearchedDocument, WrongWay,
};

use fizeau_core::LoadKind;
use fizeau_metrics::{Goal, Slo, Verdict};
use fizeau_pareto::{Found, SearchEnding, Standing};
use serde::{Deserialize, Serialize};

use crate::{Checklist, Engine, GoalResult, LevelReport, LoadPoint, Setup};

/// What came of a search. It serializes as a [`SearchDocument`].
#[derive(Debug, Clone, Serialize)]
#[serde(into = "SearchDocument")]
pub struct SearchReport {
    /// What was run.
    pub setup: Setup,
    /// What had to hold.
    pub slo: Slo,
    /// What was asked of the answer.
    pub asked: SearchAsked,
    /// The answer, in the unit of [`SearchAsked::load`]. Its indices are of the evaluations alone, in their order.
    pub found: Found,
    /// The goal that breaks first beyond it; none where no goal does.
    pub first_broken: Option<Goal>,
    /// All levels, in the order in which they were measured.
    pub levels: Vec<SearchedLevel>,
    /// What the search is held against before it is believed.
    pub checklist: Checklist,
}

/// What was asked of the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchAsked {
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
}

/// A level of a search.
#[derive(Debug, Clone)]
pub struct SearchedLevel {
    /// What it was for.
    pub purpose: SearchPurpose,
    /// On which side of the edge it lies, by itself.
    pub standing: Standing,
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
    pub fn load(&self) -> Option<LoadPoint> {
        Some(LoadPoint::of(self.asked.load, self.found.load?))
    }

    /// Whether an answer was found, and the goals held in the long level, where there was one.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let is_found = self.found.load.is_some()
            && !matches!(self.found.ending, SearchEnding::Unmet | SearchEnding::BrokenOff);
        is_found && self.confirmed().is_none_or(SearchedLevel::holds)
    }

    /// The gravest verdict of all levels.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        // A load beyond the edge may fail as it likes.
        let levels = self.levels.iter().filter(|level| level.standing != Standing::Bad);
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
        matches!(self.setup.engine, Engine::Simulated { .. })
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
    /// On which side of the edge it lies, as files and tables have it.
    #[must_use]
    pub const fn side(&self) -> &'static str {
        match self.standing {
            Standing::Good => "good",
            Standing::Bad => "bad",
            Standing::Undecided => "undecided",
        }
    }

    fn holds(&self) -> bool {
        self.judgement == SearchJudgement::Held
    }
}
