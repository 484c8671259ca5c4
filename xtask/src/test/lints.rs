//! Clippy in place of the compiler: what the tests run is linted as it is built, so that nothing is compiled only to be linted.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;

/// What cargo runs in place of the compiler for the packages of the workspace.
const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";
/// What clippy is told; `cargo clippy -- -D warnings` hands it down in the same way, so that both share what they compile.
const ARGUMENTS: (&str, &str) = ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");

/// This program once more, with clippy in place of the compiler for all that it starts; none where that is so already, or where
/// clippy is not installed beside cargo.
///
/// # Errors
/// If the path of this program is not known.
pub(super) fn this_program_with_lints() -> Result<Option<Command>> {
    if are_on() {
        return Ok(None);
    }
    let Some(driver) = driver() else { return Ok(None) };
    let program = env::current_exe().context("the path of this program is not known")?;
    let mut command = Command::new(program);
    command.args(env::args_os().skip(1)).env(WRAPPER, driver).env(ARGUMENTS.0, ARGUMENTS.1);
    if process::is_ci() {
        // Nothing is built a second time there, and what that would need takes a seventh of the time of our own crates.
        command.env("CARGO_INCREMENTAL", "0");
    }
    Ok(Some(command))
}

/// Whether what is built is linted.
pub(super) fn are_on() -> bool {
    env::var_os(WRAPPER).is_some()
}

/// The same command with the compiler alone.
pub(super) fn off(command: &mut Command) -> &mut Command {
    command.env_remove(WRAPPER).env_remove(ARGUMENTS.0)
}

/// Clippy's compiler, which stands beside the cargo that runs us.
fn driver() -> Option<PathBuf> {
    let cargo = env::var_os("CARGO")?;
    let driver =
        Path::new(&cargo).with_file_name(format!("clippy-driver{}", env::consts::EXE_SUFFIX));
    driver.is_file().then_some(driver)
}
