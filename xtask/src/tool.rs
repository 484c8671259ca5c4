//! Programs of others that only some commands need: found on the path or in `target/tools`, or told how to be had.

use std::env;
use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};

use crate::{cargo, process};

/// A program that nothing installs by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    /// How it is called, up to where its own arguments begin.
    words: &'static [&'static str],
    /// What installs it.
    install: &'static str,
}

pub(crate) const MDBOOK: Tool =
    Tool { words: &["mdbook"], install: "cargo install --locked --root target/tools mdbook" };
pub(crate) const MUTANTS: Tool = Tool {
    words: &["cargo", "mutants"],
    install: "cargo install --locked --root target/tools cargo-mutants",
};
pub(crate) const SEMVER_CHECKS: Tool = Tool {
    words: &["cargo", "semver-checks"],
    install: "cargo install --locked --root target/tools cargo-semver-checks",
};
/// Its sanitizers are of the nightly compiler alone.
pub(crate) const FUZZ: Tool = Tool {
    words: &["rustup", "run", "nightly", "cargo", "fuzz"],
    install: "rustup toolchain install nightly && cargo install --locked --root target/tools cargo-fuzz",
};

impl Tool {
    /// A call of it in the repository's root.
    ///
    /// # Errors
    /// If it is not there; the message says what installs it.
    pub(crate) fn command(self) -> Result<Command> {
        if process::output_of(self.call().arg("--version")).is_none() {
            bail!("`{}` is not to be had here: {}", self.words.join(" "), self.install);
        }
        Ok(self.call())
    }

    /// Runs it with `args`, and says by its exit code how that ended.
    ///
    /// # Errors
    /// As [`Tool::command`].
    pub(crate) fn run(self, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Result<ExitCode> {
        Ok(exit_code(process::succeeds(self.command()?.args(args))?))
    }

    fn call(self) -> Command {
        let (program, args) = self.words.split_first().unwrap_or((&"", &[]));
        let mut command = Command::new(program);
        command.args(args).current_dir(cargo::root()).env("PATH", path());
        command
    }
}

/// Where programs are looked for: first where the repository keeps its own, so that nothing need be installed for all of a machine.
fn path() -> OsString {
    let own = cargo::root().join("target/tools/bin");
    let others = env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(own).chain(env::split_paths(&others));
    env::join_paths(all).unwrap_or_else(|_| others.clone())
}

/// 0 where it went well, else 1.
pub(crate) const fn exit_code(went_well: bool) -> ExitCode {
    if went_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_what_installs_it() {
        let tool = Tool { words: &["no-such-program-here"], install: "make it" };
        let said = tool.command().map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(said, Err("`no-such-program-here` is not to be had here: make it".to_owned()));
    }
}
