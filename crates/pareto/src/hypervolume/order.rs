//! Orders of points along an axis.

use crate::frontier::{key, lexicographic};

/// The indices of `points`, lowest first in the axis `axis`; ties are ordered by all axes from the first on. Only copies
/// tie in all, so that the order given leaves no trace.
pub(crate) fn lowest_first<const D: usize>(points: &[[f64; D]], axis: usize) -> Vec<usize> {
    least_first(points, |point| point[axis])
}

/// The same by the figure that `of` gives.
pub(crate) fn least_first<const D: usize>(
    points: &[[f64; D]],
    of: impl Fn(&[f64; D]) -> f64,
) -> Vec<usize> {
    // Whole numbers compare faster than floats; ties, which need the points themselves, are rare.
    let mut keys: Vec<(u64, u32)> =
        (0_u32..).zip(points).map(|(i, point)| (key(of(point)), i)).collect();
    keys.sort_unstable_by(|(a, i), (b, j)| {
        a.cmp(b).then_with(|| lexicographic(&points[*i as usize], &points[*j as usize]))
    });
    keys.into_iter().map(|(_, i)| i as usize).collect()
}

/// The place of each point in an order of [`lowest_first`], counted from 1.
pub(crate) fn ranked(order: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    for (place, &point) in order.iter().enumerate() {
        ranks[point] = place + 1;
    }
    ranks
}
