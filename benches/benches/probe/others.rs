//! Tools that others made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use fizeau_benches::environment;

use crate::c_programs::{named, said_by};
use crate::table::Row;

/// How long numpy multiplies in a turn.
const SECONDS: &str = "1";
/// Where numpy's wheel keeps its libraries.
const LIBRARIES: &str = "import numpy, os; print(os.path.join(os.path.dirname(os.path.dirname(numpy.__file__)), 'numpy.libs'))";

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

    /// A folder with the wheel's OpenBLAS under the name that loaders look for it by, and that of the wheel's libraries.
    fn libraries(&self) -> Result<[PathBuf; 2]> {
        let wheel = PathBuf::from(said_by(Command::new(&self.0).args(["-c", LIBRARIES]))?.trim());
        let is_blas = |path: &PathBuf| path.to_string_lossy().contains("libscipy_openblas64_");
        let mut files = fs::read_dir(&wheel)?.filter_map(|entry| Some(entry.ok()?.path()));
        let blas = files.find(is_blas).context("the wheel has no OpenBLAS of its own")?;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openblas");
        fs::create_dir_all(&folder)?;
        fs::copy(&blas, folder.join("libscipy_openblas64_.so"))?;
        Ok([folder, wheel])
    }

    /// Begins this program anew, once, so that it finds numpy's OpenBLAS too where the system has none, and so that neither side is
    /// told by the environment which kernels to take: both choose by the processor.
    pub(crate) fn shared_with_ours(&self) -> Result<()> {
        const BEGUN: &str = "FIZEAU_BENCH_PROBE_BEGUN";
        if std::env::var_os(BEGUN).is_some() {
            return Ok(());
        }
        let given = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let folders = std::env::split_paths(&given).chain(self.libraries()?);
        let mut again = Command::new(std::env::current_exe()?);
        again.args(std::env::args_os().skip(1)).env(BEGUN, "1");
        again.env("LD_LIBRARY_PATH", std::env::join_paths(folders)?);
        again.env_remove("OPENBLAS_CORETYPE").env_remove("OPENBLAS_L2_SIZE");
        std::process::exit(again.status()?.code().unwrap_or(1))
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
