//! Every package of others that the workspace or the fuzzing names has a row in `docs/dependencies.md`, which says where it is used, and
//! no row is left over.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::{Finding, Repo};

const PAGE: &str = "docs/dependencies.md";
/// What stands in a row for more crates than one would name.
const MANY: &str = "nearly all";
const FUZZ: &str = "fuzz";

/// Which crates use a package, without `fizeau-`.
#[derive(Debug, Default)]
struct Users {
    /// As it is built for whoever uses them.
    built: BTreeSet<String>,
    /// For their tests and benches.
    tests: BTreeSet<String>,
}

/// A row of a table: its packages, and what it says of where they are; none where a table has no such column.
#[derive(Debug)]
struct Row {
    packages: Vec<String>,
    place: Option<String>,
}

pub(super) fn explained(repo: &Repo) -> Vec<Finding> {
    let text = |path| repo.file(path).map_or("", |file| file.text.as_str());
    let (mut named, fuzzed) =
        (named(text("Cargo.toml"), true), named(text("fuzz/Cargo.toml"), false));
    let mut users: BTreeMap<String, Users> = BTreeMap::new();
    for package in repo.metadata.ours() {
        for used in &package.dependencies {
            let users = users.entry(used.name.clone()).or_default();
            let users = if used.kind.is_some() { &mut users.tests } else { &mut users.built };
            let name = package.name.strip_prefix("fizeau-").unwrap_or(&package.name);
            users.insert(name.to_owned());
        }
    }
    for name in &fuzzed {
        users.entry(name.clone()).or_default().built.insert(FUZZ.to_owned());
    }
    named.extend(fuzzed);
    let rows = rows(text(PAGE));
    differing(&named, &rows).into_iter().chain(misplaced(&rows, &users)).collect()
}

fn differing(named: &BTreeSet<String>, rows: &[Row]) -> Vec<Finding> {
    let rows: BTreeSet<String> = rows.iter().flat_map(|row| row.packages.clone()).collect();
    let missing = named
        .difference(&rows)
        .map(|name| (name, "has no row: why it is there, what it costs, what would replace it"));
    let left = rows.difference(named).map(|name| (name, "has a row, and nothing uses it"));
    missing.chain(left).map(|(name, what)| Finding::new(PAGE, format!("{name} {what}"))).collect()
}

/// Rows that do not name a crate that links one of their packages, or name one that has none.
fn misplaced(rows: &[Row], users: &BTreeMap<String, Users>) -> Vec<Finding> {
    let wrong = |row: &Row| {
        let place = row.place.as_deref().filter(|place| *place != MANY)?;
        let of = |of: fn(&Users) -> &BTreeSet<String>| -> BTreeSet<&str> {
            let users = row.packages.iter().filter_map(|name| users.get(name));
            users.flat_map(|users| of(users).iter().map(String::as_str)).collect()
        };
        let (built, tests) = (of(|users| &users.built), of(|users| &users.tests));
        let place = place.split(" (").next().unwrap_or_default();
        let said: BTreeSet<&str> = place.split(", ").map(str::trim).collect();
        let lacks = built.iter().find(|name| !said.contains(*name));
        let of_tests = |name: &str| name.strip_suffix("'s tests").map(|name| tests.contains(name));
        let is_there = |name: &&&str| {
            let is_built =
                built.contains(**name) || (**name == "benches" && tests.contains("benches"));
            is_built || of_tests(name).unwrap_or_else(|| **name == "tests" && !tests.is_empty())
        };
        let has_not = said.iter().find(|name| !is_there(name));
        let what = match (lacks, has_not) {
            (Some(name), _) => format!("does not say that {name} uses it"),
            (None, Some(name)) => format!("says that {name} uses it, which does not"),
            (None, None) => return None,
        };
        Some(Finding::new(PAGE, format!("the row of {} {what}", row.packages.join(", "))))
    };
    rows.iter().filter_map(wrong).collect()
}

/// The packages of others in a manifest's dependencies.
fn named(manifest: &str, of_workspace: bool) -> BTreeSet<String> {
    let manifest: Table = toml::from_str(manifest).unwrap_or_default();
    let workspace = manifest.get("workspace").and_then(Value::as_table);
    let table = if of_workspace { workspace } else { Some(&manifest) };
    let named = table.and_then(|it| it.get("dependencies"));
    let named = named.and_then(Value::as_table).into_iter().flatten();
    named.filter(|(_, how)| how.get("path").is_none()).map(|(name, _)| name.clone()).collect()
}

/// The rows of a page's tables: the names in the first column, which stand between backquotes, and the second column.
fn rows(page: &str) -> Vec<Row> {
    let (mut rows, mut has_place) = (Vec::new(), false);
    for line in page.lines().filter_map(|line| line.strip_prefix("| ")) {
        let mut cells = line.split(" | ");
        let (first, second) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let packages: Vec<String> =
            first.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        match packages.is_empty() {
            true => has_place = second == "where",
            false => rows.push(Row { packages, place: has_place.then(|| second.to_owned()) }),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_missing_or_left_over_is_found() {
        let manifest = "[workspace.dependencies]\nours = { path = \"o\" }\na = \"1\"\nb = { version = \"2\" }\n";
        let page = "| package | why |\n|---|---|\n| `a`, `c` | `b` is no row |\n";
        let found = differing(&named(manifest, true), &rows(page));
        assert_eq!(found.len(), 2);
        assert!(found[0].message.starts_with("b has no row"));
        assert!(found[1].message.starts_with("c has a row"));
    }

    #[test]
    fn a_row_names_who_links_its_packages() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let users = Users { built: set(&["x", "y"]), tests: set(&["z", "benches"]) };
        let users = BTreeMap::from([("a".to_owned(), users)]);
        let found = |place: &str| {
            let page =
                format!("| package | where | why |\n|---|---|---|\n| `a`, `b` | {place} | c |\n");
            misplaced(&rows(&page), &users).len()
        };
        assert_eq!(found("y, x (feature `f`)"), 0);
        assert_eq!(found("x, y, z's tests, benches"), 0);
        assert_eq!(found("nearly all"), 0);
        assert_eq!([found("x"), found("x, y, z"), found("x, y, w's tests")], [1; 3]);
    }
}
