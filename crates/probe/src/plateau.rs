//! The levels of a memory hierarchy as measurements by size show them, beside what the system says of its caches.

use fizeau_core::{Bytes, Verdict};
use serde::{Deserialize, Serialize};

use crate::device::DeviceFacts;
use crate::measurement::{MemoryKernel, Operation, PageAdvice};
use crate::row::ProbeRow;

/// Values of one plateau are within this part of one another.
const LEVEL: f64 = 0.18;
/// A plateau has as many sizes at least, but for one of memory.
const FEWEST: usize = 2;
/// From so many times the last cache on a size is one of memory, whatever its neighbours: the rule of STREAM.
const BEYOND_CACHES: f64 = 4.0;

/// What is behind the last cache.
const MEMORY: &str = "DRAM";

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
    /// `L1`, `L2`, `L3`: by order, and none that is smaller than its smallest size, where the system says how large caches are; `DRAM`
    /// of the last, where sizes go beyond the last cache.
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

/// Sizes over which a curve is level, with the values there.
#[derive(Debug, Clone, PartialEq)]
struct Level {
    from: f64,
    to: f64,
    values: Vec<f64>,
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
        let last_cache = facts.and_then(|facts| facts.last_cache).map(Bytes::get);
        let caches = facts.map(|facts| &*facts.caches).unwrap_or_default();
        // Of an array that threads share each has a part, in caches of its own or in one that they share: only how many there are holds.
        let is_of_one = curve.name == "latency" || curve.name == "read by 1";
        let size = |cache: &Bytes| if is_of_one { cache.get() } else { f64::INFINITY };
        let caches: Vec<f64> = caches.iter().map(size).collect();
        let found = levels(curve.points, last_cache);
        let plateau = |(level, found): (String, Level)| Plateau {
            device: curve.device.clone(),
            curve: curve.name.clone(),
            level,
            from: Bytes::new(found.from),
            to: Bytes::new(found.to),
            value: median(found.values),
        };
        let named = named(found, curve.first_level, &caches, last_cache);
        named.into_iter().map(plateau).collect::<Vec<_>>()
    };
    curves.into_iter().flat_map(named).collect()
}

/// Levels with their names. Of two that would be of one cache, since there are no more, one is made.
fn named(
    found: Vec<Level>,
    first: usize,
    caches: &[f64],
    last_cache: Option<f64>,
) -> Vec<(String, Level)> {
    let (last, mut before) = (found.len().saturating_sub(1), first - 1);
    let mut named: Vec<(String, Level)> = Vec::new();
    for (at, level) in found.into_iter().enumerate() {
        let is_beyond = last_cache.is_some_and(|cache| level.from > cache);
        if is_beyond || at == last && at > 0 && last_cache.is_none_or(|cache| level.to > cache) {
            match named.last_mut() {
                Some((name, memory)) if name == MEMORY => {
                    memory.to = level.to;
                    memory.values.extend(level.values);
                }
                _ => named.push((MEMORY.to_owned(), level)),
            }
            continue;
        }
        let holds = 1 + caches.iter().filter(|cache| **cache < level.from).count();
        let number = (before + 1).max(holds);
        match named.last_mut() {
            Some((_, own)) if !caches.is_empty() && number > caches.len().max(first) => {
                own.to = level.to;
                own.values.extend(level.values);
            }
            _ => {
                named.push((format!("L{number}"), level));
                before = number;
            }
        }
    }
    named
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
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

/// Runs of sizes whose values stay together.
fn levels(mut points: Vec<(f64, f64)>, last_cache: Option<f64>) -> Vec<Level> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let is_memory = |size: f64| last_cache.is_some_and(|cache| size >= BEYOND_CACHES * cache);
    let (mut found, mut rest) = (Vec::new(), points.as_slice());
    while let Some((_, first)) = rest.first() {
        let (mut low, mut high) = (*first, *first);
        let run = rest.iter().take_while(|(_, value)| {
            (low, high) = (low.min(*value), high.max(*value));
            high / low <= 1.0 + LEVEL
        });
        let length = run.count().max(1);
        let (run, after) = rest.split_at(length);
        let (from, to) = (run[0].0, run[length - 1].0);
        if length >= FEWEST || (after.is_empty() && is_memory(to)) {
            let values = run.iter().map(|(_, value)| *value).collect();
            found.push(Level { from, to, values });
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
            let found = levels(points, None);
            prop_assert_eq!(found.len(), lengths.len());
            for (level, (found, length)) in found.into_iter().zip(&lengths).enumerate() {
                prop_assert!((found.to / found.from - 2_f64.powi(*length as i32 - 1)).abs() < 1e-9);
                prop_assert!((median(found.values) / 4_f64.powi(level as i32) - 1.0).abs() <= noise + 1e-12);
            }
        }
    }

    fn names(points: &[(f64, f64)], caches: &[f64]) -> Vec<(String, f64)> {
        names_of(points, caches, caches.last().copied())
    }

    fn names_of(points: &[(f64, f64)], caches: &[f64], last: Option<f64>) -> Vec<(String, f64)> {
        const KIB: f64 = 1024.0;
        let points = points.iter().map(|(size, value)| (size * KIB, *value)).collect();
        let caches: Vec<f64> = caches.iter().map(|size| size * KIB).collect();
        let last = last.map(|size| size * KIB);
        let found = named(levels(points, last), 1, &caches, last);
        found.into_iter().map(|(name, level)| (name, level.to / KIB)).collect()
    }

    /// Sizes in KiB, as on a processor whose last cache shows two steps, and whose first has none: passes are too short there.
    #[test]
    fn levels_are_those_of_the_caches_that_there_are() {
        let caches = [48.0, 1024.0, 32_768.0];
        let latency = [
            (16.0, 1.2),
            (32.0, 1.2),
            (64.0, 3.5),
            (128.0, 3.5),
            (2048.0, 11.0),
            (4096.0, 11.8),
            (8192.0, 14.0),
            (16_384.0, 14.1),
            (32_768.0, 88.0),
            (65_536.0, 130.0),
            (131_072.0, 136.0),
        ];
        let name = |name: &str, to: f64| (name.to_owned(), to);
        let expected =
            [name("L1", 32.0), name("L2", 128.0), name("L3", 16_384.0), name("DRAM", 131_072.0)];
        assert_eq!(names(&latency, &caches), expected);
        let read = [
            (8.0, 180.0),
            (16.0, 270.0),
            (32.0, 360.0),
            (64.0, 190.0),
            (128.0, 195.0),
            (4096.0, 120.0),
            (8192.0, 121.0),
            (65_536.0, 80.0),
            (131_072.0, 50.0),
        ];
        let expected = [name("L2", 128.0), name("L3", 8192.0), name("DRAM", 131_072.0)];
        assert_eq!(names(&read, &caches), expected);
        // A curve that was cut short is of memory where all of it is beyond the last cache.
        let beyond =
            [(65_536.0, 130.0), (131_072.0, 136.0), (262_144.0, 300.0), (524_288.0, 310.0)];
        assert_eq!(names(&beyond, &caches), [name("DRAM", 524_288.0)]);
        // Of several threads together only how many caches there are is known.
        let shared = names_of(&latency, &[f64::INFINITY; 3], Some(32_768.0));
        assert_eq!((shared.len(), &shared[2]), (4, &name("L3", 16_384.0)));
        // Where the system says nothing they are counted, and the last one measured is memory.
        let counted = names(&latency, &[]);
        assert_eq!(counted[3].0, "L4");
        assert_eq!(counted[4].0, "DRAM");
    }
}
