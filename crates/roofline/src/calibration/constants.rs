//! The constants that are fitted, each a quantity of a device and an engine.

use std::fmt;
use std::str::FromStr;

use fizeau_core::Interval;

/// A constant of a device and an engine, of none of a model.
///
/// The first ten make a step's time, the last three a first token's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Constant {
    /// Share of the memory bandwidth that reading dense weights reaches.
    WeightBandwidth,
    /// Share of the memory bandwidth that reading experts reaches.
    ExpertBandwidth,
    /// Share of the memory bandwidth that reading caches and states reaches.
    CacheBandwidth,
    /// Share of the dense arithmetic that is reached.
    Arithmetic,
    /// Seconds for each kernel of a pass: launching it, filling and draining the device.
    PerKernel,
    /// Seconds for each layer whose weights are widened to 16 bits because the device does not multiply their type.
    PerWidening,
    /// Seconds for each collective, however few its bytes.
    PerCollective,
    /// Share of the links' bandwidth that is reached.
    LinkBandwidth,
    /// Seconds for each step: scheduling, sampling.
    PerStep,
    /// Seconds for each sequence of a step: its bookkeeping.
    PerSequence,
    /// Seconds for each request before its prompt is read: the front end.
    PerRequest,
    /// What a prompt takes, by the time that its pass alone would.
    PromptSlowdown,
    /// Prompts of other requests that one waits for, by the number of those.
    PromptQueue,
}

/// What is known of a constant before anything was measured, and how far it may move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Standard deviation of its logarithm about [`Prior::value`], for all devices together.
    pub(super) pooled: f64,
    /// The same for one device and engine, about the value of all of them.
    pub(super) own: f64,
}

impl Constant {
    /// Those that make a step's time.
    pub(crate) const STEP: [Self; 10] = [
        Self::WeightBandwidth,
        Self::ExpertBandwidth,
        Self::CacheBandwidth,
        Self::Arithmetic,
        Self::PerKernel,
        Self::PerWidening,
        Self::PerCollective,
        Self::LinkBandwidth,
        Self::PerStep,
        Self::PerSequence,
    ];

    /// Those that make a first token's time, besides those of a step.
    pub(crate) const FIRST_TOKEN: [Self; 3] =
        [Self::PerRequest, Self::PromptSlowdown, Self::PromptQueue];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::STEP.into_iter().chain(Self::FIRST_TOKEN)
    }

    /// The name in files: `weight_bandwidth`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WeightBandwidth => "weight_bandwidth",
            Self::ExpertBandwidth => "expert_bandwidth",
            Self::CacheBandwidth => "cache_bandwidth",
            Self::Arithmetic => "arithmetic",
            Self::PerKernel => "per_kernel",
            Self::PerWidening => "per_widening",
            Self::PerCollective => "per_collective",
            Self::LinkBandwidth => "link_bandwidth",
            Self::PerStep => "per_step",
            Self::PerSequence => "per_sequence",
            Self::PerRequest => "per_request",
            Self::PromptSlowdown => "prompt_slowdown",
            Self::PromptQueue => "prompt_queue",
        }
    }

    /// The unit in files: `share`, `s` or `times`.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::WeightBandwidth
            | Self::ExpertBandwidth
            | Self::CacheBandwidth
            | Self::Arithmetic
            | Self::LinkBandwidth => "share",
            Self::PerKernel
            | Self::PerWidening
            | Self::PerCollective
            | Self::PerStep
            | Self::PerSequence
            | Self::PerRequest => "s",
            Self::PromptSlowdown | Self::PromptQueue => "times",
        }
    }

    /// What it counts, in a few words for a table.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::WeightBandwidth => "bandwidth reached, dense weights",
            Self::ExpertBandwidth => "bandwidth reached, experts",
            Self::CacheBandwidth => "bandwidth reached, caches",
            Self::Arithmetic => "arithmetic reached",
            Self::PerKernel => "time per kernel",
            Self::PerWidening => "time per layer of widened weights",
            Self::PerCollective => "time per collective",
            Self::LinkBandwidth => "link bandwidth reached",
            Self::PerStep => "time per step",
            Self::PerSequence => "time per sequence and step",
            Self::PerRequest => "time per request",
            Self::PromptSlowdown => "prompt against its pass alone",
            Self::PromptQueue => "other prompts waited for",
        }
    }

    /// The lowest and the highest value that it can have, in [`Constant::unit`].
    #[must_use]
    pub const fn range(self) -> (f64, f64) {
        let Prior { low, high, .. } = self.prior();
        (low, high)
    }

    /// Its range and where it starts from.
    ///
    /// Ranges are what hardware and host code can do at all. Starting values are of the order that the `ml-engineering`
    /// book (accelerator chapter: achieved matrix rates of 70 to 80 % and DRAM reads of 90 %) and published traces of
    /// vLLM give (some 4 us a kernel, 30 us a layer). What serving results cannot tell apart from the rest is held
    /// tight (a collective's latency, links, the host's time a step and a sequence); clean data move it all the same.
    pub(super) const fn prior(self) -> Prior {
        let (value, low, high, pooled, own) = match self {
            Self::WeightBandwidth => (0.85, 0.4, 1.0, 0.2, 0.3),
            Self::ExpertBandwidth => (0.80, 0.3, 1.0, 0.2, 0.3),
            Self::CacheBandwidth => (0.60, 0.2, 1.0, 0.3, 0.3),
            Self::Arithmetic => (0.55, 0.1, 0.95, 0.3, 0.3),
            Self::PerKernel => (4e-6, 0.3e-6, 20e-6, 0.5, 0.2),
            Self::PerWidening => (20e-6, 1e-6, 100e-6, 0.7, 1.0),
            Self::PerCollective => (6.5e-6, 0.5e-6, 40e-6, 0.1, 0.1),
            Self::LinkBandwidth => (0.6, 0.1, 1.0, 0.1, 0.1),
            Self::PerStep => (1e-4, 1e-6, 5e-3, 0.2, 0.2),
            Self::PerSequence => (2e-6, 10e-9, 100e-6, 0.2, 0.2),
            Self::PerRequest => (20e-3, 0.1e-3, 1.0, 0.7, 0.5),
            Self::PromptSlowdown => (1.5, 0.5, 10.0, 0.5, 0.4),
            Self::PromptQueue => (0.08, 1e-3, 1.0, 0.7, 0.5),
        };
        Prior { value, low, high, pooled, own }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Constant {
    type Err = UnknownConstant;

    fn from_str(text: &str) -> Result<Self, UnknownConstant> {
        let found = Self::all().find(|constant| constant.as_str() == text);
        found.ok_or_else(|| UnknownConstant { name: text.chars().take(80).collect() })
    }
}

/// A name that no constant has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a constant of a calibration")]
pub struct UnknownConstant {
    name: String,
}

/// A fitted constant: its value, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FittedConstant {
    /// Which constant.
    pub constant: Constant,
    /// Its value, in [`Constant::unit`].
    pub value: f64,
    /// Standard deviation of its logarithm: 0.1 is about 10 %.
    pub deviation: f64,
}

impl FittedConstant {
    /// The interval that holds the constant with 95 % confidence if residuals are as they seem, within its range.
    #[must_use]
    pub fn interval(&self) -> Interval<f64> {
        let (low, high) = self.constant.range();
        let factor = (1.96 * self.deviation).exp();
        Interval::p95((self.value / factor).max(low), (self.value * factor).min(high))
    }
}
