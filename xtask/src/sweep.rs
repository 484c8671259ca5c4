//! `cargo xtask sweep`: a build with the profile `sweep`, then `fizeau sweep` in place of this process.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::{cargo, process};

/// Variables by which `cargo xtask engine run` says what it runs, and the flags that they stand for.
pub(crate) const SUBJECT: [&str; 3] =
    ["FIZEAU_MODEL_CONFIG", "FIZEAU_HARDWARE", "FIZEAU_PRECISION"];
const SUBJECT_FLAGS: [&str; 3] = ["--model-config", "--hardware", "--precision"];

/// Builds `fizeau` and becomes it. On Unix nothing of xtask is left, so Ctrl-C and the exit code are its own.
pub(crate) fn run(args: &[OsString]) -> Result<ExitCode> {
    let mut command = Command::new(program()?);
    let is_remote = std::env::var_os("FIZEAU_BASE_URL").is_some();
    let subject = SUBJECT.map(std::env::var_os);
    command.arg("sweep").args(lengths(args, is_remote)).args(short(args, is_remote));
    command.args(described(args, subject)).args(args);
    process::become_command(command)
}

/// The program `fizeau`, built with the profile `sweep`.
///
/// # Errors
/// If it cannot be built.
pub(crate) fn program() -> Result<PathBuf> {
    // Tokenizers, Parquet and the live view take longer to build than a look at the engine takes.
    let package = [
        "--profile",
        "sweep",
        "--package",
        "fizeau-cli",
        "--bin",
        "fizeau",
        "--no-default-features",
    ];
    let built = cargo::build(&package)?;
    let fizeau = built.into_iter().next();
    let fizeau = fizeau.context("cargo built no program named fizeau in fizeau-cli")?;
    Ok(fizeau.path)
}

/// Lengths that the real engine, on a CPU, gets enough requests of through in a level, and of the embedded one, whose tokens are all
/// alike, half as long: a first level of few requests is there in seconds. None where the command line says some.
fn lengths(args: &[OsString], is_remote: bool) -> &'static [&'static str] {
    const SAYS_HOW_LONG: [&str; 10] = [
        "--isl",
        "--random-input-len",
        "--input-len",
        "--osl",
        "--random-output-len",
        "--output-len",
        "--random-range-ratio",
        "--length-preset",
        "--length-pairs",
        "--dataset-name",
    ];
    match names_any(args, &SAYS_HOW_LONG) {
        true => &[],
        false if is_remote || names_any(args, &["--base-url"]) => &["--isl", "250", "--osl", "250"],
        false => &["--isl", "128", "--osl", "128"],
    }
}

/// Flags of the embedded engine, which is the same at any time: a look at it should take a minute or two, not a minute a level. A
/// level whose mean latency is soon known, as at low loads, is shorter still; the output says which ones were.
fn short(args: &[OsString], is_remote: bool) -> &'static [&'static str] {
    const SAYS_HOW_LONG: [&str; 6] =
        ["--base-url", "--level-seconds", "--num-prompts", "--until", "--budget", "--resume"];
    match is_remote || names_any(args, &SAYS_HOW_LONG) {
        true => &[],
        false => &["--level-seconds", "11", "--until", "ci=2% from 2s"],
    }
}

/// Flags of the engine that the variables tell of, but for a device that the command line names; none where it names another engine
/// or another model.
fn described(args: &[OsString], subject: [Option<OsString>; 3]) -> Vec<OsString> {
    if names_any(args, &["--base-url", "--model-config", "--precision", "--weights", "--kv"]) {
        return Vec::new();
    }
    let told = SUBJECT_FLAGS.into_iter().zip(subject).filter(|(flag, _)| !names_any(args, &[flag]));
    told.filter_map(|(flag, value)| Some([flag.into(), value?])).flatten().collect()
}

/// Whether `args` have one of `flags`, be it with its value behind `=`.
fn names_any(args: &[OsString], flags: &[&str]) -> bool {
    args.iter().any(|arg| {
        let arg = arg.to_string_lossy();
        flags.contains(&arg.split_once('=').map_or(&*arg, |(flag, _)| flag))
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{described, lengths, short};

    #[test]
    fn only_the_embedded_engine_is_measured_in_short_levels() {
        let of = |line: &str| -> usize {
            let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            short(&args, false).len()
        };
        assert_eq!([of(""), of("--levels 1,2")], [4, 4]);
        assert_eq!(
            [of("--base-url=http://h"), of("--budget 20m"), of("--level-seconds 5")],
            [0; 3]
        );
        assert!(short(&[], true).is_empty());
    }

    #[test]
    fn lengths_are_those_of_the_command_line() {
        let given = [OsString::from("--random-input-len=1000")];
        assert!(lengths(&given, false).is_empty());
        let remote = [OsString::from("--base-url=http://h")];
        assert_eq!(lengths(&remote, false), lengths(&[], true));
        assert_ne!(lengths(&[], false), lengths(&[], true));
    }

    #[test]
    fn what_an_engine_runs_is_said_unless_the_command_line_does() {
        let of = |line: &str, told: [Option<&str>; 3]| -> Vec<OsString> {
            let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            described(&args, told.map(|value| value.map(OsString::from)))
        };
        let told = [Some("c.json"), Some("cpu.toml"), None];
        let flags = ["--model-config", "c.json", "--hardware", "cpu.toml"];
        assert_eq!(of("--levels 1,2", told), flags);
        assert!(of("", [None; 3]).is_empty());
        let other_device = of("--hardware=node7/device.toml", told);
        assert_eq!(other_device, ["--model-config", "c.json"], "the model is still the engine's");
        for line in ["--weights f32", "--model-config x.json", "--base-url http://h"] {
            assert!(of(line, told).is_empty(), "{line}");
        }
    }
}
