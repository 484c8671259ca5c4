//! The pages in Markdown.

use super::{File, Finding, Repo};

const README_LINES: usize = 120;
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

/// Links from one page to a file of the repository that is not there.
pub(super) fn links(repo: &Repo) -> Vec<Finding> {
    let pages = repo.files.iter().filter(|file| file.path.ends_with(".md"));
    pages.flat_map(|file| dead_links(file, &|target| repo.root.join(target).exists())).collect()
}

fn dead_links(file: &File, exists: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    let mut fenced = false;
    for (n, line) in file.text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        for target in targets(line) {
            let target_path = format!("{folder}/{target}");
            if !exists(target_path.trim_start_matches('/')) {
                findings.push(Finding::at(file, n, format!("{target} does not exist")));
            }
        }
    }
    findings
}

/// The files that a line links to: no other hosts, no anchors, no titles.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let inside = rest.split(')').next()?.trim();
        let target = inside.split([' ', '#']).next()?.trim_matches(['<', '>']);
        let elsewhere =
            target.is_empty() || target.contains("://") || target.starts_with("mailto:");
        (!elsewhere).then_some(target)
    })
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
            front_page(&File::of("README.md", format!("{GOOD}{}", "x\n".repeat(120)))).len(),
            1
        );
    }

    #[test]
    fn only_links_to_our_own_files_are_looked_up() {
        let line =
            "[a](b.md) [c](https://d.org/e) [f](#g) [h](i/j.rs#L3) ![k](l.svg \"title\") a](";
        assert_eq!(targets(line).collect::<Vec<_>>(), ["b.md", "i/j.rs", "l.svg"]);
    }

    #[test]
    fn a_link_is_read_from_its_own_folder() {
        let there = |path: &str| path == "docs/b.md" || path == "docs/../README.md";
        let file =
            File::of("docs/a.md", "[b](b.md) [r](../README.md)\n```\n[x](y)\n```\n[d](dead.md)");
        assert_eq!(
            dead_links(&file, &there),
            [Finding::new("docs/a.md:5", "dead.md does not exist")]
        );
        let file = File::of("README.md", "[b](docs/b.md)");
        assert_eq!(dead_links(&file, &there), []);
    }
}
