//! The samplers: uniform, exponential, normal, gamma.
//!
//! They are our own because a published crate's may change with a feature that somebody else's dependency turns
//! on. Transcendental functions are `libm`'s, in software, so that every platform computes the same bits;
//! `sqrt`, `floor` and the four operations are exact by IEEE 754 and come from `std`.

use std::f64::consts::TAU;

use rand::Rng;

/// Uniform on the integers from 0 up to, not including, `bound`; 0 for a bound of 0.
///
/// By widening multiplication. A value's probability is off by at most 2^-64, which no sample will ever show.
pub(crate) fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Fills `places` with what so many calls of [`below`] would give.
pub(crate) fn fill_below(rng: &mut impl Rng, bound: u32, places: &mut [u32]) {
    // As many as the generator makes at a time.
    const BULK: usize = 32;
    let bound = u64::from(bound);
    for places in places.chunks_mut(BULK) {
        let mut numbers = [[0; 8]; BULK];
        let (numbers, _) = numbers.split_at_mut(places.len());
        rng.fill_bytes(numbers.as_flattened_mut());
        for (place, number) in places.iter_mut().zip(numbers) {
            let number = u64::from_le_bytes(*number);
            // The upper half of the product, put together from 32-bit factors, which a vector unit has.
            let low = (number & u64::from(u32::MAX)) * bound;
            *place = (((number >> 32) * bound + (low >> 32)) >> 32) as u32;
        }
    }
}

/// Uniform on (0, 1], in steps of 2^-53. Zero is left out so that the logarithm is finite.
pub(crate) fn unit(rng: &mut impl Rng) -> f64 {
    const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
    ((rng.next_u64() >> 11) + 1) as f64 * STEP
}

/// Exponential with mean 1, by inversion.
pub(crate) fn exponential(rng: &mut impl Rng) -> f64 {
    -libm::log(unit(rng))
}

/// Normal with mean 0 and variance 1, by the cosine half of Box and Muller (1958). The sine half is thrown away: a
/// sampler without state is worth more here than one draw.
pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    let radius = (-2.0 * libm::log(unit(rng))).sqrt();
    radius * libm::cos(TAU * unit(rng))
}

/// Gamma with the given shape (above 0) and scale 1, so that mean and variance both are the shape.
///
/// Marsaglia and Tsang, "A simple method for generating gamma variables" (ACM TOMS 26, 2000), with their boost for
/// shapes below 1: Gamma(a) = Gamma(a + 1) U^(1/a).
#[derive(Debug)]
pub(crate) struct GammaShape {
    /// The power of the boost, for shapes below 1.
    boost: Option<f64>,
    d: f64,
    c: f64,
}

impl GammaShape {
    pub(crate) fn new(shape: f64) -> Self {
        let (boost, shape) =
            if shape < 1.0 { (Some(1.0 / shape), shape + 1.0) } else { (None, shape) };
        let d = shape - 1.0 / 3.0;
        Self { boost, d, c: 1.0 / (9.0 * d).sqrt() }
    }

    pub(crate) fn sample(&self, rng: &mut impl Rng) -> f64 {
        match self.boost {
            None => self.unboosted(rng),
            Some(power) => {
                let boost = libm::pow(unit(rng), power);
                boost * self.unboosted(rng)
            }
        }
    }

    fn unboosted(&self, rng: &mut impl Rng) -> f64 {
        let d = self.d;
        loop {
            let x = normal(rng);
            let root = 1.0 + self.c * x;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            let u = unit(rng);
            if surely(u, x) || libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v;
            }
        }
    }
}

/// Whether a draw is accepted for certain, without the logarithms that decide: 19 of 20 are.
///
/// Marsaglia and Tsang's bound 1 - 0.0331 x^4, and below it by more than rounding can turn, so that the decision is
/// always that of the logarithms.
fn surely(u: f64, x: f64) -> bool {
    const ROUNDING: f64 = 1e-6;
    let x2 = x * x;
    u < 1.0 - ROUNDING - 0.0331 * x2 * x2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::surely;

    proptest! {
        #[test]
        fn what_is_accepted_without_logarithms_is_accepted_with_them(
            shape in prop_oneof![1.0..10.0, 1.0..1e6], x in -6.0..6.0, below in 0.0..1.0,
        ) {
            // The greatest number that passes without them, and some below.
            let most = 1.0 - 1e-6 - 0.0331 * f64::powi(x, 4);
            let u = most.next_down() * below;
            let d: f64 = shape - 1.0 / 3.0;
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            for u in [u, most.next_down()] {
                if v > 0.0 && u > 0.0 && surely(u, x) {
                    prop_assert!(u.ln() < 0.5 * x * x + d - d * v + d * v.ln(), "{u} {x} {d}");
                }
            }
        }
    }
}
