//! Which rows measure memory and no cache, and why none does.

use fizeau_core::{Bytes, Verdict};

use crate::device::DeviceFacts;
use crate::measurement::{CacheState, Component, Operation, TransferEngine, size};
use crate::row::ProbeRow;

/// Streams that are larger than caches, by whoever says so or by their size; a copy within one device that no copy engine made.
pub(super) fn is_measured(row: &ProbeRow, facts: &DeviceFacts) -> bool {
    match &row.measured.operation {
        Operation::Memory { .. } => is_beyond_caches(row, facts),
        Operation::Transfer { from, to, engine, .. } => {
            from == to && *engine != TransferEngine::CopyEngine
        }
        _ => false,
    }
}

/// Whether its arrays are larger than caches, by whoever says so or by their size.
pub(crate) fn is_beyond_caches(row: &ProbeRow, facts: &DeviceFacts) -> bool {
    let bytes = row.measured.operation.working_set();
    let is_larger = bytes.is_some_and(|bytes| bytes.get() >= least(facts).get());
    is_larger || row.measured.method.cache == Some(CacheState::ColdBySize)
}

/// The last cache of a device of which nobody tells it: as large as any is (the Infinity Cache of an MI300X).
const LARGEST_CACHE: Bytes = Bytes::new(268_435_456.0);

/// The least working set that no cache can hold much of: four times the last one.
fn least(facts: &DeviceFacts) -> Bytes {
    Bytes::new(4.0 * facts.last_cache.unwrap_or(LARGEST_CACHE).get())
}

/// Why no row of a device [is one](is_measured) that may be believed, as a clause.
pub(super) fn lacking<'a>(rows: impl Iterator<Item = &'a ProbeRow>, facts: &DeviceFacts) -> String {
    let is_of_memory = |row: &&ProbeRow| row.measured.operation.component() == Component::Memory;
    let rows: Vec<&ProbeRow> = rows.filter(is_of_memory).collect();
    if rows.is_empty() {
        return "the bandwidth of its memory was not measured".to_owned();
    }
    let valid: Vec<&ProbeRow> =
        rows.into_iter().filter(|row| row.verdict != Verdict::Invalid).collect();
    if valid.is_empty() {
        return "every measurement of its memory is invalid".to_owned();
    }
    let sizes = valid.iter().filter_map(|row| match row.measured.operation {
        Operation::Memory { working_set, .. } => working_set,
        _ => None,
    });
    let Some(largest) = sizes.max_by(|a, b| a.get().total_cmp(&b.get())) else {
        return "it is not known with arrays of which size its memory was measured".to_owned();
    };
    let cache = match facts.last_cache {
        Some(cache) => format!("its last cache of {}", size(cache)),
        None => format!(
            "the largest last cache that any device has, {}, since its own is not known",
            size(LARGEST_CACHE)
        ),
    };
    format!(
        "its memory was measured with arrays of {} together at most, which a cache may have held in part; give them {} together, four \
         times {cache}",
        size(largest),
        size(least(facts))
    )
}
