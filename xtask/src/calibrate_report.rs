//! `cargo xtask calibrate-report`: whether measured levels keep to the bound, and how far off a calibration on them is.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::{cargo, process};

/// Builds the report and becomes it.
pub(crate) fn run(args: &[OsString]) -> Result<ExitCode> {
    let built = cargo::build(&[
        "--release",
        "--package",
        "fizeau-roofline",
        "--example",
        "calibrate_report",
    ])?;
    let report = built.first().context("cargo built no example named calibrate_report")?;
    let mut command = Command::new(&report.path);
    command.args(args);
    process::become_command(command)
}
