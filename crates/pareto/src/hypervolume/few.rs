//! Hypervolume in one, two and three dimensions.

use super::cover::Cover;
use super::order::{lowest_first, ranked};
use super::sum::CompensatedSum;

/// The length that points on a line reach below the reference.
pub(crate) fn length(points: &[[f64; 1]], [reference]: [f64; 1]) -> f64 {
    let least = points.iter().fold(reference, |least, [cost]| least.min(*cost));
    reference - least
}

/// The area that points reach below the reference: a strip for each corner.
pub(crate) fn area(points: &[[f64; 2]], reference: [f64; 2]) -> f64 {
    let mut area = CompensatedSum::default();
    let mut height = reference[1];
    for corner in corners(points) {
        let [x, y] = points[corner];
        area.add((reference[0] - x) * (height - y));
        height = y;
    }
    area.total()
}

/// The indices of the points that no other dominates, one of each set of copies, rising in the first dimension
/// and falling in the second.
pub(crate) fn corners(points: &[[f64; 2]]) -> Vec<usize> {
    let mut height = None;
    let mut corners = lowest_first(points, 0);
    corners.retain(|&point| {
        let lower = height.is_none_or(|height| points[point][1] < height);
        if lower {
            height = Some(points[point][1]);
        }
        lower
    });
    corners
}

/// The volume that points reach below the reference, all of them being below it.
///
/// A plane goes up the last axis. What the points below it cover of it is bounded by a staircase and only grows, and
/// each slab between two points is as thick as they are apart. All terms are positive, so nothing cancels.
pub(crate) fn volume(points: &[[f64; 3]], reference: [f64; 3]) -> f64 {
    let by_x = lowest_first(points, 0);
    let ranks = ranked(&by_x);
    let mut cover =
        Cover::new(by_x.iter().map(|&point| points[point][0]), [reference[0], reference[1]]);
    let (mut area, mut volume) = (CompensatedSum::default(), CompensatedSum::default());
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
