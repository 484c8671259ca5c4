//! Percentiles of resamples from how often each value was drawn: nothing is sorted twice.

use super::rank::RankPair;

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

    /// The percentile of the multiset in which the value sent as number `k` stands `times[k]` times, as many in all as the
    /// sample has.
    pub(crate) fn of_multiset(&self, times: &[u32], place: RankPair) -> f64 {
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
    use crate::stats::{Percent, PercentileRule, RandomBits, ResampleSeed, Resampling};

    const RULES: [PercentileRule; 6] = [
        PercentileRule::Linear,
        PercentileRule::NearestRank,
        PercentileRule::NearestIndex,
        PercentileRule::FloorIndex,
        PercentileRule::WeightedCdf,
        PercentileRule::Hdr,
    ];

    #[test]
    fn percentiles_of_resamples_are_those_of_the_sorted_resamples() {
        let values: Vec<f64> = (0..200).map(|k| f64::from(k * 37 % 61)).collect();
        let ranked = Ranked::new(&values);
        let mut bits = RandomBits::new(ResampleSeed(5));
        for (length, rule) in
            [1.0, 9.0].into_iter().flat_map(|length| RULES.map(|rule| (length, rule)))
        {
            let resampling = Resampling::new(values.len(), length);
            for percent in [0.0, 10.0, 49.9, 50.0, 50.1, 99.0, 100.0] {
                let percent = Percent::new(percent).unwrap();
                let place = rule.place(values.len(), percent).unwrap();
                let (mut times, mut drawn) = (vec![0; values.len()], Vec::new());
                resampling.draw(&mut bits, |block| {
                    times[block.clone()].iter_mut().for_each(|times| *times += 1);
                    drawn.extend_from_slice(&values[block]);
                });
                drawn.sort_by(f64::total_cmp);
                let expected = rule.of_sorted(&drawn, percent).unwrap();
                assert_eq!(
                    ranked.of_multiset(&times, place),
                    expected,
                    "{rule:?} {percent:?} {length}"
                );
            }
        }
    }
}
