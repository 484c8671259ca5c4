//! The levels of a memory hierarchy as measurements by size show them, beside what the system says of its caches.

use fizeau_core::{Bytes, Verdict};
use serde::{Deserialize, Serialize};

use crate::measurement::{MemoryKernel, Operation, PageAdvice};
use crate::row::ProbeRow;

/// Values of one plateau are within this part of one another.
const LEVEL: f64 = 0.18;
/// A plateau has as many sizes at least.
const FEWEST: usize = 2;

/// What the curve of reads on a GPU is called.
const READ_ON_GPU: &str = "read past L1";

/// Sizes over which a curve is level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Plateau {
    /// On what.
    pub device: String,
    /// Of which curve: `latency`, `read` with the number of threads, or `read past L1` on a GPU.
    pub curve: String,
    /// `L1`, `L2`, `L3`, by order; `DRAM` of the last, where sizes go beyond the last cache.
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

/// One curve by size.
struct Curve {
    device: String,
    name: String,
    /// Which level the nearest is that it can show.
    first_level: usize,
    points: Vec<(f64, f64)>,
}

/// The plateaus of every curve by size among `rows`.
pub(crate) fn plateaus(
    rows: &[ProbeRow],
    last_cache: impl Fn(&str) -> Option<Bytes>,
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
        let cache = last_cache(&curve.device).map(Bytes::get);
        let found = levels(curve.points);
        let last = found.len().saturating_sub(1);
        let plateau = |(at, (from, to, value)): (usize, (f64, f64, f64))| {
            let is_memory = at == last && at > 0 && cache.is_none_or(|cache| to > cache);
            Plateau {
                device: curve.device.clone(),
                curve: curve.name.clone(),
                level: if is_memory {
                    "DRAM".to_owned()
                } else {
                    format!("L{}", at + curve.first_level)
                },
                from: Bytes::new(from),
                to: Bytes::new(to),
                value,
            }
        };
        found.into_iter().enumerate().map(plateau).collect::<Vec<_>>()
    };
    curves.into_iter().flat_map(named).collect()
}

/// Which curve a row is a point of; its size, and the best of its value, which a busy machine spoils least.
fn point(row: &ProbeRow) -> Option<(String, (f64, f64))> {
    let pages = row.measured.method.pages.map(|pages| pages.asked);
    match &row.measured.operation {
        Operation::Latency { working_set: Some(bytes), path: None }
            if pages != Some(PageAdvice::Small) =>
        {
            Some(("latency".to_owned(), (bytes.get(), row.figures.time?.peak().get() * 1e6)))
        }
        Operation::Memory { kernel: MemoryKernel::Read, working_set: Some(bytes), .. } => {
            let method = &row.measured.method;
            let name = match (method.blocks_per_multiprocessor, method.threads) {
                (Some(_), _) => READ_ON_GPU.to_owned(),
                (None, threads) => format!("read by {}", threads.unwrap_or(1)),
            };
            Some((name, (bytes.get(), row.figures.stream?.peak().get())))
        }
        _ => None,
    }
}

/// Runs of sizes whose values stay together: from, to, median.
fn levels(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut found, mut rest) = (Vec::new(), points.as_slice());
    while let Some((_, first)) = rest.first() {
        let (mut low, mut high) = (*first, *first);
        let run = rest.iter().take_while(|(_, value)| {
            (low, high) = (low.min(*value), high.max(*value));
            high / low <= 1.0 + LEVEL
        });
        let length = run.count().max(1);
        let (run, after) = rest.split_at(length);
        if length >= FEWEST {
            let mut values: Vec<f64> = run.iter().map(|(_, value)| *value).collect();
            values.sort_by(f64::total_cmp);
            found.push((run[0].0, run[length - 1].0, values[length / 2]));
        }
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Steps that are far enough apart are found, whatever their heights, with noise and a size between that is neither.
        #[test]
        fn steps_are_found(lengths in prop::collection::vec(2_usize..6, 1..5), noise in 0.0_f64..0.05) {
            let mut points = Vec::new();
            for (level, length) in lengths.iter().enumerate() {
                for at in 0..*length {
                    let value = 4_f64.powi(level as i32) * (1.0 + noise * (at % 2) as f64);
                    points.push((2_f64.powi(points.len() as i32), value));
                }
                points.push((2_f64.powi(points.len() as i32), 2.0 * 4_f64.powi(level as i32)));
            }
            let found = levels(points);
            prop_assert_eq!(found.len(), lengths.len());
            for (level, (found, length)) in found.iter().zip(&lengths).enumerate() {
                prop_assert!((found.2 / 4_f64.powi(level as i32) - 1.0).abs() <= noise + 1e-12);
                prop_assert!((found.1 / found.0 - 2_f64.powi(*length as i32 - 1)).abs() < 1e-9);
            }
        }
    }
}
