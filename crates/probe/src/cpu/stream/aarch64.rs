//! The kernels for aarch64: what the compiler makes of plain code, which has vectors there, and pairs of stores past the caches.

#![allow(unsafe_code, reason = "the hint for stores past the caches is an instruction of its own")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::arch::asm;

use super::{Kernel, SCALAR, portable};
use crate::measurement::{MemoryKernel, StoreKind};

pub(super) fn kernel(kernel: MemoryKernel, stores: StoreKind) -> Option<Kernel> {
    if stores == StoreKind::Ordinary {
        return portable::kernel(kernel, stores);
    }
    Some(match kernel {
        MemoryKernel::Write => |s| past(s.target, |_| SCALAR),
        MemoryKernel::Copy => |s| {
            let first = s.first;
            past(s.target, |at| first[at])
        },
        MemoryKernel::Scale => |s| {
            let first = s.first;
            past(s.target, |at| SCALAR * first[at])
        },
        MemoryKernel::Add => |s| {
            let (first, second) = (s.first, s.second);
            past(s.target, |at| first[at] + second[at])
        },
        MemoryKernel::Triad => |s| {
            let (first, second) = (s.first, s.second);
            past(s.target, |at| first[at] + SCALAR * second[at])
        },
        MemoryKernel::Read | MemoryKernel::Dot => {
            return portable::kernel(kernel, StoreKind::Ordinary);
        }
        MemoryKernel::Nstream => return None,
    })
}

fn past(target: &mut [f64], value: impl Fn(usize) -> f64) -> f64 {
    for (pair, target) in target.chunks_exact_mut(2).enumerate() {
        let (low, high) = (value(2 * pair), value(2 * pair + 1));
        // SAFETY: the target has room for two doubles at this place.
        unsafe {
            asm!(
                "stnp {low:d}, {high:d}, [{at}]",
                low = in(vreg) low, high = in(vreg) high, at = in(reg) target.as_mut_ptr(),
                options(nostack, preserves_flags),
            );
        }
    }
    0.0
}
