//! From the statistics of resamples to an interval.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::stats::autocorrelation::mean;
use crate::stats::{Bounds, Confidence, Percent, PercentileRule};

/// The statistic of the sample, and those of its resamples, ascending.
pub(super) struct Replicates {
    value: f64,
    sorted: Vec<f64>,
}

impl Replicates {
    pub(super) fn new(value: f64, mut replicates: Vec<f64>) -> Self {
        replicates.sort_unstable_by(f64::total_cmp);
        Self { value, sorted: replicates }
    }

    /// Between the percentiles that leave the same share outside on each side.
    pub(super) fn between(&self, confidence: Confidence) -> Bounds {
        let tail = confidence.tail();
        self.bounds(tail, 1.0 - tail, confidence)
    }

    /// Between percentiles moved for the bias, and by the skew that a jackknife shows: equations 14.9, 14.10, 14.14 and 14.15
    /// of B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993). Equal replicates count half for the
    /// bias, as in SciPy.
    pub(super) fn bias_corrected(&self, jackknife: &[f64], confidence: Confidence) -> Bounds {
        let normal = Normal::standard();
        let bias = normal.inverse_cdf(self.share_below());
        let acceleration = acceleration(jackknife);
        let moved = |tail: f64| {
            let z = bias + normal.inverse_cdf(tail);
            let stretch = 1.0 - acceleration * z;
            // Where the correction breaks down, all the way to that end.
            let z = if stretch > 0.0 { bias + z / stretch } else { z * f64::INFINITY };
            normal.cdf(z)
        };
        let tail = confidence.tail();
        self.bounds(moved(tail), moved(1.0 - tail), confidence)
    }

    fn bounds(&self, low: f64, high: f64, confidence: Confidence) -> Bounds {
        let at = |share: f64| {
            let percent = Percent::new((100.0 * share).clamp(0.0, 100.0)).unwrap_or(Percent::P50);
            PercentileRule::Linear.of_sorted(&self.sorted, percent).unwrap_or(self.value)
        };
        Bounds { low: at(low), high: at(high), confidence }
    }

    /// The share of replicates below the statistic, kept half a replicate from 0 and 1, where the correction ends.
    fn share_below(&self) -> f64 {
        let below = self.sorted.partition_point(|&x| x < self.value);
        let upto = self.sorted.partition_point(|&x| x <= self.value);
        let all = 2.0 * self.sorted.len() as f64;
        ((below + upto) as f64).clamp(1.0, all - 1.0) / all
    }
}

/// A sixth of the skewness of the jackknife; 0 where it shows no spread.
fn acceleration(jackknife: &[f64]) -> f64 {
    let mean = mean(jackknife);
    let sum = |power| jackknife.iter().map(|left| (mean - left).powi(power)).sum::<f64>();
    Some(sum(3) / (6.0 * sum(2).powf(1.5))).filter(|a| a.is_finite()).unwrap_or(0.0)
}

/// How many independent values it takes until both ends of a percentile's interval can lie within the sample: the greatest
/// is then below the percentile, or the least above it, in no more than the share outside on each side. None for the
/// percentiles 0 and 100.
pub(crate) fn least_for_percentile(percent: Percent, confidence: Confidence) -> Option<u64> {
    let longer = percent.share().max(1.0 - percent.share());
    (longer < 1.0).then(|| (confidence.tail().ln() / longer.ln()).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.99^367 = 0.02501 and 0.99^368 = 0.02476; 0.5^5 = 0.031 and 0.5^6 = 0.016.
    #[test]
    fn as_many_values_as_order_statistics_take() {
        let least = |percent| least_for_percentile(percent, Confidence::P95);
        assert_eq!(least(Percent::P99), Some(368));
        assert_eq!(least(Percent::P50), Some(6));
        assert_eq!(least(Percent::new(1.0).unwrap()), Some(368));
        assert_eq!(least(Percent::new(100.0).unwrap()), None);
        assert_eq!(least(Percent::new(0.0).unwrap()), None);
    }

    /// Golden values: SciPy 1.17.1, `bootstrap`, both methods on one set of replicates of a mean; see
    /// `fixtures/metrics/make_uncertainty_goldens.py`.
    #[test]
    fn intervals_are_those_of_scipy_on_the_same_replicates() {
        let text = include_str!("../../../../../fixtures/metrics/uncertainty_goldens.json");
        let goldens: serde_json::Value = serde_json::from_str(text).unwrap();
        let floats = |key: &str| -> Vec<f64> {
            let values = goldens["same_replicates"][key].as_array().unwrap().iter();
            values.map(|value| value.as_f64().unwrap()).collect()
        };
        let value = goldens["same_replicates"]["value"].as_f64().unwrap();
        let replicates = Replicates::new(value, floats("replicates"));
        let found = [
            ("percentile", replicates.between(Confidence::P95)),
            ("BCa", replicates.bias_corrected(&floats("jackknife"), Confidence::P95)),
        ];
        for (key, bounds) in found {
            let golden = floats(key);
            let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
            let agrees = near(bounds.low, golden[0]) && near(bounds.high, golden[1]);
            assert!(agrees, "{key}: {bounds:?} against {golden:?}");
        }
    }

    #[test]
    fn an_estimate_outside_all_replicates_has_an_interval_still() {
        let replicates = |value| Replicates::new(value, (0..100).map(f64::from).collect());
        for (value, jackknife) in [(-5.0, &[0.0, 1.0, 50.0][..]), (200.0, &[]), (50.0, &[1.0; 5])] {
            let found = replicates(value).bias_corrected(jackknife, Confidence::P95);
            assert!(0.0 <= found.low && found.low <= found.high && found.high <= 99.0, "{found:?}");
        }
    }
}
