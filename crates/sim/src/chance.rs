//! Chance that depends on nothing but its arguments: no generator is kept, so whatever asks in whatever order gets the same.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use fizeau_core::split_mix::{self, STEP, mixed};

/// Item `index` of the stream that `stream` names.
pub(crate) const fn drawn(stream: u64, index: u64) -> u64 {
    mixed(stream.wrapping_mul(STEP).wrapping_add(index))
}

/// What is drawn by one seed. Each has a stream of its own, so that one does not hang on another, and none begins with the 0 that
/// seed 0 has first.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DrawnFor {
    /// Which requests meet a fault.
    Faults = 1,
    /// Where replies end by themselves.
    Lengths,
    /// How much of a draft is accepted.
    Drafts,
}

impl DrawnFor {
    /// The stream of this by that seed.
    pub(crate) const fn stream(self, seed: u64) -> u64 {
        drawn(seed, self as u64)
    }
}

/// A number from 0, below 1, made of the upper 53 bits.
pub(crate) const fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

// A hasher for keys that are numbers: a few instructions, where the standard one takes many.

/// A map from numbers that nobody chooses in order to make them collide.
pub(super) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Mixes one number by SplitMix64.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = split_mix::next(&mut (self.0 ^ number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_stream_is_no_end_of_the_range() {
        for seed in 0..20 {
            for purpose in [DrawnFor::Faults, DrawnFor::Lengths, DrawnFor::Drafts] {
                let first = share(drawn(purpose.stream(seed), 0));
                assert!((0.001..0.999).contains(&first), "{purpose:?}, {seed}: {first}");
            }
        }
    }

    #[test]
    fn shares_are_even() {
        let (mut sum, mut low) = (0.0, 0);
        for index in 0..10_000 {
            let share = share(mixed(drawn(7, index)));
            assert!((0.0..1.0).contains(&share));
            sum += share;
            low += u32::from(share < 0.1);
        }
        // Within four standard deviations of 5,000 and of 1,000.
        assert!((sum - 5_000.0).abs() < 116.0, "{sum}");
        assert!((880..=1_120).contains(&low), "{low}");
    }
}
