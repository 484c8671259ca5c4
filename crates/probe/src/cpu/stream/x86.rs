//! The kernels for x86-64, each once, and made for three widths of vectors.

#![allow(unsafe_code, reason = "vectors are loaded and stored through pointers")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::arch::x86_64::{
    _mm_add_pd, _mm_loadu_pd, _mm_mul_pd, _mm_set1_pd, _mm_setzero_pd, _mm_sfence, _mm_storeu_pd,
    _mm_stream_pd, _mm256_add_pd, _mm256_loadu_pd, _mm256_mul_pd, _mm256_set1_pd,
    _mm256_setzero_pd, _mm256_storeu_pd, _mm256_stream_pd, _mm512_add_pd, _mm512_loadu_pd,
    _mm512_mul_pd, _mm512_set1_pd, _mm512_setzero_pd, _mm512_storeu_pd, _mm512_stream_pd,
};

use super::{BLOCK, Kernel, SCALAR, Streams, uses};
use crate::measurement::{MemoryKernel, StoreKind};

/// The kernels of one width. `$lanes` is how many elements a vector has.
macro_rules! kernels {
    ($module:ident, $features:literal, $lanes:literal, $load:ident, $store:ident, $past:ident, $add:ident, $mul:ident, $set:ident, $zero:ident) => {
        mod $module {
            use super::*;

            /// Four vectors a turn, each written as `$value` says of index `$at`. After stores past the caches a fence waits for them;
            /// those into caches need none, and in a small one it would take part of the time.
            macro_rules! writes {
                ($name:ident, $to:ident, $fence:block, |$s:ident, $at:ident, $scalar:ident| $value:expr) => {
                    #[target_feature(enable = $features)]
                    fn $name($s: &mut Streams<'_>) -> f64 {
                        let $scalar = $set(SCALAR);
                        let length = $s.target.len();
                        let mut turn = 0;
                        while turn < length {
                            for step in 0..4 {
                                let $at = turn + step * $lanes;
                                // SAFETY: `checked` saw that all arrays that this kernel uses are as long as the target, a
                                // whole number of blocks, so that each vector lies within them; and that the target is aligned
                                // to a line, so that stores past the cache are.
                                unsafe { $to($s.target.as_mut_ptr().add($at), $value) };
                            }
                            turn += 4 * $lanes;
                        }
                        $fence
                        0.0
                    }
                };
            }

            macro_rules! sums {
                ($name:ident, |$s:ident, $at:ident| $value:expr) => {
                    #[target_feature(enable = $features)]
                    fn $name($s: &mut Streams<'_>) -> f64 {
                        let mut sums = [$zero(); 8];
                        let length = $s.first.len();
                        let mut turn = 0;
                        while turn < length {
                            for (step, sum) in sums.iter_mut().enumerate() {
                                let $at = turn + step * $lanes;
                                // SAFETY: as of what writes; a block is eight of the widest vectors.
                                *sum = $add(*sum, unsafe { $value });
                            }
                            turn += 8 * $lanes;
                        }
                        let mut lanes = [0.0; 8 * $lanes];
                        for (step, sum) in sums.iter().enumerate() {
                            // SAFETY: there is room for eight vectors.
                            unsafe { $store(lanes.as_mut_ptr().add(step * $lanes), *sum) };
                        }
                        lanes.iter().sum()
                    }
                };
            }

            writes!(write, $store, {}, |s, at, scalar| {
                let _ = at;
                scalar
            });
            writes!(write_past, $past, { _mm_sfence() }, |s, at, scalar| {
                let _ = at;
                scalar
            });
            writes!(copy, $store, {}, |s, at, scalar| {
                let _ = scalar;
                $load(s.first.as_ptr().add(at))
            });
            writes!(copy_past, $past, { _mm_sfence() }, |s, at, scalar| {
                let _ = scalar;
                $load(s.first.as_ptr().add(at))
            });
            writes!(scale, $store, {}, |s, at, scalar| $mul(scalar, $load(s.first.as_ptr().add(at))));
            writes!(scale_past, $past, { _mm_sfence() }, |s, at, scalar| $mul(
                scalar,
                $load(s.first.as_ptr().add(at))
            ));
            writes!(add, $store, {}, |s, at, scalar| {
                let _ = scalar;
                $add($load(s.first.as_ptr().add(at)), $load(s.second.as_ptr().add(at)))
            });
            writes!(add_past, $past, { _mm_sfence() }, |s, at, scalar| {
                let _ = scalar;
                $add($load(s.first.as_ptr().add(at)), $load(s.second.as_ptr().add(at)))
            });
            writes!(triad, $store, {}, |s, at, scalar| $add(
                $load(s.first.as_ptr().add(at)),
                $mul(scalar, $load(s.second.as_ptr().add(at)))
            ));
            writes!(triad_past, $past, { _mm_sfence() }, |s, at, scalar| $add(
                $load(s.first.as_ptr().add(at)),
                $mul(scalar, $load(s.second.as_ptr().add(at)))
            ));
            sums!(read, |s, at| $load(s.first.as_ptr().add(at)));
            sums!(dot, |s, at| $mul(
                $load(s.first.as_ptr().add(at)),
                $load(s.second.as_ptr().add(at))
            ));

            /// The kernel, which the caller calls only where the processor has these instructions.
            pub(super) fn kernel(kernel: MemoryKernel, stores: StoreKind) -> Option<Kernel> {
                /// Each as a function that can be pointed to.
                macro_rules! called {
                                                    ($which:ident, $name:ident) => {
                                                        |streams| {
                                                            checked(MemoryKernel::$which, streams);
                                                            // SAFETY: this function is handed out by `super`, which hands out those of found instructions.
                                                            unsafe { $name(streams) }
                                                        }
                                                    };
                                                }
                let past = stores == StoreKind::NonTemporal;
                Some(match kernel {
                    MemoryKernel::Read => called!(Read, read),
                    MemoryKernel::Dot => called!(Dot, dot),
                    MemoryKernel::Write if past => called!(Write, write_past),
                    MemoryKernel::Write => called!(Write, write),
                    MemoryKernel::Copy if past => called!(Copy, copy_past),
                    MemoryKernel::Copy => called!(Copy, copy),
                    MemoryKernel::Scale if past => called!(Scale, scale_past),
                    MemoryKernel::Scale => called!(Scale, scale),
                    MemoryKernel::Add if past => called!(Add, add_past),
                    MemoryKernel::Add => called!(Add, add),
                    MemoryKernel::Triad if past => called!(Triad, triad_past),
                    MemoryKernel::Triad => called!(Triad, triad),
                    MemoryKernel::Nstream => return None,
                })
            }
        }
    };
}

/// What all kernels rest on: the arrays that `kernel` uses are whole blocks and alike in length, the target aligned to a line.
fn checked(kernel: MemoryKernel, streams: &Streams<'_>) {
    let lengths = [streams.target.len(), streams.first.len(), streams.second.len()];
    // Nothing is allocated: of arrays in a first cache a pass takes a few dozen nanoseconds.
    let used = || lengths.into_iter().zip(uses(kernel)).filter(|(_, used)| *used);
    let length = used().next().map_or(0, |(length, _)| length);
    assert!(
        length.is_multiple_of(BLOCK) && used().all(|(other, _)| other == length),
        "arrays are whole blocks and alike in length"
    );
    assert!(
        streams.target.as_ptr().addr().is_multiple_of(64) || streams.target.is_empty(),
        "lines are written whole"
    );
}

kernels!(
    narrow,
    "sse2",
    2,
    _mm_loadu_pd,
    _mm_storeu_pd,
    _mm_stream_pd,
    _mm_add_pd,
    _mm_mul_pd,
    _mm_set1_pd,
    _mm_setzero_pd
);
kernels!(
    middle,
    "avx2,fma",
    4,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_stream_pd,
    _mm256_add_pd,
    _mm256_mul_pd,
    _mm256_set1_pd,
    _mm256_setzero_pd
);
kernels!(
    wide,
    "avx512f",
    8,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_stream_pd,
    _mm512_add_pd,
    _mm512_mul_pd,
    _mm512_set1_pd,
    _mm512_setzero_pd
);

pub(super) fn sse2(kernel: MemoryKernel, stores: StoreKind) -> Option<Kernel> {
    narrow::kernel(kernel, stores)
}

pub(super) fn avx2(kernel: MemoryKernel, stores: StoreKind) -> Option<Kernel> {
    is_x86_feature_detected!("avx2").then(|| middle::kernel(kernel, stores))?
}

pub(super) fn avx512(kernel: MemoryKernel, stores: StoreKind) -> Option<Kernel> {
    is_x86_feature_detected!("avx512f").then(|| wide::kernel(kernel, stores))?
}
