//! The list of what a benchmark must show before it is believed: each row with its outcome and the evidence.

mod check;

pub use check::{ChecklistItem, RequiredChecks, UnknownCheck};

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a benchmark must show before it is believed, row by row, as it came out of one run.
///
/// It is computed of what reports hold anyway and serializes as a list of `row`, `outcome` and `evidence`.
///
/// ```
/// # use fizeau_record::*;
/// # fn checked(setup: &RunSetup, levels: &[LevelReport]) -> Result<(), UnknownCheck> {
/// let checklist = Checklist::of(setup, levels);
/// let required: RequiredChecks = "client,tail,duration".parse()?;
/// for row in checklist.missed(&required) {
///     eprintln!("required and not met: {row}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checklist {
    pub(crate) rows: Vec<ChecklistRow>,
}

/// One row: what was asked, how it came out, and what shows that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChecklistRow {
    /// What was asked.
    #[serde(rename = "row")]
    pub check: ChecklistItem,
    /// How it came out.
    pub outcome: CheckOutcome,
    /// What shows it, with figures, in one line.
    pub evidence: String,
}

/// How a row came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CheckOutcome {
    /// It holds.
    Pass,
    /// It does not hold.
    Fail,
    /// What is there does not tell. Where the row is required that is as good as a failure: it was not shown.
    Unknown,
    /// It is asked of hardware or of a client, and a simulation has none: neither for the run nor against it.
    Simulated,
}

impl Checklist {
    /// The list of a run that cannot be judged, because of `evidence`.
    #[must_use]
    pub fn unknown(evidence: &str) -> Self {
        let row = |check: ChecklistItem| ChecklistRow {
            check,
            outcome: CheckOutcome::Unknown,
            evidence: evidence.to_owned(),
        };
        Self { rows: ChecklistItem::ALL.into_iter().map(row).collect() }
    }

    /// All rows, in the order of [`ChecklistItem::ALL`].
    #[must_use]
    pub fn rows(&self) -> &[ChecklistRow] {
        &self.rows
    }

    /// How many rows came out so.
    #[must_use]
    pub fn count(&self, outcome: CheckOutcome) -> usize {
        self.rows.iter().filter(|row| row.outcome == outcome).count()
    }

    /// The rows that were required and not shown: failed or unknown.
    pub fn missed<'a>(
        &'a self,
        required: &'a RequiredChecks,
    ) -> impl Iterator<Item = &'a ChecklistRow> {
        self.rows.iter().filter(|row| required.contains(row.check) && row.outcome.is_missed())
    }
}

impl CheckOutcome {
    /// Whether a row that came out so was not shown.
    #[must_use]
    pub const fn is_missed(self) -> bool {
        matches!(self, Self::Fail | Self::Unknown)
    }
}

fizeau_core::words! {
    /// The name in files and reports.
    pub CheckOutcome::as_str {
        Pass = "pass", Fail = "fail", Unknown = "unknown", Simulated = "simulated",
    }
}

impl fmt::Display for ChecklistRow {
    /// `fail duration: 18.2 s, 60 s wanted`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { check, outcome, evidence } = self;
        write!(f, "{} {check}: {evidence}", outcome.as_str())
    }
}
