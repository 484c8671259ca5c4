//! Which top-level module of a crate names which other in its paths.

use std::collections::BTreeMap;

use super::super::code::{blanked, for_tests};
use super::Uses;

/// The sources of a crate.
pub(super) struct Crate {
    /// By their paths below `src/`, without comments, literals and what is for tests.
    files: BTreeMap<String, String>,
    /// Names that the root re-exports or imports, with the module that they are of.
    names: BTreeMap<String, String>,
    modules: Vec<String>,
}

/// Where a path begins: at the crate's root, or in the module that it stands in.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

impl Crate {
    /// Of files by their paths below `src/`.
    pub(super) fn read<'a>(sources: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut files = BTreeMap::new();
        let mut for_tests_only = Vec::new();
        for (path, text) in sources {
            let code = blanked(text);
            let tests = for_tests(&code);
            let folder = if ROOTS.contains(&path) { "" } else { path.trim_end_matches(".rs") };
            for module in &tests.modules {
                for_tests_only
                    .push(format!("{folder}/{module}").trim_start_matches('/').to_owned());
            }
            let line = |(n, line): (usize, &str)| {
                if tests.has(n) { String::new() } else { line.to_owned() }
            };
            let kept: Vec<String> = code.lines().enumerate().map(line).collect();
            files.insert(path.to_owned(), kept.join("\n"));
        }
        let only = |path: &str| {
            for_tests_only.iter().any(|of| {
                path.strip_prefix(of.as_str())
                    .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            })
        };
        files.retain(|path, _| !only(path));
        let root = ROOTS.iter().find_map(|root| files.get(*root)).cloned().unwrap_or_default();
        let modules: Vec<String> = declared(&root).collect();
        Self { files, names: names(&root, &modules), modules }
    }

    /// Which module uses which other, and where it does so first.
    pub(super) fn uses(&self) -> Uses<'_> {
        let mut uses = Uses::new();
        for (path, code) in &self.files {
            let place: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
            let Some(from) = self.modules.iter().find(|module| *module == place[0]) else {
                continue;
            };
            for (at, name) in from_the_root(code, place.len()) {
                let Some(to) = self.module_of(name).filter(|to| *to != from) else { continue };
                let line = code[..at].matches('\n').count() + 1;
                uses.entry(from).or_default().entry(to).or_insert_with(|| format!("{path}:{line}"));
            }
        }
        uses
    }

    fn module_of(&self, name: &str) -> Option<&str> {
        let module = self.modules.iter().find(|module| *module == name);
        module.or_else(|| self.names.get(name)).map(String::as_str)
    }
}

/// The modules that a root declares.
fn declared(root: &str) -> impl Iterator<Item = String> {
    let name = |line: &str| {
        let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        Some(line.strip_prefix("mod ")?.split([';', ' ', '{']).next()?.to_owned())
    };
    root.lines().filter_map(name).collect::<Vec<_>>().into_iter()
}

/// The names that `use` lines of a root bring in, each with the module that it is of.
fn names(root: &str, modules: &[String]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for (at, _) in root.match_indices("use ") {
        let path = root[at + 4..].split(';').next().unwrap_or_default();
        let path = path.trim_start_matches("crate::").trim_start_matches("self::");
        let Some((module, rest)) = path.split_once("::") else { continue };
        if !modules.iter().any(|one| one == module) {
            continue;
        }
        for leaf in rest.split(['{', '}', ',']) {
            let leaf = leaf.rsplit(" as ").next().unwrap_or_default();
            let leaf = leaf.rsplit("::").next().unwrap_or_default().trim();
            if !leaf.is_empty() {
                names.insert(leaf.to_owned(), module.to_owned());
            }
        }
    }
    names
}

/// The first name below the crate's root of each path of a file `depth` modules below it, with where the path stands.
fn from_the_root(code: &str, depth: usize) -> Vec<(usize, &str)> {
    let above = "super::".repeat(depth);
    let mut found = Vec::new();
    for start in ["crate::", &above] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            // `super::super::` of a longer path, and names that only end so.
            if before.is_alphanumeric() || before == '_' || before == ':' {
                continue;
            }
            found.extend(first_names(&code[at + start.len()..]).into_iter().map(|name| (at, name)));
        }
    }
    found
}

/// The first name of a path, or those of a `{list, of::paths}`.
fn first_names(path: &str) -> Vec<&str> {
    let name =
        |path: &'_ str| path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    let Some(list) = path.strip_prefix('{') else {
        return vec![&path[..name(path)]];
    };
    let (mut depth, mut names, mut from) = (1, Vec::new(), 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && c == ',') {
            let one = list[from..at].trim_start();
            names.push(&one[..name(one)]);
            from = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    names
}
