//! What the client sees of itself while it measures.

use fizeau_core::{Clock, Nanos, Stamp};
use fizeau_metrics::ClientWatch;

/// Whether the measuring thread watches itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelfWatch {
    /// No: the thread runs in virtual time, where its own cost does not exist.
    Off,
    /// Yes: CPU time and time spent ready but not running, as the kernel accounts them.
    Thread,
}

/// A stop watch on the measuring thread's own CPU use; to be read on the thread that started it.
#[derive(Debug)]
pub(crate) struct CpuWatch {
    began: Stamp,
    at_start: Option<ThreadTimes>,
}

impl CpuWatch {
    pub(crate) fn start(watch: SelfWatch, clock: &impl Clock) -> Self {
        let at_start = match watch {
            SelfWatch::Off => None,
            SelfWatch::Thread => ThreadTimes::read(),
        };
        Self { began: clock.now(), at_start }
    }

    /// What the thread's accounts say since the start.
    pub(crate) fn stop(&self, clock: &impl Clock) -> ClientWatch {
        let wall = clock.now().saturating_since(self.began).as_nanos();
        let spent = self.at_start.and_then(|start| Some(ThreadTimes::read()?.since(start)));
        let long_enough = wall >= SHORTEST.as_nanos();
        let share = |nanos: u64| long_enough.then(|| nanos as f64 / wall as f64);
        ClientWatch {
            cpu_share: spent.and_then(|spent| share(spent.on_cpu)),
            run_delay_share: spent.and_then(|spent| share(spent.waiting)),
            ..ClientWatch::default()
        }
    }
}

/// A stop watch on what a hypervisor takes from the machine. It reads a file that may be long: not on a thread that measures others'
/// requests meanwhile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StealWatch {
    began: Stamp,
    at_start: Option<MachineTimes>,
}

impl StealWatch {
    pub(crate) fn start(watch: SelfWatch, clock: &impl Clock) -> Self {
        let at_start = match watch {
            SelfWatch::Off => None,
            SelfWatch::Thread => MachineTimes::read(),
        };
        Self { began: clock.now(), at_start }
    }

    /// The share that was taken since the start; none where the system does not tell, or too few ticks have passed.
    pub(crate) fn share(&self, clock: &impl Clock) -> Option<f64> {
        let is_long_enough = clock.now().saturating_since(self.began) >= SHORTEST;
        let at_start = self.at_start.filter(|_| is_long_enough)?;
        MachineTimes::read()?.steal_since(at_start)
    }
}

/// The kernel brings a running thread's accounts up to date at ticks and switches only, some milliseconds apart. Over a
/// shorter time than this a share of them would say nothing.
const SHORTEST: Nanos = Nanos::from_millis(500);

/// A thread's accounts, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ThreadTimes {
    on_cpu: u64,
    waiting: u64,
}

impl ThreadTimes {
    /// The calling thread's accounts; none where the system keeps none (other than Linux, or schedstat off).
    fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
    }

    /// Linux's `schedstat`: time on a CPU, time waiting on a run queue, time slices.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split_ascii_whitespace().map(str::parse);
        let on_cpu = fields.next()?.ok()?;
        let waiting = fields.next()?.ok()?;
        Some(Self { on_cpu, waiting })
    }

    const fn since(self, earlier: Self) -> Self {
        Self {
            on_cpu: self.on_cpu.saturating_sub(earlier.on_cpu),
            waiting: self.waiting.saturating_sub(earlier.waiting),
        }
    }
}

/// The CPU time of the whole machine since it started, in ticks: all of it, and what its hypervisor gave to others.
#[derive(Debug, Clone, Copy)]
struct MachineTimes {
    all: u64,
    stolen: u64,
}

impl MachineTimes {
    /// Until now; none where the system does not tell (other than Linux).
    fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line of Linux's `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal; a guest's time is among the
    /// user's.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks = line.split_ascii_whitespace().take(8).map(|ticks| ticks.parse().ok());
        let ticks: Vec<u64> = ticks.collect::<Option<_>>()?;
        Some(Self { all: ticks.iter().sum(), stolen: *ticks.get(7)? })
    }

    /// The part that was stolen since `earlier`.
    fn steal_since(self, earlier: Self) -> Option<f64> {
        let all = self.all.checked_sub(earlier.all).filter(|all| *all > 0)?;
        Some(self.stolen.saturating_sub(earlier.stolen) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::{MachineTimes, ThreadTimes};

    #[test]
    fn stolen_time_is_a_part_of_all() {
        // As proc(5) has it.
        let before = MachineTimes::parse("cpu  100 0 50 800 10 5 5 30 7 0\ncpu0 1 2\n").unwrap();
        let after = MachineTimes::parse("cpu  150 0 70 900 10 5 5 60 9 0\n").unwrap();
        assert_eq!(after.steal_since(before), Some(30.0 / 200.0));
        assert!(MachineTimes::parse("intr 1 2 3").is_none());
        assert_eq!(before.steal_since(before), None);
    }

    #[test]
    fn schedstat_is_read_as_the_kernel_writes_it() {
        let times = ThreadTimes::parse("123456789 4567 12\n");
        assert_eq!(times, Some(ThreadTimes { on_cpu: 123_456_789, waiting: 4_567 }));
        assert_eq!(ThreadTimes::parse(""), None);
        assert_eq!(ThreadTimes::parse("12 x 3"), None);
    }
}
