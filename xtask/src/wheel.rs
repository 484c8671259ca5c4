//! `cargo xtask wheel`: the Python package, built, installed into a virtual environment and tested there.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::cargo::{self, Metadata};
use crate::{engine, process, sbom, tool};

/// What builds it: <https://www.maturin.rs>.
const MATURIN: &str = "maturin>=1.9,<2";

/// Builds, installs, tests.
///
/// # Errors
/// If there is no fit Python, pip finds nothing to install, or the program does not build.
pub(crate) fn run() -> Result<ExitCode> {
    let folder = Metadata::read(&["--no-deps"])?.target_directory.join("wheel");
    let (venv, wheels) = (folder.join("venv"), folder.join("dist"));
    let python = venv.join("bin/python");
    let here = cargo::root().join("python");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let base = engine::find_python()?;
    step(Command::new(&base.program).args(["-m", "venv", "--clear"]).arg(&venv))?;
    pip(&python, &[Path::new(MATURIN)])?;
    let mut build = Command::new(&python);
    build.args(["-m", "maturin", "build", "--release", "--locked", "--out"]).arg(&wheels);
    step(build.current_dir(&here))?;
    let built: Vec<_> = fs::read_dir(&wheels)?.flatten().map(|entry| entry.path()).collect();
    let [wheel] = built.as_slice() else {
        bail!("{} has {} wheels", wheels.display(), built.len())
    };
    let parts = folder.join("sbom.cdx.json");
    sbom::run(Some(parts.clone()))?;
    let mut carry = Command::new(&python);
    carry.arg(here.join("notices.py")).arg(wheel);
    step(carry.arg(folder.join("third-party.txt")).arg(parts))?;
    pip(&python, &[wheel.as_path()])?;
    println!("wheel: {}", wheel.display());
    let mut test = Command::new(&python);
    test.arg(here.join("test_fizeau.py")).arg(cargo::root().join("fixtures/runs"));
    Ok(tool::exit_code(process::succeeds(test.current_dir(&folder))?))
}

fn pip(python: &Path, what: &[&Path]) -> Result<()> {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    step(pip.args(what))
}

fn step(command: &mut Command) -> Result<()> {
    if process::succeeds(command)? { Ok(()) } else { bail!("that failed: {command:?}") }
}
