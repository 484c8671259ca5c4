//! What would be faster, as JSON.

use fizeau_core::document;
use fizeau_roofline::{FigureGain, ImprovementGain, Sensitivities, Sensitivity};
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

document! {
    pub(super) view ToResources, from |of: Sensitivity| {
        // Adding zero makes a negative zero positive.
        let number = |value: f64| Number(value + 0.0);
    } {
        bandwidth: Number = number(of.bandwidth),
        arithmetic: Number = number(of.arithmetic),
        weight_bytes: Number = number(of.weight_bytes),
        kv_bytes: Number = number(of.kv_bytes),
        link: Number = number(of.link),
        latency: Number = number(of.latency),
    }
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

document! {
    pub(super) view GainBlock, pub(super) fn of(found: &ImprovementGain, scope: SolScope) {} {
        change: &'static str = found.improvement.as_str(),
        bound: GainOf = GainOf::of(found.bound, scope),
        expected: GainOf = GainOf::of(found.expected, scope),
    }
}

document! {
    view GainOf, fn of(gain: FigureGain, scope: SolScope) {
        let of_requests = |part: f64| (scope == SolScope::Requests).then_some(Number(part));
    } {
        tokens_per_s_per_user?: Number = gain.tokens_per_s_per_user.map(Number),
        requests_per_s?: Number = of_requests(gain.requests_per_s),
        prompt_pace?: Number = of_requests(gain.promptness),
    }
}
