//! What the engine needs before it can start: a virtual environment, and a model. Each is made once and
//! remembered by a stamp of all that went into it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Folder;
use super::recipe::{EngineKind, version};
use crate::{cargo, process};

/// Prints the version if it is new enough for the locked packages and can make virtual environments.
const PROBE: &str =
    "import sys, venv, ensurepip; assert sys.version_info >= (3, 11); print(sys.version)";

/// A Python that will do.
#[derive(Debug)]
pub(crate) struct Python {
    pub(crate) program: PathBuf,
    version: String,
}

/// The first Python on this machine that can make a virtual environment for tools of ours.
///
/// # Errors
/// If there is none; the message says what to install.
pub(crate) fn find_python() -> Result<Python> {
    find_python_named(EngineKind::default().recipe().pythons)
}

fn find_python_named(names: &[&str]) -> Result<Python> {
    let found = names.iter().find_map(|name| {
        let version = process::output_of(Command::new(name).args(["-c", PROBE]))?;
        Some(Python { program: PathBuf::from(name), version })
    });
    let wanted = match names {
        [only] => only.to_owned(),
        _ => "Python 3.11 or later",
    };
    found.with_context(|| {
        format!(
            "the engine needs {wanted} with its venv module, and none was found: install it \
             (on Debian or Ubuntu: apt install python3 python3-venv) and try again"
        )
    })
}

/// The Python of the virtual environment in `folder`, which is made first if it is not there or the lock has
/// changed.
///
/// # Errors
/// If there is no Python, or pip cannot install (no network, no wheel for this machine).
pub(crate) fn environment(folder: &Folder) -> Result<Python> {
    let recipe = folder.recipe;
    let base = find_python_named(recipe.pythons)?;
    let venv = folder.path("venv");
    let python = Python { program: venv.join("bin").join("python"), version: base.version.clone() };
    let stamp = Stamp { name: "venv.stamp", hash: hash(&[recipe.lock, &base.version]) };
    if stamp.stands(folder) && python.program.exists() {
        return Ok(python);
    }
    eprintln!(
        "engine: installing {} {} into {} (once)",
        recipe.package,
        version(recipe.lock, recipe.package),
        venv.display()
    );
    if !process::succeeds(Command::new(&base.program).args(["-m", "venv", "--clear"]).arg(&venv))? {
        bail!("python cannot make a virtual environment in {}", venv.display());
    }
    let mut pip = Command::new(&python.program);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--require-hashes", "--no-deps", "--only-binary", ":all:", "--requirement"])
        .arg(cargo::root().join("xtask/engine").join(recipe.lock_file))
        .env("PIP_CACHE_DIR", folder.path("pip"));
    if !process::succeeds(&mut pip)? {
        bail!(
            "pip could not install the engine (see above for its reason); it needs the network once, and a machine \
             that the lock has packages for"
        );
    }
    stamp.set(folder)?;
    Ok(python)
}

/// Makes the model in `folder` unless it is there and of today's script.
///
/// # Errors
/// If the script fails; it has then said why.
pub(crate) fn model(folder: &Folder, python: &Python) -> Result<()> {
    let recipe = folder.recipe;
    let [script, tokenizer] = recipe.model_scripts;
    let made_of = [script, tokenizer, recipe.lock, &python.version];
    let stamp = Stamp { name: "model.stamp", hash: hash(&made_of) };
    let model = folder.path("model");
    if stamp.stands(folder) && model.join(recipe.model_file).exists() {
        return Ok(());
    }
    eprintln!("engine: making a model of random weights in {} (once)", model.display());
    let script = cargo::root().join("xtask/engine").join(recipe.model_script);
    if !process::succeeds(Command::new(&python.program).arg(script).arg(&model))? {
        bail!("xtask/engine/{} failed (see above for its reason)", recipe.model_script);
    }
    stamp.set(folder)
}

/// A file that says of what its neighbour was made. Written last, so what was cut short does not count.
struct Stamp {
    name: &'static str,
    hash: String,
}

impl Stamp {
    fn stands(&self, folder: &Folder) -> bool {
        fs::read_to_string(folder.path(self.name)).is_ok_and(|found| found == self.hash)
    }

    fn set(&self, folder: &Folder) -> Result<()> {
        let path = folder.path(self.name);
        fs::write(&path, &self.hash).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// FNV-1a, 64 bits, over the parts and their lengths (<http://www.isthe.com/chongo/tech/comp/fnv/>): it tells
/// an edit from no edit, nobody attacks it, and unlike the standard library's hasher it never changes.
fn hash(parts: &[&str]) -> String {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |bytes: &[u8]| {
        for byte in bytes {
            state = (state ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for part in parts {
        take(part.as_bytes());
        take(&part.len().to_le_bytes());
    }
    format!("{state:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_sees_every_part_and_their_borders() {
        assert_ne!(hash(&["a", "b"]), hash(&["a", "c"]));
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_eq!(hash(&["ab", "c"]), hash(&["ab", "c"]));
    }
}
