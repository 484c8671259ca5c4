//! What cargo knows: the workspace, and the programs it builds.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The repository: the folder above xtask's own.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable for what it runs, which holds after the repository has moved. Where something
    // else of cargo's started us, it names that one's package; the constant serves then, and for a start by
    // hand.
    let told = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let xtask = told.filter(|folder| folder.ends_with("xtask"));
    let xtask = xtask.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    xtask.parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// The cargo that runs us.
pub(crate) fn command() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A program that cargo built.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Runs `cargo build` with `args`; what it says goes to standard error, the programs come back.
///
/// # Errors
/// If it does not build; the compiler has then said why.
pub(crate) fn build(args: &[&str]) -> Result<Vec<Program>> {
    let built = built(&["build"], args)?;
    Ok(built.into_iter().map(|(_, program)| program).collect())
}

/// The examples, as `cargo test` with `args` builds them: with the dependencies of the tests, which need not be built twice then.
///
/// # Errors
/// If something does not build; the compiler has then said why.
pub(crate) fn examples(args: &[&str]) -> Result<Vec<Program>> {
    let built = built(&["test", "--no-run"], args)?;
    let examples =
        built.into_iter().filter(|(kinds, _)| kinds.iter().any(|kind| kind == "example"));
    Ok(examples.map(|(_, program)| program).collect())
}

/// The programs that a command of cargo makes, each with the kinds of target that it is.
fn built(command: &[&str], args: &[&str]) -> Result<Vec<(Vec<String>, Program)>> {
    let output = self::command()
        .args(command)
        .args(["--message-format", "json-render-diagnostics"])
        .args(args)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cargo {} {} failed", command.join(" "), args.join(" "));
    }
    Ok(programs(&String::from_utf8_lossy(&output.stdout)))
}

/// The programs named in cargo's messages, one JSON object a line.
fn programs(messages: &str) -> Vec<(Vec<String>, Program)> {
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
        target: Option<Target>,
    }
    let message = |line| serde_json::from_str::<Message>(line).ok();
    messages
        .lines()
        .filter_map(message)
        .filter_map(|message| Some((message.target?, message.executable?)))
        .map(|(target, path)| (target.kind, Program { name: target.name, path }))
        .collect()
}

/// `cargo metadata`, as much of it as is used here.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_members: Vec<String>,
    pub(crate) resolve: Option<Resolve>,
    pub(crate) target_directory: PathBuf,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) id: String,
    pub(crate) license: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) rust_version: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
    /// Each with what it turns on.
    #[serde(default)]
    pub(crate) features: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `dev`, `build`, or none for a normal one.
    pub(crate) kind: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) dependencies: Vec<String>,
    /// The same with what they are for.
    #[serde(default)]
    pub(crate) deps: Vec<NodeDependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NodeDependency {
    pub(crate) pkg: String,
    pub(crate) dep_kinds: Vec<NodeDependencyKind>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NodeDependencyKind {
    /// `dev`, `build`, or none for a normal one.
    pub(crate) kind: Option<String>,
}

impl Metadata {
    /// Asks cargo about the workspace; `args` as for `cargo metadata`.
    ///
    /// # Errors
    /// If a manifest is wrong, or a dependency is neither here nor to be had.
    pub(crate) fn read(args: &[&str]) -> Result<Self> {
        let output = command()
            .args(["metadata", "--format-version", "1", "--manifest-path"])
            .arg(root().join("Cargo.toml"))
            .args(args)
            .stderr(Stdio::inherit())
            .output()
            .context("cannot run cargo")?;
        if !output.status.success() {
            bail!("cargo metadata failed");
        }
        serde_json::from_slice(&output.stdout).context("cannot read cargo's metadata")
    }

    /// The packages of this workspace.
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| self.workspace_members.contains(&p.id))
    }

    /// Where a program lies that was built for tests.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.target_directory.join("debug").join(name).with_extension(env::consts::EXE_EXTENSION)
    }

    /// What is published: each package of `crates/`.
    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        let crates = root().join("crates");
        self.ours().filter(move |p| p.manifest_path.starts_with(&crates))
    }

    /// The libraries that others may use.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = &Package> {
        self.published().filter(|p| p.has("lib"))
    }
}

impl Package {
    /// Whether it has a target of this kind: `lib`, `bin`, `example`, ...
    pub(crate) fn has(&self, kind: &str) -> bool {
        self.targets.iter().any(|t| t.kind.iter().any(|k| k == kind))
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.manifest_path.parent().map_or_else(PathBuf::new, Path::to_path_buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_the_artifacts_with_an_executable() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"lib","kind":["lib"]},"executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"fizeau","kind":["bin"]},"executable":"/t/fizeau"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let found = programs(messages);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, ["bin"]);
        assert_eq!(found[0].1.name, "fizeau");
        assert_eq!(found[0].1.path, Path::new("/t/fizeau"));
    }
}
