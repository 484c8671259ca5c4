//! Figures as JSON, the same wherever they stand.

use fizeau_core::Seconds;
use fizeau_record::JsonNumber as Number;
use fizeau_roofline::{Figures, LimitingResources};
use serde::Serialize;

/// The figures of one estimate.
#[derive(Debug, Serialize)]
pub(super) struct Block {
    #[serde(skip_serializing_if = "Option::is_none")]
    ttft_ms: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tpot_ms: Option<Number>,
    output_tokens_per_s: Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_per_s: Option<Number>,
}

impl Block {
    /// Of whole requests.
    pub(super) fn of(figures: &Figures) -> Self {
        Self {
            ttft_ms: Some(Number::ms(figures.ttft)),
            tpot_ms: tpot(figures).map(Number::ms),
            requests_per_s: Some(Number(figures.requests_per_s.get())),
            ..Self::of_step(figures)
        }
    }

    /// Of decode steps alone.
    pub(super) fn of_step(figures: &Figures) -> Self {
        Self {
            ttft_ms: None,
            tpot_ms: Some(Number::ms(figures.tpot)),
            output_tokens_per_s: Number(figures.output_tokens_per_s.get()),
            requests_per_s: None,
        }
    }
}

/// The time per output token; none where requests end with their first.
pub(super) fn tpot(of: &Figures) -> Option<Seconds> {
    (of.e2el > of.ttft).then_some(of.tpot)
}

/// What limits each phase.
#[derive(Debug, Serialize)]
pub(super) struct Limiting {
    prefill: &'static str,
    decode: &'static str,
}

impl From<LimitingResources> for Limiting {
    fn from(limits: LimitingResources) -> Self {
        Self { prefill: limits.prefill.as_str(), decode: limits.decode.as_str() }
    }
}
