//! `cargo xtask fuzz`: bytes of any kind for everything that reads somebody else's, for as long as one likes.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::{cargo, process, tool};

/// The targets of `fuzz/`, each with the folder of the repository that has good inputs for it.
const TARGETS: [(&str, &str); 13] = [
    ("sse", "fuzz/seeds"),
    ("ndjson", "fuzz/seeds"),
    ("http1", "fuzz/seeds"),
    ("reply", "fuzz/seeds"),
    ("import", "fixtures/foreign"),
    ("metrics_page", "fixtures/telemetry"),
    ("forward_pass", "fuzz/seeds"),
    ("trace", "fixtures/workload"),
    ("dataset", "fixtures/workload"),
    ("model_config", "fixtures/configs"),
    ("device", "crates/roofline/data/devices"),
    ("run_folder", "fixtures/runs/bench"),
    ("words", "fuzz/seeds"),
];

/// Runs one target or all of them, one after the other, each for so many minutes.
///
/// # Errors
/// If there is no such target, or cargo-fuzz or the nightly compiler is not installed.
pub(crate) fn run(target: Option<&str>, minutes: u32) -> Result<ExitCode> {
    let chosen = TARGETS.iter().filter(|(name, _)| target.is_none_or(|wanted| wanted == *name));
    let chosen: Vec<_> = chosen.collect();
    if chosen.is_empty() {
        let names = TARGETS.map(|(name, _)| name).join(", ");
        bail!("no target is called {}: there are {names}", target.unwrap_or_default());
    }
    let (seconds, mut crashed) = (60 * u64::from(minutes), Vec::new());
    for (name, seeds) in chosen {
        println!("fuzz: {name} for {minutes} minutes");
        // What is found goes to the first folder, which git does not keep.
        let found = cargo::root().join("fuzz/corpus").join(name);
        std::fs::create_dir_all(&found)?;
        let mut command = tool::FUZZ.command()?;
        command
            .args(["run", "--sanitizer", "none", name])
            .arg(found)
            .arg(cargo::root().join(seeds));
        command.args([
            "--".to_owned(),
            format!("-max_total_time={seconds}"),
            "-timeout=10".to_owned(),
        ]);
        if !process::succeeds(command.args(["-max_len=16384", "-rss_limit_mb=2048"]))? {
            crashed.push(*name);
        }
    }
    match crashed.as_slice() {
        [] => println!("fuzz: no panic, no timeout"),
        names => println!("fuzz: FAILED: {}; what did it lies in fuzz/artifacts", names.join(", ")),
    }
    Ok(tool::exit_code(crashed.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_its_file_and_its_place_in_the_manifest() {
        let folder = cargo::root().join("fuzz");
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for (name, seeds) in TARGETS {
            assert!(
                folder.join("fuzz_targets").join(name).with_extension("rs").is_file(),
                "{name}"
            );
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
            assert!(cargo::root().join(seeds).is_dir(), "{seeds}");
        }
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
    }
}
