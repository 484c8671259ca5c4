//! Plain loops that the compiler turns into the widest vectors that a processor has, for elements of several types.

#![allow(
    unsafe_code,
    reason = "instructions that are found at run time are called through unsafe functions"
)]
#![deny(clippy::undocumented_unsafe_blocks)]

use super::isa::Isa;

/// An element that is computed with in single precision.
pub(super) trait Element: Copy + Send + Sync + 'static {
    /// How far a result that is kept in this type may be off, relative to its size or to one.
    const TOLERANCE: f64;
    /// As single precision.
    fn widen(self) -> f32;
    /// The nearest element to `value`.
    fn nearest(value: f32) -> Self;
}

impl Element for f32 {
    const TOLERANCE: f64 = 1e-5;

    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }

    #[inline(always)]
    fn nearest(value: f32) -> Self {
        value
    }
}

/// The upper half of a single.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Bf16(u16);

impl Element for Bf16 {
    const TOLERANCE: f64 = 1e-2;

    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// To the even one of two that are as near.
    #[inline(always)]
    fn nearest(value: f32) -> Self {
        let bits = value.to_bits();
        let even = (bits >> 16) & 1;
        Self((bits.wrapping_add(0x7fff + even) >> 16) as u16)
    }
}

/// Sums side by side of a dot product.
pub(super) const LANES: usize = 32;

/// A piece of work whose loops are worth the widest vectors. It is compiled once for each set of instructions.
pub(super) trait Vectorised {
    /// Does it. `FUSED` says whether a multiply-add is one instruction.
    fn run<const FUSED: bool>(&mut self);
}

/// `a * b + c`, in one instruction where there is one.
#[inline(always)]
pub(super) fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// The dot product of `a` and `b`, which are alike in length.
#[inline(always)]
pub(super) fn dot<const FUSED: bool, A: Element, B: Element>(a: &[A], b: &[B]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (a_turns, a_rest) = a.as_chunks::<LANES>();
    let (b_turns, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_turns.iter().zip(b_turns) {
        for lane in 0..LANES {
            sums[lane] = multiply_add::<FUSED>(a[lane].widen(), b[lane].widen(), sums[lane]);
        }
    }
    let mut total = sum(&sums);
    for (a, b) in a_rest.iter().zip(b_rest) {
        total = multiply_add::<FUSED>(a.widen(), b.widen(), total);
    }
    total
}

/// The sum of all lanes, of which there are eight or a multiple: in order, each addition would wait for the one before. Values, not
/// places, so that they need not leave their registers.
#[inline(always)]
pub(super) fn sum(lanes: &[f32]) -> f32 {
    let (eights, _) = lanes.as_chunks::<8>();
    let mut all = [0.0_f32; 8];
    for eight in eights {
        for lane in 0..8 {
            all[lane] += eight[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = all;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Eight values that are computed with at once.
#[derive(Clone, Copy)]
struct Eight([f32; 8]);

impl Eight {
    #[inline(always)]
    fn widened<E: Element>(from: &[E; 8]) -> Self {
        let mut values = [0.0; 8];
        for lane in 0..8 {
            values[lane] = from[lane].widen();
        }
        Self(values)
    }

    /// `self + a * b`, each by itself. A loop and no closure, which may be left out of line, without the instructions of the caller.
    #[inline(always)]
    fn plus<const FUSED: bool>(self, a: Self, b: Self) -> Self {
        let mut sums = self.0;
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum = multiply_add::<FUSED>(a.0[lane], b.0[lane], *sum);
        }
        Self(sums)
    }
}

/// The dot products of each of `rows` with two others; all are alike in length. The sums of a tile stay in registers: each value
/// that is loaded serves two or as many products as there are rows.
#[inline(always)]
pub(super) fn tile_dots<const FUSED: bool, E: Element, const ROWS: usize>(
    rows: [&[f32]; ROWS],
    others: [&[E]; 2],
) -> [[f32; 2]; ROWS] {
    let chunks = rows.map(|row| row.as_chunks::<8>());
    let other_chunks = others.map(|other| other.as_chunks::<8>());
    let turns = other_chunks[0].0.len();
    let own = chunks.map(|row| &row.0[..turns]);
    let theirs = other_chunks.map(|other| &other.0[..turns]);
    let mut sums = [[Eight([0.0; 8]); 2]; ROWS];
    for turn in 0..turns {
        let pair = [Eight::widened(&theirs[0][turn]), Eight::widened(&theirs[1][turn])];
        for row in 0..ROWS {
            let value = Eight(own[row][turn]);
            for other in 0..2 {
                sums[row][other] = sums[row][other].plus::<FUSED>(value, pair[other]);
            }
        }
    }
    let mut dots = [[0.0; 2]; ROWS];
    for row in 0..ROWS {
        for other in 0..2 {
            let mut dot = sum(&sums[row][other].0);
            for (a, b) in chunks[row].1.iter().zip(other_chunks[other].1) {
                dot += a * b.widen();
            }
            dots[row][other] = dot;
        }
    }
    dots
}

/// Adds to each row of `to`, which has `width` values a row, the first `count` rows of `from` by the row's weights: of each `stride`
/// the first `width` values. The sums of sixteen columns of all rows stay in registers while the rows of `from` go by.
#[inline(always)]
pub(super) fn add_weighted<const FUSED: bool, E: Element, const ROWS: usize, const MOST: usize>(
    to: &mut [f32],
    width: usize,
    (weights, count): (&[[f32; MOST]; ROWS], usize),
    (from, stride): (&[E], usize),
) {
    const TWICE: usize = 16;
    let count = count.min(MOST);
    let mut at = 0;
    while at + TWICE <= width {
        let mut sums = [[Eight([0.0; 8]); 2]; ROWS];
        for row in 0..ROWS {
            sums[row] = pair(&to[row * width + at..]);
        }
        for key in 0..count {
            let values = pair(&from[key * stride + at..]);
            for row in 0..ROWS {
                let by = Eight([weights[row][key]; 8]);
                for half in 0..2 {
                    sums[row][half] = sums[row][half].plus::<FUSED>(by, values[half]);
                }
            }
        }
        for row in 0..ROWS {
            let place = &mut to[row * width + at..][..TWICE];
            place[..8].copy_from_slice(&sums[row][0].0);
            place[8..].copy_from_slice(&sums[row][1].0);
        }
        at += TWICE;
    }
    for (to, weights) in to.chunks_exact_mut(width).zip(weights) {
        for (values, weight) in from.chunks_exact(stride).zip(&weights[..count]) {
            for (sum, value) in to[at..].iter_mut().zip(&values[at..width]) {
                *sum = multiply_add::<FUSED>(*weight, value.widen(), *sum);
            }
        }
    }
}

/// The first sixteen of `values`, of which there are as many.
#[inline(always)]
fn pair<E: Element>(values: &[E]) -> [Eight; 2] {
    let (eights, _) = values[..16].as_chunks::<8>();
    [Eight::widened(&eights[0]), Eight::widened(&eights[1])]
}

/// e to the power of `x`, which is not above zero, to single precision: 2 to a whole power, and a polynomial for the rest of the
/// exponent, which is half a unit at most (coefficients of Cephes' `expf`, S. L. Moshier). It has no branch, so that loops of it become
/// vectors. Below -87 it is what is left at -87, which is nothing beside one.
#[inline(always)]
pub(super) fn exp_of_negative<const FUSED: bool>(x: f32) -> f32 {
    // Adding one and a half times 2 to the 23rd rounds to a whole number, which then is the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.max(-87.0);
    let shifted = multiply_add::<FUSED>(x, std::f32::consts::LOG2_E, ROUND);
    let power = shifted - ROUND;
    let rest = multiply_add::<FUSED>(power, -0.693_359_4, x);
    let rest = multiply_add::<FUSED>(power, 2.121_944_4e-4, rest);
    let p = multiply_add::<FUSED>(1.987_569_1e-4, rest, 1.398_199_9e-3);
    let p = multiply_add::<FUSED>(p, rest, 8.333_452e-3);
    let p = multiply_add::<FUSED>(p, rest, 4.166_579_6e-2);
    let p = multiply_add::<FUSED>(p, rest, 1.666_666_5e-1);
    let p = multiply_add::<FUSED>(p, rest, 0.5);
    let whole = multiply_add::<FUSED>(p, rest * rest, rest) + 1.0;
    whole * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// Does `work` with the widest instructions that `isa` says are there.
pub(super) fn vectorised<W: Vectorised>(isa: Isa, work: &mut W) {
    match isa {
        // SAFETY: of each, `Isa::found` saw that it is there.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { x86::avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { x86::avx2(work) },
        // Every aarch64 has fused multiply-adds, and the compiler knows.
        _ => {
            if cfg!(target_arch = "aarch64") {
                work.run::<true>();
            } else {
                work.run::<false>();
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Vectorised;

    #[target_feature(enable = "avx512f,avx2,fma")]
    pub(super) fn avx512<W: Vectorised>(work: &mut W) {
        work.run::<true>();
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2<W: Vectorised>(work: &mut W) {
        work.run::<true>();
    }
}

/// Numbers between -1 and 1 that look random, for operands: never zeros.
pub(super) fn operand_at(index: usize, seed: u64) -> f32 {
    let bits = fizeau_core::split_mix::mixed(
        seed ^ (index as u64).wrapping_mul(fizeau_core::split_mix::STEP),
    );
    // The upper 24 bits are a float exactly; half a step more, so that none is zero.
    ((bits >> 40) as f32 + 0.5) / (1 << 23) as f32 - 1.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Dot<'a>(&'a [f32], &'a [Bf16], f32);

    impl Vectorised for Dot<'_> {
        #[inline(always)]
        fn run<const FUSED: bool>(&mut self) {
            self.2 = dot::<FUSED, _, _>(self.0, self.1);
        }
    }

    proptest! {
        #[test]
        fn every_width_gives_the_same_dot_product(length in 0_usize..200, seed: u64) {
            let a: Vec<f32> = (0..length).map(|index| operand_at(index, seed)).collect();
            let b: Vec<Bf16> = (0..length).map(|index| Bf16::nearest(operand_at(index, !seed))).collect();
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(b.widen())).sum();
            for isa in Isa::found() {
                let mut work = Dot(&a, &b, f32::NAN);
                vectorised(isa, &mut work);
                prop_assert!((f64::from(work.2) - expected).abs() < 1e-4, "{} {}", work.2, expected);
            }
        }

        #[test]
        fn the_exponential_is_one(x in -87.0_f32..=0.0) {
            let expected = f64::from(x).exp();
            let error = f64::from(exp_of_negative::<false>(x)) / expected - 1.0;
            prop_assert!(error.abs() < 1e-6, "{x}: {error}");
            prop_assert!(exp_of_negative::<true>(x - 87.0) < 1e-37);
        }

        #[test]
        fn bf16_is_the_nearest(value in -1e30_f32..1e30) {
            let there = Bf16::nearest(value).widen();
            prop_assert!((there - value).abs() <= value.abs() / 256.0);
            prop_assert_eq!(Bf16::nearest(there).widen(), there);
        }
    }
}
