//! MLPerf's early-stopping bound for a tail percentile.

use statrs::function::beta::beta_reg;
use thiserror::Error;

use super::select::{at_ranks, check_finite};
use fizeau_core::Confidence;

use super::{Percent, SampleSupport};

/// What the true percentile does not exceed, with a probability of at least `confidence`: the value that MLPerf LoadGen
/// reports as its early-stopping estimate of a tail latency.
///
/// It is `sorted[n - t]`, `t` the greatest number of values over the bound that still proves it: with `h = n - t` values
/// within, `I_p(h, t + 1) <= 1 - confidence`, `I` the regularized incomplete beta function, which is the probability of so
/// few values over if the percentile were higher. MLPerf inference rules, "Early Stopping Criterion", with tolerance 0;
/// LoadGen `early_stopping.cc` and `results.cc` (mlcommons/inference). As there, `t` is at least 1, so a p99 at 0.99 takes
/// 662 values and a p90 takes 64. Like the rule, it assumes that values are independent.
///
/// ```
/// use fizeau_metrics::{Confidence, Percent, SampleSupport, early_stopping_bound};
/// let latencies: Vec<f64> = (1..=662).map(f64::from).collect();
/// let bound = |values| early_stopping_bound(values, Percent::P99, Confidence::P99);
/// assert_eq!(bound(&latencies), Ok(SampleSupport::Known(662.0)));
/// assert_eq!(bound(&latencies[1..]), Ok(SampleSupport::NotSupported { needs: 662, has: 661 }));
/// ```
///
/// # Errors
/// If a value is NaN or infinite, or if `percent` is 0 or 100.
pub fn early_stopping_bound(
    values: &[f64],
    percent: Percent,
    confidence: Confidence,
) -> Result<SampleSupport<f64>, EarlyStoppingError> {
    let needs = early_stopping_needs(percent, confidence)?;
    check_finite(values).map_err(|index| EarlyStoppingError::NotFinite { index })?;
    let has = values.len() as u64;
    let unsupported = SampleSupport::NotSupported { needs, has };
    if has < needs {
        return Ok(unsupported);
    }
    // One over proves it, all over does not.
    let over = last_true(1, has, |over| is_proven(has, over, percent, confidence));
    let bound = at_ranks(values, &[(has - over) as usize]);
    Ok(bound.first().map_or(unsupported, |&bound| SampleSupport::Known(bound)))
}

/// How many values [`early_stopping_bound`] takes.
///
/// ```
/// use fizeau_metrics::{Confidence, Percent, early_stopping_needs};
/// assert_eq!(early_stopping_needs(Percent::P99, Confidence::P99), Ok(662));
/// assert_eq!(early_stopping_needs(Percent::P90, Confidence::P99), Ok(64));
/// ```
///
/// # Errors
/// If `percent` is 0 or 100: no number of values bounds the greatest one that there could be.
pub fn early_stopping_needs(
    percent: Percent,
    confidence: Confidence,
) -> Result<u64, EarlyStoppingError> {
    let share = percent.share();
    if share <= 0.0 || share >= 1.0 {
        return Err(EarlyStoppingError::Extreme);
    }
    let too_few = |n: u64| !is_proven(n, 1, percent, confidence);
    let mut enough = 2;
    while too_few(enough) && enough < MOST {
        enough *= 2;
    }
    Ok(last_true(1, enough, too_few) + 1)
}

/// Beyond any sample: only a percentile within a billionth of a billionth of 0 or 100 would get here.
const MOST: u64 = 1 << 60;

/// Whether `over` of `n` values over a bound prove that the percentile is not.
fn is_proven(n: u64, over: u64, percent: Percent, confidence: Confidence) -> bool {
    let within = n.saturating_sub(over) as f64;
    within > 0.0 && beta_reg(within, over as f64 + 1.0, percent.share()) <= 1.0 - confidence.get()
}

/// The last number of `from..to` for which `holds`, which does for `from` and, once it fails, for none after.
fn last_true(from: u64, to: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut yes, mut no) = (from, to);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}

/// Why there is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EarlyStoppingError {
    /// Percentile 0 or 100 was asked for.
    #[error("percentiles 0 and 100 have no such bound; give one in between")]
    Extreme,
    /// A value is NaN or infinite.
    #[error("value {index} (from 0) is NaN or infinite: leave out what is not a number")]
    NotFinite {
        /// Its index, from 0.
        index: usize,
    },
}
