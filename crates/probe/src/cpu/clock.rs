//! The host's clock, and the processor's: how many cycles a second.

#![allow(unsafe_code, reason = "cycles are known only from instructions of known latency")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::arch::asm;
use std::time::Instant;

use fizeau_core::{Clock, Nanos, PerSec, Stamp};

/// The host's monotonic clock, from when it was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostClock(Instant);

impl HostClock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for HostClock {
    fn now(&self) -> Stamp {
        let nanos = u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Stamp::from_nanos(nanos)
    }
}

/// Additions in one turn.
const CHAIN: u64 = 64;
/// Turns of one reading: some 20 microseconds.
const TURNS: u64 = 1_000;
/// Readings, of which the fastest is not interrupted.
const READINGS: usize = 25;

/// Cycles per second of the processor that this thread runs on: of additions that wait for one another, each of which takes one
/// cycle on every processor of these architectures. None on others.
pub(super) fn cycles_per_second(clock: &impl Clock) -> Option<PerSec> {
    let reading = || {
        let start = clock.now();
        additions(TURNS);
        clock.now().saturating_since(start)
    };
    reading();
    let fastest = (0..READINGS).map(|_| reading()).min().filter(|time| *time > Nanos::ZERO)?;
    let is_known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    is_known.then(|| PerSec::new((CHAIN * TURNS) as f64 / fastest.as_secs_f64()))
}

/// `turns` times as many additions as a turn has. The loop's own counting runs beside them.
fn additions(turns: u64) {
    let mut sum = 1_u64;
    for _ in 0..turns {
        // SAFETY: it changes one register of its own, and the flags, which it says.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                ".rept 64", "add {sum}, {sum}", ".endr",
                sum = inout(reg) sum, options(nomem, nostack),
            );
        }
        // SAFETY: it changes one register of its own.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                ".rept 64", "add {sum}, {sum}, {sum}", ".endr",
                sum = inout(reg) sum, options(nomem, nostack, preserves_flags),
            );
        }
    }
    std::hint::black_box(sum);
}
