//! Products of matrices as a library is asked for them: what the operands hold, and how much room they take. Pure.

use super::driver::Address;
use super::ptx::Fill;
use crate::measurement::{Dtype, GemmShape};

/// A product that was prepared, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Product(pub(super) usize);

/// What is to be multiplied: `C[m,n] = A[m,k] W[n,k]^T`, rows one after the other, as models store weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ProductSpec {
    pub(super) shape: GemmShape,
    pub(super) dtype: Dtype,
    pub(super) output: Dtype,
    /// Scales of inputs and of weights, where the type has them.
    pub(super) scales: [Address; 2],
    pub(super) workspace: Address,
    pub(super) workspace_bytes: u64,
}

/// Where one product has its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operands {
    pub(super) inputs: Address,
    pub(super) weights: Address,
    pub(super) output: Address,
}

/// How the operands of a type are stored, and what multiplying them takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Format {
    /// Bits of an element: sign, exponent, mantissa.
    pub(super) bits: u32,
    mantissa_bits: u32,
    /// Either sign, uniform in size from 1 up to 2: what a type can hold without scaling, and no zeros.
    pub(super) fill: Fill,
    /// The oldest compute capability whose tensor cores have the type.
    pub(super) capability: (u32, u32),
    /// The oldest library that has it.
    pub(super) library: (u32, u32),
    /// How far an element may be off, relative to the root of the sum of its squared products.
    pub(super) tolerance: f64,
}

impl Format {
    /// None of a type that is not multiplied on GPUs.
    pub(super) const fn of(dtype: Dtype) -> Option<Self> {
        // A result is rounded to 8 bits of bf16, or 11 of f16, and is four times the root at most in what is likely; FP8 is summed with
        // fewer bits in between.
        let (bits, mantissa_bits, fill, capability, library, tolerance) = match dtype {
            Dtype::Bf16 => (16, 7, (0x807f_807f, 0x3f80_3f80), (8, 0), (12, 0), 0.02),
            Dtype::F16 => (16, 10, (0x83ff_83ff, 0x3c00_3c00), (8, 0), (12, 0), 0.02),
            Dtype::Fp8E4m3 => (8, 3, (0x8787_8787, 0x3838_3838), (8, 9), (12, 0), 0.06),
            Dtype::Nvfp4 => (4, 1, (0x9999_9999, 0x2222_2222), (10, 0), (12, 8), 0.06),
            _ => return None,
        };
        let fill = Fill { random: fill.0, fixed: fill.1, seed: 0 };
        Some(Self { bits, mantissa_bits, fill, capability, library, tolerance })
    }

    /// Bytes of so many elements.
    pub(super) const fn bytes(self, elements: u64) -> u64 {
        (elements * self.bits as u64).div_ceil(8)
    }

    /// Element `index` of what is filled by `fill`: the lowest bits of a word are its first element.
    pub(super) fn element(self, fill: Fill, index: u64) -> f64 {
        let in_word = 32 / u64::from(self.bits);
        let word = fill.word(index / in_word);
        self.value(word >> (index % in_word * u64::from(self.bits)))
    }

    /// The number that the lowest bits of `word` are, of those that operands have.
    pub(super) fn value(self, word: u32) -> f64 {
        let steps = f64::from(1_u32 << self.mantissa_bits);
        let size = 1.0 + f64::from(word & ((1 << self.mantissa_bits) - 1)) / steps;
        let is_negative = word >> (self.bits - 1) & 1 == 1;
        if is_negative { -size } else { size }
    }
}

/// Scales that are all one: how many bytes those of `rows` take, and with what they are filled. None of types without.
pub(super) fn scales(dtype: Dtype, rows: u64, k: u64, batch: u64) -> Option<(u64, Fill)> {
    let constant = |fixed| Fill { random: 0, fixed, seed: 0 };
    match dtype {
        // One single for the whole matrix.
        Dtype::Fp8E4m3 => Some((4, constant(0x3f80_0000))),
        // One of UE4M3 for 16 elements, in tiles of 128 rows by 4: all alike, so that their order is of no account.
        Dtype::Nvfp4 => {
            let bytes = rows.next_multiple_of(128) * k.div_ceil(16).next_multiple_of(4) * batch;
            Some((bytes, constant(0x3838_3838)))
        }
        _ => None,
    }
}

/// What 16 bits of a result are.
pub(super) fn result(dtype: Dtype, bits: u16) -> f64 {
    if dtype != Dtype::F16 {
        return f64::from(f32::from_bits(u32::from(bits) << 16));
    }
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    let size = match exponent {
        0 => mantissa * 2.0_f64.powi(-14),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + mantissa) * 2.0_f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TYPES: [Dtype; 4] = [Dtype::Bf16, Dtype::F16, Dtype::Fp8E4m3, Dtype::Nvfp4];

    proptest! {
        #[test]
        fn operands_are_of_either_sign_and_between_one_and_two(first in 0_u64..1 << 40) {
            for dtype in TYPES {
                let format = Format::of(dtype).unwrap();
                let some: Vec<f64> = (first..first + 200).map(|at| format.element(format.fill, at)).collect();
                prop_assert!(some.iter().all(|value| (1.0..2.0).contains(&value.abs())));
                prop_assert!(some.iter().any(|value| *value > 0.0) && some.iter().any(|value| *value < 0.0));
            }
        }

        /// An operand of 16 bits is read the same by the general rule.
        #[test]
        fn operands_are_what_their_bits_say(index in 0_u64..1 << 40) {
            for dtype in [Dtype::Bf16, Dtype::F16] {
                let format = Format::of(dtype).unwrap();
                let bits = (format.fill.word(index / 2) >> (index % 2 * 16)) as u16;
                prop_assert_eq!(format.element(format.fill, index), result(dtype, bits));
            }
        }
    }

    /// IEEE 754 half precision: one, its largest number, its smallest, and what is none.
    #[test]
    fn halves_are_read() {
        assert_eq!(result(Dtype::F16, 0x3c00), 1.0);
        assert_eq!(result(Dtype::F16, 0xfbff), -65_504.0);
        assert_eq!(result(Dtype::F16, 1), 2.0_f64.powi(-24));
        assert_eq!(result(Dtype::F16, 0x7c00), f64::INFINITY);
        assert!(result(Dtype::F16, 0x7e00).is_nan());
    }

    /// E4M3 has a bias of 7 and E2M1 one of 1: the patterns' exponents are those of one.
    #[test]
    fn narrow_patterns_are_ones() {
        let exponent = |dtype, bias: u32, mantissa: u32| {
            let word = Format::of(dtype).unwrap().fill.fixed;
            (word & 0xff) >> mantissa & ((1 << (bias.ilog2() + 1)) - 1) | (bias & 8)
        };
        assert_eq!(exponent(Dtype::Fp8E4m3, 7, 3), 7);
        assert_eq!(exponent(Dtype::Nvfp4, 1, 1), 1);
        assert_eq!(Format::of(Dtype::F64), None);
    }
}
