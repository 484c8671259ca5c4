//! What every crate must have.

use std::path::Path;

use super::{File, Finding, Repo};
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

/// Files that the code, the documentation or the front page of a crate leads to outside of its package, where nobody finds them who has
/// the package alone. Its tests are in no package.
pub(super) fn packaged(repo: &Repo) -> Vec<Finding> {
    let manifests =
        repo.files.iter().filter(|file| in_crate(file).is_some_and(|it| it == "Cargo.toml"));
    let excludes = |file: &File| !file.text.contains("\nexclude = [\"tests");
    let message = "does not exclude its tests, which read what is in no package";
    let unexcluded =
        manifests.filter(|file| excludes(file)).map(|file| Finding::new(&file.path, message));
    repo.files.iter().flat_map(leading_out).chain(unexcluded).collect()
}

/// The path of a file within the crate that it is of.
fn in_crate(file: &File) -> Option<&str> {
    Some(file.path.strip_prefix("crates/")?.split_once('/')?.1)
}

fn leading_out(file: &File) -> Vec<Finding> {
    let Some(inside) = in_crate(file) else { return Vec::new() };
    // What is read when the crate is built, a path that is made of the manifest's, and what a reader of the front page follows.
    let (marks, depth): (&[&str], _) = match inside {
        "README.md" => (&["](../"], 0),
        _ if inside.starts_with("src/") && inside.ends_with(".rs") => {
            (&["include_", "CARGO_MANIFEST_DIR", "\"/../"], inside.matches('/').count())
        }
        _ => return Vec::new(),
    };
    let leads = |line: &&str| {
        let ups = line.matches("../").count();
        marks.iter().any(|mark| line.contains(mark)) && (ups > depth || line.contains("\"/../"))
    };
    let lines = file.text.lines().enumerate().filter(|(_, line)| leads(line));
    let message = "leads out of the package: put it into the crate, or say it in words";
    lines.map(|(number, _)| Finding::at(file, number, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn what_leads_out_of_the_package_is_found() {
        let of = |path: &str, text: &str| leading_out(&File::of(path, text)).len();
        let text = "include_str!(\"../../data/a.json\")";
        assert_eq!(of("crates/a/src/b/c.rs", text), 0);
        assert_eq!(of("crates/a/src/b.rs", text), 1);
        assert_eq!(of("crates/a/tests/it/b.rs", text), 0);
        assert_eq!(of("crates/a/src/b.rs", "/// #     \"/../roofline/data\""), 1);
        assert_eq!(of("crates/a/README.md", "[Fizeau](../../README.md)"), 1);
        assert_eq!(of("crates/a/README.md", "`cd ../b`, [x](examples/a.rs)"), 0);
    }

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
