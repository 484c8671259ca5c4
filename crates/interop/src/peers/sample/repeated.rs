//! A sample of which many values are the same.

use super::super::PeerStatistic;
use super::whole;
use fizeau_metrics::{PercentileRule, sort_weighted_numbers};

/// Finite values in ascending order, each with how often it is there.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Repeated {
    values: Vec<(f64, u64)>,
    count: u64,
}

impl FromIterator<(f64, u64)> for Repeated {
    fn from_iter<I: IntoIterator<Item = (f64, u64)>>(values: I) -> Self {
        let is_one = |(value, times): &(f64, u64)| value.is_finite() && *times > 0;
        let mut values: Vec<_> = values.into_iter().filter(is_one).collect();
        sort_weighted_numbers(&mut values);
        let count = values.iter().fold(0, |sum: u64, (_, times)| sum.saturating_add(*times));
        Self { values, count }
    }
}

impl Repeated {
    /// As of a sample with each value written out; deviations are not taken.
    pub(in super::super) fn statistic(
        &self,
        statistic: PeerStatistic,
        rule: PercentileRule,
    ) -> Option<f64> {
        match statistic {
            PeerStatistic::Mean => {
                let sum = self.values.iter().fold(0.0, |sum, (value, n)| sum + value * *n as f64);
                (self.count > 0).then(|| sum / self.count as f64)
            }
            PeerStatistic::Min => self.at(0),
            PeerStatistic::Max => self.at(usize::try_from(self.count.checked_sub(1)?).ok()?),
            PeerStatistic::Percentile(percent) => {
                let count = usize::try_from(self.count).ok()?;
                rule.of_ranks(count, whole(percent)?, |rank| self.at(rank))
            }
            PeerStatistic::Count => Some(self.count as f64),
            PeerStatistic::Std => None,
        }
    }

    /// The value of this rank, from 0.
    fn at(&self, rank: usize) -> Option<f64> {
        let mut before: u64 = 0;
        let has_rank = |(_, times): &&(f64, u64)| {
            before = before.saturating_add(*times);
            (rank as u64) < before
        };
        self.values.iter().find(has_rank).map(|(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Sample;
    use super::*;

    proptest! {
        #[test]
        fn it_is_the_sample_that_it_stands_for(
            values in prop::collection::vec((0_u16..50, 0_u64..5), 0..20), percent in 0_u8..=100,
        ) {
            let repeated: Repeated = values.iter().map(|&(value, n)| (value.into(), n)).collect();
            let each = values.iter();
            let each = each.flat_map(|&(value, n)| std::iter::repeat_n(value.into(), n as usize));
            let sample: Sample = each.collect();
            use PeerStatistic::{Count, Max, Mean, Min, Percentile};
            for statistic in [Mean, Min, Max, Count, Percentile(percent)] {
                for rule in [PercentileRule::Linear, PercentileRule::FloorIndex] {
                    let (found, wanted) =
                        (repeated.statistic(statistic, rule), sample.statistic(statistic, rule));
                    prop_assert_eq!(found, wanted, "{:?} {:?}", statistic, rule);
                }
            }
        }
    }
}
