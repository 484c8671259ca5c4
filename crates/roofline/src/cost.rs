//! What tokens cost.

mod ownership;

pub use ownership::{OwnedHour, Ownership, OwnershipError};

use fizeau_core::{Usd, UsdPerHour};

use crate::estimate_kind::EstimateKind;
use crate::system::System;
use crate::{Device, Price, UniformLoad};

/// The price of a device-hour, and its source.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HourlyRate {
    /// The least.
    pub low: UsdPerHour,
    /// The most.
    pub high: UsdPerHour,
    /// Who says so.
    pub origin: PriceOrigin,
}

/// The source of a price.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PriceOrigin {
    /// The caller.
    Given,
    /// The caller's books: what owning the device costs.
    Owned,
    /// A price that somebody published: dated, and no offer.
    Published {
        /// Whose, or of which kind of seller.
        kind: String,
        /// Where.
        source: String,
        /// When: a year, a month or a day.
        date: String,
    },
}

/// Why there is no price.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// None is known.
    #[error("no price is known for {device}; give one, in US dollars per device and hour")]
    NoPrice {
        /// The device.
        device: String,
    },
    /// Not a price.
    #[error("the price is {value} US dollars per device and hour; it must be a positive number")]
    NotAPrice {
        /// What it was.
        value: f64,
    },
}

impl HourlyRate {
    /// The price that the reader pays.
    ///
    /// # Errors
    /// If it is not a positive finite number.
    pub fn given(price: UsdPerHour) -> Result<Self, CostError> {
        let value = price.get();
        if !(value.is_finite() && value > 0.0) {
            return Err(CostError::NotAPrice { value });
        }
        Ok(Self { low: price, high: price, origin: PriceOrigin::Given })
    }

    /// What an hour in service of an owned device costs.
    ///
    /// ```
    /// use fizeau_roofline::{HourlyRate, Ownership};
    /// let owned = "purchase_usd = 30000\namortisation_years = 4\npower_w = 1000\npue = 1.3\nelectricity_usd_per_kwh = 0.1";
    /// let rate = HourlyRate::owned(&Ownership::from_toml(owned)?);
    /// assert_eq!(format!("{:.2}", rate.low.get()), "0.99");
    /// # Ok::<(), fizeau_roofline::OwnershipError>(())
    /// ```
    #[must_use]
    pub fn owned(by: &Ownership) -> Self {
        let price = by.hour().total;
        Self { low: price, high: price, origin: PriceOrigin::Owned }
    }

    /// The first of the device's published prices: a default, which differs among sellers and goes stale.
    ///
    /// # Errors
    /// If none is known.
    pub fn published(device: &Device) -> Result<Self, CostError> {
        let price = device.prices.first();
        price.map(Self::from).ok_or_else(|| CostError::NoPrice { device: device.name.to_owned() })
    }

    /// The lowest of the first of the device's published prices: what a device costs where nobody says. A price that is
    /// published is a list price, and what is paid is rather below than above it.
    ///
    /// # Errors
    /// If none is known.
    pub fn lowest_published(device: &Device) -> Result<Self, CostError> {
        Self::published(device).map(|rate| Self { high: rate.low, ..rate })
    }
}

impl From<&Price> for HourlyRate {
    fn from(price: &Price) -> Self {
        Self {
            low: price.low,
            high: price.high,
            origin: PriceOrigin::Published {
                kind: price.kind.to_owned(),
                source: price.source.to_owned(),
                date: price.date.to_owned(),
            },
        }
    }
}

/// An amount of money for the least and for the most that an hour costs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct UsdRange {
    /// At the lowest price.
    pub low: Usd,
    /// At the highest price.
    pub high: Usd,
}

/// The device time that a million tokens of a load cost.
///
/// The devices' time of a request is shared among its phases: `Cp` for its prompt, `O td(B) / B` for its decode. Of the
/// prompt's, computed tokens bear what they would take were they all, and cached ones what attending to them adds. So
/// the sum over a request's tokens of each kind is what the request costs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// A request.
    pub per_request: UsdRange,
    /// A million generated tokens, all of the devices' time theirs: `N price / (3600 TPS) 10^6`.
    pub per_million_output_alone: UsdRange,
    /// A million prompt tokens that are computed.
    pub per_million_input: UsdRange,
    /// A million prompt tokens that are cached; none where the load has none.
    pub per_million_cached: Option<UsdRange>,
    /// A million generated tokens, their own share only.
    pub per_million_output: UsdRange,
    /// The share of the devices' time that prompts take, from 0 to 1.
    pub prompt_share: f64,
    /// What the price is.
    pub rate: HourlyRate,
}

impl System {
    /// What tokens of `load` cost with `batch` sequences running, at `rate`.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::{Tokens, UsdPerHour};
    /// use fizeau_roofline::{Deployment, Device, HourlyRate, KnownModel, UniformLoad, EstimateKind, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(32).ok_or("zero")?);
    /// let rate = HourlyRate::given(UsdPerHour::new(2.0))?;
    /// let cost = system.cost(EstimateKind::Expected, &load, 32.0, &rate);
    /// // 12.0 requests a second are 3,067 tokens: 11.0 million an hour.
    /// assert_eq!(format!("{:.2}", cost.per_million_output_alone.low.get()), "0.18");
    /// // Reading a token costs a fraction of generating one.
    /// assert!(cost.per_million_input.low.get() < 0.1 * cost.per_million_output.low.get());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cost(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
        rate: &HourlyRate,
    ) -> Cost {
        let (input, output, cached) = load.lengths();
        let figures = self.figures_at(by, load, batch);
        let seconds = self.deployment().devices() as f64 / figures.requests_per_s.get();
        let phases = self.phases(by, load, batch);
        let (prompt, decode) =
            (phases.prefill.total.get(), (output - 1.0) * phases.step.total.get() / phases.micro);
        let prompt_share = prompt / (prompt + decode);
        let new = self.phases(by, &alone(load, input - cached), batch).prefill.total.get();
        // A bound's pass may take no longer for what it attends to.
        let computed = (new / prompt).min(1.0);
        let price = |seconds: f64| {
            let at = |price: UsdPerHour| price * fizeau_core::Seconds::new(seconds);
            UsdRange { low: at(rate.low), high: at(rate.high) }
        };
        let prompt_seconds = seconds * prompt_share;
        Cost {
            per_request: price(seconds),
            per_million_output_alone: price(seconds / output * 1e6),
            per_million_input: price(prompt_seconds * computed / (input - cached) * 1e6),
            per_million_cached: (cached > 0.0)
                .then(|| price(prompt_seconds * (1.0 - computed) / cached * 1e6)),
            per_million_output: price((seconds - prompt_seconds) / output * 1e6),
            prompt_share,
            rate: rate.clone(),
        }
    }
}

/// The load with prompts of `input` tokens, nothing cached.
fn alone(load: &UniformLoad, input: f64) -> UniformLoad {
    let input_tokens = fizeau_core::Tokens::new(input as u64);
    UniformLoad { input_tokens, cached_tokens: fizeau_core::Tokens::ZERO, ..*load }
}
