//! What would be faster, as JSON.

use fizeau_roofline::{Gain, ImprovementGain, Sensitivities, Sensitivity};
use serde::Serialize;

use crate::sol::SolScope;
use fizeau_record::JsonNumber as Number;

#[derive(Serialize)]
pub(super) struct Elasticities {
    pub(super) bound: OfFigures,
    pub(super) expected: OfFigures,
}

#[derive(Serialize)]
pub(super) struct OfFigures {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ttft: Option<ToResources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tpot: Option<ToResources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) requests_per_s: Option<ToResources>,
}

#[derive(Serialize)]
pub(super) struct ToResources {
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
            ttft: Some(of.ttft.into()),
            tpot: Some(of.tpot.into()),
            requests_per_s: Some(of.requests_per_s.into()),
        }
    }
}

/// Of a step alone.
impl From<Sensitivity> for OfFigures {
    fn from(tpot: Sensitivity) -> Self {
        Self { ttft: None, tpot: Some(tpot.into()), requests_per_s: None }
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
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_per_s_per_user: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_per_s: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_pace: Option<Number>,
}

impl GainBlock {
    pub(super) fn of(found: &ImprovementGain, scope: SolScope) -> Self {
        let of = |gain: Gain| {
            let of_requests = |part: f64| (scope == SolScope::Requests).then_some(Number(part));
            GainOf {
                tokens_per_s_per_user: gain.tokens_per_s_per_user.map(Number),
                requests_per_s: of_requests(gain.requests_per_s),
                prompt_pace: of_requests(gain.promptness),
            }
        };
        Self {
            change: found.improvement.as_str(),
            bound: of(found.bound),
            expected: of(found.expected),
        }
    }
}
