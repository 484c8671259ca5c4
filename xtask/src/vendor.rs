//! `cargo xtask vendor`: what the page carries of others, fetched again and compared with what is written down.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{cargo, process};

/// The folder of vendored files, from the root.
pub(crate) const FOLDER: &str = "crates/report/assets/echarts";
/// Which files lie there, in that folder.
pub(crate) const LIST: &str = "vendored.json";

/// What is vendored, as [`LIST`] has it.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Vendored {
    about: String,
    pub(crate) packages: Vec<Package>,
}

/// A package of npm.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: String,
    /// What of others is inside its files, and no package of the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) within: Vec<Within>,
    pub(crate) files: Vec<VendoredFile>,
}

/// A part of a package that others made.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct Within {
    pub(crate) name: String,
    /// None where only some lines of it were taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    pub(crate) licence: String,
}

/// A file that is kept of it.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct VendoredFile {
    pub(crate) name: String,
    /// Where it is in the package.
    from: String,
    pub(crate) sha256: String,
}

impl Vendored {
    /// The list as it is written down.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(LIST);
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not the list", path.display()))
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &VendoredFile> {
        self.packages.iter().flat_map(|package| &package.files)
    }
}

/// The checksum of a file's bytes, in hexadecimal.
pub(crate) fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What to do where a fetched file is not the one that is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// Say so, and keep what is there.
    Refuse,
    /// Take it, and write its sum down: for a new version.
    Accept,
}

/// Fetches every package of the list in the version that the list names.
///
/// # Errors
/// If npm or tar are missing or fail, or a file is another than the list says.
pub(crate) fn run(changed: Changed) -> Result<ExitCode> {
    let folder = cargo::root().join(FOLDER);
    let mut list = Vendored::read(&folder)?;
    let mut all = Vec::new();
    for package in &mut list.packages {
        let unpacked = fetch(&package.name, &package.version)?;
        for file in &mut package.files {
            let path = unpacked.join(&file.from);
            let bytes = fs::read(&path)
                .with_context(|| format!("{} has no {}", package.name, file.from))?;
            let sha256 = sum(&bytes);
            if sha256 != file.sha256 && changed == Changed::Refuse {
                bail!(
                    "{} {}: {} has the sum {sha256}, but {LIST} says {}; a new version is taken with --accept",
                    package.name,
                    package.version,
                    file.from,
                    file.sha256
                );
            }
            file.sha256 = sha256;
            all.push((folder.join(&file.name), bytes));
        }
    }
    for (path, bytes) in all {
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    let text = serde_json::to_string_pretty(&list)? + "\n";
    fs::write(folder.join(LIST), text).context("cannot write the list")?;
    Ok(ExitCode::SUCCESS)
}

/// Downloads and unpacks a package, and gives its folder. npm itself holds it against the registry's sum.
fn fetch(name: &str, version: &str) -> Result<PathBuf> {
    let place = cargo::root().join("target/vendor").join(name);
    if place.exists() {
        fs::remove_dir_all(&place).with_context(|| format!("cannot empty {}", place.display()))?;
    }
    fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", &format!("{name}@{version}")]).current_dir(&place);
    if !process::succeeds(&mut npm)? {
        bail!("npm cannot fetch {name} {version}");
    }
    let archive = format!("{name}-{version}.tgz");
    let mut tar = Command::new("tar");
    if !process::succeeds(tar.args(["-xzf", &archive]).current_dir(&place))? {
        bail!("tar cannot unpack {archive}");
    }
    Ok(place.join("package"))
}

#[cfg(test)]
mod tests {
    use super::sum;

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn the_sum_is_the_published_one() {
        assert_eq!(sum(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
