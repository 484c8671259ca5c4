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

#[cfg(test)]
mod tests {
    use super::ThreadTimes;

    #[test]
    fn schedstat_is_read_as_the_kernel_writes_it() {
        let times = ThreadTimes::parse("123456789 4567 12\n");
        assert_eq!(times, Some(ThreadTimes { on_cpu: 123_456_789, waiting: 4_567 }));
        assert_eq!(ThreadTimes::parse(""), None);
        assert_eq!(ThreadTimes::parse("12 x 3"), None);
    }
}
