//! Flags and commands of the command line in the texts of libraries: a program that embeds one has none.

use super::code::{blanked, for_tests, strings};
use super::{File, Finding, Repo};

/// Flags in their texts are those of other tools.
const OF_OTHERS: [&str; 1] = ["interop"];

/// Flags that a reader has to give to a server.
const OF_SERVERS: [&str; 2] = ["--enable-metrics", "--incremental-streaming-output"];

/// Flags in the texts of libraries.
pub(super) fn none(repo: &Repo) -> Vec<Finding> {
    libraries(repo).flat_map(in_file).collect()
}

/// The sources of the libraries.
fn libraries(repo: &Repo) -> impl Iterator<Item = &File> {
    repo.rust_files().filter_map(|file| {
        let (name, rest) = file.path.strip_prefix("crates/")?.split_once('/')?;
        let is_library = name != "cli" && !OF_OTHERS.contains(&name);
        (is_library && rest.starts_with("src/")).then_some(file)
    })
}

fn in_file(file: &File) -> Vec<Finding> {
    let code = blanked(&file.text);
    let tests = for_tests(&code);
    let is_tests = file.path.ends_with("/tests.rs") || file.path.contains("/tests/");
    strings(&file.text)
        .into_iter()
        .filter(|(line, _)| !is_tests && !tests.has(*line))
        .filter_map(|(line, text)| Some((line, command(text).or_else(|| flag(text))?)))
        .map(|(line, flag)| {
            Finding::at(
                file,
                line,
                format!("{flag} is the command line's to name: say what is meant in words"),
            )
        })
        .collect()
}

/// The first command of a text, set as code.
fn command(text: &str) -> Option<&str> {
    let at = text.find("`fizeau ")?;
    text[at + 1..].split('`').next()
}

/// The first flag of a text: two hyphens and a small letter, not in the midst of a word or of a style sheet's variable.
fn flag(text: &str) -> Option<&str> {
    text.match_indices("--").find_map(|(at, _)| {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        let rest = &text[at + 2..];
        let length = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
        let is_one = rest.starts_with(|c: char| c.is_ascii_lowercase())
            && !before.is_alphanumeric()
            && before != '-'
            && !text[..at].ends_with("var(")
            && !text[..at].ends_with("<!");
        let flag = &text[at..at + 2 + length];
        (is_one && !OF_SERVERS.contains(&flag)).then_some(flag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_found_in_text_only() {
        let text = "//! --a\n/// --b\nfn f() { g(\"give --slo GOAL\"); } // --c\n#[cfg(test)]\nmod tests { const D: &str = \"--d\"; }\n";
        let found = in_file(&File::of("crates/report/src/a.rs", text));
        let message = "--slo is the command line's to name: say what is meant in words";
        assert_eq!(found, [Finding::new("crates/report/src/a.rs:3", message)]);
        let text = "/// `fizeau ab` is meant.\nfn f() { g(\"or `fizeau ab --b X` does\"); }\n";
        let found = in_file(&File::of("crates/report/src/a.rs", text));
        let message = "fizeau ab --b X is the command line's to name: say what is meant in words";
        assert_eq!(found, [Finding::new("crates/report/src/a.rs:2", message)]);
    }

    #[test]
    fn rules_dashes_and_variables_are_no_flags() {
        for text in [
            "-- ",
            "----",
            "a--b",
            "color: var(--ink)",
            "<!--note",
            "--A",
            "--2",
            "--enable-metrics",
        ] {
            assert_eq!(flag(text), None, "{text}");
        }
    }
}
