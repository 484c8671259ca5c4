//! `cargo xtask fuzz`: bytes of any kind for everything that reads somebody else's, for as long as one likes.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};

#[path = "../../fuzz/src/seeds.rs"]
mod seeds;

use seeds::{LONGEST, TARGETS, Target};

use crate::{cargo, process, tool};

/// Runs one target or all of them, one after the other, each for so many minutes.
///
/// # Errors
/// If there is no such target, or cargo-fuzz or the nightly compiler is not installed.
pub(crate) fn run(target: Option<&str>, minutes: u32) -> Result<ExitCode> {
    let chosen = TARGETS.iter().filter(|known| target.is_none_or(|wanted| wanted == known.name));
    let chosen: Vec<_> = chosen.collect();
    if chosen.is_empty() {
        let names = TARGETS.map(|known| known.name).join(", ");
        bail!("no target is called {}: there are {names}", target.unwrap_or_default());
    }
    let (seconds, mut crashed) = (60 * u64::from(minutes), Vec::new());
    for target in chosen {
        let (name, corpus) = (target.name, corpus(*target)?);
        println!("fuzz: {name} for {minutes} minutes");
        let mut command = tool::FUZZ.command()?;
        command.args(["run", "--sanitizer", "none", name]).arg(corpus).args([
            "--".to_owned(),
            format!("-max_total_time={seconds}"),
            format!("-max_len={LONGEST}"),
            "-timeout=10".to_owned(),
        ]);
        if !process::succeeds(command.arg("-rss_limit_mb=2048"))? {
            crashed.push(name);
        }
    }
    match crashed.as_slice() {
        [] => println!("fuzz: no panic, no timeout"),
        names => println!("fuzz: FAILED: {}; what did it lies in fuzz/artifacts", names.join(", ")),
    }
    Ok(tool::exit_code(crashed.is_empty()))
}

/// The folder, which git does not keep, that has what the target begins with, and to which what it finds is added.
fn corpus(target: Target) -> Result<PathBuf> {
    let folder = cargo::root().join("fuzz/corpus").join(target.name);
    fs::create_dir_all(&folder)?;
    for (name, bytes) in target.seeds(&cargo::root())? {
        fs::write(folder.join(name), bytes)?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_its_file_and_its_place_in_the_manifest() {
        let folder = cargo::root().join("fuzz");
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for Target { name, .. } in TARGETS {
            assert!(
                folder.join("fuzz_targets").join(name).with_extension("rs").is_file(),
                "{name}"
            );
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        }
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
    }
}
