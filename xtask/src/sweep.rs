//! `cargo xtask sweep`: a release build, then `fizeau sweep` in place of this process.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::{cargo, process};

/// Builds `fizeau` and becomes it. On Unix nothing of xtask is left, so Ctrl-C and the exit code are its own.
pub(crate) fn run(args: &[OsString]) -> Result<ExitCode> {
    let built = cargo::build(&["--release", "--package", "fizeau-cli", "--bin", "fizeau"])?;
    let fizeau = built.first().context("cargo built no program named fizeau in fizeau-cli")?;
    let mut command = Command::new(&fizeau.path);
    let is_remote = std::env::var_os("FIZEAU_BASE_URL").is_some();
    command.arg("sweep").args(short(args, is_remote)).args(args);
    process::become_command(command)
}

/// Flags of the embedded engine, which is the same at any time: a look at it should take minutes, not a minute a level.
fn short(args: &[OsString], is_remote: bool) -> &'static [&'static str] {
    const SAYS_HOW_LONG: [&str; 6] =
        ["--base-url", "--level-seconds", "--num-prompts", "--until", "--budget", "--resume"];
    let says = |arg: &OsString| {
        let arg = arg.to_string_lossy();
        let flag = arg.split_once('=').map_or(&*arg, |(flag, _)| flag);
        SAYS_HOW_LONG.contains(&flag)
    };
    if is_remote || args.iter().any(says) { &[] } else { &["--level-seconds", "18"] }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::short;

    #[test]
    fn only_the_embedded_engine_is_measured_in_short_levels() {
        let of = |line: &str| -> usize {
            let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            short(&args, false).len()
        };
        assert_eq!([of(""), of("--levels 1,2")], [2, 2]);
        assert_eq!(
            [of("--base-url=http://h"), of("--budget 20m"), of("--level-seconds 5")],
            [0; 3]
        );
        assert!(short(&[], true).is_empty());
    }
}
