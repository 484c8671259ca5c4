//! An A/B run: two endpoints, round by round.

mod document;

pub(crate) use document::AB;
pub use document::{AbDocument, AbSideDocument, RoundDocument, TurnDocument};

use fizeau_core::Millis;
use fizeau_metrics::{Answer, ComparisonTable, Side, Verdict};

use serde::Serialize;

use crate::{Endpoint, JsonError, LevelReport, LevelStatus, Setup};

/// An A/B run with its rounds.
///
/// It serializes as an [`AbDocument`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "AbDocument")]
pub struct AbReport {
    /// What was run, and on what; its endpoint is that of A.
    pub setup: Setup,
    /// The baseline.
    pub a: AbParty,
    /// The candidate.
    pub b: AbParty,
    /// How many rounds there were to be.
    pub planned: u32,
    /// The pause before each turn.
    pub settle: Millis,
    /// The rounds that were begun.
    pub rounds: Vec<AbRound>,
    /// What the rounds that count come to; else why there is no answer, in plain words.
    pub comparison: Result<ComparisonTable, String>,
    /// The requests of those rounds in pairs, to stand beside; its figures have no answer. Absent where there is none.
    pub requests: Option<ComparisonTable>,
}

/// One side of an A/B run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbParty {
    /// What it was called by who ran it; absent if by nothing.
    pub name: Option<String>,
    /// What was called.
    pub endpoint: Endpoint,
}

/// One round: both sides, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct AbRound {
    /// Which, from 1.
    pub number: u32,
    /// Who went first.
    pub first: Side,
    /// What came of A's turn; absent if it was never begun.
    pub a: Option<LevelReport>,
    /// What came of B's turn; absent if it was never begun.
    pub b: Option<LevelReport>,
}

impl AbRound {
    /// The turn of `side`.
    #[must_use]
    pub const fn turn(&self, side: Side) -> Option<&LevelReport> {
        match side {
            Side::Baseline => self.a.as_ref(),
            Side::Candidate => self.b.as_ref(),
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
        Ok((turn(Side::Baseline, "A")?, turn(Side::Candidate, "B")?))
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
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The rounds that count.
    pub fn counted(&self) -> impl Iterator<Item = (&LevelReport, &LevelReport)> {
        self.rounds.iter().filter_map(|round| round.counted().ok())
    }

    /// Whether B is worse in some figure.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        let table = self.comparison.as_ref().ok();
        table.is_some_and(|table| table.answered(Answer::Worse).next().is_some())
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
