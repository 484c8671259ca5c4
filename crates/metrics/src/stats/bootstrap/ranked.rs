//! Percentiles of resamples from how often each value was drawn: nothing is sorted twice.

use std::ops::Range;

use super::resample::Resampling;
use super::{Bootstrap, RandomBits};
use crate::stats::rank::Place;
use crate::stats::{Percent, PercentileRule};

/// A percentile and the rule that it is read by.
type Wanted = (Percent, PercentileRule);

/// A sample in order of its values, that knows where each was in the order of sending.
#[derive(Debug)]
pub(crate) struct Ranked {
    /// Ascending: the value, and its index in the order of sending.
    sorted: Vec<(f64, usize)>,
}

impl Ranked {
    pub(crate) fn new(values: &[f64]) -> Self {
        let mut sorted: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Self { sorted }
    }

    /// The percentile of the sample itself.
    pub(super) fn original(&self, place: Place) -> Option<f64> {
        let at = |rank: usize| self.sorted.get(rank).map(|&(value, _)| value);
        Some(place.value(at(place.below)?, at(place.above)?))
    }

    /// The percentile of each resample.
    pub(super) fn resampled(
        &self,
        resampling: &Resampling,
        bootstrap: &Bootstrap,
        (percent, rule): Wanted,
    ) -> Vec<f64> {
        let Some(place) = rule.place(self.sorted.len(), percent) else {
            return Vec::new();
        };
        let mut bits = RandomBits::new(bootstrap.seed);
        let mut times = vec![0u32; self.sorted.len()];
        let mut one = || {
            times.fill(0);
            resampling.draw(&mut bits, |block| times[block].iter_mut().for_each(|t| *t += 1));
            self.of_multiset(&times, place)
        };
        (0..bootstrap.resamples).map(|_| one()).collect()
    }

    /// The percentile of the sample with one group left out, for each group.
    pub(super) fn without(
        &self,
        groups: impl Iterator<Item = Range<usize>>,
        (percent, rule): Wanted,
    ) -> Vec<f64> {
        let mut rank_of = vec![0; self.sorted.len()];
        for (rank, &(_, index)) in self.sorted.iter().enumerate() {
            rank_of[index] = rank;
        }
        let one = |group: Range<usize>| {
            let place = rule.place(rank_of.len() - group.len(), percent)?;
            let mut gone = rank_of[group].to_vec();
            gone.sort_unstable();
            let at = |rank: usize| {
                let past = |rank, &gone: &usize| if gone <= rank { rank + 1 } else { rank };
                self.sorted.get(gone.iter().fold(rank, past)).map(|&(value, _)| value)
            };
            Some(place.value(at(place.below)?, at(place.above)?))
        };
        groups.filter_map(one).collect()
    }

    /// The percentile of the multiset in which the value sent as number `k` stands `times[k]` times, as many in all as the
    /// sample has.
    pub(crate) fn of_multiset(&self, times: &[u32], place: Place) -> f64 {
        let n = self.sorted.len();
        let from_below = place.above < n / 2;
        // Ranks from the end that the walk starts at; there the nearer one comes first.
        let (first, second) = if from_below {
            (place.below, place.above)
        } else {
            (n - 1 - place.above, n - 1 - place.below)
        };
        let found = if from_below {
            walk(self.sorted.iter(), times, first, second)
        } else {
            walk(self.sorted.iter().rev(), times, first, second)
        };
        let (low, high) = if from_below { found } else { (found.1, found.0) };
        place.value(low, high)
    }
}

/// The values at two ranks, `first <= second`, of the values in the order of `sorted`, each standing `times` over.
fn walk<'a>(
    sorted: impl Iterator<Item = &'a (f64, usize)>,
    times: &[u32],
    first: usize,
    second: usize,
) -> (f64, f64) {
    let mut passed = 0;
    let mut at_first = None;
    let mut last = 0.0;
    for &(value, index) in sorted {
        passed += times[index] as usize;
        last = value;
        if passed > first && at_first.is_none() {
            at_first = Some(value);
        }
        if passed > second {
            break;
        }
    }
    (at_first.unwrap_or(last), last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{BlockKind, ResampleSeed};

    const RULES: [PercentileRule; 6] = [
        PercentileRule::Linear,
        PercentileRule::NearestRank,
        PercentileRule::NearestIndex,
        PercentileRule::FloorIndex,
        PercentileRule::WeightedCdf,
        PercentileRule::Hdr,
    ];

    fn sample() -> Vec<f64> {
        (0..200).map(|k| f64::from(k * 37 % 61)).collect()
    }

    #[test]
    fn percentiles_of_resamples_are_those_of_the_sorted_resamples() {
        let values = sample();
        let bootstrap = Bootstrap { resamples: 20, ..Bootstrap::new(ResampleSeed(5)) };
        for (kind, length) in [(BlockKind::Stationary, 1.0), (BlockKind::Moving, 9.0)] {
            let resampling = Resampling::new(values.len(), kind, length);
            for rule in RULES {
                for percent in [0.0, 10.0, 49.9, 50.0, 50.1, 99.0, 100.0] {
                    let wanted = (Percent::new(percent).unwrap(), rule);
                    let fast = Ranked::new(&values).resampled(&resampling, &bootstrap, wanted);
                    let mut bits = RandomBits::new(bootstrap.seed);
                    let slow = fast.iter().map(|_| {
                        let mut drawn = Vec::new();
                        resampling.draw(&mut bits, |block| drawn.extend_from_slice(&values[block]));
                        drawn.sort_by(f64::total_cmp);
                        rule.of_sorted(&drawn, wanted.0).unwrap()
                    });
                    assert_eq!(fast, slow.collect::<Vec<_>>(), "{rule:?} {percent} {kind:?}");
                }
            }
        }
    }

    #[test]
    fn percentiles_without_a_group_are_those_of_the_sorted_rest() {
        let values = sample();
        let groups = || [0..1, 5..25, 199..200, 100..200].into_iter();
        for rule in RULES {
            for percent in [0.0, 10.0, 50.0, 99.0, 100.0] {
                let percent = Percent::new(percent).unwrap();
                let fast = Ranked::new(&values).without(groups(), (percent, rule));
                let slow = groups().map(|group| {
                    let mut rest = [&values[..group.start], &values[group.end..]].concat();
                    rest.sort_by(f64::total_cmp);
                    rule.of_sorted(&rest, percent).unwrap()
                });
                assert_eq!(fast, slow.collect::<Vec<_>>(), "{rule:?} {percent:?}");
            }
        }
    }
}
