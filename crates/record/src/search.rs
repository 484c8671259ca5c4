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
use fizeau_metrics::{Goal, Slo, Verdict, VerdictConcern, VerdictReason};
use fizeau_pareto::{EdgeSide, SearchEnding, SearchResult};
use serde::{Deserialize, Serialize};

use crate::{Checklist, GoalResult, LevelReport, RunSetup};

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
    /// The answer, in the unit of [`SearchTarget::load`]. Its indices are of the evaluations alone that are evidence, in their order.
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
    #[serde(rename = "met", alias = "held")]
    Held,
    /// A goal was missed.
    Missed,
    /// Too many requests failed.
    Failing,
    /// The queue grew to the end.
    Saturated,
    /// Its verdict is invalid for another reason than failures, so that it shows neither.
    Invalid,
}

/// What a level of a search was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SearchPurpose {
    /// A closed loop that says where to begin.
    Start,
    /// To find the edge.
    #[serde(rename = "search", alias = "evaluation")]
    Evaluation,
    /// To see whether the goals hold for long.
    #[serde(rename = "confirm", alias = "confirmation")]
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

    /// Whether the answer is there, and to be believed.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.is_met() && self.verdict() != Verdict::Invalid
    }

    /// The gravest verdict of the levels that the answer rests on; where it rests on none, invalid if one was measured.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let verdicts = self.levels.iter().filter(|level| level.is_evidence()).map(|level| {
            let reasons = level.doubts().map(|reason| reason.verdict).max();
            // A load that kept the goals is believed as its level is.
            let own = (level.side != EdgeSide::Bad).then_some(level.level.validity.verdict);
            reasons.max(own).unwrap_or(Verdict::Valid)
        });
        let none = if self.levels.is_empty() { Verdict::Valid } else { Verdict::Invalid };
        verdicts.max().unwrap_or(none)
    }

    /// How the goals came out at a level.
    #[must_use]
    pub fn goals_at(&self, level: &SearchedLevel) -> Vec<GoalResult> {
        crate::goal::results(&self.slo, &level.level.summary)
    }

    /// The last long level.
    fn confirmed(&self) -> Option<&SearchedLevel> {
        self.long().next_back()
    }

    /// The long levels that missed the goals.
    fn refuted(&self) -> impl Iterator<Item = &SearchedLevel> {
        self.long().filter(|level| !level.holds())
    }

    /// The long levels that tell something.
    fn long(&self) -> impl DoubleEndedIterator<Item = &SearchedLevel> {
        let long = |level: &&SearchedLevel| level.purpose == SearchPurpose::Confirmation;
        self.levels.iter().filter(|level| level.is_evidence()).filter(long)
    }

    /// Whether it was searched in virtual time; an engine that is simulated in real time is measured.
    fn is_simulated(&self) -> bool {
        !self.levels.is_empty() && self.levels.iter().all(|of| of.level.is_simulated())
    }

    /// The evaluations alone, which tell something.
    fn evaluations(&self) -> impl Iterator<Item = &SearchedLevel> {
        let short = |level: &&SearchedLevel| level.purpose == SearchPurpose::Evaluation;
        self.levels.iter().filter(|level| level.is_evidence()).filter(short)
    }

    fn evaluation(&self, index: usize) -> Option<&SearchedLevel> {
        self.evaluations().nth(index)
    }
}

impl SearchedLevel {
    /// On which side of the edge it lies, as files have it.
    #[must_use]
    pub(crate) const fn side_key(&self) -> &'static str {
        match self.side {
            EdgeSide::Good => "good",
            EdgeSide::Bad => "bad",
            EdgeSide::Undecided => "undecided",
        }
    }

    /// Whether it tells on which side of the edge its load lies.
    #[must_use]
    pub fn is_evidence(&self) -> bool {
        self.judgement != SearchJudgement::Invalid
    }

    /// What speaks against what it shows. That requests fail and queues grow beyond the edge is what it shows.
    pub fn doubts(&self) -> impl Iterator<Item = &VerdictReason> {
        let is_beyond = self.side == EdgeSide::Bad;
        self.level.validity.reasons.iter().filter(move |reason| {
            let is_of_load =
                matches!(reason.about, VerdictConcern::Failures | VerdictConcern::Saturation);
            reason.verdict != Verdict::Valid && !(is_beyond && is_of_load)
        })
    }

    /// Whether it is a short level that lies too near to the edge to be called kept or missed.
    fn is_undecided(&self) -> bool {
        self.side == EdgeSide::Undecided && self.purpose == SearchPurpose::Evaluation
    }

    fn holds(&self) -> bool {
        self.judgement == SearchJudgement::Held
    }
}
