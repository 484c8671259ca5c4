//! What every crate must have.

use std::path::Path;

use super::{Finding, Repo};
use crate::cargo::Package;

/// Packages that lack a description, the workspace's lints, a README.md (those in `crates/`) or a crate doc.
pub(super) fn complete(repo: &Repo) -> Vec<Finding> {
    repo.metadata.ours().flat_map(|package| missing(package, &|path| text_of(repo, path))).collect()
}

fn text_of<'a>(repo: &'a Repo, path: &Path) -> Option<&'a str> {
    let path = path.strip_prefix(&repo.root).ok()?;
    repo.file(&path.to_string_lossy().replace('\\', "/")).map(|file| file.text.as_str())
}

fn missing<'a>(package: &Package, text: &dyn Fn(&Path) -> Option<&'a str>) -> Vec<Finding> {
    let folder = package.folder();
    let published = folder.parent().is_some_and(|above| above.ends_with("crates"));
    let manifest = text(&package.manifest_path).unwrap_or_default();
    let root = ["src/lib.rs", "src/main.rs"].into_iter().find_map(|name| text(&folder.join(name)));
    let mut messages = Vec::new();
    if package.description.as_deref().unwrap_or_default().is_empty() {
        messages.push("has no description in its Cargo.toml");
    }
    if !has_workspace_lints(manifest) {
        messages.push("does not say `[lints] workspace = true` in its Cargo.toml");
    }
    if published && text(&folder.join("README.md")).is_none() {
        messages.push("has no README.md");
    }
    if !root.is_some_and(|text| text.starts_with("//!")) {
        messages.push("does not begin with a crate doc (//!)");
    }
    messages.into_iter().map(|message| Finding::new(&package.name, message)).collect()
}

fn has_workspace_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    lines.find(|line| !line.is_empty() && !line.starts_with('#')) == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const MANIFEST: &str = "[package]\nname = \"a\"\n\n[lints]\n# all of them\nworkspace = true\n";

    fn findings(description: &str, files: &[(&'static str, &'static str)]) -> Vec<String> {
        let package = Package {
            name: "a".to_owned(),
            description: Some(description.to_owned()),
            manifest_path: PathBuf::from("crates/a/Cargo.toml"),
            ..Package::default()
        };
        let text =
            |path: &Path| files.iter().find(|(p, _)| Path::new(p) == path).map(|(_, text)| *text);
        missing(&package, &text).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_complete_crate_passes_and_an_empty_one_fails_in_every_way() {
        let files = [
            ("crates/a/Cargo.toml", MANIFEST),
            ("crates/a/README.md", "# a"),
            ("crates/a/src/lib.rs", "//! A."),
        ];
        assert_eq!(findings("What it is.", &files), [""; 0]);
        assert_eq!(findings("What it is.", &files[..2]).len(), 1);
        assert_eq!(findings("", &[]).len(), 4);
    }

    #[test]
    fn the_lints_must_be_the_workspaces() {
        assert!(has_workspace_lints(MANIFEST));
        assert!(!has_workspace_lints("[lints]\n[dependencies]\nworkspace = true"));
        assert!(!has_workspace_lints("workspace = true"));
    }
}
