//! Between the points of a frontier.

use crate::hypervolume::corners;

/// The corners of a frontier, less being better in both: rising in the first, falling in the second.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FrontierLine {
    pub(super) corners: Vec<[f64; 2]>,
}

impl FrontierLine {
    pub(super) fn of(costs: &[[f64; 2]]) -> Self {
        Self { corners: corners(costs).into_iter().map(|corner| costs[corner]).collect() }
    }

    /// The same frontier with its axes the other way round.
    pub(super) fn swapped(&self) -> Self {
        Self { corners: self.corners.iter().rev().map(|[x, y]| [*y, *x]).collect() }
    }

    /// From the best to the worst in the first axis.
    pub(super) fn range(&self) -> Option<[f64; 2]> {
        Some([self.corners.first()?[0], self.corners.last()?[0]])
    }

    /// What is attained in the second axis at `x`: the figure of the corner before it, until the next is as good. None outside
    /// of the range.
    pub(super) fn at(&self, x: f64) -> Option<f64> {
        let next = self.corners.partition_point(|corner| corner[0] <= x);
        let before = self.corners.get(next.checked_sub(1)?)?;
        (next < self.corners.len() || before[0] == x).then_some(before[1])
    }

    /// The integral of what is attained in the second axis over `low` to `high`, both within the range.
    pub(super) fn integral(&self, [low, high]: [f64; 2]) -> f64 {
        let pieces = self.corners.windows(2).filter(|pair| pair[0][0] < high && pair[1][0] > low);
        pieces.map(|pair| (pair[1][0].min(high) - pair[0][0].max(low)) * pair[0][1]).sum()
    }
}
