//! How far a mean or a rate may be off, from the means of long batches.

use fizeau_core::{Confidence, Estimate, Interval, Nanos};
use statrs::distribution::{ContinuousCDF, StudentsT};
use thiserror::Error;

use super::autocorrelation::mean;
use super::select::check_finite;
use super::{Autocorrelation, SampleSupport};

/// A mean with its interval, from batches of successive values so long that their own means are hardly correlated.
///
/// Batches are as long as the square root of the sample, or as ten autocorrelation times where that is longer, but never
/// fewer than six: B. Schmeiser, "Batch size effects in the analysis of simulation output" (Operations Research 30, 1982);
/// J. M. Flegal and G. L. Jones, "Batch means and spectral variance estimators in Markov chain Monte Carlo" (Annals of
/// Statistics 38, 2010). The interval is Student's, with a degree of freedom less than there are batches. Its standard error is that
/// of the batches or that of the values by their autocorrelation time, whichever is greater: batches of few autocorrelation times
/// hang together themselves.
///
/// ```
/// use fizeau_metrics::{BatchMeans, Confidence};
/// let latencies: Vec<f64> = (0..500).map(|k| f64::from(k * 7919 % 1009)).collect();
/// let found = BatchMeans::of(&latencies, Confidence::P95)?.known();
/// let found = found.ok_or("500 values support it")?;
/// assert!(found.interval.low < found.mean && found.mean < found.interval.high);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BatchMeans {
    /// How many values there are.
    pub n: u64,
    /// Their mean, in their unit.
    pub mean: f64,
    /// Where the true mean lies.
    pub interval: Interval<f64>,
    /// How many batches there are, of equal length to within one value.
    pub batches: u64,
    /// How many independent values would know the mean as well; at most `n`.
    pub effective_n: f64,
    /// How the values are correlated; absent where they are all equal.
    pub autocorrelation: Option<Autocorrelation>,
}

/// An interval takes so many values, and as many as make so many batches of an autocorrelation time each. To ask for more would leave
/// those samples whose values came out less correlated than they are, by chance, and their intervals are too narrow.
const LEAST: f64 = 30.0;
const LEAST_BATCHES: usize = 6;

/// How many values an interval takes, where so many of them stand for an independent one.
pub(crate) fn needed_of_series(inflation: f64) -> u64 {
    (LEAST_BATCHES as f64 * inflation).max(LEAST).ceil() as u64
}
/// Slots of time to count in, at most: enough for the batches, few enough to add up their correlations.
const MOST_SLOTS: usize = 4096;

impl BatchMeans {
    /// The mean of `values` in the order in which their requests were sent. It takes thirty, and as many as are worth six independent
    /// ones.
    ///
    /// # Errors
    /// If a value is NaN or infinite, or so great that sums or squares of them are.
    pub fn of(
        values: &[f64],
        confidence: Confidence,
    ) -> Result<SampleSupport<Self>, BatchMeansError> {
        check_finite(values).map_err(|index| BatchMeansError::NotFinite { index })?;
        let n = values.len();
        let autocorrelation = Autocorrelation::of(values);
        let inflation = autocorrelation.map_or(1.0, Autocorrelation::inflation);
        let (needs, has) = (needed_of_series(inflation), n as u64);
        if has < needs {
            return Ok(SampleSupport::NotSupported { needs, has });
        }
        let length = n.isqrt().max((10.0 * inflation).ceil() as usize).min(n / LEAST_BATCHES);
        let batches = n / length;
        let means: Vec<f64> =
            (0..batches).map(|k| mean(&values[k * n / batches..(k + 1) * n / batches])).collect();
        let mean = mean(values);
        let of_values = autocorrelation.map_or(0.0, |found| error_of_series(values, mean, found));
        let half = error_of_runs(&means, mean).max(of_values) * student(batches, confidence);
        let interval = Interval { low: mean - half, high: mean + half, confidence };
        if !(interval.low.is_finite() && interval.high.is_finite()) {
            return Err(BatchMeansError::TooGreat);
        }
        Ok(SampleSupport::Known(Self {
            n: n as u64,
            mean,
            interval,
            batches: batches as u64,
            effective_n: n as f64 / inflation,
            autocorrelation,
        }))
    }

    /// The rate at which `events` happened during `duration`, per second: each is an instant since its beginning, and for
    /// how much it counts (1 for a request, its tokens for a reply).
    ///
    /// The duration is cut into as many equal slots as there are events (4096 at most), and the rates in them are the
    /// values: [`BatchMeans::n`] counts slots. It takes at least thirty events.
    ///
    /// ```
    /// use fizeau_core::Nanos;
    /// use fizeau_metrics::{BatchMeans, Confidence};
    /// let ends: Vec<_> = (0..200).map(|k| (Nanos::from_millis(50 * k + 13 * k % 40), 1)).collect();
    /// let rate = BatchMeans::of_rate(&ends, Nanos::from_secs(10), Confidence::P95)?;
    /// assert!((rate.known().ok_or("200 events support it")?.mean - 20.0).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the duration is zero, or an event lies past its end.
    pub fn of_rate(
        events: &[(Nanos, u64)],
        duration: Nanos,
        confidence: Confidence,
    ) -> Result<SampleSupport<Self>, BatchMeansError> {
        let span = u128::from(duration.as_nanos());
        if span == 0 {
            return Err(BatchMeansError::NoDuration);
        }
        if let Some(index) = events.iter().position(|&(at, _)| at > duration) {
            return Err(BatchMeansError::PastTheEnd { index });
        }
        let has = events.len() as u64;
        if (has as f64) < LEAST {
            return Ok(SampleSupport::NotSupported { needs: LEAST as u64, has });
        }
        let slots = events.len().min(MOST_SLOTS);
        let slots_per_second = slots as f64 / (span as f64 / 1e9);
        let mut rates = vec![0.0; slots];
        for &(at, count) in events {
            // What happens at the very end belongs to the last slot.
            let slot = (u128::from(at.as_nanos()) * slots as u128 / span) as usize;
            rates[slot.min(slots - 1)] += count as f64 * slots_per_second;
        }
        let found = Self::of(&rates, confidence)?;
        Ok(match found {
            SampleSupport::NotSupported { needs, .. } => {
                SampleSupport::NotSupported { needs: (needs * has).div_ceil(slots as u64), has }
            }
            other => other,
        })
    }
}

/// The mean of independent runs of equal weight and Student's interval around it; none of fewer than two, or of what is not
/// finite. Runs of one load at different times have in them what a single run's own interval cannot show: that the server, or
/// what is around it, is not the same each time.
///
/// ```
/// use fizeau_metrics::{Confidence, mean_of_runs};
///
/// let mean = mean_of_runs(&[11.0, 12.0, 13.0], Confidence::P95).expect("three runs");
/// // R: t.test(c(11, 12, 13))$conf.int is 9.515862 14.484138.
/// assert!((mean.low() - 9.515862).abs() < 1e-6 && mean.value() == 12.0);
/// ```
#[must_use]
pub fn mean_of_runs(values: &[f64], confidence: Confidence) -> Option<Estimate<f64>> {
    if values.len() < 2 || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let value = values.iter().sum::<f64>() / values.len() as f64;
    let half = error_of_runs(values, value) * student(values.len(), confidence);
    let interval = Interval { low: value - half, high: value + half, confidence };
    Estimate::new(value, interval).ok().filter(|_| value.is_finite() && half.is_finite())
}

/// The standard error of `mean`, from runs or batches of equal length whose means do not hang together.
fn error_of_runs(means: &[f64], mean: f64) -> f64 {
    let runs = means.len() as f64;
    let squares: f64 = means.iter().map(|run| (run - mean).powi(2)).sum();
    (squares / (runs - 1.0) / runs).sqrt()
}

/// The same from the values themselves, by how far they are correlated.
fn error_of_series(values: &[f64], mean: f64, found: Autocorrelation) -> f64 {
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / n * found.corrected_time() / n).sqrt()
}

/// How many standard errors Student's interval of so many batches, two or more, reaches to either side.
fn student(batches: usize, confidence: Confidence) -> f64 {
    // The degrees of freedom are always in range.
    StudentsT::new(0.0, 1.0, batches as f64 - 1.0)
        .map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - confidence.tail()))
}

/// Why there is no interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BatchMeansError {
    /// A value is NaN or infinite.
    #[error("value {index} (from 0) is NaN or infinite: leave out what is not a number")]
    NotFinite {
        /// Its index, from 0.
        index: usize,
    },
    /// The values cannot be added up or squared.
    #[error("the values are too large to be squared and added up; give them in a larger unit")]
    TooGreat,
    /// A rate over no time.
    #[error("the duration is zero, and a rate needs time to pass")]
    NoDuration,
    /// An event past the end of the duration.
    #[error(
        "event {index} (from 0) lies past the end: instants count from the beginning of the duration"
    )]
    PastTheEnd {
        /// Its index, from 0.
        index: usize,
    },
}
