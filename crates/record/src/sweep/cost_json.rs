//! What tokens cost, as `sweep.json` has it.

use serde::Serialize;

use super::SweepReport;
use super::cost::{CostFigure, TokenCost};
use crate::text::price_origin;

/// What a million output tokens take at the operating point, and cost.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct CostJson {
    level: usize,
    devices: u64,
    device_hours_per_million_output: f64,
    device_hours_per_million_output_ci: Option<[f64; 2]>,
    usd_per_million_output: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usd_per_million_output_reason: Option<&'static str>,
    usd_per_million_output_ci: Option<[f64; 2]>,
    /// Of both intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    ci_reason: Option<&'static str>,
    usd_per_device_hour: Option<f64>,
    price_from: Option<String>,
}

const NO_PRICE: &str = "no price of the device is known; --gpu-hour USD gives one";

impl SweepReport {
    /// The cost at the operating point, or why there is none.
    pub(super) fn cost_json(&self) -> (Option<CostJson>, Option<String>) {
        let cost = match self.cost_at_operating_point() {
            Ok(cost) => cost,
            Err(error) => return (None, Some(error.to_string())),
        };
        let TokenCost { level, devices, device_hours, usd } = cost;
        let ends = |figure: CostFigure| figure.interval.map(|ends| [ends.low, ends.high]);
        let hours_ci = ends(device_hours);
        let json = CostJson {
            level,
            devices,
            device_hours_per_million_output: device_hours.value,
            device_hours_per_million_output_ci: hours_ci,
            usd_per_million_output: usd.map(|usd| usd.value),
            usd_per_million_output_reason: usd.is_none().then_some(NO_PRICE),
            usd_per_million_output_ci: usd.and_then(ends),
            ci_reason: hours_ci.is_none().then_some("the rate of output tokens has no interval"),
            usd_per_device_hour: self.price().map(|price| price.low.get()),
            price_from: self.price().map(price_origin),
        };
        (Some(json), None)
    }
}
