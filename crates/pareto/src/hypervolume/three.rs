//! Hypervolume in three dimensions.

use super::cover::Cover;
use super::order::{lowest_first, ranked};
use super::sum::Sum;

/// The volume that points reach below the reference, all of them being below it.
///
/// A plane goes up the last axis. What the points below it cover of it is bounded by a staircase and only grows, and
/// each slab between two points is as thick as they are apart. All terms are positive, so nothing cancels.
pub(crate) fn volume(points: &[[f64; 3]], reference: [f64; 3]) -> f64 {
    let by_x = lowest_first(points, 0);
    let ranks = ranked(&by_x);
    let mut cover =
        Cover::new(by_x.iter().map(|&point| points[point][0]), [reference[0], reference[1]]);
    let (mut area, mut volume) = (Sum::default(), Sum::default());
    let mut level = reference[2];
    for point in lowest_first(points, 2) {
        let [_, y, z] = points[point];
        let more = cover.add(ranks[point], y);
        if more != 0.0 {
            volume.add(area.total() * (z - level));
            level = z;
            area.add(more);
        }
    }
    volume.add(area.total() * (reference[2] - level));
    volume.total()
}
