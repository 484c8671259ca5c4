//! Under which terms the packages come that we build upon.

use std::collections::{HashMap, VecDeque};

use super::{Finding, Repo};
use crate::cargo::{Metadata, Package};

/// Enough for every package in the graph, and no more: `deny.toml` holds the same list.
const ALLOWED: [&str; 8] = [
    "Apache-2.0",
    "BSD-3-Clause",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

/// Packages whose licence does not allow what we do with them.
pub(super) fn packages(repo: &Repo) -> Vec<Finding> {
    let metadata = &repo.metadata;
    let offends = |package: &&Package| !package.license.as_deref().is_some_and(is_allowed);
    let found = metadata.packages.iter().filter(offends);
    found
        .map(|package| {
            let licence = package.license.as_deref().unwrap_or("no licence that cargo knows of");
            let way = way_to(metadata, &package.id).join(" -> ");
            let message = format!("has {licence}, which is not allowed; it came by {way}");
            Finding::new(format!("{} {}", package.name, package.version), message)
        })
        .collect()
}

/// Whether `deny.toml` allows the same.
pub(super) fn deny_file(repo: &Repo) -> Vec<Finding> {
    let Some(file) = repo.file("deny.toml") else {
        return vec![Finding::new("deny.toml", "is missing")];
    };
    let mut theirs = allowed_by(&file.text);
    let mut ours = ALLOWED.to_vec();
    theirs.sort_unstable();
    ours.sort_unstable();
    if theirs == ours {
        return Vec::new();
    }
    vec![Finding::new(
        "deny.toml",
        format!("allows {theirs:?}, but xtask/src/tidy/licences.rs {ours:?}"),
    )]
}

/// The quoted words of the list `allow` in the table `[licenses]`.
fn allowed_by(deny: &str) -> Vec<&str> {
    let table = deny.split_once("[licenses]").map_or("", |(_, rest)| rest);
    let list = table.split_once("allow = [").map_or("", |(_, rest)| rest);
    let list = list.split_once(']').map_or("", |(list, _)| list);
    // Between quotes stand the odd pieces.
    list.split('"').skip(1).step_by(2).collect()
}

/// Whether one of the ways to read an SPDX expression needs only allowed licences. Old manifests write `/`
/// for OR.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let allowed = any_of(&mut words);
    allowed == Some(true) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

/// `a OR b OR ...`; none if that is not what stands there. AND binds closer (SPDX specification 2.3, annex
/// D).
fn any_of(words: &mut Words<'_>) -> Option<bool> {
    let mut allowed = all_of(words)?;
    while words.next_if_eq(&"OR").is_some() {
        allowed |= all_of(words)?;
    }
    Some(allowed)
}

fn all_of(words: &mut Words<'_>) -> Option<bool> {
    let mut allowed = one(words)?;
    while words.next_if_eq(&"AND").is_some() {
        allowed &= one(words)?;
    }
    Some(allowed)
}

fn one(words: &mut Words<'_>) -> Option<bool> {
    let word = words.next()?;
    if word == "(" {
        let allowed = any_of(words)?;
        return words.next_if_eq(&")").map(|_| allowed);
    }
    if words.next_if_eq(&"WITH").is_some() {
        let exception = words.next()?;
        return Some(ALLOWED.contains(&format!("{word} WITH {exception}").as_str()));
    }
    Some(ALLOWED.contains(&word))
}

/// The names of the packages on a shortest way from one of ours to `id`.
fn way_to<'a>(metadata: &'a Metadata, id: &'a str) -> Vec<&'a str> {
    let nodes = metadata.resolve.as_ref().map_or(&[][..], |resolve| &resolve.nodes);
    let dependencies: HashMap<&str, &Vec<String>> =
        nodes.iter().map(|node| (node.id.as_str(), &node.dependencies)).collect();
    let mut came_from: HashMap<&str, &str> = HashMap::new();
    let mut queue: VecDeque<&str> = metadata.workspace_members.iter().map(String::as_str).collect();
    while let Some(at) = queue.pop_front() {
        for next in dependencies.get(at).into_iter().copied().flatten() {
            if !metadata.workspace_members.contains(next) && !came_from.contains_key(next.as_str())
            {
                came_from.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    let mut way = vec![id];
    while let Some(before) = way.last().and_then(|at| came_from.get(at)) {
        way.push(before);
    }
    let name = |id: &&str| metadata.packages.iter().find(|p| p.id == *id).map(|p| p.name.as_str());
    way.iter().rev().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_allowed_if_one_way_to_read_it_is() {
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "GPL-3.0-only OR MIT",
            "Unlicense/MIT",
            "(MIT OR GPL-3.0-only) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
            "MIT OR GPL-3.0-only AND Apache-2.0",
        ] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT",
            "MIT)",
            "MIT Apache-2.0",
            "GPL-3.0-only WITH Classpath-exception-2.0",
            "LicenseRef-mine",
        ] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }

    #[test]
    fn the_list_of_deny_toml() {
        let deny = "[bans]\nallow = [\"no\"]\n\
                    [licenses]\nallow = [\n  \"MIT\",\n  \"Zlib\", # why\n]\nexceptions = [\"x\"]";
        assert_eq!(allowed_by(deny), ["MIT", "Zlib"]);
        assert_eq!(allowed_by("[licenses]"), [""; 0]);
    }

    #[test]
    fn the_way_to_an_offender_starts_at_one_of_ours() {
        let metadata: Metadata = serde_json::from_str(
            r#"{"packages": [
                 {"name": "ours", "version": "1", "id": "o", "license": null, "description": null,
                  "manifest_path": "", "dependencies": [], "targets": []},
                 {"name": "between", "version": "1", "id": "b", "license": null, "description": null,
                  "manifest_path": "", "dependencies": [], "targets": []},
                 {"name": "offender", "version": "1", "id": "x", "license": null, "description": null,
                  "manifest_path": "", "dependencies": [], "targets": []}],
                "workspace_members": ["o"], "target_directory": "t",
                "resolve": {"nodes": [{"id": "o", "dependencies": ["b"]}, {"id": "b", "dependencies": ["x"]}]}}"#,
        )
        .unwrap();
        assert_eq!(way_to(&metadata, "x"), ["ours", "between", "offender"]);
    }
}
