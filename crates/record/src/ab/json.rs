//! An A/B run as `ab.json`.

use fizeau_core::Millis;
use fizeau_metrics::{ComparisonTable, Side, Verdict};
use serde::{Serialize, Serializer};

use super::{AbParty, AbReport, AbRound};
use crate::{ComparisonView, Endpoint, LevelReport, LevelStatus, Setup};

/// The file as it is written: the schema's names in the schema's order.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Ab<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = "fizeau.ab/1")))]
    schema: &'static str,
    version: &'static str,
    setup: &'a Setup,
    a: Party<'a>,
    b: Party<'a>,
    planned_rounds: u32,
    settle_ms: Millis,
    verdict: Verdict,
    rounds: Vec<Round<'a>>,
    comparison: Option<ComparisonView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison_reason: Option<&'a str>,
    requests: Option<ComparisonView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_reason: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AbParty"))]
struct Party<'a> {
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_reason: Option<&'static str>,
    endpoint: &'a Endpoint,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AbRound"))]
struct Round<'a> {
    round: u32,
    first: &'static str,
    counts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out_reason: Option<String>,
    a: Option<Turn<'a>>,
    b: Option<Turn<'a>>,
}

/// The figures that a reader looks for first, left out where there is none; all are in the turn's own `summary.json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AbTurn"))]
struct Turn<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<&'a str>,
    status: &'static str,
    verdict: Verdict,
    reasons: Vec<&'a str>,
    completed: u64,
    failed: u64,
    output_tokens_per_s: f64,
    requests_per_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttft_p50_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tpot_p50_ms: Option<Millis>,
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(AbReport, Ab<'static>);

impl Serialize for AbReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let ab = Ab {
            schema: "fizeau.ab/1",
            version: env!("CARGO_PKG_VERSION"),
            setup: &self.setup,
            a: party(&self.a),
            b: party(&self.b),
            planned_rounds: self.planned,
            settle_ms: self.settle,
            verdict: self.verdict(),
            rounds: self.rounds.iter().map(round).collect(),
            comparison: self.comparison.as_ref().ok().map(view),
            comparison_reason: self.comparison.as_ref().err().map(String::as_str),
            requests: self.requests.as_ref().map(view),
            requests_reason: self.requests.is_none().then_some("too few rounds count"),
        };
        ab.serialize(to)
    }
}

impl AbReport {
    /// The content of `ab.json`, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

fn view(table: &ComparisonTable) -> ComparisonView<'_> {
    ComparisonView { table, baseline: "A", candidate: "B" }
}

fn party(party: &AbParty) -> Party<'_> {
    let name = party.name.as_deref();
    Party {
        name,
        name_reason: name.is_none().then_some("none was given"),
        endpoint: &party.endpoint,
    }
}

fn round(round: &AbRound) -> Round<'_> {
    let left_out_reason = round.counted().err();
    Round {
        round: round.number,
        first: match round.first {
            Side::Baseline => "a",
            Side::Candidate => "b",
        },
        counts: left_out_reason.is_none(),
        left_out_reason,
        a: round.a.as_ref().map(turn),
        b: round.b.as_ref().map(turn),
    }
}

fn turn(level: &LevelReport) -> Turn<'_> {
    let (metrics, throughput) = (&level.summary.metrics, &level.summary.throughput);
    Turn {
        folder: level.folder.as_deref(),
        status: match level.status {
            LevelStatus::Finished => "finished",
            LevelStatus::Partial { .. } => "partial",
        },
        verdict: level.validity.verdict,
        reasons: level.validity.reasons.iter().map(|reason| &*reason.text).collect(),
        completed: level.summary.requests.completed,
        failed: level.summary.requests.failed,
        output_tokens_per_s: throughput.output_tokens_per_s.get(),
        requests_per_s: throughput.requests_per_s.get(),
        ttft_p50_ms: metrics.ttft.p50.value(),
        tpot_p50_ms: metrics.tpot.p50.value(),
    }
}
