//! Whole nanoseconds, kept small.

use std::mem;

use fizeau_core::Nanos;

use super::describe::Moments;
use crate::sort::ascending;

/// So many are put in order and packed at a time: their steps from one to the next then take a byte each, or two.
const RUN: usize = 1 << 14;

/// A sample of latencies in whole nanoseconds, all of them kept.
///
/// What a run of a million requests holds in memory hangs on it. The order of the values does not matter to a sample, so that
/// most of them can be kept as steps in ascending order, in a byte or two each; the latest take four, and those of 4.29 s and more eight.
#[derive(Debug, Clone, Default)]
pub(super) struct Column {
    packed: Vec<Run>,
    /// Fewer than a run.
    short: Vec<u32>,
    long: Vec<u64>,
}

impl Column {
    pub(super) fn push(&mut self, latency: Nanos) {
        match u32::try_from(latency.as_nanos()) {
            Ok(short) => self.push_short(short),
            Err(_) => self.long.push(latency.as_nanos()),
        }
    }

    fn push_short(&mut self, nanos: u32) {
        self.short.push(nanos);
        if self.short.len() == RUN {
            self.packed.push(Run::of(mem::take(&mut self.short)));
        }
    }

    /// Takes in all that `other` has.
    pub(super) fn append(&mut self, mut other: Self) {
        self.packed.append(&mut other.packed);
        other.short.into_iter().for_each(|nanos| self.push_short(nanos));
        self.long.append(&mut other.long);
    }

    pub(super) const fn len(&self) -> usize {
        self.packed.len() * RUN + self.short.len() + self.long.len()
    }

    /// How many bytes it holds.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let packed: usize = self.packed.iter().map(|run| run.0.len()).sum();
        packed + 4 * self.short.len() + 8 * self.long.len()
    }

    /// The values: the short ones, then the long ones.
    pub(super) fn values(&self) -> impl Iterator<Item = Nanos> {
        let short = self.short_ones().map(u64::from);
        short.chain(self.long.iter().copied()).map(Nanos::from_nanos)
    }

    fn short_ones(&self) -> impl Iterator<Item = u32> {
        self.packed.iter().flat_map(Run::values).chain(self.short.iter().copied())
    }

    /// All in ascending order.
    pub(super) fn sorted(&self) -> SortedColumn {
        let mut short = Vec::with_capacity(self.len() - self.long.len());
        short.extend(self.short_ones());
        ascending(&mut short, |&nanos| nanos.into());
        let mut long = self.long.clone();
        ascending(&mut long, |&nanos| nanos);
        SortedColumn { short, long }
    }
}

/// A run of short ones in ascending order: each is the step from the one before, seven bits a byte, the low ones first, and the
/// eighth says that there are more.
#[derive(Debug, Clone)]
struct Run(Box<[u8]>);

impl Run {
    fn of(mut values: Vec<u32>) -> Self {
        ascending(&mut values, |&nanos| nanos.into());
        let mut bytes = Vec::with_capacity(2 * values.len());
        let mut before = 0;
        for value in values {
            let mut step = value - mem::replace(&mut before, value);
            while step > 0x7f {
                bytes.push(step as u8 | 0x80);
                step >>= 7;
            }
            bytes.push(step as u8);
        }
        Self(bytes.into())
    }

    fn values(&self) -> impl Iterator<Item = u32> {
        let (mut value, mut step, mut bits) = (0, 0, 0);
        self.0.iter().filter_map(move |byte| {
            step |= u32::from(byte & 0x7f) << bits;
            bits += 7;
            (byte & 0x80 == 0).then(|| {
                value += mem::take(&mut step);
                bits = 0;
                value
            })
        })
    }
}

/// A column in ascending order: all short ones are below all long ones.
pub(super) struct SortedColumn {
    short: Vec<u32>,
    long: Vec<u64>,
}

impl SortedColumn {
    pub(super) fn moments(&self) -> Moments {
        let short = || self.short.iter().map(|&nanos| nanos.into());
        let values = || short().chain(self.long.iter().copied()).map(Nanos::from_nanos);
        Moments::of(|| values().map(|nanos| (nanos.as_millis_f64(), 1)))
    }

    /// The value at a rank from 0, in milliseconds.
    pub(super) fn at(&self, rank: u64) -> Option<f64> {
        let rank = rank as usize;
        let short = self.short.get(rank).map(|&nanos| nanos.into());
        let long = || self.long.get(rank.checked_sub(self.short.len())?).copied();
        short.or_else(long).map(|nanos| Nanos::from_nanos(nanos).as_millis_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        let (mut column, mut other, mut given) = (Column::default(), Column::default(), Vec::new());
        for k in 0..5 * RUN as u64 {
            // Any step from none to the greatest, and some that are long.
            let nanos = k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (31 + k % 33);
            let into = if k % 3 == 0 { &mut other } else { &mut column };
            into.push(Nanos::from_nanos(nanos));
            given.push(nanos);
        }
        column.append(other);
        given.sort_unstable();
        let mut found: Vec<u64> = column.values().map(Nanos::as_nanos).collect();
        assert_eq!(column.len(), found.len());
        found.sort_unstable();
        assert_eq!(found, given);
        let sorted = column.sorted();
        let at = |rank: usize| sorted.at(rank as u64).unwrap();
        assert!(
            given
                .iter()
                .enumerate()
                .all(|(rank, &nanos)| at(rank) == Nanos::from_nanos(nanos).as_millis_f64())
        );
        assert_eq!(sorted.at(given.len() as u64), None);
    }

    #[test]
    fn gaps_like_those_of_a_level_take_less_than_two_bytes() {
        let mut column = Column::default();
        for k in 0..4 * RUN as u64 {
            // 10 ms, and half a millisecond either way.
            column.push(Nanos::from_nanos(
                9_500_000 + k.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000_000,
            ));
        }
        assert!(column.bytes() < 2 * column.len(), "{} of {}", column.bytes(), column.len());
    }
}
