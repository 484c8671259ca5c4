//! A comparison as documents have it.

use fizeau_metrics::{
    ComparedFigure, ComparisonAnswer, ComparisonBasis, ComparisonTable, Estimate, Interval,
    TestFindings,
};
use serde::{Deserialize, Serialize};

use super::{ComparedLevel, ComparedRun, ComparisonReport, RunComparison};

/// What `fizeau compare --json` prints (schema `fizeau.comparison/1`): runs, each compared with the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Comparison"))]
pub struct CompareDocument {
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    schema: String,
    version: String,
    /// What the others are compared with.
    pub baseline: ComparedRun,
    /// Each of the others.
    pub comparisons: Vec<RunComparison<ComparisonDocument>>,
    /// What is to be known of all comparisons.
    pub notes: Vec<String>,
}

const SCHEMA: &str = "fizeau.comparison/1";

/// What differs, how sure that is, and what could have been found. It rests on `rounds`, `runs`, `paired_requests`, `requests`, or
/// `intervals_alone`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ComparisonTable"))]
#[non_exhaustive]
pub struct ComparisonDocument {
    /// Rounds, each with its partner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// Runs of both sides, without partners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<[u64; 2]>,
    /// Requests, each with the one of the same number on the other side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paired_requests: Option<u64>,
    /// Requests of both sides, without partners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<[u64; 2]>,
    /// That there are no requests, but intervals alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals_alone: Option<bool>,
    /// How often a difference may be found where there is none, over all figures together.
    pub alpha: f64,
    /// How often a detectable difference is found.
    pub power: f64,
    /// The smallest change that counts, as a share.
    pub smallest_change: f64,
    /// How many figures the error is spread over: those of all levels and runs that are compared together.
    pub figures_decided: u64,
    /// Figure by figure.
    pub figures: Vec<FigureDifference>,
}

/// One figure of both sides. `answer` is null with the reason where it was not tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ComparedFigure"))]
#[non_exhaustive]
pub struct FigureDifference {
    /// Which: `p99 ttft`.
    pub figure: String,
    /// The figure that was wanted and takes more requests than there are; left out where it is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<String>,
    /// In what it is counted.
    pub unit: String,
    /// Which way is better: `higher` or `lower`.
    pub better: String,
    /// Whether it is among the figures that are decided.
    pub decided: bool,
    /// That of the baseline.
    pub baseline: Option<f64>,
    /// That of the candidate.
    pub candidate: Option<f64>,
    /// What the tests came to; absent where there were none.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub tested: Option<TestedDifference>,
    /// `better`, `worse` or `no detectable difference`; null where it was not tested, or is not decided.
    pub answer: Option<String>,
    /// Why there is no answer, or why a difference that was found is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_reason: Option<String>,
}

/// What the tests of a figure came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TestedFigure"))]
#[non_exhaustive]
pub struct TestedDifference {
    /// On how many rounds, pairs or requests it rests.
    pub n: u64,
    /// The candidate less the baseline.
    pub difference: f64,
    /// By how much runs of one server were taken to differ among themselves, as a share of the figure (a standard deviation): it is
    /// in the interval and in p. Left out where rounds or repeats showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_to_run: Option<f64>,
    /// The ends of its interval.
    pub difference_ci: Option<[f64; 2]>,
    /// The difference as a share of the baseline.
    pub change: Option<f64>,
    /// The ends of its interval.
    pub change_ci: Option<[f64; 2]>,
    /// The p of each test, the one that decides first.
    #[serde(with = "in_order")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, f64>"))]
    pub tests: Vec<(String, f64)>,
    /// The test that decides.
    pub decided_by: Option<String>,
    /// Its p by Holm's correction.
    pub p_holm: Option<f64>,
    /// What the size of the effect is measured by.
    pub effect: Option<String>,
    /// The size of the effect.
    pub effect_size: Option<f64>,
    /// The ends of its interval.
    pub effect_ci: Option<[f64; 2]>,
    /// The smallest difference that would have been found.
    pub detectable: Option<f64>,
    /// The same as a share of the baseline.
    pub detectable_change: Option<f64>,
}

impl From<ComparisonReport> for CompareDocument {
    fn from(ComparisonReport { baseline, comparisons, notes }: ComparisonReport) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            baseline,
            comparisons: comparisons.into_iter().map(RunComparison::into_document).collect(),
            notes,
        }
    }
}

impl RunComparison {
    fn into_document(self) -> RunComparison<ComparisonDocument> {
        let Self { candidate, notes, forced, changed, frontier_distance, missing_levels, levels } =
            self;
        let level = |ComparedLevel { name, notes, table }: ComparedLevel| ComparedLevel {
            name,
            notes,
            table: ComparisonDocument::from(&table),
        };
        let levels = levels.into_iter().map(level).collect();
        RunComparison {
            candidate,
            notes,
            forced,
            changed,
            frontier_distance,
            missing_levels,
            levels,
        }
    }
}

impl From<&ComparisonTable> for ComparisonDocument {
    fn from(table: &ComparisonTable) -> Self {
        let mut document = Self {
            rounds: None,
            runs: None,
            paired_requests: None,
            requests: None,
            intervals_alone: None,
            alpha: table.alpha.get(),
            power: table.power.get(),
            smallest_change: table.smallest.get(),
            figures_decided: table.corrected_over as u64,
            figures: table.rows.iter().map(FigureDifference::from).collect(),
        };
        match table.basis {
            ComparisonBasis::Rounds(n) => document.rounds = Some(n),
            ComparisonBasis::Runs { baseline, candidate } => {
                document.runs = Some([baseline, candidate])
            }
            ComparisonBasis::PairedRequests(n) => document.paired_requests = Some(n),
            ComparisonBasis::Requests { baseline, candidate } => {
                document.requests = Some([baseline, candidate]);
            }
            ComparisonBasis::Intervals => document.intervals_alone = Some(true),
        }
        document
    }
}

impl From<&ComparedFigure> for FigureDifference {
    fn from(row: &ComparedFigure) -> Self {
        let answer_reason = match &row.tested {
            Err(why) => Some(why.to_string()),
            Ok(tested) if tested.decision.is_some_and(|decision| decision.is_too_small) => {
                Some("a difference smaller than smallest_change".to_owned())
            }
            Ok(_) => row
                .answer()
                .is_none()
                .then(|| "it is not one of the figures that are judged".to_owned()),
        };
        Self {
            figure: row.figure.to_string(),
            stands_for: row.stands_for.map(|wanted| wanted.to_string()),
            unit: row.figure.unit().to_owned(),
            better: row.figure.direction().as_str().to_owned(),
            decided: row.is_decided,
            baseline: row.baseline,
            candidate: row.candidate,
            tested: row.tested.as_ref().ok().map(TestedDifference::from),
            answer: row.answer().map(ComparisonAnswer::as_str).map(str::to_owned),
            answer_reason,
        }
    }
}

impl From<&TestFindings> for TestedDifference {
    fn from(tested: &TestFindings) -> Self {
        let effect = tested.effect;
        Self {
            n: tested.n,
            difference: tested.difference.value(),
            run_to_run: Some(tested.run_to_run).filter(|share| *share > 0.0),
            difference_ci: ends(tested.difference),
            change: tested.relative.map(|change| change.value()),
            change_ci: tested.relative.and_then(ends),
            tests: tested
                .tests
                .iter()
                .map(|of| (of.test.as_str().to_owned(), of.p.get()))
                .collect(),
            decided_by: tested.tests.first().map(|of| of.test.as_str().to_owned()),
            p_holm: tested.decision.map(|decision| decision.adjusted.get()),
            effect: effect.map(|size| size.kind.as_str().to_owned()),
            effect_size: effect.map(|size| size.effect.value()),
            effect_ci: effect.and_then(|size| ends(size.effect)),
            detectable: tested.detectable,
            detectable_change: tested.relative_detectable,
        }
    }
}

fn ends(effect: Estimate<f64>) -> Option<[f64; 2]> {
    effect.interval().map(Interval::ends)
}

/// An object whose fields keep their order, which no map of the standard library does.
mod in_order {
    use std::fmt;

    use serde::de::{Deserializer, MapAccess, Visitor};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(
        fields: &[(String, f64)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(fields.iter().map(|(name, value)| (name, value)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(String, f64)>, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Vec<(String, f64)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }
        from.deserialize_map(Fields)
    }
}
