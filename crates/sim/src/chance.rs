//! Chance that depends on nothing but its arguments: no generator is kept, so whatever asks in whatever order gets the same.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// 64 bits that look random: the finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
pub(crate) const fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Item `index` of the stream that `stream` names.
pub(crate) const fn drawn(stream: u64, index: u64) -> u64 {
    mixed(stream.wrapping_mul(GOLDEN).wrapping_add(index))
}

/// A number from 0, below 1, made of the upper 53 bits.
pub(crate) const fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// Splitmix64's step: 2^64 over the golden ratio.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

// A hasher for keys that are numbers: a few instructions, where the standard one takes many.

/// A map from numbers that nobody chooses in order to make them collide.
pub(super) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Mixes one number with the finalizer of `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
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
        self.0 = mixed((self.0 ^ number).wrapping_add(GOLDEN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of splitmix64 seeded with 1234567, as in the reference implementation's tests (Vigna,
    /// <https://prng.di.unimi.it/splitmix64.c>; values as given by Rosetta Code).
    #[test]
    fn it_is_the_finaliser_of_splitmix64() {
        let output = |step: u64| mixed(1_234_567_u64.wrapping_add(GOLDEN.wrapping_mul(step)));
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([output(1), output(2), output(3)], expected);
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
