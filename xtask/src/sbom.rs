//! `cargo xtask sbom`: what the program is made of, as CycloneDX 1.6 has it (<https://cyclonedx.org/docs/1.6/json/>): packages that cargo
//! links, and what of others its pages and pictures carry. No time and no serial number: the same lock file gives the same bytes.

mod carried;
mod notices;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cargo::{self, Metadata, Node, Package};
use crate::process;

/// Whose parts are listed.
const PROGRAM: &str = "fizeau-cli";
/// Which of our crates carries what is vendored.
const CARRIER: &str = "fizeau-report";

/// Writes the list to `out`, or below `target/`, and beside it the licences and notices of all that it names.
///
/// # Errors
/// If cargo cannot resolve the workspace, or a file cannot be read or written.
pub(crate) fn run(out: Option<PathBuf>) -> Result<ExitCode> {
    let metadata = Metadata::read(&["--all-features"])?;
    let out = out.unwrap_or_else(|| metadata.target_directory.join("sbom.cdx.json"));
    let lock = fs::read_to_string(cargo::root().join("Cargo.lock")).context("no Cargo.lock")?;
    let sums = toml::from_str::<Lock>(&lock).context("cannot read Cargo.lock")?.sums();
    let root = cargo::root();
    let parts = Parts { sums, used: used()?, carried: carried::components(&root)? };
    let list = list(&metadata, &parts).context("cargo did not say who depends on whom")?;
    let mut text = serde_json::to_string_pretty(&list)?;
    text.push('\n');
    fs::write(&out, text).with_context(|| format!("cannot write {}", out.display()))?;
    let count = list["components"].as_array().map_or(0, Vec::len);
    println!("sbom: {count} components in {}", out.display());
    let of_others = metadata.packages.iter().filter(|package| parts.has(package));
    let of_others = of_others
        .map(|package| (format!("{} {}", package.name, package.version), package.folder()));
    let carried = carried::FOLDERS.map(|folder| (folder.to_owned(), root.join(folder)));
    let folders: Vec<_> = of_others.chain(carried).collect();
    let text = notices::text(folders.iter().map(|(name, at)| (name.clone(), at.as_path())))?;
    let notices = out.with_file_name("third-party.txt");
    fs::write(&notices, text).with_context(|| format!("cannot write {}", notices.display()))?;
    println!("sbom: their licences and notices in {}", notices.display());
    Ok(ExitCode::SUCCESS)
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The sum of a package, by its name and version.
type Sums = HashMap<(String, String), String>;

impl Lock {
    fn sums(self) -> Sums {
        let summed = |locked: Locked| Some(((locked.name, locked.version), locked.checksum?));
        self.package.into_iter().filter_map(summed).collect()
    }
}

/// What is known of the parts beside cargo's graph.
struct Parts {
    sums: Sums,
    /// The packages of the program, by name and version: the graph of the workspace has those of tests and of features that the program
    /// turns on nowhere, too.
    used: HashSet<(String, String)>,
    /// What of others lies in the tree, as components.
    carried: Vec<Value>,
}

impl Parts {
    fn has(&self, package: &Package) -> bool {
        self.used.contains(&(package.name.clone(), package.version.clone()))
    }
}

/// What cargo links into the program, or builds it by, on whatever system.
fn used() -> Result<HashSet<(String, String)>> {
    let mut tree = cargo::command();
    tree.args(["tree", "--package", PROGRAM, "--all-features", "--edges", "normal,build"]);
    tree.args(["--target", "all", "--prefix", "none"]).current_dir(cargo::root());
    let tree = process::output_of(&mut tree).context("cargo tree failed")?;
    Ok(tree.lines().filter_map(named).collect())
}

/// The package of a line `NAME vVERSION ...` of `cargo tree`.
fn named(line: &str) -> Option<(String, String)> {
    let mut words = line.split(' ');
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    Some((name.to_owned(), version.to_owned()))
}

/// The document; none where cargo resolved nothing.
fn list(metadata: &Metadata, known: &Parts) -> Option<Value> {
    let nodes: HashMap<&str, &Node> =
        metadata.resolve.as_ref()?.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let packages = metadata.packages.iter().filter(|package| known.has(package));
    let packages: HashMap<&str, &Package> =
        packages.map(|package| (package.id.as_str(), package)).collect();
    let program = metadata.ours().find(|package| package.name == PROGRAM)?;
    let within = reached(&program.id, &nodes);
    let parts = within.iter().filter(|id| **id != program.id);
    let parts = parts.filter_map(|id| packages.get(id));
    let mut parts: Vec<Value> = parts.map(|package| component(package, &known.sums)).collect();
    parts.extend(known.carried.iter().cloned());
    let edges = |id: &&str| {
        let package = packages.get(id)?;
        let linked = linked(nodes.get(id)?).filter_map(|id| packages.get(id));
        let mut on: Vec<Value> = linked.map(|package| purl(package).into()).collect();
        if package.name == CARRIER {
            on.extend(known.carried.iter().map(|component| component["bom-ref"].clone()));
        }
        Some(json!({ "ref": purl(package), "dependsOn": on }))
    };
    Some(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": component(program, &known.sums) },
        "components": parts,
        "dependencies": within.iter().filter_map(edges).collect::<Vec<_>>(),
    }))
}

/// Everything that `start` is made of, itself included.
fn reached<'a>(start: &'a str, nodes: &HashMap<&str, &'a Node>) -> BTreeSet<&'a str> {
    let (mut within, mut open) = (BTreeSet::from([start]), VecDeque::from([start]));
    while let Some(node) = open.pop_front().and_then(|id| nodes.get(id).copied()) {
        for id in linked(node) {
            if within.insert(id) {
                open.push_back(id);
            }
        }
    }
    within
}

/// What a package is built of or by; what only its tests need is no part of it.
fn linked(node: &Node) -> impl Iterator<Item = &str> {
    let is_part = |kind: Option<&str>| kind != Some("dev");
    let parts = node.deps.iter();
    parts
        .filter(move |on| on.dep_kinds.iter().any(|kind| is_part(kind.kind.as_deref())))
        .map(|on| on.pkg.as_str())
}

fn component(package: &Package, sums: &Sums) -> Value {
    let sum = sums.get(&(package.name.clone(), package.version.clone()));
    let is_program = package.name == PROGRAM;
    json!({
        "type": if is_program { "application" } else { "library" },
        "bom-ref": purl(package),
        "purl": purl(package),
        "name": package.name,
        "version": package.version,
        "licenses": package.license.iter().map(|expression| json!({ "expression": spdx(expression) })).collect::<Vec<_>>(),
        "hashes": sum.iter().map(|sum| json!({ "alg": "SHA-256", "content": sum })).collect::<Vec<_>>(),
    })
}

/// Cargo's old spelling of `OR` is a slash.
fn spdx(license: &str) -> String {
    license.replace('/', " OR ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_strangers_are_no_parts_of_the_program() {
        let metadata: Metadata = serde_json::from_value(json!({
            "target_directory": "t", "workspace_members": ["cli"],
            "packages": [package("fizeau-cli", "cli"), package("a", "a"), package("b", "b"), package("c", "c"), package("d", "d")],
            "resolve": { "nodes": [
                node("cli", &[("a", None), ("b", Some("dev"))]),
                node("a", &[("c", Some("build")), ("d", None)]),
                node("b", &[]),
                node("c", &[]),
                node("d", &[]),
            ] },
        }))
        .unwrap();
        let sums = Sums::from([(("c".to_owned(), "1.0.0".to_owned()), "5e".to_owned())]);
        // Package d is behind a feature that the program has not.
        let used = ["fizeau-cli v1.0.0 (x/cli)", "a v1.0.0", "b v1.0.0", "c v1.0.0 (*)"];
        let used = used.into_iter().filter_map(named).collect();
        let list = list(&metadata, &Parts { sums, used, carried: Vec::new() }).unwrap();
        let names: Vec<_> =
            list["components"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
        assert_eq!(names, ["a", "c"]);
        assert_eq!(list["components"][1]["hashes"][0]["content"], "5e");
        assert_eq!(list["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(list["metadata"]["component"]["purl"], "pkg:cargo/fizeau-cli@1.0.0");
        assert_eq!(list["dependencies"].as_array().unwrap().len(), 3);
    }

    fn package(name: &str, id: &str) -> Value {
        json!({
            "name": name, "version": "1.0.0", "id": id, "license": "MIT/Apache-2.0", "description": null,
            "manifest_path": "Cargo.toml", "dependencies": [], "targets": [], "features": {},
        })
    }

    fn node(id: &str, on: &[(&str, Option<&str>)]) -> Value {
        let dependency = |(id, kind): &(&str, Option<&str>)| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let deps: Vec<Value> = on.iter().map(dependency).collect();
        json!({ "id": id, "dependencies": [], "deps": deps })
    }
}
