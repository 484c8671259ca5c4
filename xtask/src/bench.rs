//! `cargo xtask bench`: the benches, which no test ever runs.

use std::process::ExitCode;

use anyhow::Result;

use crate::{cargo, process};

/// Becomes `cargo bench`.
pub(crate) fn run(filter: Option<&str>) -> Result<ExitCode> {
    let mut command = cargo::command();
    command.args(["bench", "--package", "fizeau-benches"]);
    if let Some(filter) = filter {
        command.args(["--", filter]);
    }
    process::become_command(command)
}
