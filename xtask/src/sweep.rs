//! `cargo xtask sweep`: a release build, then `fizeau sweep` in place of this process.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::{cargo, process};

/// Builds `fizeau` and becomes it. On Unix nothing of xtask is left, so Ctrl-C and the exit code are its own.
pub(crate) fn run(args: &[OsString]) -> Result<ExitCode> {
    let built = cargo::build(&["--release", "--package", "fizeau-cli", "--bin", "fizeau"])?;
    let fizeau = built.first().context("cargo built no program named fizeau in fizeau-cli")?;
    let mut command = Command::new(&fizeau.path);
    command.arg("sweep").args(args);
    process::become_command(command)
}
