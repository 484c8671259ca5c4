//! What something takes: time, processor time, and how much memory at most.

use std::time::{Duration, Instant};

/// A moment, and what the process had taken by then.
#[derive(Debug)]
pub struct Since {
    clock: Instant,
    /// None where the system does not say; so for the rest.
    processor: Option<Duration>,
    memory: Option<u64>,
}

/// What was taken since a moment.
#[derive(Debug)]
pub struct Spent {
    /// By the wall clock.
    pub wall: Duration,
    /// Of this thread. Where other programs want the processors too, this is the figure to go by.
    pub processor: Option<Duration>,
    /// By how many bytes the memory was greater at most.
    pub memory: Option<u64>,
    /// How many bytes the memory was at most, the program's own among them.
    pub resident: Option<u64>,
}

impl Since {
    /// From now on. The greatest memory so far is forgotten, which Linux can do.
    #[must_use]
    pub fn now() -> Self {
        let forgotten = std::fs::write("/proc/self/clear_refs", "5").ok();
        let memory = forgotten.and_then(|()| resident("VmRSS:"));
        Self { clock: Instant::now(), processor: processor(), memory }
    }

    /// What has been taken by now.
    #[must_use]
    pub fn spent(&self) -> Spent {
        let wall = self.clock.elapsed();
        let processor = processor().zip(self.processor).map(|(now, then)| now.saturating_sub(then));
        let resident = resident("VmHWM:");
        let memory = resident.zip(self.memory).map(|(now, then)| now.saturating_sub(then));
        Spent { wall, processor, memory, resident }
    }
}

/// The processor time of this thread.
fn processor() -> Option<Duration> {
    let figures = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    figures.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn resident(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1_024)
}
