//! Two and three axes; and the staircase: of pairs of figures, those that no other is as good as.

use std::collections::BTreeMap;

use super::rows::{CostRow, lexicographic};

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

/// Those of `rows` that none of them dominates: from the best first figure to the worst, the second must get better all the
/// time.
pub(super) fn front_of_two(mut rows: Vec<CostRow<[f64; 2]>>) -> Vec<CostRow<[f64; 2]>> {
    rows.sort_unstable_by_key(|row| key(row.cost[0]));
    let mut kept = Vec::new();
    let mut least = None;
    for equal in rows.chunk_by(|a, b| a.cost[0] == b.cost[0]) {
        // Of those that are equal in the first figure only the best in the second can stay, with all its copies.
        let best = equal.iter().map(|row| row.cost[1]).fold(f64::INFINITY, f64::min);
        if least.is_none_or(|least| best < least) {
            least = Some(best);
            kept.extend(equal.iter().filter(|row| row.cost[1] == best));
        }
    }
    kept
}

/// The same of three axes, with the staircase of the best second and third figure so far.
pub(super) fn front_of_three(mut rows: Vec<CostRow<[f64; 3]>>) -> Vec<CostRow<[f64; 3]>> {
    rows.sort_unstable_by(|a, b| lexicographic(&a.cost, &b.cost));
    let mut stairs = Stairs::default();
    let mut kept = Vec::new();
    // In this order a point comes after all that dominate it, and equal points stand together.
    for equal in rows.chunk_by(|a, b| a.cost == b.cost) {
        let [_, x, y] = equal[0].cost;
        if stairs.add(x, y) {
            kept.extend_from_slice(equal);
        }
    }
    kept
}
