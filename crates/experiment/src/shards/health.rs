//! How this client fared in its part of a level.

use std::fs;

use fizeau_core::{Stamp, Tape};
use fizeau_harness::{LevelRun, Notice, Observer};
use fizeau_record::{LevelReport, ShardHealth, host_name};
use fizeau_transport::wall_clock_error;
use fizeau_workload::Shard;

/// The machine's CPU time since it started, in ticks: all of it, and what its hypervisor gave to others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CpuTimes {
    all: u64,
    stolen: u64,
}

impl CpuTimes {
    /// Until now; none where the system does not tell.
    pub(crate) fn now() -> Option<Self> {
        Self::of(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// By the first line of Linux's `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
    fn of(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line
            .split_whitespace()
            .take(8)
            .map(|ticks| ticks.parse().ok())
            .collect::<Option<_>>()?;
        Some(Self { all: ticks.iter().sum(), stolen: *ticks.get(7)? })
    }

    /// The part that was stolen since `before`.
    pub(crate) fn steal_since(self, before: Self) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)?;
        Some(self.stolen.saturating_sub(before.stolen) as f64 / all as f64)
    }
}

/// Notes when the first request was to leave, and when it left.
#[derive(Debug, Default)]
pub(crate) struct FirstRelease(pub(crate) Option<(Stamp, Stamp)>);

impl FirstRelease {
    pub(crate) fn add(&mut self, tape: &Tape) {
        let (intended, released) = (tape.marks.intended, tape.marks.released);
        if self.0.is_none_or(|(first, _)| intended < first) {
            self.0 = Some((intended, released));
        }
    }
}

impl Observer for FirstRelease {
    fn notice(&mut self, notice: Notice<'_>) {
        if let Notice::RequestEnded(tape) = notice {
            self.add(tape);
        }
    }
}

/// What is known of a shard by itself, from its own part of the level.
pub(crate) fn of_part(
    shard: Shard,
    run: &LevelRun,
    report: &LevelReport,
    before: Option<CpuTimes>,
) -> ShardHealth {
    let health = ShardHealth {
        shard: shard.to_string(),
        host: host_name(),
        steal_share: CpuTimes::now().zip(before).and_then(|(now, then)| now.steal_since(then)),
        wall_clock_error_ms: wall_clock_error().map(|error| error.to_millis().get()),
        ..ShardHealth::default()
    };
    health.of_level(&run.summary, &run.client.watch, &report.validity)
}

#[cfg(test)]
mod tests {
    use super::CpuTimes;

    #[test]
    fn stolen_time_is_a_part_of_all() {
        // As proc(5) has it; guest time is in user time already.
        let before = CpuTimes::of("cpu  100 0 50 800 10 5 5 30 7 0\ncpu0 1 2\n").unwrap();
        let after = CpuTimes::of("cpu  150 0 70 900 10 5 5 60 9 0\n").unwrap();
        assert_eq!(after.steal_since(before), Some(30.0 / 200.0));
        assert!(CpuTimes::of("intr 1 2 3").is_none());
        assert_eq!(before.steal_since(before), None);
    }
}
