//! `cargo xtask features`: every crate builds with any one of its features, and with any few of them.

use std::process::ExitCode;

use anyhow::Result;

use crate::cargo::{self, Metadata};
use crate::{process, tool};

/// Checks each crate of `crates/` with every set of at most `depth` features, default ones off.
///
/// # Errors
/// If cargo cannot be run.
pub(crate) fn run(depth: usize) -> Result<ExitCode> {
    let metadata = Metadata::read(&["--no-deps"])?;
    let (mut checked, mut failed) = (0, Vec::new());
    for package in metadata.published() {
        let features: Vec<&str> = package.features.keys().map(String::as_str).collect();
        for set in sets(&features, depth) {
            let set = set.join(",");
            println!("features: {} [{set}]", package.name);
            let mut command = cargo::command();
            command.args(["check", "--quiet", "--no-default-features", "--package", &package.name]);
            checked += 1;
            if !process::succeeds(command.args(["--features", &set]).current_dir(cargo::root()))? {
                failed.push(format!("{} with [{set}]", package.name));
            }
        }
    }
    println!("features: {checked} builds, {} failed", failed.len());
    failed.iter().for_each(|failed| println!("  {failed}"));
    Ok(tool::exit_code(failed.is_empty()))
}

/// Every set of at most `most` of `items`, without `default`, which is a name for others.
fn sets<'a>(items: &[&'a str], most: usize) -> Vec<Vec<&'a str>> {
    let mut sets = vec![Vec::new()];
    for item in items.iter().filter(|item| **item != "default") {
        let with = |set: &Vec<&'a str>| [set.as_slice(), &[*item]].concat();
        let more: Vec<_> = sets.iter().filter(|set| set.len() < most).map(with).collect();
        sets.extend(more);
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::sets;

    #[test]
    fn a_set_has_at_most_as_many_features_as_asked_for() {
        let features = ["a", "b", "c", "default"];
        assert_eq!(sets(&features, 0), [[""; 0]]);
        assert_eq!(sets(&features, 1), [vec![], vec!["a"], vec!["b"], vec!["c"]]);
        let pairs = sets(&features, 2);
        assert_eq!(pairs.len(), 7);
        assert!(pairs.contains(&vec!["a", "c"]) && !pairs.contains(&vec!["a", "b", "c"]));
    }
}
