//! The levels of a memory hierarchy as measurements by size show them, beside what the system says of its caches.

mod levels;

use std::collections::BTreeSet;

use fizeau_core::{Bytes, Verdict};
use serde::{Deserialize, Serialize};

use crate::device::DeviceFacts;
use crate::measurement::{MemoryKernel, Operation, PageAdvice, StoreKind};
use crate::row::ProbeRow;
use levels::NamedLevel;

/// What the curve of reads on a GPU is called.
const READ_ON_GPU: &str = "read past L1";

/// Sizes over which a curve is level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Plateau {
    /// On what.
    pub device: String,
    /// Of which curve: `latency`, a kernel with ordinary stores and the number of threads (`triad by 8`), or `read past L1` on a GPU.
    pub curve: String,
    /// `L1`, `L2`, `L3`: by order, and none that is smaller than its smallest size, where the system says how large caches are; `DRAM`
    /// of what reaches beyond the last cache.
    pub level: String,
    /// The smallest size.
    #[serde(rename = "from_bytes")]
    pub from: Bytes,
    /// The largest size.
    #[serde(rename = "to_bytes")]
    pub to: Bytes,
    /// The median over its sizes: nanoseconds of a load, bytes per second of a read.
    pub value: f64,
}

/// A curve has as many sizes at least: of a number of threads that one array alone was measured on, nothing is seen of levels.
const FEWEST_SIZES: usize = 3;

/// One curve by size.
struct Curve {
    device: String,
    name: String,
    /// Which level the nearest is that it can show.
    first_level: usize,
    points: Vec<(f64, f64)>,
}

impl Curve {
    fn has_sizes(&self) -> bool {
        let sizes: BTreeSet<u64> = self.points.iter().map(|(size, _)| *size as u64).collect();
        sizes.len() >= FEWEST_SIZES
    }
}

/// The plateaus of every curve by size among `rows`.
pub(crate) fn plateaus<'a>(
    rows: &[ProbeRow],
    device: impl Fn(&str) -> Option<&'a DeviceFacts>,
) -> Vec<Plateau> {
    let mut curves: Vec<Curve> = Vec::new();
    for row in rows.iter().filter(|row| row.verdict != Verdict::Invalid) {
        let Some((name, point)) = point(row) else { continue };
        // Kernels on GPUs stream past the first cache.
        let is_past_first = name == READ_ON_GPU;
        let first_level = if is_past_first { 2 } else { 1 };
        let device = &row.measured.device;
        match curves.iter_mut().find(|curve| curve.device == *device && curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => {
                let (device, points) = (device.clone(), vec![point]);
                curves.push(Curve { device, name, first_level, points });
            }
        }
    }
    let named = |curve: Curve| {
        let facts = device(&curve.device);
        let caches = facts.map(|facts| &*facts.caches).unwrap_or_default();
        // Of an array that threads share each has a part, in caches of its own or in one that they share: only how many there are holds.
        let is_of_one = curve.name == "latency" || curve.name.ends_with(" by 1");
        // One thread has one of the last caches, and all together have all of them.
        let last_cache = caches.last().copied().filter(|_| is_of_one);
        let last_cache = last_cache.or_else(|| facts?.last_cache).map(Bytes::get);
        let size = |cache: &Bytes| if is_of_one { cache.get() } else { f64::INFINITY };
        let caches: Vec<f64> = caches.iter().map(size).collect();
        let plateau = |level: NamedLevel| Plateau {
            device: curve.device.clone(),
            curve: curve.name.clone(),
            level: level.name,
            from: Bytes::new(level.of.from),
            to: Bytes::new(level.of.to),
            value: level.of.value(),
        };
        let named = levels::named(curve.points, curve.first_level, &caches, last_cache);
        named.into_iter().map(plateau).collect::<Vec<_>>()
    };
    curves.into_iter().filter(Curve::has_sizes).flat_map(named).collect()
}

/// Which curve a row is a point of; its size, and the best of its value, which a busy machine spoils least.
fn point(row: &ProbeRow) -> Option<(String, (f64, f64))> {
    let pages = row.measured.method.pages.map(|pages| pages.requested);
    match &row.measured.operation {
        Operation::Latency { working_set: Some(bytes), path: None }
            if pages != Some(PageAdvice::Small) =>
        {
            Some(("latency".to_owned(), (bytes.get(), row.figures.time?.peak().get() * 1e6)))
        }
        Operation::Memory { kernel, stores, working_set: Some(bytes) } => {
            let method = &row.measured.method;
            let is_on_gpu = method.blocks_per_multiprocessor.is_some();
            let name = match kernel {
                MemoryKernel::Read if is_on_gpu => READ_ON_GPU.to_owned(),
                kernel
                    if !is_on_gpu && (!kernel.stores() || *stores == Some(StoreKind::Ordinary)) =>
                {
                    format!("{kernel} by {}", method.threads.unwrap_or(1))
                }
                _ => return None,
            };
            Some((name, (bytes.get(), row.figures.stream?.peak().get())))
        }
        _ => None,
    }
}
