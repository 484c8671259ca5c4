//! Where all randomness comes from: one ChaCha8 stream for each purpose and index.

use fizeau_core::LevelLoad;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::sample::{self, GammaShape};

/// The seed of a plan's random numbers. Any number is as good as any other.
///
/// The same seed gives the same instants, lengths and, with the same [`Salt`], the same prompts. A second run against a
/// server that still has the first one's prompts cached is measured too fast: give each run a salt of its own, and each
/// level of a sweep a seed of its own ([`Seed::child`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// The `n`-th seed that follows from this one: for the levels of a sweep, or repeated runs. Children of
    /// different numbers, and children and parents, are unrelated.
    ///
    /// ```
    /// use fizeau_workload::Seed;
    /// assert_ne!(Seed(0).child(1), Seed(0).child(2));
    /// assert_ne!(Seed(0).child(1), Seed(1).child(1));
    /// ```
    #[must_use]
    pub fn child(self, n: u64) -> Self {
        Self(self.stream(StreamPurpose::Child, n).next_u64())
    }

    /// The seed of the level of `load` that is measured for the `visit`-th time, from 0, so that no two levels of a sweep have
    /// prompts in common.
    #[must_use]
    pub fn of_level(self, load: LevelLoad, visit: u32) -> Self {
        let own = match load {
            LevelLoad::Concurrency(slots) => self.child(slots.get().into()),
            LevelLoad::Rate(rate) => self.child(rate.get().to_bits()),
        };
        if visit == 0 { own } else { own.child(visit.into()) }
    }

    /// The generator for `purpose`, at `index`. Any one can be had without those before it, and no two overlap.
    pub(crate) fn stream(self, purpose: StreamPurpose, index: u64) -> RandomStream {
        let mut key = *b"________fizeau workload plan 1__";
        for (slot, byte) in key.iter_mut().zip(self.0.to_le_bytes()) {
            *slot = byte;
        }
        key[31] = purpose as u8;
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(index);
        RandomStream::new(rng)
    }

    /// The seed of prompts under `salt`: this one itself where there is none.
    pub(crate) fn salted(self, salt: Salt) -> Self {
        match salt {
            Salt::NONE => self,
            Salt(number) => Self(self.stream(StreamPurpose::Salt, number).next_u64()),
        }
    }
}

/// What sets the prompts of one run apart from those of another with the same seed. It changes the content of prompts and
/// nothing else: instants, lengths and sessions stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Salt(pub u64);

impl Salt {
    /// No salt: the same seed gives the same prompts.
    pub const NONE: Self = Self(0);
}

/// What a stream is for. The numbers are part of what a seed means: never change or reuse one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StreamPurpose {
    Child = 0,
    Distinct = 1,
    Gaps = 2,
    InputLength = 3,
    OutputLength = 4,
    Prefix = 5,
    Body = 6,
    Padding = 7,
    Salt = 8,
    Turns = 9,
    ThinkTime = 10,
    Model = 11,
    Group = 12,
    Shuffle = 14,
}

/// A one-to-one scrambling of 64-bit numbers: different inputs always have different outputs.
///
/// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014, in
/// Stafford's variant 13): each step can be undone.
pub(crate) const fn scramble(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

// An endless row of random numbers, the same on every machine.

/// An endless row of random numbers that follow from a [`crate::Seed`]: what a law of your own draws from, so that its
/// plans can be had again to the bit.
///
/// The same row gives the same bits on every machine, whatever else is linked: the generator is ChaCha8, and what is made
/// of its numbers is our own code over `libm`.
#[derive(Debug)]
pub struct RandomStream(ChaCha8Rng);

impl RandomStream {
    pub(crate) const fn new(rng: ChaCha8Rng) -> Self {
        Self(rng)
    }

    /// The same row once more, from where this one stands.
    pub(crate) fn again(&self) -> Self {
        let mut rng = ChaCha8Rng::from_seed(self.0.get_seed());
        rng.set_stream(self.0.get_stream());
        rng.set_word_pos(self.0.get_word_pos());
        Self(rng)
    }

    /// Uniform on all 64-bit numbers.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on the whole numbers from 0 up to, not including, `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        sample::below(&mut self.0, bound)
    }

    /// Adds `count` numbers to `numbers`, the same as so many calls of [`Self::below`] give: for the symbols of prompts, which
    /// are by far the most that is drawn.
    pub(crate) fn extend_below(&mut self, bound: u32, count: usize, numbers: &mut Vec<u32>) {
        let begins = numbers.len();
        numbers.resize(begins + count, 0);
        if let Some(places) = numbers.get_mut(begins..) {
            sample::fill_below(&mut self.0, bound, places);
        }
    }

    /// Brings `items` into an order at random, by Fisher and Yates' shuffle from the end.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// Uniform on (0, 1], in steps of 2^-53. Zero is left out so that its logarithm is finite.
    pub fn unit(&mut self) -> f64 {
        sample::unit(&mut self.0)
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        sample::exponential(&mut self.0)
    }

    /// Normal with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        sample::normal(&mut self.0)
    }

    /// Gamma with the given shape, above 0, and scale 1: mean and variance both are the shape.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        self.gamma_of(&GammaShape::new(shape))
    }

    /// As [`Self::gamma`], where many of one shape are drawn.
    pub(crate) fn gamma_of(&mut self, shape: &GammaShape) -> f64 {
        shape.sample(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::scramble;

    #[test]
    fn numbers_are_scrambled_as_published() {
        // The first output of SplitMix64 from state 0, as in the reference C code of Vigna (prng.di.unimi.it)
        // and the JDK's SplittableRandom: the finalizer of the golden-ratio increment.
        assert_eq!(scramble(0x9e37_79b9_7f4a_7c15), 0xe220_a839_7b1d_cdaf);
    }
}
