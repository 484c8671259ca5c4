//! The generator behind resampling: small, fast, and the same on every machine.

use fizeau_core::split_mix;

/// What resampling starts from. Any number is as good as any other; the same one gives the same interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ResampleSeed(pub u64);

/// A stream of random bits: xoshiro256++ 1.0 (D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators",
/// ACM Transactions on Mathematical Software 47, 2021), its state filled by SplitMix64 as its authors advise.
///
/// It is for statistics, not for secrets.
///
/// ```
/// use fizeau_metrics::{RandomBits, ResampleSeed};
/// let mut bits = RandomBits::new(ResampleSeed(7));
/// let mut again = RandomBits::new(ResampleSeed(7));
/// assert_eq!(bits.next_u64(), again.next_u64());
/// ```
#[derive(Debug, Clone)]
pub struct RandomBits([u64; 4]);

impl RandomBits {
    /// The stream that `seed` stands for.
    #[must_use]
    pub fn new(seed: ResampleSeed) -> Self {
        let mut state = seed.0;
        Self(std::array::from_fn(|_| split_mix::next(&mut state)))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number from 0 to `bound - 1`, each as likely as any other; 0 for a bound of 0.
    ///
    /// By multiplication, with the few words thrown away that would favour some numbers: D. Lemire, "Fast random integer
    /// generation in an interval", ACM Transactions on Modeling and Computer Simulation 29, 2019.
    pub fn below(&mut self, bound: u64) -> u64 {
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            let rest = product as u64;
            if rest >= bound || rest >= bound.wrapping_neg().checked_rem(bound).unwrap_or(0) {
                return (product >> 64) as u64;
            }
        }
    }

    /// A number above 0 and up to 1, in steps of 2^-53: its logarithm is finite.
    pub(super) fn above_zero(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vector of the crate `rand_xoshiro`, which its authors made with the reference C code.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut bits = RandomBits([1, 2, 3, 4]);
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
            14_011_001_112_246_962_877,
            12_406_186_145_184_390_807,
            15_849_039_046_786_891_736,
            10_450_023_813_501_588_000,
        ];
        assert_eq!(expected.map(|_| bits.next_u64()), expected);
    }

    #[test]
    fn a_share_is_above_zero_and_at_most_one() {
        let mut bits = RandomBits::new(ResampleSeed(2));
        assert!((0..1000).map(|_| bits.above_zero()).all(|u| u > 0.0 && u <= 1.0));
    }
}
