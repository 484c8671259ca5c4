//! The kernels in plain code, for architectures that nobody wrote vectors for.

use super::{Kernel, SCALAR, Streams};
use crate::measurement::{MemoryKernel, StoreKind};

pub(super) fn kernel(kernel: MemoryKernel, stores: StoreKind) -> Option<Kernel> {
    if stores == StoreKind::NonTemporal {
        return None;
    }
    Some(match kernel {
        MemoryKernel::Read => |s| sums(s.first, s.first, |a, _| a),
        MemoryKernel::Dot => |s| sums(s.first, s.second, |a, b| a * b),
        MemoryKernel::Write => |s| {
            s.target.fill(SCALAR);
            0.0
        },
        MemoryKernel::Copy => |s| {
            s.target.copy_from_slice(s.first);
            0.0
        },
        MemoryKernel::Scale => |s| each(s, |b, _| SCALAR * b),
        MemoryKernel::Add => |s| each(s, |b, c| b + c),
        MemoryKernel::Triad => |s| each(s, |b, c| b + SCALAR * c),
        MemoryKernel::Nstream => return None,
    })
}

fn each(streams: &mut Streams<'_>, value: impl Fn(f64, f64) -> f64) -> f64 {
    // A kernel of one operand has it stand for both.
    let second = if streams.second.is_empty() { streams.first } else { streams.second };
    for ((target, first), second) in streams.target.iter_mut().zip(streams.first).zip(second) {
        *target = value(*first, *second);
    }
    0.0
}

/// Eight sums side by side, so that additions do not wait for one another.
fn sums(first: &[f64], second: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; 8];
    for (first, second) in first.chunks_exact(8).zip(second.chunks_exact(8)) {
        for ((sum, a), b) in sums.iter_mut().zip(first).zip(second) {
            *sum += term(*a, *b);
        }
    }
    sums.iter().sum()
}
