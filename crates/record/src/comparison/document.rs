//! A comparison as documents have it.

use fizeau_core::document;
use fizeau_metrics::{
    ComparedFigure, ComparisonBasis, ComparisonTable, Estimate, Interval, TestFindings,
};

use super::{ComparedLevel, ComparedRun, ComparisonReport, RunComparison};

document! {
    /// What `fizeau compare --json` prints (schema `fizeau.comparison/1`): runs, each compared with the first.
    pub struct CompareDocument as "Comparison", from |report: ComparisonReport| {} {
        #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
        schema: String = SCHEMA.to_owned(),
        version: String = env!("CARGO_PKG_VERSION").to_owned(),
        /// What the others are compared with.
        pub baseline: ComparedRun = report.baseline,
        /// Each of the others.
        pub comparisons: Vec<RunComparison<ComparisonDocument>> =
            report.comparisons.into_iter().map(RunComparison::into_document).collect(),
        /// What is to be known of all comparisons.
        pub notes: Vec<String> = report.notes,
    }
}

const SCHEMA: &str = "fizeau.comparison/1";

document! {
    /// What differs, how sure that is, and what could have been found. It rests on `rounds`, `runs`, `paired_requests`, `requests`, or
    /// `intervals_alone`.
    #[non_exhaustive]
    pub struct ComparisonDocument as "ComparisonTable", from |table: &ComparisonTable| {
        use ComparisonBasis::{Intervals, PairedRequests, Requests, Rounds, Runs};
    } {
        /// Rounds, each with its partner.
        pub rounds?: u64 = match table.basis { Rounds(n) => Some(n), _ => None },
        /// Runs of both sides, without partners.
        pub runs?: [u64; 2] = match table.basis { Runs { baseline, candidate } => Some([baseline, candidate]), _ => None },
        /// Requests, each with the one of the same number on the other side.
        pub paired_requests?: u64 = match table.basis { PairedRequests(n) => Some(n), _ => None },
        /// Requests of both sides, without partners.
        pub requests?: [u64; 2] = match table.basis { Requests { baseline, candidate } => Some([baseline, candidate]), _ => None },
        /// That there are no requests, but intervals alone.
        pub intervals_alone?: bool = matches!(table.basis, Intervals).then_some(true),
        /// How often a difference may be found where there is none, over all figures together.
        pub alpha: f64 = table.alpha.get(),
        /// How often a detectable difference is found.
        pub power: f64 = table.power.get(),
        /// The smallest change that counts, as a share.
        pub smallest_change: f64 = table.smallest.get(),
        /// How many figures the error is spread over: those of all levels and runs that are compared together.
        pub figures_decided: u64 = table.corrected_over as u64,
        /// Figure by figure.
        pub figures: Vec<FigureDifference> = table.rows.iter().map(FigureDifference::from).collect(),
    }
}

document! {
    /// One figure of both sides. `answer` is null with the reason where it was not tested.
    #[non_exhaustive]
    pub struct FigureDifference as "ComparedFigure", from |row: &ComparedFigure| {} {
        /// Which: `p99 ttft`.
        pub figure: String = row.figure.to_string(),
        /// The figure that was wanted and takes more requests than there are; left out where it is this one.
        pub stands_for?: String = row.stands_for.map(|wanted| wanted.to_string()),
        /// In what it is counted.
        pub unit: String = row.figure.unit().to_owned(),
        /// Which way is better: `higher` or `lower`.
        pub better: String = row.figure.direction().as_str().to_owned(),
        /// Whether it is among the figures that are decided.
        pub decided: bool = row.is_decided,
        /// That of the baseline.
        pub baseline: Option<f64> = row.baseline,
        /// That of the candidate.
        pub candidate: Option<f64> = row.candidate,
        /// What the tests came to; absent where there were none.
        #[serde(flatten)]
        pub tested?: TestedDifference = row.tested.as_ref().ok().map(TestedDifference::from),
        /// `better`, `worse` or `no detectable difference`; null where it was not tested, or is not decided.
        pub answer: Option<String> = row.answer().map(|answer| answer.as_str().to_owned()),
        /// Why there is no answer, or why a difference that was found is none.
        pub answer_reason?: String = match &row.tested {
            Err(why) => Some(why.to_string()),
            Ok(tested) if tested.decision.is_some_and(|decision| decision.is_too_small) => {
                Some("a difference smaller than smallest_change".to_owned())
            }
            Ok(_) if row.answer().is_none() => {
                Some("it is not one of the figures that are judged".to_owned())
            }
            Ok(_) => None,
        },
    }
}

document! {
    /// What the tests of a figure came to.
    #[non_exhaustive]
    pub struct TestedDifference as "TestedFigure", from |tested: &TestFindings| {
        let size = tested.effect;
    } {
        /// On how many rounds, pairs or requests it rests.
        pub n: u64 = tested.n,
        /// The candidate less the baseline.
        pub difference: f64 = tested.difference.value(),
        /// By how much runs of one server were taken to differ among themselves, as a share of the figure (a standard deviation): it is
        /// in the interval and in p. Left out where rounds or repeats showed it.
        pub run_to_run?: f64 = Some(tested.run_to_run).filter(|share| *share > 0.0),
        /// The ends of its interval.
        pub difference_ci: Option<[f64; 2]> = ends(tested.difference),
        /// The difference as a share of the baseline.
        pub change: Option<f64> = tested.relative.map(|change| change.value()),
        /// The ends of its interval.
        pub change_ci: Option<[f64; 2]> = tested.relative.and_then(ends),
        /// The p of each test, the one that decides first.
        #[serde(with = "in_order")]
        #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, f64>"))]
        pub tests: Vec<(String, f64)> =
            tested.tests.iter().map(|of| (of.test.as_str().to_owned(), of.p.get())).collect(),
        /// The test that decides.
        pub decided_by: Option<String> = tested.tests.first().map(|of| of.test.as_str().to_owned()),
        /// Its p by Holm's correction.
        pub p_holm: Option<f64> = tested.decision.map(|decision| decision.adjusted.get()),
        /// What the size of the effect is measured by.
        pub effect: Option<String> = size.map(|size| size.kind.as_str().to_owned()),
        /// The size of the effect.
        pub effect_size: Option<f64> = size.map(|size| size.effect.value()),
        /// The ends of its interval.
        pub effect_ci: Option<[f64; 2]> = size.and_then(|size| ends(size.effect)),
        /// The smallest difference that would have been found.
        pub detectable: Option<f64> = tested.detectable,
        /// The same as a share of the baseline.
        pub detectable_change: Option<f64> = tested.relative_detectable,
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
