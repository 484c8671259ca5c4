//! One request before the first, so that a dead endpoint is one clear line and not a thousand failures.

use std::error::Error;
use std::fs;

use fizeau_core::{Failure, Outcome, Release, Request, Tape, Timer, Transport};
use fizeau_metrics::{ResourceNeed, SystemHeadroom};

/// Why a run should not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PreflightError<E: Error> {
    /// The request cannot be expressed for the endpoint.
    #[error(transparent)]
    Unsendable(E),
    /// The endpoint failed the request.
    #[error("{0}")]
    Failed(Failure),
}

/// Sends one request and gives its tape if the endpoint carried it out by the strict rule.
///
/// The future is [`Send`] if the transport's are; that of an HTTP transport is not, see
/// [`on_own_thread`](crate::on_own_thread). The request counts nowhere. It also shows what to expect of the endpoint: where token counts come from, how long the
/// server finds the prompt.
///
/// # Errors
/// If the request cannot be expressed, or fails in any way.
pub async fn preflight<T: Transport, C: Timer>(
    transport: &T,
    timer: &C,
    request: &Request,
) -> Result<Tape, PreflightError<T::Error>> {
    let sent = transport.send(request, Release::at(timer.now())).await;
    let tape = sent.map_err(PreflightError::Unsendable)?;
    match tape.outcome {
        Outcome::Failed(failure) => Err(PreflightError::Failed(failure)),
        Outcome::Complete(_) => Ok(tape),
    }
}

// What the run needs of the system, checked before anything is sent.

/// The system resources that a run needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SystemNeeds {
    /// The most connections open at a time.
    pub connections: u64,
    /// The most connections that are opened to one address within a minute, for as long as which a closed one may keep
    /// its port: its part of those open at a time, or more where each request makes one of its own.
    pub fresh_connections: u64,
    /// How many threads measure: each has an event loop and an alarm of its own.
    pub threads: u64,
}

/// Why a run would fail for want of the system's resources. Nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeadroomError {
    /// Too few files may be open, and the user may raise that.
    #[error(
        "this run needs {} file descriptors, and {} are allowed: run `ulimit -n {}` first, or lower the concurrency",
        .0.needed, .0.limit, .0.needed
    )]
    Files(ResourceNeed),
    /// Too few files may be open, and only the system's administrator may raise that.
    #[error(
        "this run needs {} file descriptors, and at most {} can be had: as root, run `ulimit -Hn {}; ulimit -n {}` \
         first, or lower the concurrency", .0.needed, .0.limit, .0.needed, .0.needed
    )]
    FilesHard(ResourceNeed),
    /// Too few local ports.
    #[error(
        "this run needs {} local ports to one address, and {} are available: as root, run `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"` first{}, or lower the concurrency",
        .0.needed, .0.limit, if .0.needed > WIDEST { ", use several base URLs" } else { "" }
    )]
    Ports(ResourceNeed),
}

/// Ports from 1024 to 65535.
const WIDEST: u64 = 64_512;

/// Files that are opened in the course of a run: those of its folder, name resolution, an event loop and an alarm for
/// each thread beside.
const FILES_SLACK: u64 = 32;
const FILES_PER_THREAD: u64 = 6;

/// Checks that the system has room for `needs`, and raises this process's own limit of open files where it may. Gives what is
/// needed beside what there is, for the record; what the system does not report it is absent there and not held against the run.
///
/// # Errors
/// If there is not enough; the message has the command that mends it.
pub fn headroom(needs: &SystemNeeds) -> Result<SystemHeadroom, HeadroomError> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok();
    let open = fs::read_dir("/proc/self/fd").map_or(0, |open| open.count() as u64);
    let mut files = FileLimits::read();
    let needed = needs.files(open);
    if files.is_some_and(|files| files.soft < needed && needed <= files.hard) {
        raise_file_limit();
        files = FileLimits::read();
    }
    let headroom = check(needs, open, files, range.as_deref().and_then(ports))?;
    grow_descriptor_table(needed);
    Ok(headroom)
}

/// Lets this process open as many files as it may. Where that fails, the check says what to do.
#[cfg(target_os = "linux")]
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Elsewhere nobody knows the limits.
#[cfg(not(target_os = "linux"))]
const fn raise_file_limit() {}

/// Makes the system's table of this process's descriptors large enough for `needed` of them.
///
/// Linux doubles the table when the next descriptor does not fit, and waits until no thread of the process can be reading the old
/// one, some ten milliseconds: a worker that opens its alarm after its connections would send its first requests so much late.
#[cfg(target_os = "linux")]
fn grow_descriptor_table(needed: u64) {
    let highest = i32::try_from(needed.saturating_sub(1));
    if let (Ok(highest), Ok(any)) = (highest, fs::File::open("/dev/null")) {
        // Where this cannot be had, the table grows when it must.
        let _ = rustix::io::fcntl_dupfd_cloexec(&any, highest);
    }
}

/// Elsewhere a table that grows makes nobody wait.
#[cfg(not(target_os = "linux"))]
const fn grow_descriptor_table(_: u64) {}

impl SystemNeeds {
    /// How many files are open at most, where so many are already.
    const fn files(&self, open: u64) -> u64 {
        self.connections + self.threads * FILES_PER_THREAD + open + FILES_SLACK
    }
}

/// How many files may be open: now, and at most if the user raises that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileLimits {
    soft: u64,
    hard: u64,
}

impl FileLimits {
    fn read() -> Option<Self> {
        fs::read_to_string("/proc/self/limits").ok().as_deref().and_then(files)
    }
}

fn check(
    needs: &SystemNeeds,
    open: u64,
    files: Option<FileLimits>,
    ports: Option<u64>,
) -> Result<SystemHeadroom, HeadroomError> {
    let needed = needs.files(open);
    let file_descriptors = files.map(|files| ResourceNeed { needed, limit: files.soft });
    if let Some(files) = files {
        if needed > files.hard {
            return Err(HeadroomError::FilesHard(ResourceNeed { needed, limit: files.hard }));
        }
        if needed > files.soft {
            return Err(HeadroomError::Files(ResourceNeed { needed, limit: files.soft }));
        }
    }
    let needed = needs.fresh_connections;
    let ports = ports.map(|limit| ResourceNeed { needed, limit });
    match ports {
        Some(room) if room.needed > room.limit => Err(HeadroomError::Ports(room)),
        _ => Ok(SystemHeadroom { file_descriptors, ports }),
    }
}

/// From Linux's `/proc/self/limits`: `Max open files  1024  1048576  files`.
fn files(limits: &str) -> Option<FileLimits> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let mut values = line.split_ascii_whitespace().map(|value| match value {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    });
    Some(FileLimits { soft: values.next()??, hard: values.next()?? })
}

/// From Linux's `ip_local_port_range`: the first and the last.
fn ports(range: &str) -> Option<u64> {
    let mut ends = range.split_ascii_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    Some(last.checked_sub(first)? + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
        Max cpu time              unlimited            unlimited            seconds   \n\
        Max open files            1024                 1048576              files     \n";
    const FILES: FileLimits = FileLimits { soft: 1_024, hard: 1_048_576 };

    fn needs(connections: u64) -> SystemNeeds {
        SystemNeeds { connections, fresh_connections: connections, threads: 2 }
    }

    #[test]
    fn limits_are_read_as_linux_writes_them() {
        assert_eq!(files(LIMITS), Some(FILES));
        let unlimited =
            "Max open files            4096                 unlimited            files\n";
        assert_eq!(files(unlimited), Some(FileLimits { soft: 4_096, hard: u64::MAX }));
        assert_eq!(files("Max open files  many\n"), None);
        assert_eq!(ports("32768\t60999\n"), Some(28_232));
        assert_eq!(ports("60999 32768"), None);
    }

    #[test]
    fn too_few_files_are_refused_with_the_very_command_that_mends_it() {
        let needed = 1_000 + 12 + 10 + 32;
        let error = check(&needs(1_000), 10, Some(FILES), None).unwrap_err();
        assert_eq!(error, HeadroomError::Files(ResourceNeed { needed, limit: 1_024 }));
        assert!(error.to_string().contains("`ulimit -n 1054`"), "{error}");
        let raised = FileLimits { soft: needed, ..FILES };
        let room = check(&needs(1_000), 10, Some(raised), None).unwrap();
        assert_eq!(room.file_descriptors, Some(ResourceNeed { needed, limit: needed }));
        let low = FileLimits { soft: 256, hard: 512 };
        let error = check(&needs(1_000), 10, Some(low), None).unwrap_err();
        assert!(
            matches!(error, HeadroomError::FilesHard(ResourceNeed { limit: 512, .. })),
            "{error}"
        );
    }

    #[test]
    fn too_few_ports_are_refused() {
        let fresh = SystemNeeds { fresh_connections: 30_000, ..needs(10) };
        let error = check(&fresh, 3, None, Some(28_232)).unwrap_err();
        assert_eq!(error, HeadroomError::Ports(ResourceNeed { needed: 30_000, limit: 28_232 }));
        assert!(error.to_string().contains("sysctl -w net.ipv4.ip_local_port_range"), "{error}");
        assert!(check(&needs(10), 3, None, Some(28_232)).is_ok());
    }

    #[test]
    fn ports_are_counted_for_each_address() {
        let shared = SystemNeeds { fresh_connections: 20_000, ..needs(40_000) };
        assert!(check(&shared, 3, None, Some(28_232)).is_ok());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_table_of_descriptors_is_large_enough_before_anything_is_sent() {
        let headroom = headroom(&needs(700)).unwrap();
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap();
        let size: u64 = size.trim().parse().unwrap();
        let needed = headroom.file_descriptors.unwrap().needed;
        assert!(size >= needed, "{size} of {needed}");
    }

    #[test]
    fn what_the_system_does_not_tell_is_not_held_against_the_run() {
        assert_eq!(check(&needs(u64::MAX / 2), 3, None, None), Ok(SystemHeadroom::default()));
    }
}
