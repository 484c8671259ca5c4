//! What can be wrong with a law of arrivals.

use std::fmt::Arguments;
use std::ops::RangeInclusive;

use fizeau_core::{PerSec, Seconds};

use super::{ArrivalLaw, RampShape, RampSpan, RateStage, Spacing};

/// The rates that can be asked for, per second. The limits keep every product and quotient below finite; a nanosecond
/// cannot resolve a higher rate anyway.
const RATES: RangeInclusive<f64> = 1e-9..=1e9;

/// The lengths of time that can be asked for, in seconds: up to 31 years.
const TIMES: RangeInclusive<f64> = 1e-9..=1e9;

/// The fewest requests in the mean that one phase of each kind of an on/off law must bring, so that the phases between two
/// requests can be drawn one by one.
const LEAST_PER_CYCLE: f64 = 1e-3;

/// Why a law of arrivals cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrivalsError {
    /// The burstiness is not a usable number.
    #[error(
        "the burstiness {0} cannot be used: it must be from 0.001 to 1000000 (1 is Poisson; for an even \
         spacing use constant arrivals)"
    )]
    Burstiness(f64),
    /// An exponential ramp starts at 0.
    #[error(
        "an exponential ramp cannot start at 0 requests per second, because no factor leads away from 0: start \
         above 0, or use a linear ramp"
    )]
    ExponentialFromZero,
    /// A ramp over requests starts at 0.
    #[error(
        "a ramp over requests cannot start at 0 requests per second, because the first request would never \
         leave: start above 0, or ramp over time"
    )]
    RequestsFromZero,
    /// The phases of an on/off law are far shorter than its gaps.
    #[error(
        "on and off phases alternate {0:.0} times per request on average: at most 1000 can be followed; make \
         the phases longer, or use Poisson arrivals at the mean rate"
    )]
    Flicker(f64),
    /// The last of several stages is a pause.
    #[error(
        "stage {0} is the last one and has the rate 0, so the remaining requests would never leave: give it a rate above 0, or add a stage after it"
    )]
    LastStage(usize),
    /// There are no stages.
    #[error("the arrivals in stages have no stage: give at least one")]
    NoStages,
    /// The rate is not a usable number.
    #[error(
        "the rate of {} requests per second cannot be used: it must be from 1e-9 to 1e9, or inf \
         for all at once",
        short(*.0)
    )]
    Rate(f64),
    /// One of several rates is not a usable number.
    #[error(
        "the {which} of {} requests per second cannot be used: it must be from 1e-9 to 1e9",
        short(*.rate)
    )]
    RateOf {
        /// Which rate.
        which: String,
        /// The rate given, per second.
        rate: f64,
    },
    /// One of several rates is neither 0, which it may be, nor a usable number.
    #[error(
        "the {which} of {} requests per second cannot be used: it must be 0 or from 1e-9 to 1e9",
        short(*.rate)
    )]
    RateOrZero {
        /// Which rate.
        which: String,
        /// The rate given, per second.
        rate: f64,
    },
    /// How far a rate swings is not a share.
    #[error(
        "the swing of {0} cannot be used: it is a share of the mean rate and must be from 0 to 1"
    )]
    Swing(f64),
    /// A length of time is not a usable number.
    #[error("the {which} of {} s cannot be used: it must be from 1e-9 s to 1e9 s", short(*.seconds))]
    Time {
        /// Which time.
        which: String,
        /// The time given, in seconds.
        seconds: f64,
    },
}

/// As it was typed, but without more zeros than a double has digits.
fn short(number: f64) -> String {
    if number.abs() < 1e16 { number.to_string() } else { format!("{number:e}") }
}

impl ArrivalLaw {
    /// Says what is wrong with this law, the first thing only.
    pub(crate) fn check(&self) -> Result<(), ArrivalsError> {
        match self {
            Self::AllAtOnce | Self::ClosedLoop => Ok(()),
            Self::Constant { rate } => plain_rate(*rate),
            Self::Gamma { rate, burstiness, .. } => {
                plain_rate(*rate)?;
                usable_burstiness(*burstiness)
            }
            Self::Ramp { from, to, shape, over, spacing } => {
                ramp_start(*from, *shape, *over)?;
                rate_of(format_args!("last rate of the ramp"), *to)?;
                if let RampSpan::Time(time) = over {
                    time_of(format_args!("time of the ramp"), *time)?;
                }
                spacing.check()
            }
            Self::Stages { stages, spacing } => {
                all_stages(stages)?;
                spacing.check()
            }
            Self::OnOff { on, off, mean_on, mean_off } => {
                rate_of(format_args!("rate while on"), *on)?;
                rate_or_zero(format_args!("rate while off"), *off)?;
                time_of(format_args!("mean time on"), *mean_on)?;
                time_of(format_args!("mean time off"), *mean_off)?;
                let per_cycle = on.get() * mean_on.get() + off.get() * mean_off.get();
                held(per_cycle >= LEAST_PER_CYCLE, || ArrivalsError::Flicker(per_cycle.recip()))
            }
            Self::Diurnal { mean, swing, period, spacing } => {
                rate_of(format_args!("mean rate"), *mean)?;
                held((0.0..=1.0).contains(swing), || ArrivalsError::Swing(*swing))?;
                time_of(format_args!("period"), *period)?;
                spacing.check()
            }
        }
    }
}

impl Spacing {
    fn check(self) -> Result<(), ArrivalsError> {
        match self {
            Self::Even => Ok(()),
            Self::Random { burstiness } => usable_burstiness(burstiness),
        }
    }
}

fn ramp_start(from: PerSec, shape: RampShape, over: RampSpan) -> Result<(), ArrivalsError> {
    let which = format_args!("first rate of the ramp");
    match (shape, over) {
        (RampShape::Exponential, _) if from.get() == 0.0 => Err(ArrivalsError::ExponentialFromZero),
        (_, RampSpan::Requests) if from.get() == 0.0 => Err(ArrivalsError::RequestsFromZero),
        (RampShape::Linear, RampSpan::Time(_)) => rate_or_zero(which, from),
        _ => rate_of(which, from),
    }
}

fn all_stages(stages: &[RateStage]) -> Result<(), ArrivalsError> {
    for (number, stage) in (1..).zip(stages) {
        rate_or_zero(format_args!("rate of stage {number}"), stage.rate)?;
        time_of(format_args!("length of stage {number}"), stage.lasts)?;
    }
    match stages.last() {
        None => Err(ArrivalsError::NoStages),
        Some(last) if last.rate.get() == 0.0 => Err(ArrivalsError::LastStage(stages.len())),
        Some(_) => Ok(()),
    }
}

fn held(usable: bool, error: impl FnOnce() -> ArrivalsError) -> Result<(), ArrivalsError> {
    if usable { Ok(()) } else { Err(error()) }
}

fn plain_rate(rate: PerSec) -> Result<(), ArrivalsError> {
    let rate = rate.get();
    held(RATES.contains(&rate), || ArrivalsError::Rate(rate))
}

fn rate_of(which: Arguments<'_>, rate: PerSec) -> Result<(), ArrivalsError> {
    let rate = rate.get();
    held(RATES.contains(&rate), || ArrivalsError::RateOf { which: which.to_string(), rate })
}

fn rate_or_zero(which: Arguments<'_>, rate: PerSec) -> Result<(), ArrivalsError> {
    let rate = rate.get();
    let usable = rate == 0.0 || RATES.contains(&rate);
    held(usable, || ArrivalsError::RateOrZero { which: which.to_string(), rate })
}

fn time_of(which: Arguments<'_>, time: Seconds) -> Result<(), ArrivalsError> {
    let seconds = time.get();
    held(TIMES.contains(&seconds), || ArrivalsError::Time { which: which.to_string(), seconds })
}

fn usable_burstiness(burstiness: f64) -> Result<(), ArrivalsError> {
    held((1e-3..=1e6).contains(&burstiness), || ArrivalsError::Burstiness(burstiness))
}
