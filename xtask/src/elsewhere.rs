//! `cargo xtask elsewhere`: whether the libraries and the program compile for systems on which nobody has run them.

use std::collections::BTreeSet;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::cargo::{self, Metadata, Package};
use crate::{process, tool};

const TARGETS: [&str; 4] = [
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-gnu",
    "x86_64-pc-windows-msvc",
];

/// What a check came to.
#[derive(Debug, PartialEq)]
enum Outcome {
    Checked,
    /// A package of others has a build script that failed, mostly for want of a C compiler for the target.
    Unbuilt(String),
    /// The first error.
    Failed(String),
}

/// Checks each crate of `crates/` for each target: without features, and with each of its own.
///
/// # Errors
/// If cargo or rustup cannot be run.
pub(crate) fn run(targets: &[String]) -> Result<ExitCode> {
    let metadata = Metadata::read(&["--no-deps"])?;
    let chosen: Vec<&str> = match targets {
        [] => TARGETS.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    };
    let (mut is_good, mut unchecked) = (true, Vec::new());
    for &target in &chosen {
        let mut add = Command::new("rustup");
        if !process::succeeds(add.args(["target", "add", target]).current_dir(cargo::root()))? {
            println!("{target}: not checked: its standard library is not to be had here");
            unchecked.push(target);
            continue;
        }
        let mut checked = 0;
        for package in metadata.published() {
            let found = check_all(target, package)?;
            is_good &= found.is_good;
            checked += found.checked;
        }
        if checked == 0 {
            unchecked.push(target);
        }
    }
    println!("elsewhere: {}", verdict(is_good, &chosen, &unchecked));
    // Who names a target wants to know of it; of all that there are, it takes one at least.
    let wanted = if targets.is_empty() { chosen.len() - 1 } else { 0 };
    Ok(tool::exit_code(is_good && unchecked.len() <= wanted))
}

/// What it came to.
fn verdict(is_good: bool, chosen: &[&str], unchecked: &[&str]) -> String {
    let checked = chosen.len() - unchecked.len();
    let of = format!("{checked} of {} targets checked", chosen.len());
    let without = if unchecked.is_empty() {
        String::new()
    } else {
        format!(", not {}", unchecked.join(", "))
    };
    let failed = if is_good { "" } else { "; FAILED: see above" };
    format!("{of}{without}{failed}")
}

/// What became of a crate.
struct Found {
    /// Whether nothing of ours failed.
    is_good: bool,
    /// With how many of its features it was checked, that of none among them.
    checked: usize,
}

/// Prints what becomes of the crate with each of its features.
fn check_all(target: &str, package: &Package) -> Result<Found> {
    let features = package.features.keys().map(String::as_str).filter(|name| *name != "default");
    let all: Vec<&str> = std::iter::once("").chain(features).collect();
    let (mut checked, mut reasons) = (Vec::new(), BTreeSet::new());
    let mut is_good = true;
    for feature in all {
        let name = if feature.is_empty() { "no feature" } else { feature };
        match check(target, &package.name, feature)? {
            Outcome::Checked => checked.push(name),
            Outcome::Unbuilt(script) => {
                reasons.insert(format!("not checked with {name}: {script}"));
            }
            Outcome::Failed(error) => {
                is_good = false;
                reasons.insert(format!("FAIL with {name}: {error}"));
            }
        }
    }
    println!("{target}  {}: {}", package.name, checked.join(", "));
    reasons.iter().for_each(|reason| println!("{target}  {}: {reason}", package.name));
    Ok(Found { is_good, checked: checked.len() })
}

fn check(target: &str, package: &str, feature: &str) -> Result<Outcome> {
    let mut command = cargo::command();
    command
        .args(["check", "--quiet", "--no-default-features", "--features", feature])
        .args(["--package", package, "--target", target])
        .env("CARGO_TARGET_DIR", cargo::root().join("target/elsewhere"))
        .current_dir(cargo::root());
    let output = command.output()?;
    Ok(match output.status.success() {
        true => Outcome::Checked,
        false => of_errors(&String::from_utf8_lossy(&output.stderr)),
    })
}

fn of_errors(errors: &str) -> Outcome {
    let script = errors.lines().find(|line| line.contains("failed to run custom build command"));
    let package = script.map(|line| line.split('`').nth(1).unwrap_or(line));
    // What else failed beside it, and a script of ours, are no want of this machine's.
    let is_ours = errors.contains("could not compile `fizeau");
    match package.filter(|package| !is_ours && !package.starts_with("fizeau")) {
        Some(package) => {
            let why = errors
                .lines()
                .find_map(|line| line.trim().strip_prefix("error occurred in cc-rs: "));
            let why = why.unwrap_or("cargo check says why");
            Outcome::Unbuilt(format!("the build script of {package} failed: {why}"))
        }
        None => {
            let first = errors.lines().find(|line| line.starts_with("error"));
            let at = errors.lines().find(|line| line.trim_start().starts_with("-->"));
            let [first, at] = [first, at].map(|line| line.unwrap_or_default().trim());
            Outcome::Failed(format!("{first} {at}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_script_of_others_is_no_fault_of_ours() {
        let script = "error: failed to run custom build command for `ring v0.17.14`\n\nCaused by:\n  error occurred in cc-rs: no tool\n";
        let ours = "warning: x\nerror[E0425]: cannot find `a`\n  --> crates/a/src/b.rs:1:2\n";
        assert_eq!(
            of_errors(script),
            Outcome::Unbuilt("the build script of ring v0.17.14 failed: no tool".to_owned())
        );
        assert_eq!(
            of_errors(ours),
            Outcome::Failed("error[E0425]: cannot find `a` --> crates/a/src/b.rs:1:2".to_owned())
        );
        let both = format!("{ours}error: could not compile `fizeau-a` (lib)\n{script}");
        assert!(matches!(of_errors(&both), Outcome::Failed(_)), "it hides none of ours");
    }

    #[test]
    fn what_was_not_checked_is_named() {
        assert_eq!(verdict(true, &["a", "b"], &[]), "2 of 2 targets checked");
        assert_eq!(verdict(true, &["a", "b"], &["b"]), "1 of 2 targets checked, not b");
        assert_eq!(
            verdict(false, &["a"], &["a"]),
            "0 of 1 targets checked, not a; FAILED: see above"
        );
    }
}
