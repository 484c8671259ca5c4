//! Hypervolume in more dimensions, and what one point covers alone.

use super::order::{least_first, lowest_first};
use super::sum::CompensatedSum;
use super::{few, four};
use crate::frontier::no_worse;

/// The most axes that a hypervolume is computed over.
pub(crate) const MOST_AXES: usize = 6;

/// A point of up to six dimensions; the figures of the others are 0.
type PaddedPoint = [f64; MOST_AXES];

/// The volume that points, given one after the other, reach below the reference, all of them being below it.
pub(crate) fn volume_of_rows(rows: &[f64], reference: &[f64]) -> f64 {
    match *reference {
        [a] => few::length(rows.as_chunks().0, [a]),
        [a, b] => few::area(rows.as_chunks().0, [a, b]),
        [a, b, c] => few::volume(rows.as_chunks().0, [a, b, c]),
        [a, b, c, d] => four::volume(rows.as_chunks().0, [a, b, c, d]),
        _ => {
            let rows = rows.chunks_exact(reference.len()).map(padded);
            sliced(&rows.collect::<Vec<_>>(), reference)
        }
    }
}

/// The point as a row.
fn padded(figures: &[f64]) -> PaddedPoint {
    let mut row = [0.0; MOST_AXES];
    row.iter_mut().zip(figures).for_each(|(to, from)| *to = *from);
    row
}

/// In the order of the last axis, each point adds what it covers alone in the others, times the way from it to the
/// reference.
fn sliced(rows: &[PaddedPoint], reference: &[f64]) -> f64 {
    let last = reference.len() - 1;
    let mut volume = CompensatedSum::default();
    let mut before: Vec<PaddedPoint> = Vec::new();
    for point in lowest_first(rows, last) {
        let mut row = rows[point];
        let height = reference[last] - std::mem::take(&mut row[last]);
        if before.iter().any(|other| no_worse(other, &row)) {
            continue;
        }
        volume.add(exclusive(&before, &row, &reference[..last]) * height);
        before.retain(|other| !no_worse(&row, other));
        before.push(row);
    }
    volume.total()
}

/// The volume that `row` covers and none of `others` does: its own box, less what the others cover of it.
///
/// The difference has the absolute error of the box.
fn exclusive<'a>(
    others: impl IntoIterator<Item = &'a PaddedPoint>,
    row: &PaddedPoint,
    reference: &[f64],
) -> f64 {
    let limited = others.into_iter().map(|other| {
        let mut limited = *other;
        limited.iter_mut().zip(row).for_each(|(cost, own)| *cost = cost.max(*own));
        limited
    });
    let mut limited: Vec<PaddedPoint> = limited.collect();
    maxima(&mut limited);
    let covered = volume(&limited, reference);
    let own: f64 = reference.iter().zip(row).map(|(worst, cost)| worst - cost).product();
    positive(own - covered)
}

/// Rounding must not make a volume negative; one that is beyond all numbers stays so.
fn positive(volume: f64) -> f64 {
    if volume < 0.0 { 0.0 } else { volume }
}

fn volume(rows: &[PaddedPoint], reference: &[f64]) -> f64 {
    if reference.len() > 4 {
        return sliced(rows, reference);
    }
    let figures: Vec<f64> = rows.iter().flat_map(|row| &row[..reference.len()]).copied().collect();
    volume_of_rows(&figures, reference)
}

/// Leaves one of each set of copies, and nothing that another dominates.
fn maxima(rows: &mut Vec<PaddedPoint>) {
    // In this order a point comes after all that dominate it, for rounding never turns round which sum is greater; and
    // those that dominate the most come first.
    let mut kept: Vec<PaddedPoint> = Vec::new();
    for point in least_first(rows, |row| row.iter().sum()) {
        if !kept.iter().any(|other| no_worse(other, &rows[point])) {
            kept.push(rows[point]);
        }
    }
    *rows = kept;
}
