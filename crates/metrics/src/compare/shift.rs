//! By how much two sides differ, robustly: the estimates of Hodges and Lehmann.

use fizeau_core::Estimate;

use super::null::Counts;
use super::samples::sorted;
use super::student::normal_quantile;
use super::wilcoxon::EXACT_UPTO;
use super::{Alpha, Pairs, Sides};

impl Pairs {
    /// The pseudo-median of the differences, in the unit of the values: the median of the means of any two of
    /// them (each with itself too), with the interval of all shifts that [`Pairs::wilcoxon`] would not
    /// reject.
    ///
    /// The interval is from the exact law up to 50 pairs, beyond from the normal approximation; with ties it
    /// is a little wider than it need be (M. Hollander, D. A. Wolfe and E. Chicken, "Nonparametric
    /// Statistical Methods", section 3.3). At 95 % it needs 6 pairs.
    #[must_use]
    pub fn shift(&self, alpha: Alpha) -> Estimate<f64> {
        let sorted = sorted(self.differences());
        let n = sorted.len() as u64;
        let all = n * (n + 1) / 2;
        let exact = (sorted.len() <= EXACT_UPTO)
            .then(|| Counts::of_signs(&(1..=n).collect::<Vec<u64>>()))
            .flatten();
        let end = exact.map_or_else(
            || {
                end_by_normal(
                    all,
                    n as f64 * (n as f64 + 1.0) * (2.0 * n as f64 + 1.0) / 24.0,
                    alpha,
                )
            },
            |counts| counts.within(alpha.tail()),
        );
        of_ranks(all, end, alpha, |rank| rank_of_walsh_means(&sorted, rank))
    }
}

impl Sides {
    /// The median of all differences between a value of the candidate and one of the baseline, in their unit,
    /// with the interval of all shifts that [`Sides::mann_whitney`] would not reject.
    ///
    /// The interval is from the exact law where a side has at most 8 values, else from the normal
    /// approximation; with ties it is a little wider than it need be (Hollander, Wolfe and Chicken, section
    /// 4.3). Time grows with the number of values, not of differences.
    #[must_use]
    pub fn shift(&self, alpha: Alpha) -> Estimate<f64> {
        let all = self.comparisons();
        let n = (self.baseline.len() + self.candidate.len()) as f64;
        let end = self.exact_null(all / 2).map_or_else(
            || end_by_normal(all, all as f64 * (n + 1.0) / 12.0, alpha),
            |counts| counts.within(alpha.tail()),
        );
        of_ranks(all, end, alpha, |rank| rank_of_differences(&self.baseline, &self.candidate, rank))
    }
}

/// The rank, from 1, of the value of `all` that is the lower end of the interval; 0 if none is low enough. By
/// the normal law with half a rank taken off for continuity.
fn end_by_normal(all: u64, variance: f64, alpha: Alpha) -> u64 {
    let end = all as f64 / 2.0 + 0.5 - normal_quantile(alpha.tail()) * variance.sqrt();
    end.floor().max(0.0) as u64
}

/// The median of `all` values, and the interval from the one at the rank `end`, from 1, to the one at that
/// rank from above.
fn of_ranks(all: u64, end: u64, alpha: Alpha, at: impl Fn(u64) -> f64) -> Estimate<f64> {
    let middle = at(all / 2);
    let estimate = if all % 2 == 1 { middle } else { at(all / 2 - 1).midpoint(middle) };
    // Past the middle the ends would cross.
    let end = end.min(all.div_ceil(2));
    let interval = end.checked_sub(1).map(|low| alpha.interval(at(low), at(all - end)));
    Estimate::widened(estimate, interval)
}

/// The difference at `rank`, from 0, of all between the values of two ascending samples.
fn rank_of_differences(baseline: &[f64], candidate: &[f64], rank: u64) -> f64 {
    least_with(|limit| {
        let mut upto = 0;
        let mut count = 0u64;
        for a in baseline {
            upto += candidate.iter().skip(upto).take_while(|&b| b - a <= limit).count();
            count += upto as u64;
        }
        count > rank
    })
}

/// The value at `rank`, from 0, of all means of two values of an ascending sample, each with itself too.
fn rank_of_walsh_means(values: &[f64], rank: u64) -> f64 {
    least_with(|limit| {
        // Of the partners of a value those up to `upto`; a greater value has fewer.
        let mut upto = values.len();
        let mut count = 0u64;
        for (index, a) in values.iter().enumerate() {
            let beyond =
                values.iter().take(upto).rev().take_while(|&b| a.midpoint(*b) > limit).count();
            upto -= beyond;
            // Only partners from the value itself on: each pair once.
            count += upto.saturating_sub(index) as u64;
        }
        count > rank
    })
}

/// The least number for which `enough` holds, where it holds for all greater ones. Halves the range of all
/// numbers, in the order that their bits give, so that the result is exact: one of the values themselves.
fn least_with(enough: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (to_order(f64::MIN), to_order(f64::MAX));
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(from_order(middle)) { high = middle } else { low = middle + 1 }
    }
    // Adding zero makes a negative zero positive.
    from_order(low) + 0.0
}

const SIGN: u64 = 1 << 63;

/// A whole number that grows with the value.
const fn to_order(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

const fn from_order(order: u64) -> f64 {
    f64::from_bits(if order & SIGN == 0 { !order } else { order & !SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_differences_and_means_are_those_of_the_sorted_lists() {
        let a = [-3.5, -1.0, 0.1, 0.1, 2.0, 7.25];
        let b = [-2.0, 0.1, 0.3, 9.0];
        let mut differences: Vec<f64> = a.iter().flat_map(|a| b.map(|b| b - a)).collect();
        differences.sort_by(f64::total_cmp);
        for (rank, difference) in differences.iter().enumerate() {
            assert_eq!(rank_of_differences(&a, &b, rank as u64), *difference, "{rank}");
        }
        let pairs = (0..a.len()).flat_map(|i| (i..a.len()).map(move |j| (i, j)));
        let mut means: Vec<f64> = pairs.map(|(i, j)| a[i].midpoint(a[j])).collect();
        means.sort_by(f64::total_cmp);
        for (rank, mean) in means.iter().enumerate() {
            assert_eq!(rank_of_walsh_means(&a, rank as u64), *mean, "{rank}");
        }
    }

    #[test]
    fn the_order_of_bits_is_that_of_values() {
        let values = [f64::MIN, -1.0, -f64::MIN_POSITIVE, 0.0, 1e-300, 1.0, f64::MAX];
        assert!(values.is_sorted_by_key(|&value| to_order(value)));
        assert!(values.iter().all(|&value| from_order(to_order(value)) == value));
    }
}
