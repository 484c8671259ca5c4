//! Streaming kernels: what each thread runs over its own arrays.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::isa::Isa;
use crate::measurement::{MemoryKernel, StoreKind, worse};

/// Elements of which an array is a whole number: eight lines, more than any kernel takes in one turn.
pub(super) const BLOCK: usize = 64;
/// The constant by which kernels scale.
const SCALAR: f64 = 3.0;

/// The arrays of a thread: `target` is written, `first` and `second` are read. Those that a kernel does not use are empty.
#[derive(Debug)]
pub(super) struct Streams<'a> {
    pub(super) target: &'a mut [f64],
    pub(super) first: &'a [f64],
    pub(super) second: &'a [f64],
}

/// A kernel by one set of instructions: what it sums up, or zero.
type Kernel = fn(&mut Streams<'_>) -> f64;

/// The kernel by those instructions; none where they have no such store, or nobody wrote it.
pub(super) fn kernel(isa: Isa, kernel: MemoryKernel, stores: StoreKind) -> Option<Kernel> {
    match isa {
        Isa::Portable => portable::kernel(kernel, stores),
        #[cfg(target_arch = "x86_64")]
        Isa::Sse2 => x86::sse2(kernel, stores),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => x86::avx2(kernel, stores),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => x86::avx512(kernel, stores),
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => aarch64::kernel(kernel, stores),
    }
}

/// Whether `kernel` uses its target, its first and its second array.
pub(super) const fn uses(kernel: MemoryKernel) -> [bool; 3] {
    match kernel {
        MemoryKernel::Read => [false, true, false],
        MemoryKernel::Write => [true, false, false],
        MemoryKernel::Copy | MemoryKernel::Scale => [true, true, false],
        MemoryKernel::Dot => [false, true, true],
        MemoryKernel::Add | MemoryKernel::Triad | MemoryKernel::Nstream => [true, true, true],
    }
}

/// Loads or stores of one turn, in vectors; none where the compiler chooses.
pub(super) const fn unroll(isa: Isa, kernel: MemoryKernel) -> Option<u32> {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Sse2 | Isa::Avx2 | Isa::Avx512 => {
            Some(if matches!(kernel, MemoryKernel::Read | MemoryKernel::Dot) { 8 } else { 4 })
        }
        _ => {
            let _ = kernel;
            None
        }
    }
}

/// What the first array holds at `index`: never zero, and no two neighbours alike.
pub(super) fn first_at(index: usize) -> f64 {
    1.0 + (index % 1021) as f64 / 1024.0
}

/// What the second array holds.
pub(super) fn second_at(index: usize) -> f64 {
    2.0 - (index % 509) as f64 / 512.0
}

/// What the target holds before it is written.
pub(super) fn target_at(index: usize) -> f64 {
    0.5 + (index % 127) as f64 / 128.0
}

/// How far what `done` wrote is from what `kernel` says, relative to it: the largest over all elements; and what it summed, if
/// that is what it does.
pub(super) fn error(kernel: MemoryKernel, done: &Streams<'_>, summed: f64) -> f64 {
    let written = |expected: &dyn Fn(usize) -> f64| {
        let of = |(index, value): (usize, &f64)| {
            let expected = expected(index);
            ((value - expected) / expected).abs()
        };
        done.target.iter().enumerate().map(of).fold(0.0, worse)
    };
    match kernel {
        MemoryKernel::Read => sum_error(done.first.iter().copied(), summed),
        MemoryKernel::Dot => {
            sum_error(done.first.iter().zip(done.second).map(|(a, b)| a * b), summed)
        }
        MemoryKernel::Write => written(&|_| SCALAR),
        MemoryKernel::Copy => written(&first_at),
        MemoryKernel::Scale => written(&|index| SCALAR * first_at(index)),
        MemoryKernel::Add => written(&|index| first_at(index) + second_at(index)),
        MemoryKernel::Triad => written(&|index| first_at(index) + SCALAR * second_at(index)),
        // It adds to its target each time; how often it ran is not known here.
        MemoryKernel::Nstream => f64::NAN,
    }
}

fn sum_error(terms: impl Iterator<Item = f64>, summed: f64) -> f64 {
    let expected: f64 = terms.sum();
    ((summed - expected) / expected).abs()
}

/// What rounding in another order may come to.
pub(super) const TOLERANCE: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every kernel of every set of instructions that this machine has gives what its formula says, at any length.
        #[test]
        fn kernels_compute_what_they_say(blocks in 1_usize..9) {
            let length = blocks * BLOCK;
            // NT stores ask for whole lines, as arrays of our own are aligned.
            let array = |value: fn(usize) -> f64| {
                super::super::array::Array::filled(length, crate::PageAdvice::Default, value).unwrap()
            };
            for isa in Isa::found() {
                for (which, stores) in MemoryKernel::ALL.into_iter().flat_map(|k| StoreKind::ALL.map(|s| (k, s))) {
                    let Some(run) = kernel(isa, which, stores) else { continue };
                    let (mut target, first, second) = (array(target_at), array(first_at), array(second_at));
                    let mut streams = Streams { target: &mut target, first: &first, second: &second };
                    let summed = run(&mut streams);
                    let error = error(which, &streams, summed);
                    prop_assert!(error < TOLERANCE, "{} {which} {stores}: {error}", isa.as_str());
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_row_says_how_far_its_loop_is_unrolled() {
        let of = |kernel| [Isa::Avx2, Isa::Portable].map(|isa| unroll(isa, kernel));
        assert_eq!(of(MemoryKernel::Read), [Some(8), None]);
        assert_eq!(of(MemoryKernel::Triad), [Some(4), None]);
    }

    /// A maximum of floating point passes over it.
    #[test]
    fn what_is_no_number_is_not_right() {
        let (mut target, first) = ([1.0; BLOCK], [1.0; BLOCK]);
        target[3] = f64::NAN;
        let streams = Streams { target: &mut target, first: &first, second: &[] };
        assert!(error(MemoryKernel::Copy, &streams, 0.0).is_nan());
    }

    #[test]
    fn every_machine_has_every_kernel_with_ordinary_stores() {
        for isa in Isa::found() {
            for which in
                MemoryKernel::ALL.into_iter().filter(|which| *which != MemoryKernel::Nstream)
            {
                assert!(
                    kernel(isa, which, StoreKind::Ordinary).is_some(),
                    "{} {which}",
                    isa.as_str()
                );
            }
        }
    }
}
