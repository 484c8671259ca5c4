//! What people write for turns, think times, shares of models, and for rates that change.

use std::num::NonZeroU32;
use std::str::FromStr;

use fizeau_core::{PerSec, Seconds};

use crate::arrivals::{ArrivalLaw, RateStage, Spacing};
use crate::spec::ModelShare;
use crate::workload::{ThinkTime, Turns};

/// Why a text is not what it is to be: the text, and what is wrong with it or would be right, in one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given}: {message}")]
pub struct TextError {
    given: String,
    message: String,
}

impl TextError {
    fn new(given: &str, message: impl Into<String>) -> Self {
        Self { given: given.to_owned(), message: message.into() }
    }
}

impl FromStr for Turns {
    type Err = TextError;

    /// `4` or `2-6`.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let number = |text: &str| text.trim().parse::<NonZeroU32>().ok();
        let turns = match text.split_once('-') {
            None => number(text).map(Self::Fixed),
            Some((least, most)) => number(least)
                .zip(number(most))
                .filter(|(least, most)| least <= most)
                .map(|(least, most)| Self::Uniform { least, most }),
        };
        let right = "give a number of turns such as 4, or a range as 2-6";
        turns.ok_or_else(|| TextError::new(text, right))
    }
}

/// The spread of a log-normal think time: one in six thinks more than 2.2 times as long as the median.
const SPREAD: f64 = 0.8;

impl FromStr for ThinkTime {
    type Err = TextError;

    /// Seconds: `2`, `exp:2` (their mean) or `lognormal:2` (their median).
    fn from_str(text: &str) -> Result<Self, TextError> {
        let (law, number) = text.split_once(':').unwrap_or(("", text));
        let seconds = number.trim().parse().ok();
        let seconds = seconds.filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
        let think = seconds.map(Seconds::new).and_then(|seconds| match law.trim() {
            "" => Some(Self::Fixed { seconds }),
            "exp" => Some(Self::Exponential { mean: seconds }),
            "lognormal" => Some(Self::LogNormal { median: seconds, sigma: SPREAD }),
            _ => None,
        });
        let right = "give seconds, such as 2, exp:2 (their mean) or lognormal:2 (their median)";
        think.ok_or_else(|| TextError::new(text, right))
    }
}

impl FromStr for ModelShare {
    type Err = TextError;

    /// `NAME` or `NAME=WEIGHT`.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let (name, weight) = match text.rsplit_once('=') {
            None => (text, 1.0),
            Some((name, weight)) => (name, weight.trim().parse().unwrap_or(f64::NAN)),
        };
        if name.trim().is_empty() || !(f64::is_finite(weight) && weight > 0.0) {
            return Err(TextError::new(text, "write NAME or NAME=WEIGHT, with a weight above 0"));
        }
        Ok(Self { model: name.trim().into(), weight })
    }
}

impl ArrivalLaw {
    /// One rate after another, with gaps as regular as `spacing` says, as people write it: `10:30,20:60`, rates and how many seconds each
    /// lasts.
    ///
    /// # Errors
    /// If it is not written so.
    pub fn stages(text: &str, spacing: Spacing) -> Result<Self, TextError> {
        let stage = |part: &str| {
            let numbers = part.split_once(':').and_then(|(rate, lasts)| {
                Some((rate.trim().parse().ok()?, lasts.trim().parse().ok()?))
            });
            let right = || format!("`{part}` is not RATE:SECONDS, such as 10:30,20:60");
            let (rate, lasts) = numbers.ok_or_else(|| TextError::new(text, right()))?;
            Ok(RateStage { rate: rate_of(text, rate)?, lasts: seconds_of(text, lasts)? })
        };
        let stages = text.split(',').map(stage).collect::<Result<_, _>>()?;
        Ok(Self::Stages { stages, spacing })
    }

    /// Bursts as people write them: `on=100,off=5,on-s=2,off-s=8`, a rate while on and one while off, and how many seconds each lasts in the
    /// mean.
    ///
    /// # Errors
    /// If it is not written so.
    pub fn bursts(text: &str) -> Result<Self, TextError> {
        let [on, off, mean_on, mean_off] = numbers(text, ["on", "off", "on-s", "off-s"])?;
        Ok(Self::OnOff {
            on: rate_of(text, on)?,
            off: rate_of(text, off)?,
            mean_on: seconds_of(text, mean_on)?,
            mean_off: seconds_of(text, mean_off)?,
        })
    }

    /// A rate that goes up and down as a sine does, as people write it: `mean=20,swing=0.5,period-s=600`.
    ///
    /// ```
    /// use fizeau_workload::{ArrivalLaw, Spacing};
    ///
    /// let day = ArrivalLaw::diurnal("mean=20,swing=0.5,period-s=600", Spacing::Even)?;
    /// assert_eq!(day.peak().map(|rate| rate.get()), Some(30.0));
    /// # Ok::<(), fizeau_workload::TextError>(())
    /// ```
    ///
    /// # Errors
    /// If it is not written so.
    pub fn diurnal(text: &str, spacing: Spacing) -> Result<Self, TextError> {
        let [mean, swing, period] = numbers(text, ["mean", "swing", "period-s"])?;
        let (mean, period) = (rate_of(text, mean)?, seconds_of(text, period)?);
        Ok(Self::Diurnal { mean, swing, period, spacing })
    }
}

/// The numbers of a text such as `on=100,off=5`, in which only `names` may come, each once.
fn numbers<const N: usize>(text: &str, names: [&str; N]) -> Result<[f64; N], TextError> {
    let mut found = [None; N];
    for part in text.split(',') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = name.trim();
        let place = names.iter().position(|known| *known == name);
        let place = place.and_then(|place| found.get_mut(place)).ok_or_else(|| {
            TextError::new(text, format!("`{name}` is none of {}", names.join(", ")))
        })?;
        if place.is_some() {
            return Err(TextError::new(text, format!("`{name}` comes twice")));
        }
        let wrong = |_| TextError::new(text, format!("{name} needs a number, such as {name}=1"));
        *place = Some(value.trim().parse::<f64>().map_err(wrong)?);
    }
    let mut numbers = [0.0; N];
    for ((number, found), name) in numbers.iter_mut().zip(found).zip(names) {
        *number = found.ok_or_else(|| {
            let all = names.map(|name| format!("{name}=N")).join(",");
            TextError::new(text, format!("`{name}` is missing; write {all}, each with a number"))
        })?;
    }
    Ok(numbers)
}

/// A rate that may be 0 where the law has a use for that, which the plan knows.
fn rate_of(text: &str, rate: f64) -> Result<PerSec, TextError> {
    match rate {
        rate if rate.is_finite() && rate >= 0.0 => Ok(PerSec::new(rate)),
        _ => Err(TextError::new(text, format!("{rate} is not a number of requests per second"))),
    }
}

fn seconds_of(text: &str, seconds: f64) -> Result<Seconds, TextError> {
    match seconds {
        seconds if seconds.is_finite() && seconds > 0.0 => Ok(Seconds::new(seconds)),
        _ => Err(TextError::new(
            text,
            format!("{seconds} s is not a length of time: give more than 0"),
        )),
    }
}
