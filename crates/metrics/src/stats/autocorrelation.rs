//! How much successive values of a sample hang together.

/// How much the values of a series hang together, in their order.
///
/// ```
/// use fizeau_metrics::Autocorrelation;
/// let slow = Autocorrelation::of(&[1.0, 1.1, 1.3, 1.2, 4.0, 4.2, 4.1, 4.3]).unwrap();
/// assert!(slow.lag1 > 0.5 && slow.effective_n() < 8.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
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
        let correlation = |lag| autocovariance(&centred, lag) / variance;
        let mut time = 1.0;
        for lag in 1..centred.len() {
            time += 2.0 * correlation(lag);
            if lag as f64 >= WINDOW * time {
                break;
            }
        }
        Some(Self { n: values.len() as u64, lag1: correlation(1), time })
    }

    /// How many independent values would know the mean as well: `n / time`, and never more than `n`.
    #[must_use]
    pub fn effective_n(self) -> f64 {
        self.n as f64 / self.inflation()
    }

    /// How many values stand for one independent one: the time, and at least 1, so that no luck makes a sample worth more
    /// than its size.
    pub(super) const fn inflation(self) -> f64 {
        self.time.max(1.0)
    }
}

/// `values` less their mean.
pub(super) fn centred(values: &[f64]) -> Vec<f64> {
    let mean = mean(values);
    values.iter().map(|value| value - mean).collect()
}

/// The mean; NaN of nothing.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The autocovariance of centred values at `lag`: the sum of products over n, whatever the lag.
pub(super) fn autocovariance(centred: &[f64], lag: usize) -> f64 {
    let later = centred.get(lag..).unwrap_or_default();
    centred.iter().zip(later).map(|(a, b)| a * b).sum::<f64>() / centred.len() as f64
}
