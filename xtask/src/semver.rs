//! `cargo xtask semver`: the public items of the libraries against those of the last release.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::{cargo, process, tool};

/// Compares with the last tag, if there is one.
///
/// # Errors
/// If cargo-semver-checks is not installed.
pub(crate) fn run() -> Result<ExitCode> {
    let Some(tag) = last_tag() else {
        println!("semver: there is no tag yet, so nothing was promised");
        return Ok(ExitCode::SUCCESS);
    };
    println!("semver: against {tag}");
    let unpublished = ["--exclude", "fizeau-benches", "--exclude", "xtask"];
    let args = ["check-release", "--workspace", "--all-features", "--baseline-rev", &tag];
    tool::SEMVER_CHECKS.run(args.iter().chain(&unpublished))
}

/// The newest tag of a version before this commit.
pub(crate) fn last_tag() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["describe", "--tags", "--abbrev=0", "--match", "v*"]).current_dir(cargo::root());
    process::output_of(&mut git).map(|tag| tag.trim().to_owned())
}
