//! Figures as JSON, the same wherever they stand.

use fizeau_core::document;
use fizeau_record::JsonNumber as Number;
use fizeau_roofline::{Figures, LoadAnalysis};
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
            tpot_ms: figures.tpot.map(Number::ms),
            requests_per_s: Some(Number(figures.requests_per_s.get())),
            ..Self::of_step(figures)
        }
    }

    /// Of decode steps alone.
    pub(super) fn of_step(figures: &Figures) -> Self {
        Self {
            ttft_ms: None,
            tpot_ms: Some(Number::ms(figures.step)),
            output_tokens_per_s: Number(figures.output_tokens_per_s.get()),
            requests_per_s: None,
        }
    }
}

document! {
    /// What limits each phase.
    pub(super) view Limiting, from |answer: &LoadAnalysis| {} {
        prefill: &'static str = answer.limited_by.prefill.as_str(),
        /// None where no token comes after the first.
        decode?: &'static str = answer.bound.tpot.map(|_| answer.limited_by.decode.as_str()),
    }
}
