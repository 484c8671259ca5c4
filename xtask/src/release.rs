//! `cargo xtask release --dry-run`: whether what lies here could be published, without publishing any of it.

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

use crate::cargo::{self, Metadata};
use crate::{process, semver, tidy, tool};

/// One check: what it is called, and what is wrong.
type Check = (&'static str, fn(&str) -> Result<()>);

const CHECKS: [Check; 7] = [
    ("one version for all", versions),
    ("nothing is left uncommitted, and the tag is free", tree),
    ("the changes have an entry", changes),
    ("every manifest names the repository", repository),
    ("tidy", |_| held(tidy::is_clean()?, "see above")),
    ("the public items against the last tag", |_| {
        if semver::last_tag()?.is_none() {
            return Ok(());
        }
        held(semver::run()? == ExitCode::SUCCESS, "see above")
    }),
    ("every crate builds from its own package", packages),
];

/// Runs every check, all of them whatever the first ones say, and tells what a person does next.
///
/// # Errors
/// If the root's manifest cannot be read.
pub(crate) fn run() -> Result<ExitCode> {
    let version = version(&manifest()?).context("Cargo.toml has no workspace.package.version")?;
    println!("release {version}: nothing is published by this command");
    let mut ready = true;
    for (name, check) in CHECKS {
        match check(&version) {
            Ok(()) => println!("ok    {name}"),
            Err(error) => {
                println!("FAIL  {name}: {error:#}");
                ready = false;
            }
        }
    }
    match ready {
        true => println!(
            "ready: `cargo xtask test`, then `git tag v{version}` and `cargo publish --workspace`"
        ),
        false => println!("NOT ready: see the lines that begin with FAIL"),
    }
    Ok(tool::exit_code(ready))
}

fn manifest() -> Result<Table> {
    let text = fs::read_to_string(cargo::root().join("Cargo.toml")).context("no Cargo.toml")?;
    toml::from_str(&text).context("cannot read Cargo.toml")
}

fn version(manifest: &Table) -> Option<String> {
    Some(manifest.get("workspace")?.get("package")?.get("version")?.as_str()?.to_owned())
}

fn held(held: bool, otherwise: &str) -> Result<()> {
    if held { Ok(()) } else { bail!("{otherwise}") }
}

/// Each crate, each mention of one by another, and the Python package.
fn versions(version: &str) -> Result<()> {
    let metadata = Metadata::read(&["--no-deps"])?;
    let of_crates =
        metadata.published().map(|package| (package.name.clone(), package.version.clone()));
    let manifest = manifest()?;
    let named = manifest.get("workspace").and_then(|it| it.get("dependencies"));
    let named = named.and_then(Value::as_table).into_iter().flatten();
    let ours = named.filter(|(name, _)| name.starts_with("fizeau"));
    let of_names = ours.map(|(name, value)| {
        let version = value.get("version").and_then(Value::as_str).unwrap_or("none");
        (format!("[workspace.dependencies] {name}"), version.to_owned())
    });
    let wrong: Vec<String> = of_crates
        .chain(of_names)
        .filter(|(_, found)| found != version)
        .map(|(name, found)| format!("{name} has {found}"))
        .collect();
    held(wrong.is_empty(), &wrong.join(", "))
}

fn tree(version: &str) -> Result<()> {
    let git = |args: &[&str]| {
        process::output_of(Command::new("git").args(args).current_dir(cargo::root()))
    };
    let changed = git(&["status", "--porcelain"]).context("git is needed, and a clone")?;
    held(changed.is_empty(), &format!("these differ from the last commit:\n{changed}"))?;
    let tag = format!("v{version}");
    held(git(&["rev-parse", "--verify", "--quiet", &tag]).is_none(), &format!("{tag} is taken"))
}

fn changes(version: &str) -> Result<()> {
    let text = fs::read_to_string(cargo::root().join("CHANGELOG.md")).context("no CHANGELOG.md")?;
    let wanted = format!(
        "the topmost section of CHANGELOG.md is not `## {version}` with a list below it: what is `Unreleased` gets its version's name"
    );
    held(has_entry(&text, version), &wanted)
}

/// Whether the topmost section is of this version, and has something in it.
fn has_entry(text: &str, version: &str) -> bool {
    let Some((_, section)) = text.split_once("\n## ") else { return false };
    let (title, rest) = section.split_once('\n').unwrap_or((section, ""));
    let body = rest.split("\n## ").next().unwrap_or_default();
    title.split_whitespace().next() == Some(version) && body.contains("\n- ")
}

/// Without it a page of a registry leads nowhere, and whoever finds a hole finds nobody to tell.
fn repository(_: &str) -> Result<()> {
    let metadata = Metadata::read(&["--no-deps"])?;
    let without = metadata.published().filter(|package| package.repository.is_none());
    let mut names: Vec<&str> = without.map(|package| package.name.as_str()).collect();
    let python = fs::read_to_string(cargo::root().join("python/pyproject.toml"))?;
    let python: Table = toml::from_str(&python).context("cannot read python/pyproject.toml")?;
    if python.get("project").and_then(|it| it.get("urls")).is_none() {
        names.push("python/pyproject.toml");
    }
    held(names.is_empty(), &format!("no `repository` in {}", names.join(", ")))
}

/// Packages every crate and builds each from its package, against the packages of the others.
fn packages(_: &str) -> Result<()> {
    let mut command = cargo::command();
    command.args(["package", "--workspace", "--exclude", "fizeau-benches", "--exclude", "xtask"]);
    held(process::succeeds(command.current_dir(cargo::root()))?, "see above")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topmost_entry_counts() {
        let of = |title: &str| {
            format!("# Changes\n\n## {title}\n\n### Added\n\n- x\n\n## 0.1.0\n\n- y\n")
        };
        assert!(has_entry(&of("0.2.0"), "0.2.0") && has_entry(&of("0.2.0 (2027)"), "0.2.0"));
        for other in ["0.1.1", "0.2.01", "0.2.0-rc1", "Unreleased"] {
            assert!(!has_entry(&of(other), "0.2.0"), "{other}");
        }
        assert!(!has_entry("# Changes\n\n## 0.2.0\n\n## 0.1.0\n\n- y\n", "0.2.0"));
    }

    #[test]
    fn the_version_is_that_of_the_workspace() {
        let found = version(&manifest().unwrap());
        assert_eq!(found.as_deref(), Some(env!("CARGO_PKG_VERSION")));
        assert!(versions(env!("CARGO_PKG_VERSION")).is_ok());
    }
}
