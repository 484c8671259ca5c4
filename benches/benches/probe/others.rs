//! Tools that others made.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use fizeau_benches::environment;

use crate::c_programs::{named, said_by};
use crate::table::Row;

/// How long numpy multiplies in a round.
const SECONDS: &str = "3";

/// likwid-bench (Debian's package `likwid`).
#[derive(Debug)]
pub(crate) struct Likwid {
    /// Threads, as many as processors.
    threads: usize,
}

impl Likwid {
    pub(crate) fn found() -> Result<Self> {
        said_by(Command::new("likwid-bench").arg("-a"))
            .context("Debian and Ubuntu have it in the package `likwid`")?;
        Ok(Self { threads: std::thread::available_parallelism()?.get() })
    }

    /// The rate of each of `kernels` by each set of instructions over `bytes` in all: those that cannot run here are left out.
    pub(crate) fn best(&self, kernels: &[&str], bytes: f64, row: &mut Row) {
        // Its units are decimal.
        let group = format!("N:{:.0}kB:{}", bytes / 1e3, self.threads);
        for kernel in kernels {
            for instructions in ["avx_fma", "avx512_fma", "avx", "avx512"] {
                let name = format!("{kernel}_{instructions}");
                let mut command = Command::new("likwid-bench");
                command.args(["-t", &name, "-s", "1", "-w", &group]);
                let rate = said_by(&mut command).and_then(|said| named(&said, "MByte/s"));
                if let Ok(rate) = rate {
                    row.theirs(&format!("likwid {name}"), rate / 1e3);
                }
            }
        }
    }
}

/// numpy, whose wheel has OpenBLAS.
#[derive(Debug)]
pub(crate) struct Numpy(PathBuf);

impl Numpy {
    /// Installs it below `target/` unless it is there.
    pub(crate) fn installed() -> Result<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("numpy");
        let lock = "benches/probe/requirements.lock";
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join(lock);
        environment("numpy", &folder, &lock).map(Self).map_err(anyhow::Error::msg)
    }

    /// GFLOP/s of a product of squares of `size`.
    pub(crate) fn gemm(&self, size: u64) -> Result<f64> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/probe/sgemm.py");
        let mut command = Command::new(&self.0);
        command.arg(script).args([&size.to_string(), SECONDS]);
        Ok(named(&said_by(&mut command)?, "gemm")? / 1e9)
    }
}

/// It tells latency over that of the first cache and up to 64 MiB, so that it is not in the table.
pub(crate) fn say_whether_tinymembench() {
    match Command::new("tinymembench").arg("--help").output() {
        Ok(_) => println!("tinymembench is there: `fizeau probe --import` reads what it prints"),
        Err(_) => println!("left out: tinymembench: it is not installed"),
    }
}
