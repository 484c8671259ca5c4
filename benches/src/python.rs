//! Python packages to be held against, in a virtual environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The plain name first; the others are for machines whose plain name is an old one.
const PYTHONS: [&str; 5] = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];
const PROBE: &str = "import sys, venv, ensurepip; assert sys.version_info >= (3, 11)";

/// The Python of a virtual environment in `folder` that has `what`, as the file `lock` pins and hashes it. It is made anew if the
/// lock has changed.
///
/// # Errors
/// A sentence that says what is missing: a Python of 3.11 or later, the lock, or what pip could not install.
pub fn environment(what: &str, folder: &Path, lock: &Path) -> Result<PathBuf, String> {
    let locked =
        fs::read_to_string(lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    let (python, stamp) = (folder.join("bin/python"), folder.join("installed.lock"));
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == locked) && python.exists() {
        return Ok(python);
    }
    eprintln!("installing {what} into {} (once)", folder.display());
    let fits =
        |name: &&&str| succeeds(Command::new(name).args(["-c", PROBE]).stderr(Stdio::null()));
    let base = PYTHONS.iter().find(fits).ok_or("there is no Python 3.11 or later with venv")?;
    if !succeeds(Command::new(base).args(["-m", "venv", "--clear"]).arg(folder)) {
        return Err(format!("Python cannot make a virtual environment in {}", folder.display()));
    }
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--require-hashes", "--no-deps", "--only-binary", ":all:", "--requirement"])
        .arg(lock)
        .env("PIP_CACHE_DIR", folder.join("pip"));
    if !succeeds(&mut pip) {
        return Err(format!(
            "pip could not install {what} (see above for its reason); it needs the network once"
        ));
    }
    // Written last, so that what was cut short does not count.
    fs::write(stamp, locked).map_err(|error| format!("cannot write the stamp: {error}"))?;
    Ok(python)
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
