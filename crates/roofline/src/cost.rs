//! What tokens cost.

mod ownership;

pub use ownership::{OwnedHour, Ownership, OwnershipError};

use std::str::FromStr;

use fizeau_core::{Usd, UsdPerHour};

use crate::estimate_kind::EstimateKind;
use crate::figures::PhaseCosts;
use crate::pass::PassTime;
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
    /// Not a number.
    #[error("give US dollars an hour, such as 2.49")]
    NotANumber,
    /// Not a price.
    #[error("the price is {value} US dollars per device and hour; it must be a positive number")]
    NotAPrice {
        /// What it was.
        value: f64,
    },
}

impl FromStr for HourlyRate {
    type Err = CostError;

    /// The price that the reader pays: `2.49`.
    fn from_str(text: &str) -> Result<Self, CostError> {
        let price: f64 = text.trim().parse().map_err(|_| CostError::NotANumber)?;
        Self::given(UsdPerHour::new(price))
    }
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
/// The devices' time of a request is shared among its phases. Of the bound it is `Cp` for its prompt and `(O - 1) td(B) / B`
/// for its decode. Of the expectation a prompt has what it adds to the pass that reads it, over those that decode in that pass,
/// and decode the rest: weights that are read for both count as decode's. Of the prompt's, computed tokens bear what they would
/// take were they all, and cached ones what attending to them adds. So the sum over a request's tokens of each kind is what the
/// request costs.
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
    /// What tokens of `load` cost with `batch` sequences running, at `rate`; of the bound with as many as its rates are of
    /// ([`System::bound_running`]), so that no other use of the memory makes them cheaper.
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
        let batch = self.rate_batch(by, load, batch);
        let figures = self.figures_at(by, load, batch);
        let phases = self.phases(by, load, batch);
        let beside = self.decoding_beside(load, batch);
        // Where less than one decodes beside a prompt on average, in so many of the passes one does.
        let beside = || self.expected_pass(&beside).scaled(beside.decoding.min(1.0));
        let prompt_share = self.prompt_share(by, load, &phases, beside);
        let seconds = self.deployment().devices() as f64 / figures.requests_per_s.get();
        let computed = self.computed_share(by, load, batch);
        CostShares { seconds, prompt_share, computed }.cost(load, rate)
    }

    /// The share of the devices' time that prompts take, of which `beside` is the pass over those that decode beside one.
    pub(crate) fn prompt_share(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        phases: &PhaseCosts,
        beside: impl FnOnce() -> PassTime,
    ) -> f64 {
        let (_, output, _) = load.lengths();
        match by {
            EstimateKind::Bound => {
                let prompt = phases.prefill.total.get();
                let decode = (output - 1.0) * phases.step.total.get() / phases.micro;
                prompt / (prompt + decode)
            }
            EstimateKind::Expected => self.mixed_prompt_share(phases, output, beside().total),
        }
    }

    /// Of what a prompt of `load` takes, the share that its computed tokens would take were they all.
    pub(crate) fn computed_share(&self, by: EstimateKind, load: &UniformLoad, batch: f64) -> f64 {
        let (input, _, cached) = load.lengths();
        let prompt = |load: &UniformLoad| self.phases(by, load, batch).prefill.total;
        // A bound's pass may take no longer for what it attends to.
        (prompt(&alone(load, input - cached)) / prompt(load)).min(1.0)
    }
}

/// What requests take of the devices, and whose it is.
pub(crate) struct CostShares {
    /// The time of all devices that a request takes, in seconds of one device.
    pub(crate) seconds: f64,
    /// Of that, the prompts' share.
    pub(crate) prompt_share: f64,
    /// Of the prompts', that of the tokens that are computed.
    pub(crate) computed: f64,
}

impl CostShares {
    /// What the tokens of `load` cost at `rate`.
    pub(crate) fn cost(&self, load: &UniformLoad, rate: &HourlyRate) -> Cost {
        let (input, output, cached) = load.lengths();
        let &Self { seconds, prompt_share, computed } = self;
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
