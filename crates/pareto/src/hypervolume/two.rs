//! Hypervolume in one and two dimensions.

use super::lowest_first;
use super::sum::Sum;

/// The length that points on a line reach below the reference.
pub(crate) fn length(points: &[[f64; 1]], [reference]: [f64; 1]) -> f64 {
    let least = points.iter().fold(reference, |least, [cost]| least.min(*cost));
    reference - least
}

/// The area that points reach below the reference: a strip for each corner.
pub(crate) fn area(points: &[[f64; 2]], reference: [f64; 2]) -> f64 {
    let mut area = Sum::default();
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
