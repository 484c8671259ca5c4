//! Runs against a baseline: the whole text, and `fizeau.comparison/1`.

mod distance;
#[cfg(feature = "schema")]
mod schema;

pub use distance::{FrontierChange, FrontierDistance, FrontierPoint};

use fizeau_metrics::{Basis, ComparedFigure, ComparisonTable, Estimate, Interval, NamedTest};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A comparison and what its sides are called.
///
/// ```
/// use fizeau_metrics::{ComparisonSettings, ComparisonTable, Figure, RoundFigures};
/// use fizeau_record::ComparisonView;
/// let rounds = |ttft: [f64; 6]| ttft.map(|ms| RoundFigures::from_iter([(Figure::P50_TTFT, ms)]));
/// let before = rounds([50.1, 49.8, 50.6, 50.3, 49.9, 50.4]);
/// let after = rounds([48.0, 47.9, 48.8, 48.1, 47.7, 48.5]);
/// let table = ComparisonTable::of_rounds(&before, &after, &ComparisonSettings::default())?;
/// let view = ComparisonView { table: &table, baseline: "v1", candidate: "v2" };
/// let json = serde_json::to_string(&view)?;
/// assert!(json.contains("better"));
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

/// Runs, each held against the first.
#[derive(Debug, Clone)]
pub struct ComparisonReport {
    /// What the others are held against.
    pub baseline: ComparedRun,
    /// Each of the others.
    pub comparisons: Vec<RunComparison>,
    /// What is to be known of all comparisons.
    pub notes: Vec<String>,
}

/// A run that is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// Where it lies, or what it is called.
    pub name: String,
    /// What is to be known of it: cut short, suspect.
    pub notes: Vec<String>,
}

/// One run against the baseline.
#[derive(Debug, Clone)]
pub struct RunComparison {
    /// The run.
    pub candidate: ComparedRun,
    /// Fields in which runs that are compared must agree, and these do not.
    pub forced: Vec<ChangedField>,
    /// All other fields that differ: what the comparison is about.
    pub changed: Vec<ChangedField>,
    /// How far its frontier is beyond the baseline's, where both are sweeps.
    pub frontier_distance: Option<FrontierDistance>,
    /// Level by level.
    pub levels: Vec<ComparedLevel>,
    /// What is to be known of the comparison: levels that one side lacks, seeds that differ.
    pub notes: Vec<String>,
}

/// A field of `run.json` that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedField {
    /// Its path.
    pub field: String,
    /// What the baseline has there, in JSON; absent if nothing.
    pub baseline: Option<String>,
    /// What the candidate has there.
    pub candidate: Option<String>,
}

/// One level of both runs.
#[derive(Debug, Clone)]
pub struct ComparedLevel {
    /// Its load in words; empty where runs have one level alone.
    pub name: String,
    /// The comparison.
    pub table: ComparisonTable,
    /// What is to be known of it.
    pub notes: Vec<String>,
}

impl ComparisonReport {
    /// Whether nothing is worse, by Holm's correction over the figures of all levels and runs together, and at each level
    /// something could be tested: where nothing was, nothing was shown not to be worse.
    #[must_use]
    pub fn passes(&self) -> bool {
        let is_tested = |table: &ComparisonTable| table.family_size() > 0;
        self.tables().all(is_tested) && !ComparisonTable::is_any_worse(self.tables())
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
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

impl Serialize for ComparisonReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("schema", "fizeau.comparison/1")?;
        map.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
        map.serialize_entry("baseline", &self.baseline)?;
        map.serialize_entry("comparisons", &self.comparisons)?;
        map.serialize_entry("notes", &self.notes)?;
        map.end()
    }
}

impl Serialize for RunComparison {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("candidate", &self.candidate)?;
        map.serialize_entry("notes", &self.notes)?;
        map.serialize_entry("forced", &self.forced)?;
        map.serialize_entry("changed", &self.changed)?;
        if let Some(distance) = &self.frontier_distance {
            map.serialize_entry("frontier_distance", distance)?;
        }
        map.serialize_entry("levels", &self.levels)?;
        map.end()
    }
}

impl Serialize for ChangedField {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // The values are JSON as they stand; what is none goes as text.
        let value = |text: &Option<String>| -> serde_json::Value {
            let Some(text) = text else { return serde_json::Value::Null };
            serde_json::from_str(text).unwrap_or_else(|_| text.clone().into())
        };
        let mut map = to.serialize_map(Some(3))?;
        map.serialize_entry("field", &self.field)?;
        map.serialize_entry("baseline", &value(&self.baseline))?;
        map.serialize_entry("candidate", &value(&self.candidate))?;
        map.end()
    }
}

impl Serialize for ComparedLevel {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("notes", &self.notes)?;
        map.serialize_entry("comparison", &Table(&self.table))?;
        map.end()
    }
}

impl Serialize for ComparisonView<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Table(self.table).serialize(to)
    }
}

struct Table<'a>(&'a ComparisonTable);

impl Serialize for Table<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let table = self.0;
        let mut map = to.serialize_map(None)?;
        match table.basis {
            Basis::Rounds(n) => map.serialize_entry("rounds", &n)?,
            Basis::PairedRequests(n) => map.serialize_entry("paired_requests", &n)?,
            Basis::Requests { baseline, candidate } => {
                map.serialize_entry("requests", &[baseline, candidate])?;
            }
            Basis::Intervals => map.serialize_entry("intervals_alone", &true)?,
        }
        map.serialize_entry("alpha", &table.alpha.get())?;
        map.serialize_entry("power", &table.power.get())?;
        map.serialize_entry("smallest_change", &table.smallest.get())?;
        map.serialize_entry("figures_decided", &table.family_size())?;
        map.serialize_entry("figures", &table.rows.iter().map(Row).collect::<Vec<_>>())?;
        map.end()
    }
}

struct Row<'a>(&'a ComparedFigure);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let row = self.0;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("figure", &row.figure.to_string())?;
        map.serialize_entry("unit", row.figure.unit())?;
        map.serialize_entry("better", row.figure.direction().as_str())?;
        map.serialize_entry("decided", &row.is_decided)?;
        map.serialize_entry("baseline", &row.baseline)?;
        map.serialize_entry("candidate", &row.candidate)?;
        match &row.tested {
            Err(why) => {
                map.serialize_entry("answer", &())?;
                map.serialize_entry("answer_reason", &why.to_string())?;
            }
            Ok(tested) => {
                map.serialize_entry("n", &tested.n)?;
                map.serialize_entry("difference", &tested.difference.value())?;
                map.serialize_entry("difference_ci", &ends(tested.difference))?;
                map.serialize_entry("change", &tested.relative.map(|change| change.value()))?;
                map.serialize_entry("change_ci", &tested.relative.and_then(ends))?;
                map.serialize_entry("tests", &Tests(&tested.tests))?;
                map.serialize_entry("decided_by", &tested.tests.first().map(|t| t.test.as_str()))?;
                map.serialize_entry("p_holm", &tested.decision.map(|d| d.adjusted.get()))?;
                let effect = tested.effect;
                map.serialize_entry("effect", &effect.map(|size| size.kind.as_str()))?;
                map.serialize_entry("effect_size", &effect.map(|size| size.effect.value()))?;
                map.serialize_entry("effect_ci", &effect.and_then(|size| ends(size.effect)))?;
                map.serialize_entry("detectable", &tested.detectable)?;
                map.serialize_entry("detectable_change", &tested.relative_detectable)?;
                map.serialize_entry("answer", &row.answer().map(fizeau_metrics::Answer::as_str))?;
                if tested.decision.is_some_and(|decision| decision.is_too_small) {
                    map.serialize_entry(
                        "answer_reason",
                        "a difference smaller than smallest_change",
                    )?;
                }
                if row.answer().is_none() {
                    map.serialize_entry("answer_reason", "not among the figures that are decided")?;
                }
            }
        }
        map.end()
    }
}

fn ends(effect: Estimate<f64>) -> Option<[f64; 2]> {
    effect.interval().map(Interval::ends)
}

struct Tests<'a>(&'a [NamedTest]);

impl Serialize for Tests<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|test| (test.test.as_str(), test.p.get())))
    }
}
