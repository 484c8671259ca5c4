//! What would be faster, as JSON.

use fizeau_roofline::{Gain, Sensitivities, Sensitivity};
use serde::Serialize;

use crate::sol::figures::Number;
use crate::sol::gains::Change;

#[derive(Serialize)]
pub(super) struct Elasticities {
    pub(super) bound: OfFigures,
    pub(super) expected: OfFigures,
}

#[derive(Serialize)]
pub(super) struct OfFigures {
    ttft: ToResources,
    tpot: ToResources,
    requests_per_s: ToResources,
}

#[derive(Serialize)]
struct ToResources {
    bandwidth: Number,
    arithmetic: Number,
    weight_bytes: Number,
    kv_bytes: Number,
    link: Number,
    latency: Number,
}

impl From<Sensitivities> for OfFigures {
    fn from(of: Sensitivities) -> Self {
        Self {
            ttft: of.ttft.into(),
            tpot: of.tpot.into(),
            requests_per_s: of.requests_per_s.into(),
        }
    }
}

impl From<Sensitivity> for ToResources {
    fn from(of: Sensitivity) -> Self {
        // Adding zero makes a negative zero positive.
        let number = |value: f64| Number(value + 0.0);
        Self {
            bandwidth: number(of.bandwidth),
            arithmetic: number(of.arithmetic),
            weight_bytes: number(of.weight_bytes),
            kv_bytes: number(of.kv_bytes),
            link: number(of.link),
            latency: number(of.latency),
        }
    }
}

#[derive(Serialize)]
pub(super) struct GainBlock {
    change: &'static str,
    bound: GainOf,
    expected: GainOf,
}

#[derive(Serialize)]
struct GainOf {
    tokens_per_s_per_user: Number,
    requests_per_s: Number,
    prompt_pace: Number,
}

impl GainBlock {
    pub(super) fn of(change: &Change) -> Self {
        Self { change: change.key, bound: change.bound.into(), expected: change.expected.into() }
    }
}

impl From<Gain> for GainOf {
    fn from(gain: Gain) -> Self {
        Self {
            tokens_per_s_per_user: Number(gain.tokens_per_s_per_user),
            requests_per_s: Number(gain.requests_per_s),
            prompt_pace: Number(gain.promptness),
        }
    }
}
