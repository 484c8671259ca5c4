//! An endless row of random numbers, the same on every machine.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

use crate::sample::{self, GammaShape};

/// An endless row of random numbers that follow from a [`crate::Seed`]: what a law of your own draws from, so that its
/// plans can be had again to the bit.
///
/// The same row gives the same bits on every machine, whatever else is linked: the generator is ChaCha8, and what is made
/// of its numbers is our own code over `libm`.
#[derive(Debug)]
pub struct Draws(ChaCha8Rng);

impl Draws {
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
