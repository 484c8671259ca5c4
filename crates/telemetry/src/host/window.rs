//! What two readings come to.

use fizeau_core::{Bytes, Millis, document};

use super::reading::HostReading;

document! {
    /// What the host did between two readings. What either reading lacks is absent.
    #[derive(Copy, Default)]
    #[non_exhaustive]
    pub struct HostWindow,
    /// From one reading to a later one. Of the clock's error, which `/proc` does not tell, nothing is said.
    #[must_use]
    pub fn between(first: &HostReading, last: &HostReading) {
        let grown = |first: Option<u64>, last: Option<u64>| last?.checked_sub(first?);
        let cpu = |of: fn(super::CpuTime) -> u64| grown(first.cpu.map(of), last.cpu.map(of));
        let total = cpu(|cpu| cpu.total);
        let share = |part: Option<u64>, whole: Option<u64>| {
            Some(part? as f64 / whole? as f64).filter(|share| share.is_finite())
        };
        let sent = grown(first.segments_sent, last.segments_sent);
        let again = grown(first.segments_sent_again, last.segments_sent_again);
    } {
        /// The share of all processors' time that anybody used, 0 to 1.
        pub cpu_busy?: f64 = share(cpu(|cpu| cpu.idle), total).map(|idle| (1.0 - idle).clamp(0.0, 1.0)),
        /// The share that a hypervisor gave to others, 0 to 1.
        pub cpu_steal?: f64 = share(cpu(|cpu| cpu.steal), total).map(|steal| steal.clamp(0.0, 1.0)),
        /// Memory that could be had, at the end.
        pub memory_available as "memory_available_bytes"?: Bytes = last.memory_available,
        /// All memory.
        pub memory as "memory_bytes"?: Bytes = last.memory,
        /// TCP segments sent again, of all connections of the host.
        pub retransmits?: u64 = again,
        /// Their share of all segments sent, 0 to 1.
        pub retransmit_share?: f64 = share(again, sent),
        /// By how much the wall clock may be off the true time at the most, at the end, as the system estimates; absent where nobody sets it
        /// by another. Figures are by the monotonic clock: it says how well logs of other machines can be laid beside them.
        pub clock_error as "clock_error_ms"?: Millis = None,
    }
}
