//! What `/proc` says at one instant.

use fizeau_core::Bytes;

/// Time of all processors together since the system began, in the system's ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTime {
    /// All of it.
    pub total: u64,
    /// Idle, or waiting for a disk.
    pub idle: u64,
    /// Given by the hypervisor to others.
    pub steal: u64,
}

/// What the host's system says at one instant. What it does not say is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct HostReading {
    /// Time of processors.
    pub cpu: Option<CpuTime>,
    /// Memory that can be had without swapping.
    pub memory_available: Option<Bytes>,
    /// All memory.
    pub memory: Option<Bytes>,
    /// TCP segments sent.
    pub segments_sent: Option<u64>,
    /// TCP segments sent again.
    pub segments_sent_again: Option<u64>,
}

impl HostReading {
    /// Reads `/proc`; where there is none, everything is absent.
    #[must_use]
    pub fn now() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        Self::of_texts(&read("/proc/stat"), &read("/proc/meminfo"), &read("/proc/net/snmp"))
    }

    /// Of the texts of `/proc/stat`, `/proc/meminfo` and `/proc/net/snmp`.
    ///
    /// ```
    /// use fizeau_telemetry::HostReading;
    /// let reading = HostReading::of_texts("cpu  6 0 2 90 0 0 0 2 0 0\n", "MemTotal: 8 kB\n", "");
    /// assert_eq!(reading.cpu.map(|cpu| (cpu.total, cpu.idle, cpu.steal)), Some((100, 90, 2)));
    /// assert_eq!(reading.memory.map(|memory| memory.get()), Some(8192.0));
    /// ```
    #[must_use]
    pub fn of_texts(stat: &str, meminfo: &str, snmp: &str) -> Self {
        Self {
            cpu: cpu(stat),
            memory_available: memory(meminfo, "MemAvailable:"),
            memory: memory(meminfo, "MemTotal:"),
            segments_sent: tcp(snmp, "OutSegs"),
            segments_sent_again: tcp(snmp, "RetransSegs"),
        }
    }
}

/// user, nice, system, idle, iowait, irq, softirq, steal; a guest's time is among the user's.
fn cpu(stat: &str) -> Option<CpuTime> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Option<Vec<u64>> =
        line.split_whitespace().take(8).map(|word| word.parse().ok()).collect();
    let ticks = ticks?;
    let at = |place: usize| ticks.get(place).copied().unwrap_or(0);
    let total = ticks.iter().fold(0_u64, |sum, more| sum.saturating_add(*more));
    (ticks.len() >= 4).then(|| CpuTime { total, idle: at(3).saturating_add(at(4)), steal: at(7) })
}

fn memory(meminfo: &str, field: &str) -> Option<Bytes> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix(field))?;
    let kibi: f64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::new(kibi * 1024.0))
}

/// Of two lines that begin with `Tcp:`, names and values.
fn tcp(snmp: &str, field: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|name| name == field)?;
    values.split_whitespace().nth(place)?.parse().ok()
}
