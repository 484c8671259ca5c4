//! Two axes: from the best first figure to the worst, the second must get better all the time.

use super::rows::Row;
use super::stairs::key;

/// Those of `rows` that none of them dominates.
pub(super) fn front(mut rows: Vec<Row<[f64; 2]>>) -> Vec<Row<[f64; 2]>> {
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
