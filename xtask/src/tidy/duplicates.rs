//! Packages that the command line links twice.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use super::Finding;
use crate::{cargo, process};

/// Packages of which `fizeau-cli` holds more than one version by default: not wrong, but to be known.
///
/// # Errors
/// If cargo cannot tell.
pub(super) fn in_the_program() -> Result<Vec<Finding>> {
    let mut tree = cargo::command();
    tree.args(["tree", "--package", "fizeau-cli", "--edges", "normal", "--prefix", "none"]);
    let tree = process::output_of(tree.current_dir(cargo::root())).context("cargo tree failed")?;
    Ok(duplicates(&tree))
}

/// From lines `NAME vVERSION ...`.
fn duplicates(tree: &str) -> Vec<Finding> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in tree.lines() {
        let mut words = line.split(' ');
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            versions.entry(name).or_default().insert(version);
        }
    }
    let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    several
        .map(|(name, versions)| {
            let versions: Vec<&str> = versions.into_iter().collect();
            Finding::new(name, format!("is linked in versions {}", versions.join(", ")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_versions_are_a_duplicate_and_two_mentions_are_not() {
        let tree = "a v1.0.0 (here)\nb v1.0.0\nb v1.0.0 (*)\nc v1.0.0\nc v2.0.0\n";
        assert_eq!(duplicates(tree), [Finding::new("c", "is linked in versions v1.0.0, v2.0.0")]);
    }
}
