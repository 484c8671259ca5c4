//! Cliff's delta: how often one side's values are greater, less how often they are smaller.

use fizeau_core::Estimate;

use super::student::normal_quantile;
use super::{SignificanceLevel, UnpairedValues};

impl UnpairedValues {
    /// Cliff's delta, from -1 (every value of the candidate is smaller) over 0 to 1 (every one is greater).
    ///
    /// The interval is the asymmetric one of N. Cliff (1993, "Dominance statistics") with the variance of D.
    /// Feng and N. Cliff (2004, "Monte Carlo evaluation of ordinal d with improved confidence interval"). At
    /// -1 and 1 that variance is zero; the interval there is Wilson's for as many comparisons as the smaller
    /// side has values, none of them lost.
    #[must_use]
    pub fn cliffs_delta(&self, alpha: SignificanceLevel) -> Estimate<f64> {
        let of_candidate = dominances(&self.candidate, &self.baseline);
        let against_baseline = dominances(&self.baseline, &self.candidate);
        let (m, n) = (self.baseline.len() as f64, self.candidate.len() as f64);
        let d = of_candidate.iter().map(|dominance| dominance.mean).sum::<f64>() / n;
        let z = normal_quantile(alpha.tail());
        if d.abs() >= 1.0 {
            let smaller = m.min(n);
            let inner = (smaller - z * z) / (smaller + z * z);
            let (low, high) = if d > 0.0 { (inner, 1.0) } else { (-1.0, -inner) };
            return Estimate::widened(d, Some(alpha.interval(low, high)));
        }
        let untied: f64 = of_candidate.iter().map(|dominance| dominance.untied).sum();
        let of_means = sum_of_squares(&of_candidate, d) / (n - 1.0);
        let of_other = sum_of_squares(&against_baseline, -d) / (m - 1.0);
        // The squares of the single comparisons are 1, of a tie 0.
        let of_single = (untied - m * n * d * d) / (m * n - 1.0);
        let variance = ((m - 1.0) * of_means + (n - 1.0) * of_other + of_single) / (m * n);
        let rest = 1.0 - d * d;
        let reach = z * variance.sqrt() * (rest * rest + z * z * variance).sqrt();
        let over = rest + z * z * variance;
        let low = ((d * rest - reach) / over).max(-1.0);
        let high = ((d * rest + reach) / over).min(1.0);
        Estimate::widened(d, Some(alpha.interval(low, high)))
    }
}

/// How one value compares with all of the other side.
struct Dominance {
    /// Share of smaller ones less share of greater ones.
    mean: f64,
    /// How many differ from it.
    untied: f64,
}

/// Of each of `values` over `others`, which are in ascending order.
fn dominances(values: &[f64], others: &[f64]) -> Vec<Dominance> {
    let of = |value: &f64| {
        let smaller = others.partition_point(|other| other < value);
        let greater = others.len() - others.partition_point(|other| other <= value);
        let mean = (smaller as f64 - greater as f64) / others.len() as f64;
        Dominance { mean, untied: (smaller + greater) as f64 }
    };
    values.iter().map(of).collect()
}

fn sum_of_squares(dominances: &[Dominance], mean: f64) -> f64 {
    dominances.iter().map(|dominance| (dominance.mean - mean).powi(2)).sum()
}
