//! What a process holds, over time: memory, open files, sockets.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::time::Duration;

/// From when on nothing may grow.
const SETTLED: Duration = Duration::from_secs(60);

/// By how much, in hundredths.
const ALLOWED: f64 = 2.0;

/// How long a stretch is of which the peak counts: two rounds of the clients, so that each has the end of a level in it.
const STRETCH: Duration = Duration::from_secs(250);

/// One look at it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    at: Duration,
    held: [f64; 3],
    /// Its memory with that of the program's own file, in MiB.
    resident: f64,
}

/// Memory is what the process allocated, in memory or swapped out: pages of the program's file come and go as the system likes.
const NAMES: [&str; 3] = ["MiB allocated", "files", "sockets"];

/// Which of them is memory.
const MEMORY: usize = 0;

/// A process that is looked at.
#[derive(Debug)]
pub(super) struct Watched {
    name: String,
    id: u32,
    looks: Vec<Look>,
}

impl Watched {
    pub(super) const fn new(name: String, id: u32) -> Self {
        Self { name, id, looks: Vec::new() }
    }

    /// Looks at it, unless it is gone.
    pub(super) fn look(&mut self, at: Duration) {
        self.looks.extend(held(self.id).map(|(held, resident)| Look { at, held, resident }));
    }

    /// Peaks, stretch by stretch, from when it has settled.
    fn peaks(&self, which: usize) -> Vec<f64> {
        let mut peaks = BTreeMap::new();
        for look in self.looks.iter().filter(|look| look.at >= SETTLED) {
            let peak: &mut f64 = peaks.entry(look.at.as_secs() / STRETCH.as_secs()).or_default();
            *peak = peak.max(look.held[which]);
        }
        peaks.into_values().collect()
    }

    /// By how many hundredths the mean peak of the last third is above that of the first third: of memory, hundredths of all that is
    /// resident. None of fewer than six stretches.
    fn growth(&self, which: usize) -> Option<f64> {
        let peaks = self.peaks(which);
        let third = Some(peaks.len() / 3).filter(|third| *third >= 2)?;
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (first, last) = (mean(&peaks[..third]), mean(&peaks[peaks.len() - third..]));
        let resident = self.looks.iter().map(|look| look.resident).fold(0.0, f64::max);
        let whole = if which == MEMORY { resident } else { first };
        Some(if whole > 0.0 { 100.0 * (last - first) / whole } else { last })
    }

    /// Whether nothing of it grew; none where that cannot be told of something, and nothing else grew.
    pub(super) fn is_flat(&self) -> Option<bool> {
        let growths: Vec<_> = (0..NAMES.len()).map(|which| self.growth(which)).collect();
        if growths.iter().flatten().any(|growth| *growth > ALLOWED) {
            return Some(false);
        }
        growths.iter().all(Option::is_some).then_some(true)
    }

    /// Whose looks these are.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// Allocated memory in MiB, open files, and sockets among them, and resident memory; none where the process is gone, or the system is not Linux.
fn held(id: u32) -> Option<([f64; 3], f64)> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let mib = |name: &str| -> Option<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib / 1024.0)
    };
    let allocated = mib("RssAnon")? + mib("VmSwap")?;
    let files = fs::read_dir(format!("/proc/{id}/fd")).ok()?.flatten();
    let links: Vec<_> = files.filter_map(|file| fs::read_link(file.path()).ok()).collect();
    let sockets = links.iter().filter(|link| link.to_string_lossy().starts_with("socket:")).count();
    Some(([allocated, links.len() as f64, sockets as f64], mib("VmRSS")?))
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        for (which, name) in NAMES.iter().enumerate() {
            let peaks = self.peaks(which);
            let most = peaks.iter().copied().fold(0.0, f64::max);
            match self.growth(which) {
                Some(growth) => write!(f, " {most:.1} {name} at most ({growth:+.1} %)")?,
                None => write!(f, " {most:.1} {name} at most (too short to tell growth)")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(memory: impl Fn(u64) -> f64) -> Watched {
        let mut watched = Watched::new("x".to_owned(), 0);
        watched.looks = (0..900)
            .map(|n| {
                let held = [memory(n), 5.0, 0.0];
                Look { at: Duration::from_secs(3 * n), held, resident: memory(n) }
            })
            .collect();
        watched
    }

    #[test]
    fn what_rises_and_falls_within_a_round_is_flat_and_what_leaks_is_not() {
        assert_eq!(of(|n| 50.0 + (n % 10) as f64).is_flat(), Some(true));
        assert_eq!(of(|n| 50.0 + n as f64 / 100.0).is_flat(), Some(false));
        let begins = of(|n| if n < 20 { n as f64 } else { 20.0 });
        assert_eq!(begins.is_flat(), Some(true), "the first minute is free");
    }

    #[test]
    fn of_a_few_minutes_or_of_no_look_growth_is_not_known() {
        let mut watched = of(|_| 50.0);
        watched.looks.truncate(300);
        assert_eq!(watched.is_flat(), None);
        watched.looks.clear();
        assert_eq!(watched.is_flat(), None, "as where the system is not Linux");
    }
}
