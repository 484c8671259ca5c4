//! Runs against a baseline: the whole text, and `fizeau.comparison/1`.

mod distance;
mod document;

pub use distance::{FrontierChange, FrontierDistance, FrontierPoint};
pub use document::{CompareDocument, ComparisonDocument, FigureDifference, TestedDifference};

use std::fmt;

use fizeau_metrics::{ComparisonAnswer, ComparisonTable};
use serde::{Deserialize, Serialize};

use crate::{ChangedField, JsonError};

/// A comparison and what its sides are called.
///
/// ```
/// use fizeau_metrics::{ComparisonSettings, ComparisonTable, LevelFigure, RoundFigures};
/// use fizeau_record::{ComparisonDocument, ComparisonView};
/// let rounds = |ttft: [f64; 6]| ttft.map(|ms| RoundFigures::from_iter([(LevelFigure::P50_TTFT, ms)]));
/// let before = rounds([50.1, 49.8, 50.6, 50.3, 49.9, 50.4]);
/// let after = rounds([48.0, 47.9, 48.8, 48.1, 47.7, 48.5]);
/// let table = ComparisonTable::of_rounds(&before, &after, &ComparisonSettings::default())?;
/// let view = ComparisonView { table: &table, baseline: "v1", candidate: "v2" };
/// assert_eq!(view.table.rows.len(), ComparisonDocument::from(&table).figures.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ComparisonView<'a> {
    /// The comparison.
    pub table: &'a ComparisonTable,
    /// What the baseline is called.
    pub baseline: &'a str,
    /// What the candidate is called.
    pub candidate: &'a str,
}

/// Runs, each compared with the first. It serializes as a [`CompareDocument`].
#[derive(Debug, Clone, Serialize)]
#[serde(into = "CompareDocument")]
#[non_exhaustive]
pub struct ComparisonReport {
    /// What the others are compared with.
    pub baseline: ComparedRun,
    /// Each of the others.
    pub comparisons: Vec<RunComparison>,
    /// What is to be known of all comparisons.
    pub notes: Vec<String>,
}

impl ComparisonReport {
    /// Each of `comparisons` is with `baseline`; `notes` are on all of them.
    #[must_use]
    pub const fn new(
        baseline: ComparedRun,
        comparisons: Vec<RunComparison>,
        notes: Vec<String>,
    ) -> Self {
        Self { baseline, comparisons, notes }
    }
}

/// A run that is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// Where it lies, or what it is called.
    pub name: String,
    /// What is to be known of it: cut short, suspect.
    pub notes: Vec<ComparedRunNote>,
}

/// What is to be known of a run, or of one of its levels. Documents have it as one string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct ComparedRunNote {
    /// Of which run and level, in words; none where there is one alone.
    pub at: Option<String>,
    /// What is to be known.
    pub text: String,
}

impl ComparedRunNote {
    /// The same, said of what is called `of`, which `at` is in.
    #[must_use]
    pub fn of(self, of: &str) -> Self {
        let at = self.at.map_or_else(|| of.to_owned(), |at| format!("{of}: {at}"));
        Self { at: Some(at), ..self }
    }
}

impl fmt::Display for ComparedRunNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, text } = self;
        at.iter().try_for_each(|at| write!(f, "{at}: "))?;
        f.write_str(text)
    }
}

impl From<ComparedRunNote> for String {
    fn from(note: ComparedRunNote) -> Self {
        note.to_string()
    }
}

impl From<String> for ComparedRunNote {
    fn from(text: String) -> Self {
        Self { at: None, text }
    }
}

/// One run against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RunComparison"))]
pub struct RunComparison<T = ComparisonTable> {
    /// The run.
    pub candidate: ComparedRun,
    /// What is to be known of the comparison.
    pub notes: Vec<String>,
    /// Fields in which runs that are compared must agree, and these do not.
    pub forced: Vec<ChangedField>,
    /// All other fields that differ.
    pub changed: Vec<ChangedField>,
    /// How far the frontier was pushed; absent where there are none to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frontier_distance: Option<FrontierDistance>,
    /// Levels that the baseline has and the run has not, by their loads, unless that is [allowed](crate::MissingLevels::Allow): of them
    /// nothing is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_levels: Vec<String>,
    /// Level by level.
    pub levels: Vec<ComparedLevel<T>>,
}

/// One level of both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ComparedLevel"))]
pub struct ComparedLevel<T = ComparisonTable> {
    /// Its load in words; empty where runs have one level alone.
    pub name: String,
    /// What is to be known of it.
    pub notes: Vec<String>,
    /// What differs.
    #[serde(rename = "comparison")]
    pub table: T,
}

impl ComparisonReport {
    /// Whether nothing is worse, no level of the baseline is [missing](RunComparison::missing_levels), and at each level, of which there
    /// is one, something could be tested: where nothing was, nothing was shown not to be worse.
    #[must_use]
    pub fn passes(&self) -> bool {
        if self.comparisons.iter().any(|comparison| !comparison.missing_levels.is_empty()) {
            return false;
        }
        let is_worse =
            |table: &ComparisonTable| table.answered(ComparisonAnswer::Worse).next().is_some();
        let mut tables = self.tables().peekable();
        tables.peek().is_some() && tables.all(|table| table.family_size() > 0 && !is_worse(table))
    }

    /// The comparisons of all levels of all runs, in order.
    pub fn tables(&self) -> impl Iterator<Item = &ComparisonTable> {
        let levels = self.comparisons.iter().flat_map(|comparison| &comparison.levels);
        levels.map(|level| &level.table)
    }

    /// The document `fizeau.comparison/1`, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, JsonError> {
        JsonError::pretty(self)
    }
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(ComparisonReport, CompareDocument);
