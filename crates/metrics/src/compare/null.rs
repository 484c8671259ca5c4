//! Exact distributions of rank statistics where the sides do not differ.

use std::iter;

/// A distribution on 0, 1, 2, ... as counts of equally likely cases.
#[derive(Debug)]
pub(super) struct Counts {
    counts: Vec<u128>,
    total: f64,
}

impl Counts {
    /// Of the sum of those among `weights` that a fair coin picks, one toss each, by adding one weight after
    /// the other. None past 100 weights, whose cases do not fit.
    pub(super) fn of_signs(weights: &[u64]) -> Option<Self> {
        if weights.len() > 100 {
            return None;
        }
        let sum: u64 = weights.iter().sum();
        let mut counts = vec![0u128; usize::try_from(sum).ok()?.checked_add(1)?];
        if let Some(first) = counts.first_mut() {
            *first = 1;
        }
        for &weight in weights {
            let weight = usize::try_from(weight).ok()?;
            for at in (weight..counts.len()).rev() {
                let picked = at.checked_sub(weight).and_then(|from| counts.get(from)).copied();
                if let (Some(count), Some(picked)) = (counts.get_mut(at), picked) {
                    *count += picked;
                }
            }
        }
        Some(Self { counts, total: 2f64.powi(weights.len() as i32) })
    }

    /// Of the Mann-Whitney statistic of samples of `m` and `n` values without ties, from 0 to its middle or
    /// `upto`, whichever is less. None if the cases do not fit into 128 bits.
    ///
    /// The counts are the coefficients of a Gaussian binomial, the product over i of (1 - x^(n + i)) / (1 -
    /// x^i). Between its factors they may wrap around; the end result fits and is exact.
    pub(super) fn of_mann_whitney(m: u64, n: u64, upto: u64) -> Option<Self> {
        let (m, n) = (m.min(n), m.max(n));
        let total = binomial(m.checked_add(n)?, m)?;
        let last = usize::try_from((m * n / 2).min(upto)).ok()?;
        let mut counts: Vec<u128> = iter::once(1).chain(iter::repeat_n(0, last)).collect();
        for i in 1..=m {
            let (times, over) = (usize::try_from(n + i).ok()?, usize::try_from(i).ok()?);
            for at in (times..=last).rev() {
                let other = counts.get(at - times).copied().unwrap_or(0);
                if let Some(count) = counts.get_mut(at) {
                    *count = count.wrapping_sub(other);
                }
            }
            for at in over..=last {
                let other = counts.get(at - over).copied().unwrap_or(0);
                if let Some(count) = counts.get_mut(at) {
                    *count = count.wrapping_add(other);
                }
            }
        }
        Some(Self { counts, total: total as f64 })
    }

    /// The probability of `value` or less. What lies past the counted part is not added.
    pub(super) fn at_most(&self, value: u64) -> f64 {
        let taken = usize::try_from(value).unwrap_or(usize::MAX).saturating_add(1);
        self.counts.iter().take(taken).sum::<u128>() as f64 / self.total
    }

    /// The probability of `value` or more; of the counted part.
    pub(super) fn at_least(&self, value: u64) -> f64 {
        let skipped = usize::try_from(value).unwrap_or(usize::MAX);
        self.counts.iter().skip(skipped).sum::<u128>() as f64 / self.total
    }
}

/// How many ways there are to choose `k` of `n`, if it fits.
pub(super) fn binomial(n: u64, k: u64) -> Option<u128> {
    let k = k.min(n.checked_sub(k)?);
    // Each step is the whole binomial of (n - k + i, i), so that the division leaves nothing.
    (1..=u128::from(k))
        .try_fold(1u128, |ways, i| Some(ways.checked_mul(u128::from(n - k) + i)? / i))
}

#[cfg(test)]
mod tests {
    use super::{Counts, binomial};

    /// Number of the choices of m ranks among m + n with each rank sum, by going through all subsets.
    fn by_hand(m: u32, n: u32) -> Vec<u128> {
        let mut counts = vec![0; (m * n) as usize + 1];
        for subset in 0u32..1 << (m + n) {
            if subset.count_ones() == m {
                let sum: u32 = (0..m + n).filter(|bit| subset >> bit & 1 == 1).sum();
                counts[(sum - m * (m - 1) / 2) as usize] += 1;
            }
        }
        counts
    }

    #[test]
    fn mann_whitney_counts_are_those_of_all_subsets() {
        for (m, n) in [(1, 1), (2, 3), (3, 2), (4, 4), (5, 7), (1, 9)] {
            let counts = Counts::of_mann_whitney(m.into(), n.into(), u64::MAX).unwrap();
            let all = by_hand(m, n);
            assert_eq!(counts.counts, all[..=(m * n / 2) as usize], "{m} and {n}");
            assert_eq!(counts.total, all.iter().sum::<u128>() as f64);
        }
    }

    #[test]
    fn half_of_a_great_distribution_is_still_half() {
        let counts = Counts::of_mann_whitney(8, 2_001, u64::MAX).unwrap();
        let middle = 8 * 2_001 / 2;
        let twice = 2.0 * counts.at_most(middle);
        let at_middle = counts.at_most(middle) - counts.at_most(middle - 1);
        assert!((twice - at_middle - 1.0).abs() < 1e-12, "{twice}, {at_middle}");
    }

    #[test]
    fn signs_weigh_each_case_alike() {
        let counts = Counts::of_signs(&[3, 3, 6]).unwrap();
        assert_eq!(counts.at_most(0), 1.0 / 8.0);
        assert_eq!(counts.at_most(3), 3.0 / 8.0);
        assert_eq!(counts.at_least(9), 3.0 / 8.0);
        assert!(Counts::of_signs(&[1; 101]).is_none());
    }

    #[test]
    fn a_binomial_is_exact_or_none() {
        assert_eq!(binomial(10, 3), Some(120));
        assert_eq!(binomial(10, 0), Some(1));
        assert_eq!(binomial(3, 10), None);
        assert_eq!(binomial(1_000_000, 500_000), None);
    }
}
