//! A browser for the tests that open the page: found, or on a Debian installed, or said to be missing.

use std::env;
use std::process::Command;

use anyhow::Result;

use super::gate::Outcome;
use crate::process;

/// As `crates/cli/tests/it/browser` looks for it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Makes sure that there is a browser, if that can be done.
///
/// # Errors
/// If a program cannot be started that is there.
pub(crate) fn set_up() -> Result<Outcome> {
    if is_there() || (may_install() && install()? && is_there()) {
        return Ok(Outcome::Passed);
    }
    eprintln!(
        "!!! THE TESTS OF THE PAGE IN A BROWSER DO NOT RUN: no Chromium was found, and none could be installed."
    );
    eprintln!("!!! On Debian, as root: apt-get install chromium");
    Ok(if process::is_ci() { Outcome::Failed } else { Outcome::Skipped("no Chromium") })
}

fn is_there() -> bool {
    let named = env::var_os("CHROMIUM").map(std::path::PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = env::split_paths(&path).collect();
    let all = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named.into_iter().chain(all).any(|program| program.is_file())
}

/// Only root may, and only Debian's own tool is asked.
fn may_install() -> bool {
    let user = process::output_of(Command::new("id").arg("-u"));
    let has_apt = process::output_of(Command::new("apt-get").arg("--version")).is_some();
    user.is_some_and(|id| id.trim() == "0") && has_apt
}

fn install() -> Result<bool> {
    eprintln!("browser: installing Debian's chromium (once)");
    let updated = process::succeeds(Command::new("apt-get").args(["update", "--quiet"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--quiet", "--no-install-recommends", "chromium"]);
    install.env("DEBIAN_FRONTEND", "noninteractive");
    Ok(updated && process::succeeds(&mut install)?)
}
