//! Statistics of samples. Pure: the samples come in.

use fizeau_core::Interval;

/// The samples of one measurement, sorted. What is not a finite number above zero is left out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sorted(Vec<f64>);

impl Sorted {
    pub(crate) fn of(samples: impl Iterator<Item = f64>) -> Self {
        let mut kept: Vec<f64> =
            samples.filter(|value| value.is_finite() && *value > 0.0).collect();
        kept.sort_by(f64::total_cmp);
        Self(kept)
    }

    pub(crate) fn least(&self) -> Option<f64> {
        self.0.first().copied()
    }

    /// Linear interpolation between the two nearest, as numpy does by default.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        let place = share.clamp(0.0, 1.0) * last as f64;
        let below = self.0.get(place.floor() as usize)?;
        let above = self.0.get(place.ceil() as usize)?;
        Some(below + (above - below) * place.fract())
    }

    pub(crate) fn median(&self) -> Option<f64> {
        self.quantile(0.5)
    }

    /// The distance between the quartiles over the median; none of fewer than four samples.
    pub(crate) fn spread(&self) -> Option<f64> {
        let quartiles = self.quantile(0.75)? - self.quantile(0.25)?;
        Some(quartiles / self.median()?).filter(|_| self.0.len() >= 4)
    }

    /// Where the median of what the samples are drawn from lies, nineteen times in twenty, whatever its distribution: from one
    /// order statistic to its mirror, so that a binomial of a half lies between them (H. A. David, H. N. Nagaraja, "Order
    /// Statistics", 7.1). None of fewer than six samples, of which no two ends would do.
    pub(crate) fn median_interval(&self) -> Option<Interval<f64>> {
        let rank = lowest_rank(self.0.len())?;
        let low = *self.0.get(rank - 1)?;
        let high = *self.0.get(self.0.len() - rank)?;
        Some(Interval::p95(low, high))
    }
}

/// The largest rank, from 1, below which a fortieth of a binomial of a half lies at most.
fn lowest_rank(count: usize) -> Option<usize> {
    // In logarithms, so that a half to the power of thousands does not vanish.
    let mut log_term = -(count as f64) * std::f64::consts::LN_2;
    let (mut below, mut rank) = (0.0, 0);
    while rank < count {
        below += log_term.exp();
        if below > 0.025 {
            break;
        }
        log_term += ((count - rank) as f64 / (rank + 1) as f64).ln();
        rank += 1;
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ranks_are_those_of_tables() {
        // Conover, "Practical Nonparametric Statistics", table of the binomial: 6 -> 1, 10 -> 2, 20 -> 6, 100 -> 40.
        let ranks = [5, 6, 10, 20, 100].map(lowest_rank);
        assert_eq!(ranks, [None, Some(1), Some(2), Some(6), Some(40)]);
    }

    proptest! {
        #[test]
        fn order_does_not_matter_and_ends_enclose(mut samples in prop::collection::vec(0.1_f64..1e6, 1..60)) {
            let sorted = Sorted::of(samples.iter().copied());
            let median = sorted.median().unwrap();
            prop_assert!(sorted.least().unwrap() <= median);
            if let Some(interval) = sorted.median_interval() {
                prop_assert!(interval.low <= median && median <= interval.high);
            }
            samples.reverse();
            prop_assert_eq!(Sorted::of(samples.into_iter()), sorted);
        }

        #[test]
        fn what_is_no_time_is_left_out(samples in prop::collection::vec(0.1_f64..1e6, 1..20)) {
            let odd = [f64::NAN, f64::INFINITY, 0.0, -1.0];
            let mixed = Sorted::of(samples.iter().copied().chain(odd));
            prop_assert_eq!(mixed, Sorted::of(samples.into_iter()));
        }
    }
}
