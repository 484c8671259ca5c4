//! An A/B run: two endpoints, round by round.

mod document;

pub(crate) use document::AB;
pub use document::{AbDocument, RoundDocument, TurnDocument};

use fizeau_core::Millis;
use fizeau_metrics::{ComparisonAnswer, ComparisonSide, ComparisonTable, Slo, Verdict};

use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::reasons::listed;
use crate::reasons::reasons;
use crate::{
    Checklist, EndpointRecord, GoalResult, JsonError, LevelReport, LevelStatus, RunSetup,
    ShardsReport,
};

/// An A/B run with its rounds.
///
/// It serializes as an [`AbDocument`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "AbDocument")]
#[non_exhaustive]
pub struct AbReport {
    /// What was run, and on what; its endpoint is that of A.
    pub setup: RunSetup,
    /// The baseline.
    pub a: AbParty,
    /// The candidate.
    pub b: AbParty,
    /// How many rounds there were to be.
    pub planned: u32,
    /// The pause before each turn.
    pub settle: Millis,
    /// What each side must keep over its rounds; none where nobody asked.
    pub slo: Option<Slo>,
    /// The rounds that were begun.
    pub rounds: Vec<AbRound>,
    /// What the rounds that count come to; else why there is no answer, in plain words.
    pub comparison: Result<ComparisonTable, String>,
    /// The requests of those rounds in pairs, to stand beside; its figures have no answer. Absent where there is none.
    pub requests: Option<ComparisonTable>,
}

impl AbReport {
    /// What `rounds` of the `planned` came to, of `sides` A and B, one right after the other and with nothing that they must keep.
    #[must_use]
    pub fn new(
        setup: RunSetup,
        sides: [AbParty; 2],
        planned: u32,
        rounds: Vec<AbRound>,
        comparison: Result<ComparisonTable, String>,
    ) -> Self {
        let [a, b] = sides;
        let (settle, slo, requests) = (Millis::new(0.0), None, None);
        Self { setup, a, b, planned, settle, slo, rounds, comparison, requests }
    }

    /// What all turns together must show before they are believed.
    #[must_use]
    pub fn checklist(&self) -> Checklist {
        let turns = self.rounds.iter().flat_map(|round| [&round.a, &round.b]).flatten();
        Checklist::of(&self.setup, &turns.collect::<Vec<_>>())
    }

    /// How each client fared over all turns; none where one measured alone.
    #[must_use]
    pub fn shards(&self) -> Option<ShardsReport> {
        let turns = self.rounds.iter().flat_map(|round| [&round.a, &round.b]).flatten();
        ShardsReport::over_levels(turns.filter_map(|level| level.shards.as_deref()))
    }
}

/// One side of an A/B run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = listed::<Self>))]
pub struct AbParty {
    /// What it was called by who ran it; null if by nothing.
    pub name: Option<String>,
    /// What was called.
    pub endpoint: EndpointRecord,
}

reasons!(AbParty, |party| { name => "none was given" });

/// One round: both sides, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct AbRound {
    /// Which, from 1.
    pub number: u32,
    /// Who went first.
    pub first: ComparisonSide,
    /// What came of A's turn; absent if it was never begun.
    pub a: Option<LevelReport>,
    /// What came of B's turn; absent if it was never begun.
    pub b: Option<LevelReport>,
}

impl AbRound {
    /// The turn of `side`.
    #[must_use]
    pub const fn turn(&self, side: ComparisonSide) -> Option<&LevelReport> {
        match side {
            ComparisonSide::Baseline => self.a.as_ref(),
            ComparisonSide::Candidate => self.b.as_ref(),
        }
    }

    /// Both turns, A's first, if the round counts: both ended, and neither is invalid. Else why not, in plain words.
    ///
    /// # Errors
    /// If it does not count.
    pub fn counted(&self) -> Result<(&LevelReport, &LevelReport), String> {
        let turn = |side, name| match self.turn(side) {
            None => Err(format!("{name} was not measured")),
            Some(level) if matches!(level.status, LevelStatus::Partial { .. }) => {
                Err(format!("{name} was interrupted"))
            }
            Some(level) if level.validity.verdict == Verdict::Invalid => {
                Err(format!("{name} is invalid: {}", worst(level)))
            }
            Some(level) => Ok(level),
        };
        Ok((turn(ComparisonSide::Baseline, "A")?, turn(ComparisonSide::Candidate, "B")?))
    }
}

/// What speaks most against a level.
fn worst(level: &LevelReport) -> &str {
    let reasons = &level.validity.reasons;
    let worst = reasons.iter().find(|reason| reason.verdict == level.validity.verdict);
    worst.map_or("no reason given", |reason| &reason.text)
}

impl AbReport {
    /// The content of `ab.json`, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, JsonError> {
        JsonError::pretty(self)
    }

    /// The rounds that count.
    pub fn counted(&self) -> impl Iterator<Item = (&LevelReport, &LevelReport)> {
        self.rounds.iter().filter_map(|round| round.counted().ok())
    }

    /// How the goals came out on `side`, over its turns in the rounds that count: at their tight ends, unless it keeps the loose ones
    /// alone. Empty where no goals were asked for, or no round counts.
    #[must_use]
    pub fn goals(&self, side: ComparisonSide) -> Vec<GoalResult> {
        let Some(slo) = &self.slo else { return Vec::new() };
        let tight = self.results(&slo.tight(), side);
        let is_met = |results: &[GoalResult]| results.iter().all(GoalResult::is_met);
        let loose = (slo.is_range() && !is_met(&tight)).then(|| self.results(&slo.loose(), side));
        loose.filter(|loose| is_met(loose)).unwrap_or(tight)
    }

    /// Whether goals were asked for and `side` misses one over its rounds, not even at its loose end met; so it does where no round
    /// counts, and where its queue [grew](Self::is_saturated).
    #[must_use]
    pub fn misses_goals(&self, side: ComparisonSide) -> bool {
        let goals = self.goals(side);
        let is_met = !goals.is_empty() && goals.iter().all(GoalResult::is_met);
        self.slo.is_some() && (!is_met || self.is_saturated(side))
    }

    /// Whether the queue of `side` grew to the end in most of the rounds that count: goals that it met so far it would not keep for
    /// longer.
    #[must_use]
    pub fn is_saturated(&self, side: ComparisonSide) -> bool {
        let (grew, did_not): (Vec<bool>, Vec<bool>) =
            self.turns(side).map(LevelReport::is_saturated).partition(|grew| *grew);
        grew.len() > did_not.len()
    }

    /// The turns of `side` in the rounds that count.
    fn turns(&self, side: ComparisonSide) -> impl Iterator<Item = &LevelReport> {
        self.counted().map(move |(a, b)| match side {
            ComparisonSide::Baseline => a,
            ComparisonSide::Candidate => b,
        })
    }

    fn results(&self, slo: &Slo, side: ComparisonSide) -> Vec<GoalResult> {
        let turns: Vec<_> = self.turns(side).map(|level| &level.summary).collect();
        let Some(first) = turns.first() else { return Vec::new() };
        let over = |goal| GoalResult::over_runs(goal, first, turns.iter().copied());
        slo.goals.iter().map(over).collect()
    }

    /// Whether B is worse in some figure, or nothing could be tested: where nothing was, nothing was shown not to be worse.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        self.comparison.as_ref().map_or(true, |table| {
            table.family_size() == 0 || table.answered(ComparisonAnswer::Worse).next().is_some()
        })
    }

    /// Whether its turns are to be believed, and B keeps the goals that were asked for. Whether it may be worse than A is another question:
    /// [`is_regression`](Self::is_regression).
    #[must_use]
    pub fn passes(&self) -> bool {
        self.verdict() != Verdict::Invalid && !self.misses_goals(ComparisonSide::Candidate)
    }

    /// The worst verdict of any turn that ended.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let turns = self.rounds.iter().flat_map(|round| [&round.a, &round.b]).flatten();
        let ended = turns.filter(|level| level.status == LevelStatus::Finished);
        ended.map(|level| level.validity.verdict).max().unwrap_or(Verdict::Invalid)
    }
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(AbReport, AbDocument);
