//! A hasher for keys that are numbers: a few instructions, where the standard one takes many.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use fizeau_core::split_mix;

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
