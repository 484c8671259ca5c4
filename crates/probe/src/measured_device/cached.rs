//! What caches hold, and where they end.

use fizeau_core::Verdict;

use super::{Cell, bandwidth_of};
use crate::measurement::{MemoryKernel, Operation};
use crate::row::ProbeRow;

/// A size, and the best that was read of it.
pub(super) type SizedCell<'a> = (f64, Cell<'a>);

/// By size, the smallest first, the best rate of reading arrays of that size or a larger one, where that is above `memory`'s; then
/// the first size that is not, so that nobody takes what is larger for something that caches hold.
pub(super) fn reads<'a>(
    rows: impl Iterator<Item = &'a ProbeRow>,
    memory: f64,
) -> Vec<SizedCell<'a>> {
    let read = rows.filter(|row| row.verdict != Verdict::Invalid).filter_map(|row| {
        let Operation::Memory { kernel: MemoryKernel::Read, working_set, .. } =
            row.measured.operation
        else {
            return None;
        };
        Some((working_set?.get(), Cell::of(row, bandwidth_of(row)?)))
    });
    let mut read: Vec<SizedCell<'a>> = read.collect();
    read.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.best.total_cmp(&a.1.best)));
    let (mut kept, mut beyond): (Vec<SizedCell<'a>>, Option<SizedCell<'a>>) = (Vec::new(), None);
    for (size, cell) in read {
        match kept.last() {
            None if cell.best <= memory => {
                // Of one size the fastest is the first.
                if beyond.as_ref().is_none_or(|(known, _)| *known > size) {
                    beyond = Some((size, cell));
                }
            }
            Some((_, larger)) if cell.best <= larger.best => {}
            _ => kept.push((size, cell)),
        }
    }
    kept.reverse();
    if !kept.is_empty() {
        kept.extend(beyond);
    }
    kept
}
