//! Programs in C, compiled by the system's compiler for this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::table::Row;

/// Runs of each kernel within one start of the program; the first does not count.
const RUNS: &str = "12";

/// Those that are held against ours.
#[derive(Debug)]
pub(crate) struct CPrograms {
    ordinary: PathBuf,
    past_caches: PathBuf,
    pointers: PathBuf,
}

impl CPrograms {
    /// Compiles them below `target/`.
    pub(crate) fn compiled() -> Result<Self> {
        Ok(Self {
            ordinary: compiled("stream.c", "stream-ordinary", &["-fopenmp"])?,
            past_caches: compiled("stream.c", "stream-past", &["-fopenmp", "-DNON_TEMPORAL"])?,
            pointers: compiled("chase.c", "pointers", &[])?,
        })
    }

    /// Triad and read over arrays of `bytes` each.
    pub(crate) fn stream(&self, bytes: f64, triad: &mut Row, read: &mut Row) -> Result<()> {
        let count = ((bytes / 8.0) as u64).to_string();
        for (program, triads, reads) in [
            (&self.ordinary, "STREAM", "sum in C"),
            (&self.past_caches, "STREAM, non-temporal", "sum in C"),
        ] {
            // Each thread on a processor of its own, as those of ours are.
            let mut command = Command::new(program);
            command.args([&count, RUNS]).env("OMP_PROC_BIND", "true");
            let said = said_by(&mut command)?;
            triad.theirs(triads, named(&said, "triad")? / 1e9);
            read.theirs(reads, named(&said, "read")? / 1e9);
        }
        Ok(())
    }

    /// Nanoseconds of a load from `bytes` of memory.
    pub(crate) fn latency(&self, bytes: f64) -> Result<f64> {
        let bytes = (bytes as u64).to_string();
        named(&said_by(Command::new(&self.pointers).args([&bytes, RUNS]))?, "latency")
    }
}

fn compiled(source: &str, name: &str, flags: &[&str]) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/probe").join(source);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut cc = Command::new("cc");
    cc.args(["-O3", "-march=native"]).args(flags).arg(source).arg("-o").arg(&program);
    let status = cc.status().context("there is no `cc`")?;
    if !status.success() {
        bail!("cc could not compile it (see above for its reason)");
    }
    Ok(program)
}

/// What a program prints.
pub(crate) fn said_by(command: &mut Command) -> Result<String> {
    let what = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot run {what}"))?;
    if !output.status.success() {
        bail!("{what}: {}; {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The figure that a line begins with `name` for.
pub(crate) fn named(said: &str, name: &str) -> Result<f64> {
    let of = |line: &str| line.strip_prefix(name)?.trim_start_matches(':').trim().parse().ok();
    said.lines().find_map(of).with_context(|| format!("no figure of {name} in: {said}"))
}
