//! A search as `search.json`.

use fizeau_metrics::Verdict;
use fizeau_pareto::{Estimate, SearchEnding};
use serde::{Serialize, Serializer};

use super::{SearchAsked, SearchJudgement, SearchPurpose, SearchReport, SearchedLevel};
use crate::{Checklist, GoalResult, LoadPoint, Setup};

/// The file as it is written: the schema's names in the schema's order.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Search<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = "fizeau.search/1")))]
    schema: &'static str,
    version: &'static str,
    setup: &'a Setup,
    verdict: Verdict,
    slo: String,
    over: super::SearchedLoad,
    asked: Asked,
    met: bool,
    found: Option<FoundLoad>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found_reason: Option<String>,
    ending: &'static str,
    runs: usize,
    monotone: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_monotone: Option<WrongWay>,
    confirmation: Option<Confirmation>,
    checklist: &'a Checklist,
    levels: Vec<Level<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SearchAsked"))]
struct Asked {
    max_runs: u32,
    tolerance: f64,
    confidence: f64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FoundLoad {
    load: LoadPoint,
    /// Where the goals break.
    edge: f64,
    edge_low: f64,
    /// None where no load was beyond the goals.
    edge_high: Option<f64>,
    /// Whether the levels next to the edge had intervals of their own: else the confidence of these is assumed.
    confidence_known: bool,
    first_broken: Option<String>,
}

/// Loads of which the lower one missed what the higher one kept.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrongWay {
    missed_at: f64,
    kept_at: f64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Confirmation {
    load: LoadPoint,
    met: bool,
    /// The higher loads at which a long level missed the goals.
    missed_at: Vec<LoadPoint>,
    goals: Vec<GoalResult>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SearchedLevel"))]
struct Level<'a> {
    purpose: SearchPurpose,
    load: LoadPoint,
    standing: &'static str,
    judgement: SearchJudgement,
    saturated: bool,
    verdict: Verdict,
    folder: Option<&'a str>,
    duration_s: f64,
    requests: u64,
    goals: Vec<GoalResult>,
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(SearchReport, Search<'static>);

impl Serialize for SearchReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let SearchAsked { most_levels, tolerance, confidence, load, .. } = self.asked;
        let found = self.load().zip(self.found.edge);
        let found_reason = found.is_none().then(|| self.answer());
        let is_run = |level: &&SearchedLevel| level.purpose != SearchPurpose::Confirmation;
        Search {
            schema: "fizeau.search/1",
            version: env!("CARGO_PKG_VERSION"),
            setup: &self.setup,
            verdict: self.verdict(),
            slo: self.slo.to_string(),
            over: load,
            asked: Asked { max_runs: most_levels, tolerance, confidence },
            met: self.is_met(),
            found: found.map(|(load, edge)| self.found_load(load, edge)),
            found_reason,
            ending: self.found.ending.as_str(),
            runs: self.levels.iter().filter(is_run).count(),
            monotone: self.found.not_monotone.is_none(),
            not_monotone: self.wrong_way(),
            confirmation: self.confirmed().map(|last| self.confirmation(last)),
            checklist: &self.checklist,
            levels: self.levels.iter().map(|level| self.level(level)).collect(),
        }
        .serialize(to)
    }
}

impl SearchReport {
    fn found_load(&self, load: LoadPoint, edge: Estimate) -> FoundLoad {
        let is_open = self.found.ending == SearchEnding::AllGood || edge.high().is_infinite();
        FoundLoad {
            load,
            edge: edge.value(),
            edge_low: edge.low(),
            edge_high: (!is_open).then(|| edge.high()),
            confidence_known: self.found.has_errors,
            first_broken: self.first_broken.map(|goal| goal.to_string()),
        }
    }

    fn wrong_way(&self) -> Option<WrongWay> {
        let (missed, kept) = self.found.not_monotone?;
        let load = |index| Some(self.evaluation(index)?.level.load.value());
        Some(WrongWay { missed_at: load(missed)?, kept_at: load(kept)? })
    }

    fn confirmation(&self, last: &SearchedLevel) -> Confirmation {
        let goals = self.goals_at(last);
        let others = self.refuted().filter(|level| level.level.load != last.level.load);
        let missed_at = others.map(|level| level.level.load).collect();
        Confirmation { load: last.level.load, met: last.holds(), missed_at, goals }
    }

    fn level<'a>(&self, searched: &'a SearchedLevel) -> Level<'a> {
        let level = &searched.level;
        Level {
            purpose: searched.purpose,
            load: level.load,
            standing: searched.side(),
            judgement: searched.judgement,
            saturated: level.is_saturated(),
            verdict: level.validity.verdict,
            folder: level.folder.as_deref(),
            duration_s: level.summary.throughput.duration.get(),
            requests: level.summary.requests.sent,
            goals: self.goals_at(searched),
        }
    }
}
