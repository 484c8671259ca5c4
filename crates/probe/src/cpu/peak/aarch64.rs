//! Loops for aarch64: multiply-adds of f32 and f64 by NEON, which every such processor has.

#![allow(unsafe_code, reason = "vectors are taken apart into their lanes")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::arch::aarch64::{
    float32x4_t, float64x2_t, vdupq_n_f32, vdupq_n_f64, vfmaq_f32, vfmaq_f64,
};
use std::hint::black_box;
use std::mem::transmute;

use super::PeakLoop;
use crate::measurement::{Dtype, worse};

/// Registers that accumulate: with a latency of four cycles and four units sixteen do.
const REGISTERS: usize = 24;

pub(super) fn loops() -> Vec<PeakLoop> {
    let of = |dtype, lanes: f64, run| PeakLoop {
        dtype,
        instructions: "neon",
        flops: lanes * 2.0 * REGISTERS as f64,
        width_bytes: 16,
        unroll: REGISTERS as u32,
        run,
    };
    vec![of(Dtype::F32, 4.0, f32_checked as fn(u64) -> f64), of(Dtype::F64, 2.0, f64_checked)]
}

/// x <- 1 + x / 2 from 2 stays 2.
macro_rules! register_loop {
    ($name:ident, $checked:ident, $vector:ty, $lane:ty, $lanes:literal, $set:ident, $fma:ident) => {
        #[target_feature(enable = "neon")]
        fn $name(turns: u64) -> f64 {
            let (half, one) = black_box(($set(0.5), $set(1.0)));
            let mut registers: [$vector; REGISTERS] = [black_box($set(2.0)); REGISTERS];
            for _ in 0..turns {
                for register in &mut registers {
                    *register = $fma(one, *register, half);
                }
            }
            let mut worst = 0.0_f64;
            for register in black_box(registers) {
                // SAFETY: a vector is as many lanes of plain numbers as that.
                let lanes = unsafe { transmute::<$vector, [$lane; $lanes]>(register) };
                worst = lanes.iter().map(|lane| (f64::from(*lane) - 2.0).abs()).fold(worst, worse);
            }
            worst
        }

        fn $checked(turns: u64) -> f64 {
            // SAFETY: every aarch64 processor that Rust's targets are for has NEON.
            unsafe { $name(turns) }
        }
    };
}

register_loop!(f32_neon, f32_checked, float32x4_t, f32, 4, vdupq_n_f32, vfmaq_f32);
register_loop!(f64_neon, f64_checked, float64x2_t, f64, 2, vdupq_n_f64, vfmaq_f64);
