//! `docs/metrics.md`, cut into rows, tables and names.

use std::collections::BTreeSet;

pub(crate) const PAGE: &str = include_str!("../../../../../docs/metrics.md");

/// The cells of each row of the page's tables, without blanks around them. Rows of dashes are left out.
pub(crate) fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let cells = |line: &'static str| -> Option<Vec<&'static str>> {
        let inside = line.strip_prefix("| ")?.strip_suffix(" |")?;
        Some(inside.split(" | ").map(str::trim).collect())
    };
    PAGE.lines().filter_map(cells)
}

/// The rows of the first table whose head row begins with these cells, without the head.
pub(crate) fn table(head: &[&str]) -> Vec<Vec<&'static str>> {
    let mut lines =
        PAGE.lines().skip_while(|line| !line.starts_with(&format!("| {} |", head.join(" | "))));
    assert!(lines.next().is_some(), "no table begins with {head:?}");
    let body = lines.skip(1).take_while(|line| line.starts_with('|'));
    body.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// What stands in backticks.
pub(crate) fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Everything on the page that stands in backticks; of `requests.sent` also its parts.
pub(crate) fn all_code() -> BTreeSet<&'static str> {
    let whole = PAGE.lines().flat_map(code);
    whole.flat_map(|name| [name].into_iter().chain(name.split('.'))).collect()
}
