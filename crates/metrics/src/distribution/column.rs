//! Whole nanoseconds, kept small.

use fizeau_core::Nanos;

use super::describe::Moments;
use crate::sort::ascending;

/// A sample of latencies in whole nanoseconds, all of them kept.
///
/// A latency under 4.29 s takes four bytes and a longer one eight: what a run of a million requests holds in memory
/// hangs on it. Their order does not matter to a sample, so the two kinds lie apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Column {
    short: Vec<u32>,
    long: Vec<u64>,
}

impl Column {
    pub(super) fn push(&mut self, latency: Nanos) {
        match u32::try_from(latency.as_nanos()) {
            Ok(short) => self.short.push(short),
            Err(_) => self.long.push(latency.as_nanos()),
        }
    }

    /// Takes in all that `other` has.
    pub(super) fn append(&mut self, mut other: Self) {
        self.short.append(&mut other.short);
        self.long.append(&mut other.long);
    }

    pub(super) const fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// The values: the short ones, then the long ones, each in their order.
    pub(super) fn values(&self) -> impl Iterator<Item = Nanos> {
        let short = self.short.iter().map(|&nanos| nanos.into());
        short.chain(self.long.iter().copied()).map(Nanos::from_nanos)
    }

    /// A copy in ascending order: all short ones are below all long ones.
    pub(super) fn sorted(&self) -> Self {
        let mut sorted = self.clone();
        ascending(&mut sorted.short, |&nanos| nanos.into());
        ascending(&mut sorted.long, |&nanos| nanos);
        sorted
    }

    pub(super) fn moments(&self) -> Moments {
        Moments::of(|| self.values().map(|nanos| (nanos.as_millis_f64(), 1)))
    }

    /// The value at a rank from 0, in milliseconds, of a sorted column.
    pub(super) fn at(&self, rank: u64) -> Option<f64> {
        let rank = rank as usize;
        let short = self.short.get(rank).map(|&nanos| nanos.into());
        let long = || self.long.get(rank.checked_sub(self.short.len())?).copied();
        short.or_else(long).map(|nanos| Nanos::from_nanos(nanos).as_millis_f64())
    }
}
