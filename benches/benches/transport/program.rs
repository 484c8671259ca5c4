//! The program that is measured, as cargo builds it for release.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Builds it, and says where it is.
pub(crate) fn build() -> Result<PathBuf> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--package", "fizeau-cli"]);
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let output = cargo.stderr(Stdio::inherit()).output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cargo build failed");
    }
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let message = |line| serde_json::from_str::<Message>(line).ok()?.executable;
    messages.lines().filter_map(message).next_back().context("cargo built no program")
}
