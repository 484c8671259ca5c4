//! What tokens cost at a level.

use fizeau_core::{PerSec, document};
use fizeau_metrics::{Interval, SampleSupport};
use fizeau_roofline::HourlyRate;

use super::SweepReport;
use crate::text::{price_origin, supported, usd};

/// What a million output tokens take of the devices' time, and cost, at one level: all of the time theirs, the prompts' too.
///
/// With N devices and a rate of TPS output tokens per second it is `N / (3600 TPS) 10^6` device-hours, and that many times the
/// price of one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TokenCost {
    /// The index of the level.
    pub level: usize,
    /// How many devices it took.
    pub devices: u64,
    /// Device-hours for a million output tokens; this needs no price.
    pub device_hours: CostFigure,
    /// US dollars for a million output tokens, at the least that an hour costs ([`SweepReport::price`]); absent without a price.
    pub usd: Option<CostFigure>,
}

/// An amount, in hours or dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CostFigure {
    /// The amount, above zero.
    pub value: f64,
    /// Where the true amount lies, at 95 %, as far as the rate of tokens is known; the price is taken as exact. Absent where the
    /// rate has no interval, or one down to zero.
    pub interval: Option<Interval<f64>>,
}

/// Why it cannot be known what tokens cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoTokenCost {
    /// There is no such level, or none to run at.
    #[error("there is no operating point")]
    NoLevel,
    /// Nobody said what it ran on.
    #[error("the number of devices is not known without the model and the hardware")]
    NoDevices,
    /// There are no tokens to share the cost.
    #[error("no output tokens came")]
    NoTokens,
}

impl CostFigure {
    /// `amount` over a rate.
    fn over(amount: f64, rate: PerSec, interval: Option<Interval<PerSec>>) -> Option<Self> {
        let under = |rate: PerSec| Some(amount / rate.get()).filter(|it| it.is_finite());
        let value = under(rate).filter(|value| *value > 0.0)?;
        let ends = interval.and_then(|ends| Some((under(ends.high)?, under(ends.low)?)));
        let ends = ends.filter(|(low, high)| (0.0..=value).contains(low) && *high >= value);
        Some(Self { value, interval: ends.map(|(low, high)| Interval::p95(low, high)) })
    }

    /// Dollars, with the digits that the interval supports; small ones without one with those that count.
    #[must_use]
    pub fn usd(self) -> String {
        match self.interval {
            Some(ends) => supported(self.value, Some((ends.low, ends.high))),
            None => usd(self.value),
        }
    }

    fn times(self, by: f64) -> Self {
        let interval = self.interval.map(|ends| ends.map(|end| end * by));
        Self { value: self.value * by, interval }
    }
}

impl SweepReport {
    /// What a million output tokens cost at the operating point.
    ///
    /// # Errors
    /// If there is no operating point, no token came there, or how many devices there were is not known.
    pub fn cost_at_operating_point(&self) -> Result<TokenCost, NoTokenCost> {
        let level = self.operating_point().level().ok_or(NoTokenCost::NoLevel)?;
        self.cost_at(level)
    }

    /// What a million output tokens cost at the level of that index.
    ///
    /// # Errors
    /// If there is no such level, no token came there, or how many devices there were is not known.
    pub fn cost_at(&self, level: usize) -> Result<TokenCost, NoTokenCost> {
        let throughput = &self.levels.get(level).ok_or(NoTokenCost::NoLevel)?.summary.throughput;
        let devices = self.devices().ok_or(NoTokenCost::NoDevices)?;
        let (rate, interval) =
            (throughput.output_tokens_per_s, throughput.intervals.output_tokens_per_s);
        let hours = CostFigure::over(
            devices as f64 / 3600.0 * 1e6,
            rate,
            interval.and_then(SampleSupport::known),
        );
        let device_hours = hours.ok_or(NoTokenCost::NoTokens)?;
        let usd = self.price().map(|price| device_hours.times(price.low.get()));
        Ok(TokenCost { level, devices, device_hours, usd })
    }
}

document! {
    /// What a million output tokens take at the operating point, and cost, as `sweep.json` has it.
    pub(super) struct CostDocument as "Cost", pub(super) fn of(cost: &TokenCost, price: Option<&HourlyRate>) {
        let TokenCost { device_hours, usd, .. } = *cost;
        let ends = |figure: CostFigure| figure.interval.map(|ends| [ends.low, ends.high]);
    } {
        level: usize = cost.level,
        devices: u64 = cost.devices,
        device_hours_per_million_output: f64 = device_hours.value,
        device_hours_per_million_output_ci: Option<[f64; 2]> = ends(device_hours),
        usd_per_million_output, usd_per_million_output_reason: f64 =
            usd.map(|usd| usd.value).ok_or("no price of the device is known"),
        usd_per_million_output_ci: Option<[f64; 2]> = usd.and_then(ends),
        /// Of both intervals.
        ci_reason?: String = ends(device_hours).is_none()
            .then(|| "the rate of output tokens has no interval".to_owned()),
        usd_per_device_hour: Option<f64> = price.map(|price| price.low.get()),
        price_from: Option<String> = price.map(price_origin),
    }
}
