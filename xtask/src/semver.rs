//! `cargo xtask semver`: the public items of the libraries against those of the last release.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::{cargo, process, tool};

/// Compares with the last tag, if there is one.
///
/// # Errors
/// If cargo-semver-checks is not installed, or git cannot say which tags there are.
pub(crate) fn run() -> Result<ExitCode> {
    let Some(tag) = last_tag()? else {
        println!("semver: there is no tag yet, so nothing was promised");
        return Ok(ExitCode::SUCCESS);
    };
    println!("semver: against {tag}");
    let unpublished = ["--exclude", "fizeau-benches", "--exclude", "xtask"];
    let args = ["check-release", "--workspace", "--all-features", "--baseline-rev", &tag];
    tool::SEMVER_CHECKS.run(args.iter().chain(&unpublished))
}

/// The newest tag of a version before this commit; none if there is none yet.
///
/// # Errors
/// If git cannot say: it is missing, this is no clone, or one without its history.
pub(crate) fn last_tag() -> Result<Option<String>> {
    let git = |args: &[&str]| {
        let said = process::output_of(Command::new("git").args(args).current_dir(cargo::root()));
        said.map(|said| said.trim().to_owned()).context("the last tag: git is needed, and a clone")
    };
    if git(&["rev-parse", "--is-shallow-repository"])? == "true" {
        bail!(
            "this clone has no history, so its tags are not known: `git fetch --unshallow --tags`"
        );
    }
    if git(&["tag", "--list", "v*", "--merged", "HEAD"])?.is_empty() {
        return Ok(None);
    }
    git(&["describe", "--tags", "--abbrev=0", "--match", "v*"]).map(Some)
}
