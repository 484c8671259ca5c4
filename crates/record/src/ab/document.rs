//! An A/B run as `ab.json`.

use fizeau_core::Millis;
use fizeau_metrics::{ComparisonSide, Verdict};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use super::{AbParty, AbReport, AbRound};
use crate::{ComparisonDocument, GoalDocument, LevelReport, LevelStatus, RunSetup};

/// `ab.json` (schema `fizeau.ab/2`): an A/B run with its rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ab"))]
pub struct AbDocument {
    #[cfg_attr(feature = "schema", schemars(extend("const" = AB)))]
    #[serde(deserialize_with = "present_schema")]
    schema: String,
    version: String,
    /// What was run, and on what; its endpoint is that of A.
    pub setup: RunSetup,
    /// The baseline.
    pub a: AbParty,
    /// The candidate.
    pub b: AbParty,
    /// How many rounds there were to be.
    pub planned_rounds: u32,
    /// The pause before each turn.
    pub settle_ms: Millis,
    /// The worst verdict of any turn that ended.
    pub verdict: Verdict,
    /// How the goals came out on A over the rounds that count; left out where none were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub a_goals: Vec<GoalDocument>,
    /// How they came out on B.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub b_goals: Vec<GoalDocument>,
    /// Whether the queue of A grew to the end in most of them, so that goals met so far are not kept; left out where it did not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub a_saturated: bool,
    /// The same of B.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub b_saturated: bool,
    /// The rounds that were begun.
    pub rounds: Vec<RoundDocument>,
    /// What the rounds that count come to; null where there is no answer.
    pub comparison: Option<ComparisonDocument>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison_reason: Option<String>,
    /// The requests of those rounds in pairs, to stand beside; its figures have no answer.
    pub requests: Option<ComparisonDocument>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_reason: Option<String>,
}

/// The schema of `ab.json`.
pub(crate) const AB: &str = "fizeau.ab/2";

/// A document of an earlier schema is read as one of the present.
fn present_schema<'de, D: Deserializer<'de>>(schema: D) -> Result<String, D::Error> {
    IgnoredAny::deserialize(schema).map(|_| AB.to_owned())
}

/// One round: both sides, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AbRound"))]
#[non_exhaustive]
pub struct RoundDocument {
    /// Which, from 1.
    pub round: u32,
    /// Who went first: `a` or `b`.
    pub first: String,
    /// Whether it counts.
    pub counts: bool,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out_reason: Option<String>,
    /// What came of A's turn; null if it was never begun.
    pub a: Option<TurnDocument>,
    /// What came of B's turn.
    pub b: Option<TurnDocument>,
}

/// The figures that a reader looks for first, left out where there is none; all are in the turn's own `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AbTurn"))]
#[non_exhaustive]
pub struct TurnDocument {
    /// The turn's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// `finished` or `partial`.
    pub status: String,
    /// Whether to believe it.
    pub verdict: Verdict,
    /// Why not.
    pub reasons: Vec<String>,
    /// Requests that succeeded.
    pub completed: u64,
    /// Requests that did not.
    pub failed: u64,
    /// Generated tokens per second.
    pub output_tokens_per_s: f64,
    /// Completed requests per second.
    pub requests_per_s: f64,
    /// The median time to first token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_p50_ms: Option<Millis>,
    /// The median time per output token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpot_p50_ms: Option<Millis>,
}

impl From<AbReport> for AbDocument {
    fn from(report: AbReport) -> Self {
        let requests = report.requests.as_ref().map(ComparisonDocument::from);
        let goals = |side| report.goals(side).into_iter().map(GoalDocument::from).collect();
        let (a_goals, b_goals) =
            (goals(ComparisonSide::Baseline), goals(ComparisonSide::Candidate));
        Self {
            schema: AB.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            verdict: report.verdict(),
            a_saturated: report.is_saturated(ComparisonSide::Baseline),
            b_saturated: report.is_saturated(ComparisonSide::Candidate),
            a: report.a,
            b: report.b,
            planned_rounds: report.planned,
            settle_ms: report.settle,
            a_goals,
            b_goals,
            rounds: report.rounds.iter().map(round).collect(),
            comparison: report.comparison.as_ref().ok().map(ComparisonDocument::from),
            comparison_reason: report.comparison.err(),
            requests_reason: requests.is_none().then(|| "too few rounds can be used".to_owned()),
            requests,
            setup: report.setup,
        }
    }
}

fn round(round: &AbRound) -> RoundDocument {
    let left_out_reason = round.counted().err();
    let first = match round.first {
        ComparisonSide::Baseline => "a",
        ComparisonSide::Candidate => "b",
    };
    RoundDocument {
        round: round.number,
        first: first.to_owned(),
        counts: left_out_reason.is_none(),
        left_out_reason,
        a: round.a.as_ref().map(turn),
        b: round.b.as_ref().map(turn),
    }
}

fn turn(level: &LevelReport) -> TurnDocument {
    let (metrics, throughput) = (&level.summary.metrics, &level.summary.throughput);
    let status = match level.status {
        LevelStatus::Finished => "finished",
        LevelStatus::Partial { .. } => "partial",
    };
    TurnDocument {
        folder: level.folder.clone(),
        status: status.to_owned(),
        verdict: level.validity.verdict,
        reasons: level.validity.reasons.iter().map(|reason| reason.text.clone()).collect(),
        completed: level.summary.requests.completed,
        failed: level.summary.requests.failed,
        output_tokens_per_s: throughput.output_tokens_per_s.get(),
        requests_per_s: throughput.requests_per_s.get(),
        ttft_p50_ms: metrics.ttft.p50.value(),
        tpot_p50_ms: metrics.tpot.p50.value(),
    }
}
