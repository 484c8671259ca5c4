//! The processor time of threads by name.

use std::time::Duration;

use anyhow::Result;

/// What all threads of this process that have that name have taken so far. Those that have ended are not among them.
pub(crate) fn processor_time(name: &str) -> Result<Duration> {
    let mut total = Duration::ZERO;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let folder = thread?.path();
        let read = |file| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
        if read("comm").trim() == name {
            let nanos = read("schedstat").split(' ').next().and_then(|nanos| nanos.parse().ok());
            total += Duration::from_nanos(nanos.unwrap_or(0));
        }
    }
    Ok(total)
}
