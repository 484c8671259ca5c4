//! `cargo xtask ptx`: the kernels for GPUs, assembled by NVIDIA's own assembler, so that they are known to be well-formed without a GPU.
//!
//! The assembler comes as a Python package into `target/ptx/`, once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::cargo::Program;
use crate::{cargo, engine, process};

const LOCK: &str = include_str!("../ptx/requirements.lock");
/// The example that writes the kernels.
const WRITER: &str = "kernels";
/// The generations that are assembled for: A100, H100 and H200, B200.
const TARGETS: [&str; 3] = ["sm_80", "sm_90", "sm_100"];

/// Installs the assembler if need be, writes the kernels and assembles them.
///
/// # Errors
/// If there is no Python, no network the first time, or a kernel is not well-formed.
pub(crate) fn run() -> Result<ExitCode> {
    let programs =
        cargo::build(&["--package", "fizeau-probe", "--features", "cuda", "--example", WRITER])?;
    assemble(&assembler()?, &programs)?;
    Ok(ExitCode::SUCCESS)
}

/// `ptxas`, which is installed first if it is not there.
///
/// # Errors
/// If there is no Python, or pip cannot install (no network, no wheel for this machine).
pub(crate) fn assembler() -> Result<PathBuf> {
    let folder = folder()?;
    let venv = folder.join("venv");
    let stamp = folder.join("venv.stamp");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == LOCK)
        && let Some(found) = find(&venv, "ptxas")
    {
        return Ok(found);
    }
    let base = engine::find_python()?;
    eprintln!("ptx: installing NVIDIA's assembler (47 MB) into {} (once)", venv.display());
    if !process::succeeds(Command::new(&base.program).args(["-m", "venv", "--clear"]).arg(&venv))? {
        bail!("python cannot make a virtual environment in {}", venv.display());
    }
    let mut pip = Command::new(venv.join("bin").join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--require-hashes", "--no-deps", "--only-binary", ":all:", "--requirement"])
        .arg(cargo::root().join("xtask/ptx/requirements.lock"))
        .env("PIP_CACHE_DIR", folder.join("pip"));
    if !process::succeeds(&mut pip)? {
        bail!(
            "pip could not install the assembler (see above for its reason); it needs the network once, and Linux"
        );
    }
    let found = find(&venv, "ptxas").context("the package has no ptxas")?;
    fs::write(&stamp, LOCK).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(found)
}

/// Writes all kernels by the one of the `programs` that does, and assembles each module for each target.
///
/// # Errors
/// If one is not well-formed; the assembler has then said why.
pub(crate) fn assemble(ptxas: &Path, programs: &[Program]) -> Result<()> {
    let kernels = folder()?.join("kernels");
    let writer = programs.iter().find(|program| program.name == WRITER);
    let writer = writer.context("cargo built no program that writes the kernels")?;
    if !process::succeeds(Command::new(&writer.path).arg(&kernels))? {
        bail!("the kernels could not be written");
    }
    let entries = fs::read_dir(&kernels).context("cannot read the kernels")?;
    let mut modules: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    modules.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    modules.sort();
    let mut entries = 0;
    for module in &modules {
        let text = fs::read_to_string(module)?;
        entries += text.matches(".visible .entry ").count();
        for target in TARGETS {
            let mut assemble = Command::new(ptxas);
            assemble
                .args(["--warning-as-error", "--gpu-name", target])
                .arg(module)
                .arg("--output-file")
                .arg(module.with_extension("cubin"));
            if !process::succeeds(&mut assemble)? {
                bail!("{} is not well-formed for {target}", module.display());
            }
        }
    }
    if entries == 0 {
        bail!("there are no kernels in {}", kernels.display());
    }
    let (targets, modules) = (TARGETS.join(", "), modules.len());
    println!(
        "ptx: {entries} kernels in {modules} modules assembled for {targets} by ptxas {}",
        version()
    );
    Ok(())
}

/// The pinned version.
fn version() -> &'static str {
    let pinned = LOCK.lines().find_map(|line| line.split_once("==")).map(|(_, rest)| rest);
    pinned.and_then(|rest| rest.split_whitespace().next()).unwrap_or("of unknown version")
}

/// `target/ptx/`.
fn folder() -> Result<PathBuf> {
    let folder = cargo::Metadata::read(&["--no-deps"])?.target_directory.join("ptx");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// The file of that name below `folder`, which differs from version to version of the package.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let is_it =
        |path: &&PathBuf| path.is_file() && path.file_name().is_some_and(|found| found == name);
    if let Some(found) = entries.iter().find(is_it) {
        return Some(found.clone());
    }
    entries
        .iter()
        .filter(|path| path.is_dir() && !path.is_symlink())
        .find_map(|path| find(path, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_pins_and_hashes_and_names_no_index() {
        assert!(version().starts_with("13."), "{}", version());
        assert_eq!(LOCK.matches("--hash=sha256:").count(), 3);
        assert!(!LOCK.contains("://"));
    }
}
