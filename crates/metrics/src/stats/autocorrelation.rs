//! How much successive values of a sample are correlated.

/// How much the values of a series are correlated, in their order.
///
/// ```
/// use fizeau_metrics::Autocorrelation;
/// // A drift: a hundred such values know their mean no better than a few independent ones would.
/// let drift: Vec<f64> = (0..100).map(f64::from).collect();
/// let found = Autocorrelation::of(&drift).unwrap();
/// assert!(found.lag1 > 0.9 && found.effective_n() < 10.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Autocorrelation {
    /// How many values there are.
    pub n: u64,
    /// The correlation of each value with the next, from -1 to 1.
    pub lag1: f64,
    /// The integrated autocorrelation time, in values: `1 + 2 (rho_1 + rho_2 + ...)`. The mean of the series is as uncertain
    /// as that of one independent value in so many. Below 1 where high values follow low ones.
    pub time: f64,
}

/// How many autocorrelation times the sum reaches: the usual choice, which emcee has too.
const WINDOW: f64 = 5.0;
/// Beyond this lag the series is looked at in pairs, so that one that drifts costs no more than a few thousand passes.
const MOST_LAGS: usize = 1024;
/// A longer series is looked at in pairs from the start, so that the passes of one of a million values are short: what the
/// pairs hide of the correlations at small lags is in the variance of their means. The time is then known to a few percent,
/// which is more than the batches know of it.
const MOST_VALUES: usize = 1 << 15;

impl Autocorrelation {
    /// Of `values` in their order; none if there are fewer than two, if they are all equal, or if one is not finite.
    ///
    /// The correlations are summed up to the first lag that is at least five times the sum so far, beyond which they are
    /// noise: A. Sokal, "Monte Carlo methods in statistical mechanics: foundations and new algorithms" (1997), section 3.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let centred = centred(values);
        let variance = autocovariance(&centred, 0);
        if !(variance > 0.0 && variance.is_finite()) {
            return None;
        }
        let lag1 = autocovariance(&centred, 1) / variance;
        Some(Self { n: values.len() as u64, lag1, time: time(&centred, variance) })
    }

    /// How many independent values would know the mean as well: `n / time`, the time corrected for the shortness of the series, and
    /// never more than `n`.
    #[must_use]
    pub fn effective_n(self) -> f64 {
        self.n as f64 / self.inflation()
    }

    /// How many values stand for one independent one: the corrected time, and at least 1, so that no luck makes a sample worth more
    /// than its size.
    pub(crate) fn inflation(self) -> f64 {
        self.corrected_time().max(1.0)
    }

    /// The time without what the mean took away: it is that of the same values, so that each correlation comes out too low by a share
    /// of the variance of that mean. U. Wolff, "Monte Carlo errors with less errors" (Computer Physics Communications 156, 2004).
    pub(super) fn corrected_time(self) -> f64 {
        let n = self.n as f64;
        let lags = (WINDOW * self.time.max(1.0)).ceil().min(n - 1.0);
        self.time.max(0.0) * (1.0 + (2.0 * lags + 1.0) / n)
    }
}

/// The integrated autocorrelation time of centred values.
fn time(centred: &[f64], variance: f64) -> f64 {
    if centred.len() > MOST_VALUES {
        return time_by_pairs(centred, variance);
    }
    let mut time = 1.0;
    for lag in 1..centred.len() {
        if lag > MOST_LAGS {
            return time_by_pairs(centred, variance);
        }
        time += 2.0 * autocovariance(centred, lag) / variance;
        if lag as f64 >= WINDOW * time {
            break;
        }
    }
    time
}

/// The same from the means of pairs, half as many. The variance of the mean of all, `variance * time / n`, is that of the
/// pairs' mean.
fn time_by_pairs(values: &[f64], variance: f64) -> f64 {
    let pairs: Vec<f64> = values.chunks_exact(2).map(mean).collect();
    let pairs = centred(&pairs);
    let of_pairs = autocovariance(&pairs, 0);
    if of_pairs > 0.0 { 2.0 * time(&pairs, of_pairs) * of_pairs / variance } else { 1.0 }
}

/// `values` less their mean.
pub(super) fn centred(values: &[f64]) -> Vec<f64> {
    let mean = mean(values);
    values.iter().map(|value| value - mean).collect()
}

/// The mean; NaN of nothing, and where values are so great that their sum is none.
///
/// In two passes, the second for what rounding left out of the first. Equal values are then equal to their mean: were they all
/// off by a rounding, they would seem as correlated as values can be.
pub(super) fn mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let rough = values.iter().sum::<f64>() / n;
    rough + values.iter().map(|value| value - rough).sum::<f64>() / n
}

/// The autocovariance of centred values at `lag`: the sum of products over n, whatever the lag.
pub(super) fn autocovariance(centred: &[f64], lag: usize) -> f64 {
    let later = centred.get(lag..).unwrap_or_default();
    let earlier = centred.get(..later.len()).unwrap_or_default();
    sum_of_products(earlier, later) / centred.len() as f64
}

/// In several sums at once, for a processor that adds so many in one instruction: a series has a thousand lags of thousands of values.
fn sum_of_products(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RandomBits, ResampleSeed};

    #[test]
    fn pairs_have_the_time_of_the_series() {
        let mut bits = RandomBits::new(ResampleSeed(1));
        let mut last = 0.0;
        let step = |_| {
            last = 0.9 * last + bits.next_u64() as f64 / u64::MAX as f64 - 0.5;
            last
        };
        let series = centred(&(0..4_000).map(step).collect::<Vec<_>>());
        let variance = autocovariance(&series, 0);
        let (plain, paired) = (time(&series, variance), time_by_pairs(&series, variance));
        assert!(plain > 10.0 && (paired / plain - 1.0).abs() < 0.05, "{plain} and {paired}");
    }
}
