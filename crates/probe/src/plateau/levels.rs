//! Levels of a curve by size: found, and named after the caches that there are.

/// Values of one level are within this part of one another.
const LEVEL: f64 = 0.18;
/// A level has as many sizes at least, but for one of memory.
const FEWEST: usize = 2;
/// From so many times the last cache on a size is one of memory, whatever its neighbours: the rule of STREAM.
const BEYOND_CACHES: f64 = 4.0;
/// Neighbouring levels are steps of one cache, or of memory, where one is at most so many times the other.
const SIMILAR: f64 = 1.4;

/// What is behind the last cache.
const MEMORY: &str = "DRAM";

/// Sizes over which a curve is level, with the values there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Level {
    pub(super) from: f64,
    pub(super) to: f64,
    values: Vec<f64>,
}

impl Level {
    /// The median over its sizes.
    pub(super) fn value(&self) -> f64 {
        let mut values = self.values.clone();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }

    /// How many times the value of one is that of the other.
    fn apart(&self, other: &Self) -> f64 {
        let ratio = self.value() / other.value();
        ratio.max(1.0 / ratio)
    }

    /// Takes in the level behind it.
    fn join(&mut self, next: Self) {
        self.to = next.to;
        self.values.extend(next.values);
    }

    /// The caches that are too small for any of its sizes.
    fn outgrown(&self, caches: &[f64]) -> usize {
        caches.iter().filter(|cache| **cache < self.from).count()
    }
}

/// A level, and what it is of: `L1`, `DRAM`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedLevel {
    pub(super) name: String,
    pub(super) of: Level,
}

/// The levels of the curve through `points` with their names, the nearest of which is that of the cache `first`. There are no more than
/// caches: of more, neighbours of similar value are one, and what is left between the last cache and memory is of neither.
pub(super) fn named(
    points: Vec<(f64, f64)>,
    first: usize,
    caches: &[f64],
    last_cache: Option<f64>,
) -> Vec<NamedLevel> {
    let (mut within, mut memory) = split(runs(points, last_cache), last_cache);
    while !caches.is_empty()
        && numbers(&within, first, caches).last() > Some(&caches.len().max(first))
    {
        match most_similar(&within, memory.as_ref(), caches) {
            Some(at) => {
                let next = within.remove(at + 1);
                within[at].join(next);
            }
            None => {
                let last = within.pop();
                let is_memory = |last: &Level| {
                    memory.as_ref().is_some_and(|memory| last.apart(memory) <= SIMILAR)
                };
                if let Some(mut last) = last.filter(is_memory) {
                    memory.take().into_iter().for_each(|memory| last.join(memory));
                    memory = Some(last);
                }
            }
        }
    }
    let numbers = numbers(&within, first, caches);
    let named = |(number, of)| NamedLevel { name: format!("L{number}"), of };
    let memory = memory.map(|of| NamedLevel { name: MEMORY.to_owned(), of });
    numbers.into_iter().zip(within).map(named).chain(memory).collect()
}

/// The levels of caches, and that of memory: all whose middle lies beyond the last cache, and the last if it reaches as far.
fn split(found: Vec<Level>, last_cache: Option<f64>) -> (Vec<Level>, Option<Level>) {
    let (last, mut within, mut memory) = (found.len().saturating_sub(1), Vec::new(), None);
    for (at, level) in found.into_iter().enumerate() {
        let middle = (level.from * level.to).sqrt();
        let is_last = at == last && at > 0;
        let is_memory = last_cache.is_some_and(|cache| middle > cache)
            || is_last && last_cache.is_none_or(|cache| level.to > cache);
        match &mut memory {
            _ if !is_memory => within.push(level),
            Some(memory) => Level::join(memory, level),
            None => memory = Some(level),
        }
    }
    (within, memory)
}

/// Which caches `levels` are of: by order, and none that a level has outgrown.
fn numbers(levels: &[Level], first: usize, caches: &[f64]) -> Vec<usize> {
    let next = |before: &mut usize, level: &Level| {
        *before = (*before + 1).max(1 + level.outgrown(caches));
        Some(*before)
    };
    levels.iter().scan(first - 1, next).collect()
}

/// Which of `levels` is the most like the next one, of those that may be of one cache; none where it is less like it than `SIMILAR`
/// says, or where the last is more like `memory`.
fn most_similar(levels: &[Level], memory: Option<&Level>, caches: &[f64]) -> Option<usize> {
    let pairs = levels.windows(2).enumerate();
    let of_one_cache =
        pairs.filter(|(_, pair)| pair[0].outgrown(caches) == pair[1].outgrown(caches));
    let apart = of_one_cache.map(|(at, pair)| (at, pair[0].apart(&pair[1])));
    let (at, apart) = apart.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let from_memory = levels.last().zip(memory).map(|(last, memory)| last.apart(memory));
    (apart <= SIMILAR && from_memory.is_none_or(|memory| apart <= memory)).then_some(at)
}

/// Runs of sizes whose values stay together; sizes between two of them, where the curve rises or falls, are in none.
fn runs(mut points: Vec<(f64, f64)>, last_cache: Option<f64>) -> Vec<Level> {
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
            let found = runs(points, None);
            prop_assert_eq!(found.len(), lengths.len());
            for (level, (found, length)) in found.into_iter().zip(&lengths).enumerate() {
                prop_assert!((found.to / found.from - 2_f64.powi(*length as i32 - 1)).abs() < 1e-9);
                prop_assert!((found.value() / 4_f64.powi(level as i32) - 1.0).abs() <= noise + 1e-12);
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
        let found = named(points, 1, &caches, last);
        found.into_iter().map(|level| (level.name, level.of.to / KIB)).collect()
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

    /// What a probe of two busy processors of an EPYC (family 25) with a part of the last cache measured, in ns and GB/s; from 8 KiB, each
    /// size twice the one before.
    const LATENCY: [f64; 16] = [
        1.552, 1.541, 1.617, 4.065, 4.022, 4.054, 9.107, 14.98, 16.39, 16.54, 101.1, 90.20, 135.6,
        142.6, 144.2, 175.3,
    ];
    const READ_BY_1: [f64; 15] = [
        147.1, 164.4, 180.5, 100.7, 101.4, 103.1, 88.68, 79.78, 77.90, 77.78, 74.30, 44.15, 25.69,
        19.85, 17.86,
    ];
    const READ_BY_2: [f64; 15] = [
        239.8, 294.1, 323.5, 350.4, 196.5, 202.5, 204.6, 175.6, 156.0, 151.7, 153.5, 126.3, 46.89,
        34.93, 22.64,
    ];

    /// Each level with its ends in KiB and its value.
    fn found(values: &[f64], caches: &[f64]) -> Vec<(String, f64, f64, f64)> {
        let size = |at: usize| 1024.0 * 2_f64.powi(3 + at as i32);
        let points = values.iter().enumerate().map(|(at, value)| (size(at), *value)).collect();
        let found = named(points, 1, caches, Some(32_768.0 * 1024.0));
        let said = |NamedLevel { name, of }: NamedLevel| {
            let value = of.value();
            (name, of.from / 1024.0, of.to / 1024.0, value)
        };
        found.into_iter().map(said).collect()
    }

    #[test]
    fn a_level_keeps_its_value_where_the_next_is_another() {
        let level = |name: &str, from, to, value| (name.to_owned(), from, to, value);
        let caches = [32.0, 512.0, 32_768.0].map(|size| size * 1024.0);
        let expected = [
            level("L1", 8.0, 32.0, 1.552),
            level("L2", 64.0, 256.0, 4.054),
            level("L3", 1024.0, 4096.0, 16.39),
            level("DRAM", 32_768.0, 262_144.0, 144.2),
        ];
        assert_eq!(found(&LATENCY, &caches), expected);
        let expected = [
            level("L1", 8.0, 16.0, 164.4),
            level("L2", 64.0, 512.0, 101.4),
            level("L3", 1024.0, 8192.0, 77.90),
            level("DRAM", 65_536.0, 131_072.0, 19.85),
        ];
        assert_eq!(found(&READ_BY_1, &caches), expected);
        let expected = [
            level("L1", 16.0, 32.0, 323.5),
            level("L2", 128.0, 1024.0, 202.5),
            level("L3", 2048.0, 8192.0, 153.5),
            level("DRAM", 131_072.0, 131_072.0, 22.64),
        ];
        assert_eq!(found(&READ_BY_2, &[f64::INFINITY; 3]), expected);
    }
}
