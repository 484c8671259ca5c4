//! Circles among the top-level modules of a crate. A module and those below it may know one another.

mod paths;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Finding, Repo};
use paths::Crate;

/// What a module uses of another: where first.
type Uses<'a> = BTreeMap<&'a str, BTreeMap<&'a str, String>>;

/// The circles of all crates.
pub(super) fn none(repo: &Repo) -> Vec<Finding> {
    crates(repo).iter().flat_map(|name| in_crate(repo, name)).collect()
}

/// The folders of `crates/`.
fn crates(repo: &Repo) -> BTreeSet<String> {
    let folder = |path: &str| Some(path.strip_prefix("crates/")?.split('/').next()?.to_owned());
    repo.rust_files().filter_map(|file| folder(&file.path)).collect()
}

fn in_crate(repo: &Repo, name: &str) -> Vec<Finding> {
    let folder = format!("crates/{name}/src/");
    let files = repo
        .rust_files()
        .filter_map(|file| Some((file.path.strip_prefix(&folder)?, file.text.as_str())));
    let read = Crate::read(files);
    circles(&read.uses()).into_iter().map(|text| Finding::new(name, text)).collect()
}

/// Each circle as a sentence.
fn circles(uses: &Uses<'_>) -> Vec<String> {
    let mut left: BTreeSet<&str> = uses.keys().copied().collect();
    let mut found = Vec::new();
    while let Some(module) = left.pop_first() {
        let Some(way) = way_back(uses, module) else { continue };
        let together: Vec<&str> = left
            .iter()
            .copied()
            .filter(|other| knows(uses, module, other) && knows(uses, other, module))
            .collect();
        left.retain(|other| !together.contains(other));
        let steps: Vec<String> = way
            .windows(2)
            .map(|step| format!("{} -> {} ({})", step[0], step[1], uses[step[0]][step[1]]))
            .collect();
        found.push(format!(
            "{} modules are in a circle: {}; the shortest one: {}",
            together.len() + 1,
            [&[module], together.as_slice()].concat().join(", "),
            steps.join(", ")
        ));
    }
    found
}

fn knows(uses: &Uses<'_>, from: &str, to: &str) -> bool {
    way(uses, from, to).is_some()
}

/// The shortest way from a module to itself.
fn way_back<'a>(uses: &Uses<'a>, module: &'a str) -> Option<Vec<&'a str>> {
    way(uses, module, module)
}

/// The shortest way from one module to another, over at least one arrow.
fn way<'a>(uses: &Uses<'a>, from: &'a str, to: &str) -> Option<Vec<&'a str>> {
    let mut ways = VecDeque::from([vec![from]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        let last = way.last().copied()?;
        for next in uses.get(last).into_iter().flat_map(BTreeMap::keys).copied() {
            let longer = [way.as_slice(), &[next]].concat();
            if next == to {
                return Some(longer);
            }
            if seen.insert(next) {
                ways.push_back(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&'static str, &'static str)]) -> Vec<String> {
        circles(&Crate::read(files.iter().copied()).uses())
    }

    #[test]
    fn a_circle_is_named_with_its_shortest_way() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\npub use c::Name;\n"),
            ("a.rs", "use crate::b::x;\n"),
            ("b/below.rs", "use super::super::c;\n"),
            ("c.rs", "use crate::{a, d::y};\n"),
            ("d.rs", "use crate::Name;\n"),
        ];
        let expected = "4 modules are in a circle: a, b, c, d; the shortest one: a -> b (a.rs:1), b -> c (b/below.rs:1), c -> a (c.rs:1)";
        assert_eq!(found(&files), [expected]);
    }

    #[test]
    fn parents_children_tests_and_comments_make_none() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod c;\npub use b::{Name, Other as More};\n"),
            ("a.rs", "mod below;\nuse crate::More;\nuse self::below::z;\n// use crate::a\n"),
            ("a/below.rs", "use super::y;\nuse crate::a::x;\n"),
            ("b.rs", "#[cfg(test)]\nmod far;\n#[cfg(test)]\nmod tests { use crate::a; }\n"),
            ("b/far.rs", "use crate::a;\n"),
            ("c.rs", "use crate::b; use crate::a;\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
        assert_eq!(Crate::read(files.iter().copied()).uses()["a"]["b"], "a.rs:2");
    }
}
