//! The staircase: of pairs of figures, those that no other is as good as.

use std::collections::BTreeMap;

/// Pairs of which less is better, none at least as good as another: with a rising first figure, the second falls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stairs {
    steps: BTreeMap<u64, f64>,
}

impl Stairs {
    /// Whether a pair of the staircase is at least as good as this one.
    pub(crate) fn cover(&self, x: f64, y: f64) -> bool {
        // Of the pairs that are as good in the first figure, the last has the best second.
        self.steps.range(..=key(x)).next_back().is_some_and(|(_, least)| *least <= y)
    }

    /// Adds a pair, in place of those that it is as good as, and says whether it was not covered.
    pub(crate) fn add(&mut self, x: f64, y: f64) -> bool {
        if self.cover(x, y) {
            return false;
        }
        let from = key(x);
        while let Some((&next, _)) =
            self.steps.range(from..).next().filter(|(_, least)| **least >= y)
        {
            self.steps.remove(&next);
        }
        self.steps.insert(from, y);
        true
    }
}

/// A whole number for each figure, in the same order, and one for both zeros. There is no NaN.
#[inline]
pub(crate) fn key(figure: f64) -> u64 {
    // The bits of figures below 0 fall as the figure rises; those above need to come after them.
    let bits = (figure + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
