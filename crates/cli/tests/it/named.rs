//! What pages name is there: the tests that hold a promise, and the flags that stand for another tool's.

use std::collections::BTreeSet;
use std::path::Path;

use crate::completions::commands;
use crate::stand::run;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join("docs").join(name)).unwrap()
}

/// Whoever types a flag of another tool as the page has it is told what to type, unless it is one here too.
#[test]
fn flags_of_other_tools_are_flags_or_have_a_tip() {
    let text = page("coming-from.md");
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let words = quoted(&text).flat_map(|part| part.split(|c| !letter(c)));
    let flags: BTreeSet<&str> =
        words.filter(|word| word.starts_with("--") && word.len() > 4).collect();
    assert!(flags.len() > 60, "{flags:?}");
    for flag in flags {
        let is_known = |command: &&str| {
            let said = run(&[command, &format!("{flag}=x"), "--no-such-flag-either"]).err;
            !said.contains(&format!("unexpected argument '{flag}'"))
                || said.contains("tip:") && !said.contains("similar")
        };
        assert!(["bench", "sweep", "report"].iter().any(is_known), "{flag}");
    }
}

/// What stands between backquotes on a line.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The file that `metrics/compare/goldens` or `record/src/folder/tapes` names.
fn file_of(module: &str) -> String {
    let (name, file) = module.split_once('/').unwrap();
    let below = if file.starts_with("src/") { "" } else { "tests/it/" };
    format!("crates/{name}/{below}{file}.rs")
}

#[test]
fn every_test_that_is_named_for_a_promise_is_there() {
    for (name, least) in [("security.md", 25), ("methodology.md", 50)] {
        let text = page(name);
        let tests = quoted(&text).filter(|word| !word.starts_with("crate/"));
        let tests: Vec<_> = tests.filter_map(|word| word.split_once("::")).collect();
        assert!(tests.len() >= least, "{name}: {}", tests.len());
        for (module, test) in tests {
            let file = file_of(module);
            let source = std::fs::read_to_string(Path::new(ROOT).join(&file));
            let source = source.unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
            assert!(source.contains(&format!("fn {test}(")), "{name}: {file} has no {test}");
        }
    }
}

#[test]
fn flags_that_stand_for_those_of_other_tools_are_flags() {
    let text = page("coming-from.md");
    let helps =
        commands().into_iter().filter(|name| ["bench", "sweep", "report"].contains(&&**name));
    let help: String = helps.map(|name| run(&[&name, "--help"]).out).collect();
    let rows =
        text.lines().filter(|line| line.starts_with("| ") && line.matches(" | ").count() == 5);
    let ours = rows.filter_map(|row| row.split(" | ").nth(1)).flat_map(quoted);
    let outside = text.lines().filter(|line| !line.starts_with("| ")).flat_map(quoted);
    let words = ours.chain(outside.filter(|word| word.starts_with("fizeau ")));
    let flags: Vec<&str> =
        words.flat_map(str::split_whitespace).filter(|w| w.starts_with("--")).collect();
    assert!(flags.len() > 20, "{flags:?}");
    for flag in flags {
        let is_there = help.split_whitespace().any(|word| word == flag);
        assert!(is_there, "{flag}");
    }
}
