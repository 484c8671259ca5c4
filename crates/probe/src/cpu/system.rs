//! What is asked of the operating system: where threads run, pages, shares of time, what the processor is.

#![allow(
    unsafe_code,
    reason = "the standard library neither pins threads nor gives advice on pages"
)]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::fs;

use crate::measurement::PageAdvice;

/// The processors that this thread may run on; empty where the system does not say.
#[cfg(target_os = "linux")]
pub(super) fn allowed_cpus() -> Vec<u32> {
    // SAFETY: a `cpu_set_t` is an array of whole numbers, of which zeros are one.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set outlives the call, and the size is its own.
    let done = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
    if done != 0 {
        return Vec::new();
    }
    // SAFETY: every index is below `CPU_SETSIZE`, which is how many the set has.
    let has = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
    (0..libc::CPU_SETSIZE as usize).filter(has).filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

/// Holds this thread to `cpus`, as far as the system does such a thing; to none is no change.
#[cfg(target_os = "linux")]
pub(super) fn hold_to(cpus: &[u32]) {
    if cpus.is_empty() {
        return;
    }
    // SAFETY: as above.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus.iter().map(|cpu| *cpu as usize).filter(|cpu| *cpu < libc::CPU_SETSIZE as usize)
    {
        // SAFETY: the index is below `CPU_SETSIZE`.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: the set outlives the call, and the size is its own. A refusal leaves the thread where it is.
    let _ = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
}

/// Elsewhere threads are not held.
#[cfg(not(target_os = "linux"))]
pub(super) fn allowed_cpus() -> Vec<u32> {
    let count = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    (0..count).collect()
}

/// Elsewhere threads are not held.
#[cfg(not(target_os = "linux"))]
pub(super) fn hold_to(_cpus: &[u32]) {}

/// Whether threads stay where they are put.
pub(super) const HOLDS_THREADS: bool = cfg!(target_os = "linux");

/// Gives the system `advice` on the pages of memory that was just taken and not yet written.
#[cfg(target_os = "linux")]
pub(super) fn advise(start: *mut u8, bytes: usize, advice: PageAdvice) {
    let advice = match advice {
        PageAdvice::Default => return,
        PageAdvice::Huge => libc::MADV_HUGEPAGE,
        PageAdvice::Small => libc::MADV_NOHUGEPAGE,
    };
    // SAFETY: the range is memory of ours, aligned to a page. This advice changes no contents; a refusal is no harm.
    let _ = unsafe { libc::madvise(start.cast(), bytes, advice) };
}

/// Elsewhere no advice is taken.
#[cfg(not(target_os = "linux"))]
pub(super) fn advise(_start: *mut u8, _bytes: usize, _advice: PageAdvice) {}

/// Bytes of this program's memory that lie in huge pages, as the kernel says.
pub(super) fn huge_bytes() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    Some(kilobytes(&text, "AnonHugePages:")? * 1024.0)
}

/// Bytes of memory in all.
pub(super) fn memory_bytes() -> Option<f64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    Some(kilobytes(&text, "MemTotal:")? * 1024.0)
}

pub(super) fn kilobytes(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The kernel's account of some processors together, in ticks, and this program's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CpuTicks {
    all: f64,
    idle: f64,
    steal: f64,
    own: f64,
}

/// The account of `cpus` at this moment; none where the system has none.
pub(super) fn ticks(cpus: &[u32]) -> Option<CpuTicks> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let own = fs::read_to_string("/proc/self/stat").ok()?;
    account(&stat, &own, cpus)
}

fn account(stat: &str, own: &str, cpus: &[u32]) -> Option<CpuTicks> {
    let of_cpus: Option<Vec<[f64; 8]>> =
        cpus.iter().map(|cpu| times(stat, &format!("cpu{cpu}"))).collect();
    // A container may number its processors anew: the line of all of them is then the best there is.
    let lines =
        of_cpus.filter(|lines| !lines.is_empty()).or_else(|| Some(vec![times(stat, "cpu")?]))?;
    let sum = |of: fn(&[f64; 8]) -> f64| lines.iter().map(of).sum::<f64>();
    // After the name in brackets, which may have spaces, utime and stime are the 12th and 13th.
    let after = own.rsplit_once(')')?.1;
    let mut words = after.split_whitespace().skip(11).filter_map(|word| word.parse::<f64>().ok());
    let own = words.next()? + words.next()?;
    Some(CpuTicks {
        all: sum(|times| times.iter().sum()),
        idle: sum(|[_, _, _, idle, waiting, ..]| idle + waiting),
        steal: sum(|[.., steal]| *steal),
        own,
    })
}

/// The times of the line that begins with `name`: user nice system idle iowait irq softirq steal; guests are within user.
fn times(stat: &str, name: &str) -> Option<[f64; 8]> {
    let mut lines = stat.lines().map(str::split_whitespace);
    let words = lines.find_map(|mut words| (words.next() == Some(name)).then_some(words))?;
    let values: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    values.get(..8)?.try_into().ok()
}

impl CpuTicks {
    /// Of the processors' time since `earlier`, what a hypervisor gave to others and what other programs took; none of
    /// less than ten ticks.
    pub(super) fn shares_since(&self, earlier: &Self) -> Option<(f64, f64)> {
        let all = self.all - earlier.all;
        let steal = self.steal - earlier.steal;
        let busy = all - (self.idle - earlier.idle) - steal;
        let others = (busy - (self.own - earlier.own)).max(0.0);
        (all >= 10.0).then(|| (steal / all, others / all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_what_went_by() {
        let own = |ticks: u32| format!("1 (a b) R 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1");
        let before = account("cpu  100 0 0 900 0 0 0 0 0 0\n", &own(50), &[]).unwrap();
        let after = account("cpu  150 0 0 930 0 0 0 20 0 0\n", &own(80), &[0]).unwrap();
        let (steal, others) = after.shares_since(&before).unwrap();
        assert_eq!((steal, others), (0.2, 0.2));
        assert_eq!(before.shares_since(&before), None);
        assert_eq!(account("cpu  1 2", "", &[]), None);
    }

    /// What goes on elsewhere is nobody's concern, and what one processor lost is not spread over all that there are.
    #[test]
    fn shares_are_of_the_processors_that_measure() {
        let own = |ticks: u32| format!("1 (a) R 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1");
        let stat = |[first, second, third]: [[u32; 3]; 3]| {
            let line = |name: &str, [user, idle, steal]: [u32; 3]| {
                format!("{name} {user} 0 0 {idle} 0 0 0 {steal} 0 0\n")
            };
            let all = std::array::from_fn(|of| first[of] + second[of] + third[of]);
            let of_each = [("cpu0", first), ("cpu1", second), ("cpu10", third)];
            let of_each = of_each.map(|(name, times)| line(name, times)).concat();
            line("cpu ", all) + &of_each + "intr 1\n"
        };
        let shares = |cpus: &[u32]| {
            let before = account(&stat([[0, 1000, 0]; 3]), &own(0), cpus).unwrap();
            let after = stat([[200, 1000, 0], [150, 1000, 50], [0, 1200, 0]]);
            account(&after, &own(150), cpus).unwrap().shares_since(&before).unwrap()
        };
        assert_eq!(shares(&[1]), (0.25, 0.0), "what others do on the first is not its own");
        assert_eq!(shares(&[10]), (0.0, 0.0));
        assert_eq!(shares(&[0, 1]), (0.125, 0.5));
        let all = shares(&[0, 1, 10]);
        assert_eq!(shares(&[7]), all, "of a processor without a line that of all of them");
    }

    #[test]
    fn a_thread_is_held_and_let_go() {
        let before = allowed_cpus();
        hold_to(&before[..1]);
        assert!(!HOLDS_THREADS || allowed_cpus() == before[..1]);
        hold_to(&before);
        assert_eq!(allowed_cpus(), before);
    }
}
