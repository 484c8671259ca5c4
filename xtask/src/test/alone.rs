//! The workload crate built alone and built within the whole workspace, whose other crates turn on features of the
//! packages that both use: a specification must mean the same plan in either.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::gate::Outcome;
use crate::cargo::{self, Metadata, Program};
use crate::process;

const PROGRAM: &str = "fingerprint";

/// Builds the example that prints a hash of each sampler, law and kind of content in both ways, and compares. What the
/// steps before have built is used again, so that little more than the crate alone has to be compiled.
///
/// # Errors
/// If it does not build or run.
pub(super) fn same_plans(everything: &[&str], metadata: &Metadata) -> Result<Outcome> {
    let together = printed(cargo::examples(everything)?)?;
    let manifest = write_package(&metadata.target_directory)?;
    let (manifest, target) =
        (manifest.to_string_lossy(), metadata.target_directory.to_string_lossy());
    let alone = ["--offline", "--manifest-path", &manifest, "--target-dir", &target];
    let alone = printed(cargo::build(&alone)?)?;
    let differing = differing(&together, &alone);
    for (together, alone) in &differing {
        eprintln!("within the workspace: {together}\nalone:                {alone}");
    }
    if differing.is_empty() {
        eprintln!("{} fingerprints, alone as within the workspace", alone.lines().count());
    }
    Ok(Outcome::of(differing.is_empty()))
}

/// A package of its own around the example, for which only the crate itself asks for features: as an example the crate's
/// test dependencies would be built with it, and they turn on features too. Its manifest.
fn write_package(target: &Path) -> Result<PathBuf> {
    let (root, folder) = (cargo::root(), target.join("alone"));
    let [core, workload] = ["core", "workload"].map(|name| root.join("crates").join(name));
    let program = workload.join("examples").join(PROGRAM).with_extension("rs");
    let manifest = format!(
        "[package]\nname = '{PROGRAM}'\nedition = '2024'\npublish = false\n\n\
         [workspace]\n\n\
         [[bin]]\nname = '{PROGRAM}'\npath = '{}'\n\n\
         [dependencies]\n\
         fizeau-core = {{ path = '{}', default-features = false }}\n\
         fizeau-workload = {{ path = '{}', default-features = false }}\n\n\
         [profile.dev]\ndebug = 'line-tables-only'\n",
        program.display(),
        core.display(),
        workload.display(),
    );
    let path = folder.join("Cargo.toml");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&path, manifest))
        // The same versions; cargo strikes out what is not needed.
        .and_then(|()| fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")))
        .with_context(|| format!("cannot write {}", folder.display()))?;
    Ok(path)
}

/// What the program prints, which is one of those that were built.
fn printed(programs: Vec<Program>) -> Result<String> {
    let program = programs.into_iter().find(|program| program.name == PROGRAM);
    let program = program.context("cargo built no program of that name")?;
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
