//! The workload crate built alone and built within the whole workspace, whose other crates turn on features of the
//! packages that both use: a specification must mean the same plan in either.

use std::process::Command;

use anyhow::{Context, Result};

use super::gate::Outcome;
use crate::{cargo, process};

const PROGRAM: &str = "fingerprint";
const ALONE: [&str; 3] = ["--package", "fizeau-workload", "--no-default-features"];

/// Builds the example that prints a hash of each sampler, law and kind of content in both ways, and compares. What the
/// steps before have built is used again, so that only the crate alone has to be compiled.
///
/// # Errors
/// If it does not build or run.
pub(super) fn same_plans(everything: &[&str]) -> Result<Outcome> {
    // Both are linked to the same path: the first is run before the second is built.
    let together = printed(everything)?;
    let alone = printed(&ALONE)?;
    let differing = differing(&together, &alone);
    for (together, alone) in &differing {
        eprintln!("within the workspace: {together}\nalone:                {alone}");
    }
    if differing.is_empty() {
        eprintln!("{} fingerprints, alone as within the workspace", alone.lines().count());
    }
    Ok(Outcome::of(differing.is_empty()))
}

/// What the example prints when it is built with these arguments.
fn printed(arguments: &[&str]) -> Result<String> {
    let arguments = [&["--example", PROGRAM], arguments].concat();
    let programs = cargo::build(&arguments)?;
    let program = programs.iter().find(|program| program.name == PROGRAM);
    let program = program.context("cargo built no example of that name")?;
    process::output_of(&mut Command::new(&program.path)).context("the fingerprints failed")
}

/// The lines that are not the same, of both; a line that one lacks is empty. Nothing at all is no agreement.
fn differing<'a>(one: &'a str, other: &'a str) -> Vec<(&'a str, &'a str)> {
    let most = one.lines().count().max(other.lines().count()).max(1);
    let filled = |text: &'a str| text.lines().chain(std::iter::repeat("")).take(most);
    filled(one).zip(filled(other)).filter(|(a, b)| a != b || a.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::differing;

    #[test]
    fn lines_that_differ_or_are_missing_are_told() {
        assert_eq!(differing("a 1\nb 2\n", "a 1\nb 2\n"), []);
        assert_eq!(differing("a 1\nb 2\n", "a 1\nb 3\n"), [("b 2", "b 3")]);
        assert_eq!(differing("a 1\n", "a 1\nb 3\n"), [("", "b 3")]);
        assert_eq!(differing("", ""), [("", "")]);
    }
}
