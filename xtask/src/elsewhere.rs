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
    /// A package of others has a build script that wants what is not here, such as a C compiler for the target.
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
    let mut is_good = true;
    for target in chosen {
        let mut add = Command::new("rustup");
        if !process::succeeds(add.args(["target", "add", target]).current_dir(cargo::root()))? {
            println!("{target}: not checked: its standard library is not to be had here");
            continue;
        }
        for package in metadata.published() {
            is_good &= check_all(target, package)?;
        }
    }
    Ok(tool::exit_code(is_good))
}

/// Prints what becomes of the crate with each of its features; whether nothing of ours failed.
fn check_all(target: &str, package: &Package) -> Result<bool> {
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
    Ok(is_good)
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
    match script {
        Some(line) => {
            let package = line.split('`').nth(1).unwrap_or(line);
            Outcome::Unbuilt(format!("the build script of {package} wants a C compiler for it"))
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
        let script =
            "error: failed to run custom build command for `ring v0.17.14`\n\nCaused by:\n";
        let ours = "warning: x\nerror[E0425]: cannot find `a`\n  --> crates/a/src/b.rs:1:2\n";
        assert_eq!(
            of_errors(script),
            Outcome::Unbuilt(
                "the build script of ring v0.17.14 wants a C compiler for it".to_owned()
            )
        );
        assert_eq!(
            of_errors(ours),
            Outcome::Failed("error[E0425]: cannot find `a` --> crates/a/src/b.rs:1:2".to_owned())
        );
    }
}
