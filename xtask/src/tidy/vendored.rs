//! What others made and we carry is as they made it, with its licence.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Finding, Repo};
use crate::vendor::{FOLDER, LIST, Vendored, VendoredFile, sum};

/// Files that are not what their list says, and files that it does not name.
pub(super) fn unchanged(repo: &Repo) -> Vec<Finding> {
    let script = Folder { path: FOLDER, list: LIST, ours: &[], remedy: "`cargo xtask vendor`" };
    let scripts = Vendored::read(&repo.root.join(FOLDER))
        .map(|list| list.files().map(named).collect::<Vec<_>>());
    let fonts = FONT.fonts(&repo.root.join(FONT.path));
    [(script, scripts), (FONT, fonts)]
        .into_iter()
        .flat_map(|(of, files)| of.check(repo, files))
        .collect()
}

/// A folder of files that others made.
pub(crate) struct Folder {
    /// From the root.
    pub(crate) path: &'static str,
    /// The file in it that has the sums.
    pub(crate) list: &'static str,
    /// What else of ours lies there.
    ours: &'static [&'static str],
    /// What makes its files again.
    remedy: &'static str,
}

pub(crate) const FONT: Folder = Folder {
    path: "crates/report/assets/font",
    list: "VENDORED.toml",
    ours: &["subset.py"],
    remedy: "`subset.py`",
};

/// The name of a file, and its sum.
type Summed = (String, String);

fn named(file: &VendoredFile) -> Summed {
    (file.name.clone(), file.sha256.clone())
}

/// What the list of the font has of each file.
#[derive(Deserialize)]
struct Fonts {
    file: Vec<Font>,
}

#[derive(Deserialize)]
struct Font {
    name: String,
    sha256: String,
}

impl Folder {
    fn fonts(&self, folder: &Path) -> Result<Vec<Summed>> {
        let text = fs::read_to_string(folder.join(self.list)).context("cannot be read")?;
        let fonts: Fonts = toml::from_str(&text).context("is not the list")?;
        Ok(fonts.file.into_iter().map(|font| (font.name, font.sha256)).collect())
    }

    fn check(&self, repo: &Repo, files: Result<Vec<Summed>>) -> Vec<Finding> {
        let Self { path, list, ours, .. } = self;
        let files = match files {
            Ok(files) => files,
            Err(error) => {
                return vec![Finding::new(format!("{path}/{list}"), format!("{error:#}"))];
            }
        };
        let mut findings = self.changed(&repo.root.join(path), &files);
        let names: HashSet<&str> = files.iter().map(|file| file.0.as_str()).collect();
        let is_known = |name: &str| names.contains(name) || name == *list || ours.contains(&name);
        let there = repo.files.iter();
        let there = there.filter_map(|file| file.path.strip_prefix(path)?.strip_prefix('/'));
        let strange = there.filter(|name| !is_known(name));
        findings.extend(
            strange.map(|name| Finding::new(format!("{path}/{name}"), format!("is not in {list}"))),
        );
        findings
    }

    /// The files in `folder` that are not what their sums say.
    fn changed(&self, folder: &Path, files: &[Summed]) -> Vec<Finding> {
        let wrong = |(name, sha256): &Summed| {
            let what = match fs::read(folder.join(name)) {
                Ok(bytes) if sum(&bytes) == *sha256 => return None,
                Ok(_) => format!("is not what was vendored: {} makes it again", self.remedy),
                Err(error) => format!("cannot be read: {error}"),
            };
            Some(Finding::new(format!("{}/{name}", self.path), what))
        };
        files.iter().filter_map(wrong).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo;

    #[test]
    fn a_font_that_is_another_or_is_gone_is_found() {
        let folder = cargo::root().join(FONT.path);
        let mut files = FONT.fonts(&folder).unwrap();
        assert!(files.len() >= 2, "the font and its licence");
        assert!(FONT.changed(&folder, &files).is_empty());
        files[0].1 = sum(b"another");
        files.push(("gone.ttf".to_owned(), String::new()));
        let found: Vec<String> =
            FONT.changed(&folder, &files).into_iter().map(|finding| finding.message).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("subset.py") && found[1].contains("cannot be read"), "{found:?}");
    }
}
