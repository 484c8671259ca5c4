//! The machine that measures, for the record.

use std::fs;

use serde::Serialize;

/// The machine that measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Operating system and architecture, such as `linux x86_64`.
    pub system: String,
    /// The processor's own name; absent where the system does not tell.
    pub cpu: Option<String>,
    /// How many logical CPUs this process may use.
    pub logical_cpus: Option<usize>,
}

impl Host {
    /// This machine.
    #[must_use]
    pub fn here() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let mut names = info.lines().filter_map(|line| line.strip_prefix("model name"));
        let cpu = names.next().map(|rest| rest.trim_start_matches(['\t', ' ', ':']).to_owned());
        Self {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cpu,
            logical_cpus: std::thread::available_parallelism().ok().map(Into::into),
        }
    }
}
