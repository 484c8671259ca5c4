//! Three axes: from the best first figure to the worst, with the staircase of the best second and third so far.

use super::lexicographic;
use super::rows::Row;
use super::stairs::Stairs;

/// Those of `rows` that none of them dominates.
pub(super) fn front(mut rows: Vec<Row<[f64; 3]>>) -> Vec<Row<[f64; 3]>> {
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
