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

/// A stop watch on what a hypervisor takes from the machine. It reads files that may be long: not on a thread that measures others'
/// requests meanwhile.
#[derive(Debug, Clone)]
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

    #[cfg(test)]
    pub(crate) const fn began(&self) -> Stamp {
        self.began
    }

    /// The share that was taken since the start; none where the system does not report it, or too few ticks have passed.
    pub(crate) fn share(&self, clock: &impl Clock) -> Option<f64> {
        let is_long_enough = clock.now().saturating_since(self.began) >= SHORTEST;
        let at_start = self.at_start.as_ref().filter(|_| is_long_enough)?;
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

/// The time of the CPUs on which this process may run since the machine started, each its own.
#[derive(Debug, Clone)]
struct MachineTimes(Vec<CpuTimes>);

/// The time of a CPU, in ticks.
#[derive(Debug, Clone, Copy)]
struct CpuTimes {
    /// That in which somebody wanted it.
    wanted: u64,
    /// What of it a hypervisor gave to others.
    stolen: u64,
}

impl MachineTimes {
    /// Until now; none where the system does not report it (other than Linux).
    fn read() -> Option<Self> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?, &status)
    }

    /// By the line of each CPU in Linux's `/proc/stat`, of those that `/proc/self/status` allows.
    fn parse(stat: &str, status: &str) -> Option<Self> {
        let allowed = stat.lines().filter_map(|line| {
            // The line of all together has no number.
            let (number, ticks) = line.strip_prefix("cpu")?.split_once(' ')?;
            is_allowed(status, number.parse().ok()?).then_some(ticks)
        });
        let cpus: Vec<CpuTimes> = allowed.map(CpuTimes::parse).collect::<Option<_>>()?;
        (!cpus.is_empty()).then_some(Self(cpus))
    }

    /// The part of what was wanted that was stolen since `earlier`, at the least: a tick of each CPU may be one that had begun before.
    fn steal_since(&self, earlier: &Self) -> Option<f64> {
        let (mut wanted, mut stolen) = (0, 0);
        for (now, then) in self.0.iter().zip(&earlier.0) {
            wanted += now.wanted.saturating_sub(then.wanted);
            stolen += now.stolen.saturating_sub(then.stolen).saturating_sub(1);
        }
        (wanted > 0).then(|| stolen as f64 / wanted as f64)
    }
}

impl CpuTimes {
    /// Of user, nice, system, idle, iowait, irq, softirq and steal; a guest's time is among the user's.
    fn parse(ticks: &str) -> Option<Self> {
        let ticks = ticks.split_ascii_whitespace().take(8).map(|ticks| ticks.parse().ok());
        let ticks: Vec<u64> = ticks.collect::<Option<_>>()?;
        let &[user, nice, system, _idle, _iowait, irq, softirq, stolen] = ticks.as_slice() else {
            return None;
        };
        Some(Self { wanted: user + nice + system + irq + softirq + stolen, stolen })
    }
}

/// Whether this process may run on that CPU, by the line `Cpus_allowed_list` of its status, such as `0-3,8`; yes where there is none.
fn is_allowed(status: &str, cpu: u32) -> bool {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.is_none_or(|list| {
        list.trim().split(',').any(|part| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            from.parse().is_ok_and(|from: u32| from <= cpu)
                && to.parse().is_ok_and(|to: u32| cpu <= to)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{MachineTimes, ThreadTimes, is_allowed};

    /// `/proc/stat` of three CPUs, as proc(5) has it; `stolen` of the second, which was busy for 100 ticks besides.
    fn stat(busy: u64, stolen: u64) -> String {
        format!(
            "cpu  1 2 3 4 5 6 7 8 9 0\ncpu0 100 0 50 800 10 5 5 30 7 0\ncpu1 {busy} 0 0 900 0 0 0 {stolen} 0 0\n\
             cpu2 0 0 0 999 0 0 0 500 0 0\nintr 1 2 3\n"
        )
    }

    #[test]
    fn stolen_time_is_a_part_of_what_was_wanted_on_the_cpus_of_this_process() {
        let own = "Name:\tfizeau\nCpus_allowed_list:\t0-1\n";
        let before = MachineTimes::parse(&stat(0, 0), own).unwrap();
        let after = MachineTimes::parse(&stat(100, 27), own).unwrap();
        // How long they were idle does not matter, nor what another CPU lost.
        assert_eq!(after.steal_since(&before), Some(26.0 / 127.0));
        let nearly = MachineTimes::parse(&stat(100, 1), own).unwrap();
        assert_eq!(nearly.steal_since(&before), Some(0.0));
        assert_eq!(before.steal_since(&before), None);
        assert!(MachineTimes::parse("intr 1 2 3", own).is_none());
        assert!(MachineTimes::parse("cpu0 1 2 3\n", own).is_none());
    }

    #[test]
    fn lists_of_cpus_are_read_as_the_kernel_writes_them() {
        let status = "Cpus_allowed_list:\t0-3,8,10-11\n";
        let allowed: Vec<u32> = (0..16).filter(|cpu| is_allowed(status, *cpu)).collect();
        assert_eq!(allowed, [0, 1, 2, 3, 8, 10, 11]);
        assert!(is_allowed("", 7));
    }

    #[test]
    fn schedstat_is_read_as_the_kernel_writes_it() {
        let times = ThreadTimes::parse("123456789 4567 12\n");
        assert_eq!(times, Some(ThreadTimes { on_cpu: 123_456_789, waiting: 4_567 }));
        assert_eq!(ThreadTimes::parse(""), None);
        assert_eq!(ThreadTimes::parse("12 x 3"), None);
    }
}
