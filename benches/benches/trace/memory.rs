//! How much memory something takes at most.

/// The memory that the process had at a moment.
pub(crate) struct Growth {
    /// None where the system does not say.
    before: Option<u64>,
}

impl Growth {
    /// From now on. The greatest so far is forgotten, which Linux can do.
    pub(crate) fn start() -> Self {
        let forgotten = std::fs::write("/proc/self/clear_refs", "5").ok();
        Self { before: forgotten.and_then(|()| resident("VmRSS:")) }
    }

    /// By how many bytes the memory was greater at most.
    pub(crate) fn bytes(&self) -> Option<u64> {
        Some(resident("VmHWM:")?.saturating_sub(self.before?))
    }
}

fn resident(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1_024)
}
