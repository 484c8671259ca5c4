//! Loops for x86-64: multiply-adds of f32 and f64, dot products of bf16 and of int8.

#![allow(
    unsafe_code,
    reason = "instructions that are found at run time are called through unsafe functions"
)]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::arch::x86_64::{
    __m256, __m256d, __m256i, __m512, __m512bh, __m512d, __m512i, _mm256_dpbusd_avx_epi32,
    _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_pd,
    _mm256_set1_ps, _mm512_dpbf16_ps, _mm512_dpbusd_epi32, _mm512_fmadd_pd, _mm512_fmadd_ps,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_pd, _mm512_set1_ps,
};
use std::hint::black_box;
use std::mem::transmute;

use super::PeakLoop;
use crate::measurement::{Dtype, worse};

/// Registers that accumulate: with a latency of four or five cycles and two units eight to ten do, and two more of sixteen hold the
/// operands.
const NARROW: usize = 12;
/// Of thirty-two registers.
const WIDE: usize = 20;

pub(super) fn loops() -> Vec<PeakLoop> {
    let mut found = Vec::new();
    let mut add =
        |is_there: bool, found_loop: PeakLoop| found.extend(is_there.then_some(found_loop));
    let avx512 = is_x86_feature_detected!("avx512f");
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    add(avx512, wide(Dtype::F32, "avx512", 16.0 * 2.0, f32_avx512_checked));
    add(avx512, wide(Dtype::F64, "avx512", 8.0 * 2.0, f64_avx512_checked));
    add(
        is_x86_feature_detected!("avx512bf16"),
        wide(Dtype::Bf16, "avx512_bf16", 32.0 * 2.0, bf16_checked),
    );
    add(
        is_x86_feature_detected!("avx512vnni"),
        wide(Dtype::Int8, "avx512_vnni", 64.0 * 2.0, int8_avx512_checked),
    );
    add(avx2, narrow(Dtype::F32, "avx2", 8.0 * 2.0, f32_avx2_checked));
    add(avx2, narrow(Dtype::F64, "avx2", 4.0 * 2.0, f64_avx2_checked));
    add(
        is_x86_feature_detected!("avxvnni"),
        narrow(Dtype::Int8, "avx_vnni", 32.0 * 2.0, int8_avx_checked),
    );
    found
}

fn narrow(dtype: Dtype, instructions: &'static str, flops: f64, run: fn(u64) -> f64) -> PeakLoop {
    let flops = flops * NARROW as f64;
    PeakLoop { dtype, instructions, flops, width_bytes: 32, unroll: NARROW as u32, run }
}

fn wide(dtype: Dtype, instructions: &'static str, flops: f64, run: fn(u64) -> f64) -> PeakLoop {
    let flops = flops * WIDE as f64;
    PeakLoop { dtype, instructions, flops, width_bytes: 64, unroll: WIDE as u32, run }
}

/// A loop of `$count` registers `$acc = $step`, from `$start`, and how far any lane is from `$expected` of the turns.
macro_rules! register_loop {
    ($name:ident, $checked:ident, $features:literal, $vector:ty, $lane:ty, $lanes:literal, $count:ident,
     $start:expr, ($a:ident, $b:ident) = $operands:expr, |$acc:ident| $step:expr, |$turns:ident| $expected:expr) => {
        #[target_feature(enable = $features)]
        fn $name($turns: u64) -> f64 {
            let ($a, $b) = black_box($operands);
            let mut registers: [$vector; $count] = [black_box($start); $count];
            for _ in 0..$turns {
                for $acc in &mut registers {
                    *$acc = $step;
                }
            }
            let expected: $lane = $expected;
            let mut worst = 0.0_f64;
            for register in black_box(registers) {
                type Lanes = [$lane; $lanes];
                // SAFETY: a vector is as many lanes of plain numbers as that, whatever their bits.
                let lanes = unsafe { transmute::<$vector, Lanes>(register) };
                for lane in lanes {
                    let error = (f64::from(lane) - f64::from(expected)).abs();
                    worst = worse(worst, error / f64::from(expected).abs().max(1.0));
                }
            }
            worst
        }

        /// The same as a function that can be pointed to; `loops` has it only where the instructions were found.
        fn $checked(turns: u64) -> f64 {
            // SAFETY: the features were detected before this function was handed out.
            unsafe { $name(turns) }
        }
    };
}

// x <- x / 2 + 1 from 2 stays 2: neither growing nor vanishing, which some processors are slower at.
register_loop!(
    f32_avx2,
    f32_avx2_checked,
    "avx2,fma",
    __m256,
    f32,
    8,
    NARROW,
    _mm256_set1_ps(2.0),
    (a, b) = (_mm256_set1_ps(0.5), _mm256_set1_ps(1.0)),
    |acc| _mm256_fmadd_ps(*acc, a, b),
    |turns| {
        let _ = turns;
        2.0
    }
);
register_loop!(
    f64_avx2,
    f64_avx2_checked,
    "avx2,fma",
    __m256d,
    f64,
    4,
    NARROW,
    _mm256_set1_pd(2.0),
    (a, b) = (_mm256_set1_pd(0.5), _mm256_set1_pd(1.0)),
    |acc| _mm256_fmadd_pd(*acc, a, b),
    |turns| {
        let _ = turns;
        2.0
    }
);
register_loop!(
    f32_avx512,
    f32_avx512_checked,
    "avx512f",
    __m512,
    f32,
    16,
    WIDE,
    _mm512_set1_ps(2.0),
    (a, b) = (_mm512_set1_ps(0.5), _mm512_set1_ps(1.0)),
    |acc| _mm512_fmadd_ps(*acc, a, b),
    |turns| {
        let _ = turns;
        2.0
    }
);
register_loop!(
    f64_avx512,
    f64_avx512_checked,
    "avx512f",
    __m512d,
    f64,
    8,
    WIDE,
    _mm512_set1_pd(2.0),
    (a, b) = (_mm512_set1_pd(0.5), _mm512_set1_pd(1.0)),
    |acc| _mm512_fmadd_pd(*acc, a, b),
    |turns| {
        let _ = turns;
        2.0
    }
);
// Pairs of bf16: 1 x 1 + 1 x -1 adds nothing, so that the sum stays.
register_loop!(
    bf16,
    bf16_checked,
    "avx512f,avx512bf16",
    __m512,
    f32,
    16,
    WIDE,
    _mm512_set1_ps(2.0),
    (a, b) = (pairs(0x3f80_3f80), pairs(0xbf80_3f80_u32 as i32)),
    |acc| _mm512_dpbf16_ps(*acc, a, b),
    |turns| {
        let _ = turns;
        2.0
    }
);
// Four products of 3 and 5 a lane and turn, around as whole numbers go.
register_loop!(
    int8_avx512,
    int8_avx512_checked,
    "avx512f,avx512vnni",
    __m512i,
    i32,
    16,
    WIDE,
    _mm512_set1_epi32(0),
    (a, b) = (_mm512_set1_epi8(3), _mm512_set1_epi8(5)),
    |acc| _mm512_dpbusd_epi32(*acc, a, b),
    |turns| (turns as i32).wrapping_mul(60)
);
register_loop!(
    int8_avx,
    int8_avx_checked,
    "avx2,avxvnni",
    __m256i,
    i32,
    8,
    NARROW,
    _mm256_set1_epi32(0),
    (a, b) = (_mm256_set1_epi8(3), _mm256_set1_epi8(5)),
    |acc| _mm256_dpbusd_avx_epi32(*acc, a, b),
    |turns| (turns as i32).wrapping_mul(60)
);

#[target_feature(enable = "avx512f,avx512bf16")]
fn pairs(bits: i32) -> __m512bh {
    // SAFETY: both are 512 bits of plain numbers.
    unsafe { transmute::<__m512i, __m512bh>(_mm512_set1_epi32(bits)) }
}
