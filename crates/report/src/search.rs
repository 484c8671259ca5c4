//! A search: the highest load within goals, and how it was found.

mod json;
mod text;

use fizeau_metrics::{Goal, Slo, Verdict};
use fizeau_pareto::{Found, SearchEnding, Standing};

use crate::{GoalResult, LevelReport, LoadPoint, Setup};

/// What came of a search. It serializes as `search.json` (schema `fizeau.search/1`).
#[derive(Debug, Clone)]
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
}

/// What was asked of the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchAsked {
    /// Which load was searched.
    pub load: SearchedLoad,
    /// The most levels, long ones at the end not counted.
    pub most_levels: u32,
    /// Half the width of the answer's interval over the answer, at most.
    pub tolerance: f64,
    /// How sure the interval was to be.
    pub confidence: f64,
}

/// Which load is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchedLoad {
    /// Requests sent per second.
    Rate,
    /// Requests in flight.
    Concurrency,
}

/// A level of a search.
#[derive(Debug, Clone)]
pub struct SearchedLevel {
    /// What it was for.
    pub purpose: SearchPurpose,
    /// On which side of the edge it lies, by itself.
    pub standing: Standing,
    /// What was measured.
    pub level: LevelReport,
}

/// What a level of a search was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchPurpose {
    /// A closed loop that says where to begin.
    Start,
    /// To find the edge.
    Evaluation,
    /// To see whether the goals hold for long.
    Confirmation,
}

impl SearchReport {
    /// The load that was found; none if there is none.
    #[must_use]
    pub fn load(&self) -> Option<LoadPoint> {
        Some(self.asked.load.point(self.found.load?))
    }

    /// Whether an answer was found, and the goals held in the long level, where there was one.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let is_found = self.found.load.is_some()
            && !matches!(self.found.ending, SearchEnding::Unmet | SearchEnding::BrokenOff);
        is_found && self.confirmed().is_none_or(|last| self.holds(last))
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
        crate::sweep::results(&self.slo, &level.level.summary)
    }

    /// The last long level.
    fn confirmed(&self) -> Option<&SearchedLevel> {
        self.levels.iter().rfind(|level| level.purpose == SearchPurpose::Confirmation)
    }

    fn holds(&self, level: &SearchedLevel) -> bool {
        level.is_borne() && self.goals_at(level).iter().all(GoalResult::is_met)
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
    fn is_borne(&self) -> bool {
        !self.level.is_saturated()
    }
}

impl SearchedLoad {
    /// A load of this kind.
    #[must_use]
    pub fn point(self, load: f64) -> LoadPoint {
        match self {
            Self::Rate => LoadPoint::Rate(fizeau_core::PerSec::new(load)),
            // A cast of a number beyond what the type holds gives the greatest there is.
            Self::Concurrency => LoadPoint::Concurrency(load as u32),
        }
    }
}
