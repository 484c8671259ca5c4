//! The pages in Markdown.

use std::collections::BTreeSet;

use super::{File, Finding, Repo};

const README_LINES: usize = 100;
/// What a newcomer types first.
const FIRST_COMMANDS: [&str; 2] = ["cargo xtask sweep", "cargo xtask test"];

/// The front page is short and begins with the two commands that matter.
pub(super) fn readme(repo: &Repo) -> Vec<Finding> {
    repo.file("README.md").map_or_else(|| vec![Finding::new("README.md", "is missing")], front_page)
}

fn front_page(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = file.text.lines().count();
    if lines > README_LINES {
        let message =
            format!("has {lines} lines, more than {README_LINES}: it is no manual, docs/ is");
        findings.push(Finding::new(&file.path, message));
    }
    let commands: Vec<&str> =
        code_lines(&file.text).filter(|line| line.starts_with("cargo ")).take(2).collect();
    let right = commands.len() == 2
        && FIRST_COMMANDS.iter().zip(&commands).all(|(wanted, found)| found.starts_with(wanted));
    if !right {
        let message =
            format!("its first two commands must be {FIRST_COMMANDS:?}, not {commands:?}");
        findings.push(Finding::new(&file.path, message));
    }
    findings
}

/// The lines of code blocks, between fences or indented by four, without indentation and prompt.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter_map(move |line| {
        let content = line.trim_start();
        if content.starts_with("```") {
            fenced = !fenced;
            return None;
        }
        let content = content.strip_prefix("$ ").unwrap_or(content);
        (fenced || line.starts_with("    ")).then_some(content)
    })
}

/// Links from one page to a file of the repository, or to a heading of a page, that is not there.
pub(super) fn links(repo: &Repo) -> Vec<Finding> {
    let exists = |target: &str| repo.root.join(target).exists();
    let headings = |page: &str| repo.file(&plain(page)).map(|file| headings(&file.text));
    pages(repo).flat_map(|file| dead_links(file, &exists, &headings)).collect()
}

/// Pages of `docs/` that the book's list of contents does not have.
pub(super) fn book(repo: &Repo) -> Vec<Finding> {
    let contents = repo.file("docs/SUMMARY.md").map_or("", |file| file.text.as_str());
    let named: Vec<&str> = contents.lines().flat_map(targets).map(|(target, _)| target).collect();
    pages(repo)
        .filter_map(|file| file.path.strip_prefix("docs/"))
        .filter(|name| *name != "SUMMARY.md" && !named.contains(name))
        .map(|name| Finding::new(format!("docs/{name}"), "is not in docs/SUMMARY.md"))
        .collect()
}

fn pages(repo: &Repo) -> impl Iterator<Item = &File> {
    repo.files.iter().filter(|file| file.path.ends_with(".md"))
}

fn dead_links(
    file: &File,
    exists: &dyn Fn(&str) -> bool,
    headings: &dyn Fn(&str) -> Option<BTreeSet<String>>,
) -> Vec<Finding> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    for (n, line) in words(&file.text) {
        for (target, heading) in targets(line) {
            let path = match target {
                "" => file.path.clone(),
                _ => format!("{folder}/{target}").trim_start_matches('/').to_owned(),
            };
            let is_dead = |found: BTreeSet<String>| !heading.is_empty() && !found.contains(heading);
            if !exists(&path) {
                findings.push(Finding::at(file, n, format!("{target} does not exist")));
            } else if path.ends_with(".md") && headings(&path).is_some_and(is_dead) {
                let message = format!("{target}#{heading}: there is no such heading");
                findings.push(Finding::at(file, n, message));
            }
        }
    }
    findings
}

/// The lines of a page outside its code blocks, with their numbers from 0.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

/// The files and headings that a line links to: no other hosts, no titles. A link within the page has no file.
fn targets(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split("](").skip(1).filter_map(|rest| {
        let inside = rest.split(')').next()?.trim();
        let target = inside.split(' ').next()?.trim_matches(['<', '>']);
        let elsewhere =
            target.is_empty() || target.contains("://") || target.starts_with("mailto:");
        (!elsewhere).then(|| target.split_once('#').unwrap_or((target, "")))
    })
}

/// What links call the headings of a page, as GitHub and mdBook name them.
fn headings(text: &str) -> BTreeSet<String> {
    let titles = words(text).filter(|(_, line)| line.starts_with('#'));
    titles.map(|(_, line)| link_name(line.trim_start_matches('#').trim())).collect()
}

fn link_name(title: &str) -> String {
    let kept = |c: char| match c {
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    };
    title.to_lowercase().chars().filter_map(kept).collect()
}

/// A path without `..`.
fn plain(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "# X\n\n```sh\n$ cargo xtask sweep   # why\ncargo xtask test\ncargo build\n```\n";

    #[test]
    fn the_front_page_begins_with_the_two_commands() {
        assert_eq!(front_page(&File::of("README.md", GOOD)), []);
        assert_eq!(front_page(&File::of("README.md", GOOD.replace("sweep", "bench"))).len(), 1);
        assert_eq!(front_page(&File::of("README.md", "no command")).len(), 1);
        assert_eq!(
            front_page(&File::of("README.md", GOOD.replace("```sh", "```sh\ncargo install x")))
                .len(),
            1
        );
        assert_eq!(
            front_page(&File::of("README.md", format!("{GOOD}{}", "x\n".repeat(100)))).len(),
            1
        );
    }

    #[test]
    fn only_links_to_our_own_files_are_looked_up() {
        let line =
            "[a](b.md) [c](https://d.org/e) [f](#g) [h](i/j.rs#L3) ![k](l.svg \"title\") a](";
        let found: Vec<_> = targets(line).collect();
        assert_eq!(found, [("b.md", ""), ("", "g"), ("i/j.rs", "L3"), ("l.svg", "")]);
    }

    #[test]
    fn a_link_is_read_from_its_own_folder() {
        let there = |path: &str| ["docs/a.md", "docs/b.md", "docs/../README.md"].contains(&path);
        let titles = |path: &str| (path == "docs/b.md").then(|| headings("# The `b`, again\n"));
        let dead = |path: &str, text: &str| -> Vec<String> {
            let found = dead_links(&File::of(path, text), &there, &titles);
            found.iter().map(ToString::to_string).collect()
        };
        let page = "[b](b.md#the-b-again) [r](../README.md)\n```\n[x](y)\n```\n[d](dead.md)";
        assert_eq!(dead("docs/a.md", page), ["docs/a.md:5: dead.md does not exist"]);
        let page = "[b](b.md#the-b)";
        assert_eq!(dead("docs/a.md", page), ["docs/a.md:1: b.md#the-b: there is no such heading"]);
        assert_eq!(dead("README.md", "[b](docs/b.md)"), [""; 0]);
        assert_eq!(plain("docs/../README.md"), "README.md");
    }
}
