//! What two readings come to.

use fizeau_core::{Bytes, Millis};
use serde::{Deserialize, Serialize};

use super::reading::HostReading;

/// What the host did between two readings. What either reading lacks is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HostWindow {
    /// The share of all processors' time that anybody used, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_busy: Option<f64>,
    /// The share that a hypervisor gave to others, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_steal: Option<f64>,
    /// Memory that could be had, at the end.
    #[serde(rename = "memory_available_bytes", default, skip_serializing_if = "Option::is_none")]
    pub memory_available: Option<Bytes>,
    /// All memory.
    #[serde(rename = "memory_bytes", default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// TCP segments sent again, of all connections of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Their share of all segments sent, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmit_share: Option<f64>,
    /// By how much the wall clock may be off the true time at the most, at the end, as the system estimates; absent where nobody sets it
    /// by another. Figures are by the monotonic clock: it says how well logs of other machines can be laid beside them.
    #[serde(rename = "clock_error_ms", default, skip_serializing_if = "Option::is_none")]
    pub clock_error: Option<Millis>,
}

impl HostWindow {
    /// From one reading to a later one. Of the clock's error, which `/proc` does not tell, nothing is said.
    #[must_use]
    pub fn between(first: &HostReading, last: &HostReading) -> Self {
        let grown = |first: Option<u64>, last: Option<u64>| last?.checked_sub(first?);
        let cpu = |of: fn(super::CpuTime) -> u64| grown(first.cpu.map(of), last.cpu.map(of));
        let total = cpu(|cpu| cpu.total);
        let share = |part: Option<u64>, whole: Option<u64>| {
            Some(part? as f64 / whole? as f64).filter(|share| share.is_finite())
        };
        let sent = grown(first.segments_sent, last.segments_sent);
        let retransmits = grown(first.segments_sent_again, last.segments_sent_again);
        Self {
            cpu_busy: share(cpu(|cpu| cpu.idle), total).map(|idle| (1.0 - idle).clamp(0.0, 1.0)),
            cpu_steal: share(cpu(|cpu| cpu.steal), total).map(|steal| steal.clamp(0.0, 1.0)),
            memory_available: last.memory_available,
            memory: last.memory,
            retransmits,
            retransmit_share: share(retransmits, sent),
            clock_error: None,
        }
    }
}
