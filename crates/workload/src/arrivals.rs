//! When requests ought to leave.

use fizeau_core::{Nanos, PerSec, Seconds};
use serde::{Deserialize, Serialize};

use crate::draws::Draws;
use crate::parts::Instants;
use crate::seed::{Purpose, Seed};
use crate::spec::SpecError;

/// The law by which requests leave.
///
/// In a closed loop the endpoint sets the pace; under every other law the plan does, whatever the endpoint
/// makes of it (an open loop).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// All at the start of the level: what vLLM's `--request-rate inf` means.
    AllAtOnce,
    /// Each when a slot is free. How many slots there are is the driver's affair.
    #[default]
    ClosedLoop,
    /// At equal distances; the first one a full distance after the start.
    Constant {
        /// Requests per second, from 1e-9 to 1e9.
        #[serde(rename = "rate_per_s")]
        rate: PerSec,
    },
    /// A renewal process: independent gaps, the first one before the first request, each of them
    /// Gamma(shape `burstiness`, scale 1 / (`rate` `burstiness`)). Mean gap 1 / `rate`, squared coefficient of
    /// variation 1 / `burstiness`. This is what vLLM's `--burstiness` means.
    Gamma {
        /// Requests per second in the mean, from 1e-9 to 1e9.
        #[serde(rename = "rate_per_s")]
        rate: PerSec,
        /// 1 is a Poisson process; below, requests come in bursts; above, more evenly. From 0.001 to 1e6.
        burstiness: f64,
        /// Whether the drawn instants are stretched to fit the rate.
        rescale: Rescale,
    },
    /// The rate goes from one value to another and stays there.
    Ramp {
        /// The rate at the start.
        #[serde(rename = "from_per_s")]
        from: PerSec,
        /// The rate at the end.
        #[serde(rename = "to_per_s")]
        to: PerSec,
        /// By which curve.
        shape: RampShape,
        /// Over what.
        over: RampSpan,
        /// How regular the gaps are.
        spacing: Spacing,
    },
    /// One rate after another; the last one stays.
    Stages {
        /// The rates and how long each lasts; at least one.
        stages: Vec<Stage>,
        /// How regular the gaps are.
        spacing: Spacing,
    },
    /// Bursts: a Poisson process that switches between two rates, each phase of exponential length (a Markov-modulated
    /// Poisson process of two states).
    OnOff {
        /// The rate while on.
        #[serde(rename = "on_per_s")]
        on: PerSec,
        /// The rate while off; may be 0.
        #[serde(rename = "off_per_s")]
        off: PerSec,
        /// How long it is on in the mean.
        mean_on: Seconds,
        /// How long it is off in the mean.
        mean_off: Seconds,
    },
    /// The rate goes up and down as a sine does, from the mean upwards at the start: days, in the time of a test.
    Diurnal {
        /// The mean rate.
        #[serde(rename = "mean_per_s")]
        mean: PerSec,
        /// How far the rate goes to either side, as a share of the mean; from 0 to 1.
        swing: f64,
        /// How long a day is.
        period: Seconds,
        /// How regular the gaps are.
        spacing: Spacing,
    },
}

/// How regular gaps are where the rate changes. The instants are those of a process of rate 1, put where the integral of
/// the rate reaches them, so that the rate is followed exactly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// As even as the rate allows.
    Even,
    /// Random, with gamma gaps; see [`Arrivals::Gamma`].
    Random {
        /// 1 is a Poisson process.
        burstiness: f64,
    },
}

/// The curve of a ramp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RampShape {
    /// By the same amount in the same time.
    Linear,
    /// By the same factor in the same time.
    Exponential,
}

/// What a ramp goes over.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RampSpan {
    /// This much time; the rate then stays.
    Time(Seconds),
    /// All requests of the plan, so that the i-th of N has the rate at i / (N - 1): vLLM's `--ramp-up-strategy`.
    Requests,
}

/// A rate, and how long it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Requests per second; may be 0 for a pause, but not in the last one.
    #[serde(rename = "rate_per_s")]
    pub rate: PerSec,
    /// For how long.
    pub lasts: Seconds,
}

/// Whether the instants of a random process are stretched afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rescale {
    /// Left as drawn: a true renewal process, whose total span varies from seed to seed.
    #[default]
    None,
    /// All instants multiplied so that the last of N requests leaves at exactly N / rate, as vLLM does. The
    /// total span then never varies, and the gaps are no longer independent.
    ToMean,
}

impl Arrivals {
    /// A Poisson process, as drawn: exponential gaps of mean 1 / `rate`.
    #[must_use]
    pub const fn poisson(rate: PerSec) -> Self {
        Self::Gamma { rate, burstiness: 1.0, rescale: Rescale::None }
    }

    /// The highest rate that lasts; none where there is no rate.
    pub(crate) fn peak(&self) -> Option<PerSec> {
        match *self {
            Self::AllAtOnce | Self::ClosedLoop => None,
            Self::Constant { rate } | Self::Gamma { rate, .. } => Some(rate),
            _ => None,
        }
    }

    /// Says what is wrong with this law.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        let (rate, burstiness) = match *self {
            Self::AllAtOnce | Self::ClosedLoop => return Ok(()),
            Self::Constant { rate } => (rate, 1.0),
            Self::Gamma { rate, burstiness, .. } => (rate, burstiness),
            _ => return Err(SpecError::Unfinished("arrivals")),
        };
        // The limits keep every product and quotient below finite; a nanosecond cannot resolve a higher rate
        // anyway.
        if !(1e-9..=1e9).contains(&rate.get()) {
            return Err(SpecError::Rate(rate.get()));
        }
        if !(1e-3..=1e6).contains(&burstiness) {
            return Err(SpecError::Burstiness(burstiness));
        }
        Ok(())
    }
}

/// The intended instants of a plan's requests, in order, as offsets from the start of the level; none for each
/// request of a closed loop. Never decreasing.
///
/// An instant beyond the 584 years of [`Nanos`] is given as [`Nanos::MAX`].
pub struct Schedule {
    pace: Pace,
    given: u64,
    requests: u64,
}

enum Pace {
    Closed,
    Own(Instants),
    AtOnce,
    Constant { rate: f64 },
    Random { gaps: Box<Gaps>, elapsed: f64, fit: Fit },
}

/// How drawn seconds become intended ones.
#[derive(Debug, Clone, Copy)]
enum Fit {
    AsDrawn,
    Stretched { last: f64, span: f64 },
}

impl Schedule {
    /// The schedule of `requests` requests under a law that passed [`Arrivals::check`].
    pub(crate) fn new(arrivals: &Arrivals, requests: u64, seed: Seed) -> Self {
        let pace = match *arrivals {
            Arrivals::AllAtOnce => Pace::AtOnce,
            Arrivals::ClosedLoop => Pace::Closed,
            Arrivals::Constant { rate } => Pace::Constant { rate: rate.get() },
            Arrivals::Gamma { rate, burstiness, rescale } => {
                let gaps = || Gaps::new(rate.get(), burstiness, seed);
                let fit = match rescale {
                    Rescale::None => Fit::AsDrawn,
                    Rescale::ToMean => Fit::Stretched {
                        // A first pass over the same gaps, because the stretch needs the last instant.
                        last: gaps().sum_of(requests),
                        span: requests as f64 / rate.get(),
                    },
                };
                Pace::Random { gaps: Box::new(gaps()), elapsed: 0.0, fit }
            }
            _ => Pace::AtOnce,
        };
        Self { pace, given: 0, requests }
    }

    /// The schedule of a law of somebody else's.
    pub(crate) fn of(instants: Instants) -> Self {
        Self { pace: Pace::Own(instants), given: 0, requests: u64::MAX }
    }

    /// The schedule of `requests` requests that leave when a slot is free.
    pub(crate) const fn closed(requests: u64) -> Self {
        Self { pace: Pace::Closed, given: 0, requests }
    }
}

impl std::fmt::Debug for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedule").field("given", &self.given).finish_non_exhaustive()
    }
}

impl Iterator for Schedule {
    type Item = Option<Nanos>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.given == self.requests {
            return None;
        }
        self.given += 1;
        Some(match &mut self.pace {
            Pace::Closed => None,
            Pace::Own(instants) => Some(instants.next()?),
            Pace::AtOnce => Some(Nanos::ZERO),
            // A product of the count, not a running sum, so that no error builds up.
            Pace::Constant { rate } => Some(nanos(self.given as f64 / *rate)),
            Pace::Random { gaps, elapsed, fit } => {
                *elapsed += gaps.next_gap();
                Some(nanos(fit.apply(*elapsed)))
            }
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.requests - self.given) {
            Ok(left) => (left, Some(left)),
            Err(_) => (usize::MAX, None),
        }
    }
}

impl Fit {
    fn apply(self, elapsed: f64) -> f64 {
        match self {
            Self::AsDrawn => elapsed,
            // All gaps underflowed to zero: all requests leave together, and the last one leaves at the span.
            Self::Stretched { last: 0.0, span } => span,
            // In this order the last one lands on the span exactly.
            Self::Stretched { last, span } => elapsed / last * span,
        }
    }
}

/// Independent gaps of a gamma law, in seconds.
#[derive(Debug)]
struct Gaps {
    draws: Draws,
    burstiness: f64,
    scale: f64,
}

impl Gaps {
    fn new(rate: f64, burstiness: f64, seed: Seed) -> Self {
        Self { draws: seed.stream(Purpose::Gaps, 0), burstiness, scale: 1.0 / (rate * burstiness) }
    }

    fn next_gap(&mut self) -> f64 {
        // Shape 1 is the exponential law, which takes one draw and no rejection.
        if self.burstiness == 1.0 {
            self.draws.exponential() * self.scale
        } else {
            self.draws.gamma(self.burstiness) * self.scale
        }
    }

    /// The sum of the next `count` gaps, added in the order in which [`Schedule`] adds them.
    fn sum_of(mut self, count: u64) -> f64 {
        (0..count).fold(0.0, |sum, _| sum + self.next_gap())
    }
}

/// Seconds, known not to be negative or NaN, as nanoseconds.
fn nanos(seconds: f64) -> Nanos {
    Nanos::from_secs_f64(seconds).unwrap_or(Nanos::MAX)
}
