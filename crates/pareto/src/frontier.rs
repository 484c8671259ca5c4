//! Points that no other point beats.

use std::cmp::Ordering;

/// Whether more or less of a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// More is better, as with throughput.
    Maximize,
    /// Less is better, as with latency.
    Minimize,
}

/// Why points have no frontier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrontierError {
    /// A figure cannot be compared with the others.
    #[error(
        "figure {dimension} of point {point} (both from 0) is not a number; leave the point out"
    )]
    NotANumber {
        /// The point's index.
        point: usize,
        /// The figure's place within the point.
        dimension: usize,
    },
}

/// The indices of the points that no other dominates, in the order in which the points were given.
///
/// A point dominates another if it is at least as good in every figure and better in one. Equal points do not
/// dominate each other: all of them are kept. Infinite figures compare as one would think.
///
/// Takes `O(n log n)` comparisons for up to two figures, and up to `n` times the frontier's size for more.
///
/// ```
/// use fizeau_pareto::{Direction::{Maximize, Minimize}, frontier};
/// // The second is beaten by the first, which is as good in the one figure and better in the other.
/// let points = [[2.0, 5.0], [2.0, 6.0], [1.0, 4.0], [2.0, 5.0]];
/// assert_eq!(frontier(&points, &[Maximize, Minimize])?, [0, 2, 3]);
/// # Ok::<(), fizeau_pareto::FrontierError>(())
/// ```
///
/// # Errors
/// If a figure is NaN; the error names the first such point.
pub fn frontier<const D: usize>(
    points: &[[f64; D]],
    directions: &[Direction; D],
) -> Result<Vec<usize>, FrontierError> {
    let mut order: Vec<(usize, [f64; D])> = Vec::with_capacity(points.len());
    for (point, figures) in points.iter().enumerate() {
        if let Some(dimension) = figures.iter().position(|figure| figure.is_nan()) {
            return Err(FrontierError::NotANumber { point, dimension });
        }
        order.push((point, costs(figures, directions)));
    }
    // In lexicographic order a point comes after all that dominate it, so that one pass suffices.
    order.sort_by(|(_, a), (_, b)| lexicographic(a, b));
    let mut kept: Vec<(usize, [f64; D])> = Vec::new();
    for (point, cost) in order {
        // With two costs, the point kept last has the least second cost of all so far: if any dominates, it
        // does.
        let rivals = if D <= 2 { 1 } else { kept.len() };
        let mut latest = kept.iter().rev().take(rivals);
        if !latest.any(|(_, rival)| dominates(rival, &cost)) {
            kept.push((point, cost));
        }
    }
    let mut indices: Vec<usize> = kept.into_iter().map(|(point, _)| point).collect();
    indices.sort_unstable();
    Ok(indices)
}

/// The first of `points` that dominates point `index`, to say what beats it; none if it is on the frontier.
///
/// There is none either if `index` is beyond the points, and a point with a NaN neither dominates nor is
/// dominated.
///
/// ```
/// use fizeau_pareto::{Direction, dominated_by};
/// let points = [[3.0], [1.0], [2.0]];
/// assert_eq!(dominated_by(&points, &[Direction::Minimize], 0), Some(1));
/// assert_eq!(dominated_by(&points, &[Direction::Minimize], 1), None);
/// ```
#[must_use]
pub fn dominated_by<const D: usize>(
    points: &[[f64; D]],
    directions: &[Direction; D],
    index: usize,
) -> Option<usize> {
    let cost = costs(points.get(index)?, directions);
    let mut rivals = points.iter().map(|figures| costs(figures, directions));
    rivals.position(|rival| dominates(&rival, &cost))
}

/// The same point with every figure to be minimized.
fn costs<const D: usize>(figures: &[f64; D], directions: &[Direction; D]) -> [f64; D] {
    let mut costs = *figures;
    for (cost, direction) in costs.iter_mut().zip(directions) {
        if *direction == Direction::Maximize {
            *cost = -*cost;
        }
    }
    costs
}

fn dominates<const D: usize>(a: &[f64; D], b: &[f64; D]) -> bool {
    let no_worse = a.iter().zip(b).all(|(a, b)| a <= b);
    no_worse && a.iter().zip(b).any(|(a, b)| a < b)
}

/// `partial_cmp` and not `total_cmp`, which tells 0 from -0 and so would part equals. NaN is ruled out by
/// the caller.
fn lexicographic<const D: usize>(a: &[f64; D], b: &[f64; D]) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}
