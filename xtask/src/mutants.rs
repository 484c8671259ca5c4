//! `cargo xtask mutants`: how many small faults, put into a crate one at a time, its tests find.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cargo::Metadata;
use crate::tool;

/// The crates whose figures others build upon.
const CRATES: [&str; 6] = [
    "fizeau-core",
    "fizeau-metrics",
    "fizeau-pareto",
    "fizeau-roofline",
    "fizeau-record",
    "fizeau-transport",
];
/// Crates whose tests hold another's beside its own: what documents say in words, `report` compares with files.
const HELD_TOO: [(&str, &str); 1] = [("fizeau-record", "fizeau-report")];
/// How many of a hundred mutants that compile must be found.
const WANTED: usize = 85;

/// Its exit codes where it tried what there is: all were found, some were missed, some never ended. Others are that it was called wrongly, or
/// that the tests fail without any mutant.
const TRIED: [i32; 3] = [0, 2, 3];

/// What became of the mutants of a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Killed {
    found: usize,
    missed: usize,
}

/// Tries the mutants of `crates`, or of those that matter most; of each crate `sample`, as `1/20`, where that is given:
/// every twentieth, so that all files have a part in it.
///
/// # Errors
/// If cargo-mutants is not installed, cannot try anything, or leaves no result.
pub(crate) fn run(crates: &[String], sample: Option<&str>) -> Result<ExitCode> {
    let folder = Metadata::read(&["--no-deps"])?.target_directory.join("mutants");
    let chosen: Vec<&str> = match crates {
        [] => CRATES.to_vec(),
        some => some.iter().map(String::as_str).collect(),
    };
    let mut enough = true;
    for name in chosen {
        let out = folder.join(name);
        // What an earlier run left is no result of this one.
        if out.exists() {
            fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
        }
        fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
        let mut command = tool::MUTANTS.command()?;
        command.args(["--all-features", "--package", name, "--output"]).arg(&out);
        let others = HELD_TOO.iter().filter(|(held, _)| *held == name).map(|(_, by)| *by);
        let testing = std::iter::once(name).chain(others);
        command.args(testing.flat_map(|package| ["--test-package", package]));
        let sample = sample.map(|part| ["--sharding", "round-robin", "--shard", part]);
        let status = command.args(sample.into_iter().flatten()).status();
        let code = status.context("cannot run cargo-mutants")?.code();
        if !code.is_some_and(|code| TRIED.contains(&code)) {
            bail!("cargo-mutants could not try the mutants of {name}: see above");
        }
        let killed = Killed::read(&out.join("mutants.out"))?;
        println!("mutants: {name}: {killed}");
        enough &= killed.is_enough();
    }
    Ok(tool::exit_code(enough))
}

impl Killed {
    fn read(folder: &Path) -> Result<Self> {
        let lines = |name: &str| -> Result<usize> {
            let path = folder.join(name);
            let text = fs::read_to_string(&path);
            Ok(text.with_context(|| format!("cannot read {}", path.display()))?.lines().count())
        };
        // One that never ends is found by whoever waits for the test.
        Ok(Self {
            found: lines("caught.txt")? + lines("timeout.txt")?,
            missed: lines("missed.txt")?,
        })
    }

    /// Where nothing was tried, nothing was shown.
    const fn is_enough(self) -> bool {
        self.found + self.missed > 0 && 100 * self.found >= WANTED * (self.found + self.missed)
    }
}

impl std::fmt::Display for Killed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.found + self.missed;
        let Some(share) = (100 * self.found).checked_div(all) else {
            return write!(f, "no mutant was tried, so nothing is known of its tests");
        };
        write!(f, "{} of {all} found, {share} of 100; {WANTED} are wanted", self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::Killed;

    #[test]
    fn eighty_five_of_a_hundred_are_enough() {
        let of = |found, missed| Killed { found, missed };
        assert!(of(85, 15).is_enough());
        assert!(!of(84, 16).is_enough());
        assert!(!of(0, 0).is_enough(), "nothing was tried");
        assert!(of(0, 0).to_string().starts_with("no mutant was tried"));
        assert_eq!(of(17, 3).to_string(), "17 of 20 found, 85 of 100; 85 are wanted");
    }
}
