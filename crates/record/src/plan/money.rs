//! What a fleet costs, by the hour and by what it serves.

use fizeau_core::UsdPerHour;
use fizeau_roofline::HourlyRate;
use serde::{Deserialize, Serialize};

/// Hours of a month, on average: 365.25 days over twelve.
pub(super) const MONTH: f64 = 365.25 * 24.0 / 12.0;

/// An amount of money for the least and for the most that a device-hour costs; the same twice where it has one price.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MoneyRange {
    /// At the lowest price, in US dollars.
    pub low: f64,
    /// At the highest.
    pub high: f64,
}

/// How long the requests of a plan are, as means; absent where that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeanLengths {
    /// Prompt tokens of a request.
    pub input: Option<f64>,
    /// Generated tokens of a request.
    pub output: Option<f64>,
}

/// What a fleet costs, all of it: the headroom and the spare replicas too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanCost {
    /// An hour.
    pub usd_per_hour: MoneyRange,
    /// A month of 730.5 hours.
    pub usd_per_month: MoneyRange,
    /// A request, at the rate that is planned for.
    pub usd_per_request: MoneyRange,
    /// A million generated tokens, if they bear all; none where their number is not known.
    pub usd_per_million_output_alone: Option<MoneyRange>,
    /// A million prompt tokens, by the time that prompts take of the devices; none where that is not known.
    pub usd_per_million_input: Option<MoneyRange>,
    /// A million generated tokens, by the rest of the devices' time, which decode takes.
    pub usd_per_million_output: Option<MoneyRange>,
}

impl MoneyRange {
    fn of(rate: &HourlyRate, factor: f64) -> Self {
        let at = |price: UsdPerHour| price.get() * factor;
        Self { low: at(rate.low), high: at(rate.high) }
    }

    /// So many times as much.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor }
    }

    /// Halfway in US dollars, as text has it and by which plans are compared.
    #[must_use]
    pub fn middle(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }
}

impl PlanCost {
    /// Of `devices` at `hour` that serve `rate` requests a second of these lengths; `prompt_share` is the share of the devices'
    /// time that prompts take.
    pub(super) fn of(
        devices: f64,
        hour: &HourlyRate,
        rate: f64,
        lengths: MeanLengths,
        prompt_share: Option<f64>,
    ) -> Self {
        let usd_per_hour = MoneyRange::of(hour, devices);
        let request = usd_per_hour.times(1.0 / (rate * 3600.0));
        let million = |share: Option<f64>, tokens: Option<f64>| {
            let tokens = tokens.filter(|tokens| *tokens > 0.0)?;
            Some(request.times(share? / tokens * 1e6))
        };
        Self {
            usd_per_hour,
            usd_per_month: usd_per_hour.times(MONTH),
            usd_per_request: request,
            usd_per_million_output_alone: million(Some(1.0), lengths.output),
            usd_per_million_input: million(prompt_share, lengths.input),
            usd_per_million_output: million(prompt_share.map(|share| 1.0 - share), lengths.output),
        }
    }
}
