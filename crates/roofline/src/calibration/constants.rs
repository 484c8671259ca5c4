//! The constants that are fitted, each a quantity of a device and an engine.

use std::fmt;
use std::str::FromStr;

use fizeau_core::Interval;

/// A constant of a device and an engine, of none of a model.
///
/// The first twelve make a step's time, the last three a first token's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Constant {
    /// Share of the memory bandwidth that reading dense weights reaches.
    WeightBandwidth,
    /// Share of the memory bandwidth that reading experts reaches.
    ExpertBandwidth,
    /// Share of the memory bandwidth that reading caches and states reaches.
    CacheBandwidth,
    /// Share of the arithmetic that dense matrices and attention reach.
    Arithmetic,
    /// Share of the arithmetic that experts reach, of which each has few tokens.
    ExpertArithmetic,
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
    /// How soon prompts queue among themselves instead of interrupting those who decode: times the ratio of prompts' time to
    /// that of decoding.
    PromptCrowding,
    /// Seconds for each request before its prompt is read: the front end.
    PerRequest,
    /// What a prompt takes, by the time that its pass alone would.
    PromptSlowdown,
    /// Prompts of other requests that one waits for, by the number of those.
    PromptQueue,
}

/// What is known of a constant before anything was measured.
///
/// Spreads are standard deviations of its [natural parameter](Constant::natural). They give way: an offset costs as its
/// absolute value when it is far outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    pub(super) value: f64,
    /// The usual range.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Of what all devices and engines have in common.
    pub(super) common: f64,
    /// Of a device about that.
    pub(super) device: f64,
    /// Of an engine about it.
    pub(super) engine: f64,
    /// Of an engine on a device about both.
    pub(super) own: f64,
}

impl Constant {
    /// Those that make a step's time.
    pub(crate) const STEP: [Self; 12] = [
        Self::WeightBandwidth,
        Self::ExpertBandwidth,
        Self::CacheBandwidth,
        Self::Arithmetic,
        Self::ExpertArithmetic,
        Self::PerKernel,
        Self::PerWidening,
        Self::PerCollective,
        Self::LinkBandwidth,
        Self::PerStep,
        Self::PerSequence,
        Self::PromptCrowding,
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
        self.row().name
    }

    /// The unit in files: `share`, `s` or `times`.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        self.row().unit
    }

    /// What it counts, in a few words for a table.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// The lowest and the highest value that it usually has on accelerators, in [`Constant::unit`]. A fit leaves the range where
    /// measurements ask for it ([`FittedConstant::is_usual`]).
    #[must_use]
    pub const fn range(self) -> (f64, f64) {
        let Prior { low, high, .. } = self.prior();
        (low, high)
    }

    /// What it never reaches: the whole of a rate, and twice a bandwidth for caches, which may be kept in half the bits that were
    /// said; infinite where it counts something.
    pub(super) fn limit(self) -> f64 {
        match self {
            Self::CacheBandwidth => 2.0,
            _ if self.unit() == "share" => 1.0,
            _ => f64::INFINITY,
        }
    }

    /// The parameter that is fitted, free of limits: the logarithm, or for what has a limit that of the odds.
    pub(super) fn natural(self, value: f64) -> f64 {
        let limit = self.limit();
        if limit.is_finite() { (value / (limit - value)).ln() } else { value.ln() }
    }

    /// The value of a natural parameter.
    pub(super) fn of_natural(self, natural: f64) -> f64 {
        let limit = self.limit();
        if limit.is_finite() { limit / (1.0 + (-natural).exp()) } else { natural.exp() }
    }

    /// By how much the logarithm of a value changes with its natural parameter.
    pub(super) fn slope(self, value: f64) -> f64 {
        1.0 - value / self.limit()
    }

    /// Its usual range and where it starts from.
    pub(super) const fn prior(self) -> Prior {
        self.row().prior
    }

    /// By how much its natural parameter may differ from where it starts, for an engine on a device: the standard deviation of all offsets
    /// together.
    pub(super) fn spread(self) -> f64 {
        let Prior { common, device, engine, own, .. } = self.prior();
        [common, device, engine, own].iter().map(|each| each * each).sum::<f64>().sqrt()
    }

    const fn row(self) -> &'static ConstantEntry {
        // One row a variant, in their order: a test holds that.
        &ROWS[self as usize]
    }
}

/// All that is known of a constant beforehand.
struct ConstantEntry {
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    prior: Prior,
}

const fn row(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    [value, low, high]: [f64; 3],
    [common, device, engine, own]: [f64; 4],
) -> ConstantEntry {
    let prior = Prior { value, low, high, common, device, engine, own };
    ConstantEntry { name, unit, title, prior }
}

/// In the order of the variants; the numbers are those of [`Prior`].
///
/// Usual ranges are what accelerators and their host code do. Starting values are of the order that the `ml-engineering`
/// book (accelerator chapter: achieved matrix rates of 70 to 80 % and DRAM reads of 90 %) and published traces of
/// vLLM give (some 4 us a kernel, 30 us a layer). Spreads were chosen by leaving out families of the published results
/// (docs/calibration.md): engines differ more than devices do, and host times most.
#[rustfmt::skip]
static ROWS: [ConstantEntry; 15] = [
    row("weight_bandwidth", "share", "bandwidth reached, dense weights", [0.85, 0.4, 0.98], [0.12, 0.05, 0.28, 0.28]),
    row("expert_bandwidth", "share", "bandwidth reached, experts", [0.80, 0.3, 0.98], [0.12, 0.05, 0.28, 0.28]),
    row("cache_bandwidth", "share", "bandwidth reached, caches", [0.70, 0.2, 1.8], [0.15, 0.05, 0.56, 0.42]),
    row("arithmetic", "share", "arithmetic reached", [0.55, 0.1, 0.95], [0.15, 0.05, 0.28, 0.42]),
    row("expert_arithmetic", "share", "arithmetic reached, experts", [0.50, 0.02, 0.95], [0.15, 0.075, 0.42, 0.42]),
    row("per_kernel", "s", "time per kernel", [3.5e-6, 0.3e-6, 20e-6], [0.15, 0.025, 0.42, 0.14]),
    row("per_widening", "s", "time per dequantized layer", [20e-6, 1e-6, 200e-6], [0.21, 0.075, 0.42, 0.42]),
    row("per_collective", "s", "time per collective", [6e-6, 0.5e-6, 40e-6], [0.09, 0.04, 0.14, 0.07]),
    row("link_bandwidth", "share", "link bandwidth reached", [0.6, 0.1, 0.98], [0.09, 0.05, 0.14, 0.14]),
    row("per_step", "s", "time per step", [1e-4, 1e-6, 5e-3], [0.30, 0.025, 0.98, 0.28]),
    row("per_sequence", "s", "time per sequence and step", [5e-6, 10e-9, 100e-6], [0.30, 0.025, 0.98, 0.28]),
    row("prompt_crowding", "times", "prompts queueing on each other", [3.0, 0.03, 100.0], [0.30, 0.005, 0.70, 0.02]),
    row("per_request", "s", "time per request", [20e-3, 0.1e-3, 1.0], [0.7, 0.2, 0.4, 0.4]),
    row("prompt_slowdown", "times", "prompt time / its pass alone", [1.5, 0.5, 10.0], [0.5, 0.2, 0.3, 0.3]),
    row("prompt_queue", "times", "share of prompts ahead", [0.08, 1e-3, 1.0], [0.7, 0.2, 0.4, 0.4]),
];

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
    /// The interval that holds the constant with 95 % confidence if residuals are as they seem. Near a limit it reaches farther away
    /// from it than towards it. Of a constant that is not [determined](FittedConstant::is_determined) it is mostly what was assumed
    /// before.
    #[must_use]
    pub fn interval(&self) -> Interval<f64> {
        let deviation = self.deviation / self.constant.slope(self.value).max(f64::MIN_POSITIVE);
        let natural = self.constant.natural(self.value);
        let end = |away: f64| self.constant.of_natural(natural + 1.96 * away * deviation);
        Interval::p95(end(-1.0), end(1.0))
    }

    /// Whether measurements tell it: what is known of it is narrower by a third and more than what was assumed before.
    #[must_use]
    pub fn is_determined(&self) -> bool {
        let assumed = self.constant.spread() * self.constant.slope(self.value);
        self.deviation * 1.5 < assumed
    }

    /// Whether it is within the range that is usual for accelerators.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        let (low, high) = self.constant.range();
        (low..=high).contains(&self.value)
    }
}
