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

/// Bytes that can be had without anything being put aside: of the machine, or of the container that this program is in.
pub(super) fn available_bytes() -> Option<f64> {
    let text = fs::read_to_string("/proc/meminfo").ok();
    let machine = text.and_then(|text| Some(kilobytes(&text, "MemAvailable:")? * 1024.0));
    let of_group = |name: &str| -> Option<f64> {
        // `max` is no number: no limit.
        fs::read_to_string(format!("/sys/fs/cgroup/memory.{name}")).ok()?.trim().parse().ok()
    };
    let group = of_group("max").zip(of_group("current")).map(|(max, used)| (max - used).max(0.0));
    [machine, group].into_iter().flatten().reduce(f64::min)
}

/// Bytes of memory in all.
pub(super) fn memory_bytes() -> Option<f64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    Some(kilobytes(&text, "MemTotal:")? * 1024.0)
}

fn kilobytes(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The kernel's account of all processors, in ticks, and this program's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CpuTicks {
    all: f64,
    idle: f64,
    steal: f64,
    own: f64,
}

/// The account at this moment; none where the system has none.
pub(super) fn ticks() -> Option<CpuTicks> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let own = fs::read_to_string("/proc/self/stat").ok()?;
    account(&stat, &own)
}

fn account(stat: &str, own: &str) -> Option<CpuTicks> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let values: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; guests are within user.
    let [_, _, _, idle, waiting, _, _, steal] = values.get(..8)?.try_into().ok()?;
    // After the name in brackets, which may have spaces, utime and stime are the 12th and 13th.
    let after = own.rsplit_once(')')?.1;
    let mut words = after.split_whitespace().skip(11).filter_map(|word| word.parse::<f64>().ok());
    let own = words.next()? + words.next()?;
    Some(CpuTicks { all: values.iter().take(8).sum(), idle: idle + waiting, steal, own })
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
        let before = account("cpu  100 0 0 900 0 0 0 0 0 0\n", &own(50)).unwrap();
        let after = account("cpu  150 0 0 930 0 0 0 20 0 0\n", &own(80)).unwrap();
        let (steal, others) = after.shares_since(&before).unwrap();
        assert_eq!((steal, others), (0.2, 0.2));
        assert_eq!(before.shares_since(&before), None);
        assert_eq!(account("cpu  1 2", ""), None);
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
