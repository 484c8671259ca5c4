//! An A/B run as `ab.json`.

use fizeau_core::{Millis, document};
use fizeau_metrics::{ComparisonSide, Verdict};

use super::{AbParty, AbReport, AbRound};
use crate::{ComparisonDocument, GoalDocument, LevelReport, LevelStatus, RunSetup, ShardsReport};

/// The schema of `ab.json`.
pub(crate) const AB: &str = "fizeau.ab/2";

document! {
    /// `ab.json` (schema `fizeau.ab/2`): an A/B run with its rounds.
    pub struct AbDocument as "Ab" of AB, from |report: AbReport| {
        let goals = |side| report.goals(side).into_iter().map(GoalDocument::from).collect();
        let (a, b) = (ComparisonSide::Baseline, ComparisonSide::Candidate);
        let (of_a, of_b) = (goals(a), goals(b));
        let [is_a_saturated, is_b_saturated] = [a, b].map(|side| report.is_saturated(side));
        let worst = report.verdict();
        let fared = report.shards();
    } {
        /// What was run, and on what; its endpoint is that of A.
        pub setup: RunSetup = report.setup,
        /// The baseline.
        pub a: AbParty = report.a,
        /// The candidate.
        pub b: AbParty = report.b,
        /// How many rounds there were to be.
        pub planned_rounds: u32 = report.planned,
        /// The pause before each turn.
        pub settle_ms: Millis = report.settle,
        /// The worst verdict of any turn that ended.
        pub verdict: Verdict = worst,
        /// How the goals came out on A over the rounds that count; left out where none were asked for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub a_goals: Vec<GoalDocument> = of_a,
        /// How they came out on B.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub b_goals: Vec<GoalDocument> = of_b,
        /// Whether the queue of A grew to the end in most of them, so that goals met so far are not kept; left out where it did not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub a_saturated: bool = is_a_saturated,
        /// The same of B.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub b_saturated: bool = is_b_saturated,
        /// The rounds that were begun.
        pub rounds: Vec<RoundDocument> = report.rounds.iter().map(RoundDocument::from).collect(),
        /// How each client fared over all turns; left out where one measured alone.
        pub shards?: ShardsReport = fared,
        /// What the rounds that count come to; null where there is no answer.
        pub comparison,
        /// Why there is no answer.
        pub comparison_reason: ComparisonDocument = report.comparison.map(|table| (&table).into()),
        /// The requests of those rounds in pairs, to stand beside; its figures have no answer.
        pub requests,
        /// Why there is none.
        pub requests_reason: ComparisonDocument =
            report.requests.as_ref().map(Into::into).ok_or("too few rounds can be used"),
    }
}

document! {
    /// One round: both sides, one after the other.
    #[non_exhaustive]
    pub struct RoundDocument as "AbRound", from |turns: &AbRound| {
        let left_out = turns.counted().err();
    } {
        /// Which, from 1.
        pub round: u32 = turns.number,
        /// Who went first: `a` or `b`.
        pub first: String = match turns.first {
            ComparisonSide::Baseline => "a".to_owned(),
            ComparisonSide::Candidate => "b".to_owned(),
        },
        /// Whether it counts.
        pub counts: bool = left_out.is_none(),
        /// Why it does not.
        pub left_out_reason?: String = left_out,
        /// What came of A's turn; null if it was never begun.
        pub a: Option<TurnDocument> = turns.a.as_ref().map(TurnDocument::from),
        /// What came of B's turn.
        pub b: Option<TurnDocument> = turns.b.as_ref().map(TurnDocument::from),
    }
}

document! {
    /// The figures that a reader looks for first, left out where there is none; all are in the turn's own `summary.json`.
    #[non_exhaustive]
    pub struct TurnDocument as "AbTurn", from |level: &LevelReport| {
        let (metrics, throughput) = (&level.summary.metrics, &level.summary.throughput);
    } {
        /// The turn's folder.
        pub folder?: String = level.folder.clone(),
        /// `finished` or `partial`.
        pub status: String = match level.status {
            LevelStatus::Finished => "finished".to_owned(),
            LevelStatus::Partial { .. } => "partial".to_owned(),
        },
        /// Whether to believe it.
        pub verdict: Verdict = level.validity.verdict,
        /// Why not.
        pub reasons: Vec<String> = level.validity.reasons.iter().map(|reason| reason.text.clone()).collect(),
        /// Requests that succeeded.
        pub completed: u64 = level.summary.requests.completed,
        /// Requests that did not.
        pub failed: u64 = level.summary.requests.failed,
        /// Generated tokens per second.
        pub output_tokens_per_s: f64 = throughput.output_tokens_per_s.get(),
        /// Completed requests per second.
        pub requests_per_s: f64 = throughput.requests_per_s.get(),
        /// The median time to first token.
        pub ttft_p50_ms?: Millis = metrics.ttft.p50.value(),
        /// The median time per output token.
        pub tpot_p50_ms?: Millis = metrics.tpot.p50.value(),
    }
}
