//! Every package of others that the workspace names has a row in `docs/dependencies.md`, and no row is left over.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::{Finding, Repo};

const PAGE: &str = "docs/dependencies.md";

pub(super) fn explained(repo: &Repo) -> Vec<Finding> {
    let text = |path| repo.file(path).map_or("", |file| file.text.as_str());
    differing(&named(text("Cargo.toml")), &rows(text(PAGE)))
}

fn differing(named: &BTreeSet<String>, rows: &BTreeSet<String>) -> Vec<Finding> {
    let missing = named
        .difference(rows)
        .map(|name| (name, "has no row: why it is there, what it costs, what would replace it"));
    let left = rows
        .difference(named)
        .map(|name| (name, "has a row, and is no dependency of the workspace"));
    missing.chain(left).map(|(name, what)| Finding::new(PAGE, format!("{name} {what}"))).collect()
}

/// The packages of others in `[workspace.dependencies]`.
fn named(manifest: &str) -> BTreeSet<String> {
    let manifest: Table = toml::from_str(manifest).unwrap_or_default();
    let named = manifest.get("workspace").and_then(|it| it.get("dependencies"));
    let named = named.and_then(Value::as_table).into_iter().flatten();
    named.filter(|(_, how)| how.get("path").is_none()).map(|(name, _)| name.clone()).collect()
}

/// The names in the first column of a page's tables, which stand between backquotes.
fn rows(page: &str) -> BTreeSet<String> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_missing_or_left_over_is_found() {
        let manifest = "[workspace.dependencies]\nours = { path = \"o\" }\na = \"1\"\nb = { version = \"2\" }\n";
        let page = "| package | why |\n|---|---|\n| `a`, `c` | `b` is no row |\n";
        let found = differing(&named(manifest), &rows(page));
        assert_eq!(found.len(), 2);
        assert!(found[0].message.starts_with("b has no row"));
        assert!(found[1].message.starts_with("c has a row"));
    }
}
