//! Programs on a core of their own, and what they cost.

use std::fs;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use crate::cores::{Core, Priority};

/// `program` on `core`, with as many open files as the system allows. It is killed when this process ends, however that
/// comes about.
pub(crate) fn pinned(core: Core, priority: Priority, program: &str) -> Command {
    let mut command = Command::new("sh");
    let script =
        "ulimit -Sn \"$(ulimit -Hn)\"; exec setpriv --pdeathsig KILL taskset -c \"$0\" \"$@\"";
    command.args(["-c", script]).arg(core.to_string());
    if priority == Priority::RealTime {
        command.args(["chrt", "--rr", "10"]);
    }
    command.arg(program);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A program that is killed when this goes.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
}

impl Running {
    /// Starts `command`.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        Ok(Self { child })
    }

    /// Its standard output; once.
    pub(crate) fn stdout(&mut self) -> Result<impl Read + Send + use<>> {
        self.child.stdout.take().context("its output was taken already")
    }

    /// User and system time of all its threads so far, exact to 10 ms.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        Ok(stat(self.child.id())?.cpu)
    }

    /// Waits for its end; says what it printed and what it cost.
    pub(crate) fn finish(mut self) -> Result<Finished> {
        let stdout = drain(self.child.stdout.take());
        let stderr = drain(self.child.stderr.take());
        // The high-water mark is gone once it has ended: the last look before that counts.
        let mut peak = None;
        while !(stdout.is_finished() && stderr.is_finished()) {
            peak = peak_memory(self.child.id()).or(peak);
            thread::sleep(Duration::from_millis(50));
        }
        let (stdout, stderr) = (joined(stdout)?, joined(stderr)?);
        let cpu = self.cpu_at_end()?;
        let status = self.child.wait().context("a program was lost")?;
        Ok(Finished { stdout, stderr, code: status.code(), cpu, peak_bytes: peak })
    }

    /// Its CPU time once it has ended, which the system tells until it is waited for.
    fn cpu_at_end(&self) -> Result<Duration> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            let stat = stat(self.child.id())?;
            if stat.state == 'Z' {
                return Ok(stat.cpu);
            }
            thread::sleep(Duration::from_millis(5));
        }
        bail!("a program closed its output and did not end");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already; there is nothing to be done about either error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
    /// User and system time of all its threads, exact to 10 ms.
    pub(crate) cpu: Duration,
    pub(crate) peak_bytes: Option<u64>,
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<io::Result<String>> {
    thread::spawn(move || pipe.map_or_else(|| Ok(String::new()), io::read_to_string))
}

fn joined(reader: JoinHandle<io::Result<String>>) -> Result<String> {
    let read = reader.join().map_err(|_| anyhow!("a reading thread panicked"))?;
    read.context("cannot read what a program prints")
}

/// The unit of CPU times below `/proc` (USER_HZ is 100 on every architecture that Linux has today).
pub(crate) const TICK: Duration = Duration::from_millis(10);

struct Stat {
    state: char,
    cpu: Duration,
}

/// What `/proc/PID/stat` says, see proc(5).
fn stat(pid: u32) -> Result<Stat> {
    let path = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    // The second field is the program's name in parentheses, which may hold anything.
    let (_, rest) = text.rsplit_once(')').with_context(|| format!("{path} has no name"))?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok());
    let state = fields.first().and_then(|text| text.chars().next());
    let parsed = state.zip(ticks(11)).zip(ticks(12));
    let ((state, user), system) = parsed.with_context(|| format!("{path} is too short"))?;
    Ok(Stat { state, cpu: TICK * u32::try_from(user + system)? })
}

/// The most memory that was resident at once, in bytes; none once it has ended.
fn peak_memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib: u64 = field(&status, "VmHWM:")?.strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// What follows `name` on its line.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}
