//! One of several, each as often as its weight says.

use crate::seed::RandomStream;

/// The place of one of `items`, each in proportion to its weight; none where no weight is above 0. Takes one number from `draws`.
///
/// The weights are summed in their order, twice over: what is drawn is at most the sum to the bit, and never 0, so that an
/// item without weight never comes.
pub(crate) fn pick<T>(
    items: &[T],
    weight: impl Fn(&T) -> f64,
    draws: &mut RandomStream,
) -> Option<usize> {
    let total: f64 = items.iter().fold(0.0, |sum, item| sum + weight(item));
    let drawn = draws.unit() * total;
    let mut sum = 0.0;
    items.iter().position(|item| {
        sum += weight(item);
        total > 0.0 && sum >= drawn
    })
}

/// Many weights, summed once, so that a pick takes no longer than the logarithm of their number.
#[derive(Debug, Clone)]
pub(crate) struct CumulativeWeights(Vec<f64>);

impl CumulativeWeights {
    pub(crate) fn new(weights: impl Iterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let sums = weights.map(|weight| {
            sum += weight;
            sum
        });
        Self(sums.collect())
    }

    /// The place of the weight that comes, from 0. Takes one number from `draws`.
    pub(crate) fn pick(&self, draws: &mut RandomStream) -> u64 {
        let drawn = draws.unit() * self.0.last().copied().unwrap_or_default();
        self.0.partition_point(|&sum| sum < drawn) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::seed::{Seed, StreamPurpose};

    fn draws(seed: u64) -> RandomStream {
        Seed(seed).stream(StreamPurpose::Model, 0)
    }

    proptest! {
        #[test]
        fn both_ways_pick_the_same_and_nothing_without_weight(
            weights in prop::collection::vec(prop_oneof![Just(0.0), 1e-3..1e3], 1..20),
            seed: u64,
        ) {
            let numbered: Vec<(usize, f64)> = weights.iter().copied().enumerate().collect();
            let picked = pick(&numbered, |&(_, weight)| weight, &mut draws(seed));
            match picked.map(|place| numbered[place]) {
                None => prop_assert!(weights.iter().all(|&weight| weight == 0.0)),
                Some((number, weight)) => {
                    prop_assert!(weight > 0.0);
                    let summed = CumulativeWeights::new(weights.into_iter()).pick(&mut draws(seed));
                    prop_assert_eq!(summed, number as u64);
                }
            }
        }
    }
}
