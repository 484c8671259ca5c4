//! Golden files: what each command line of `tests/golden/*.txt` writes, byte for byte, as far as it is the same on every machine.
//!
//! A table has scenarios, each with a name and lines that run one after another in one folder. What they print, how they end and
//! each file that they leave is held against `tests/golden/expected/NAME.txt`: short texts as they are, long ones by a
//! checksum for each stretch of lines. `FIZEAU_BLESS=1` writes that file anew. Where something differs, what was written now is under
//! `target/tmp/golden/NAME/`; with `FIZEAU_GOLDEN_KEEP=DIR` it is kept in that folder whether it differs or not, and with
//! `FIZEAU_GOLDEN_BIN=PROGRAM` an older program runs, so that `diff -r` of two such folders shows all.

mod document;
mod mask;
mod read_again;
mod table;

use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::stand::{Ended, Scratch, fizeau};
use document::Document;
use mask::Mask;
use table::{Scenario, Step};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Runs all scenarios of a table, and fails with what differs in any of them.
fn holds(table: &str) {
    let text = std::fs::read_to_string(format!("{GOLDEN}/{table}.txt")).unwrap();
    let scenarios = table::read(&text);
    assert!(!scenarios.is_empty(), "{table}: no scenario");
    let differing: Vec<String> = scenarios.iter().filter_map(differs).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
}

#[test]
fn golden_bench() {
    holds("bench");
}

#[test]
fn golden_sweep() {
    holds("sweep");
}

#[test]
fn golden_search() {
    holds("search");
}

#[test]
fn golden_whatif() {
    holds("whatif");
}

#[test]
fn golden_report() {
    holds("report");
}

#[test]
fn golden_stored() {
    holds("stored");
}

#[test]
fn golden_tables() {
    holds("tables");
}

#[test]
fn golden_convert() {
    holds("convert");
}

#[test]
fn golden_physics() {
    holds("physics");
}

#[test]
fn golden_help() {
    holds("help");
}

#[test]
fn golden_refusals() {
    holds("refusals");
}

/// What differs from the stored document, if anything does.
fn differs(scenario: &Scenario) -> Option<String> {
    let name = &scenario.name;
    let found = ran(scenario);
    let path = format!("{GOLDEN}/expected/{name}.txt");
    let text = found.text();
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some(folder) = std::env::var_os("FIZEAU_GOLDEN_KEEP") {
        found.keep(&PathBuf::from(folder).join(name));
    }
    if stored == text {
        return None;
    }
    if std::env::var_os("FIZEAU_BLESS").is_some() {
        std::fs::create_dir_all(format!("{GOLDEN}/expected")).unwrap();
        std::fs::write(&path, text).unwrap();
        return None;
    }
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden").join(name);
    found.keep(&kept);
    Some(format!(
        "{name}: {}\n  all of it: {}",
        document::first_difference(&stored, text),
        kept.display()
    ))
}

fn ran(scenario: &Scenario) -> Document {
    let scratch = Scratch::new(&format!("golden-{}", scenario.name));
    let folder = PathBuf::from(scratch.path("")).canonicalize().unwrap();
    symlink(format!("{ROOT}/fixtures"), folder.join("fixtures")).unwrap();
    let mut mask = Mask::new(&folder);
    let mut printed = Vec::new();
    for step in &scenario.steps {
        match step {
            Step::Run(words) => printed.push((words, run(&folder, words))),
            Step::Copy(from, to) => copy(&folder.join(from), &folder.join(to)),
            Step::Write(name, text) => std::fs::write(folder.join(name), text).unwrap(),
        }
    }
    let files = files(&folder);
    mask.learn(&files);
    let mut document = Document::new(scenario.is_full);
    for (words, ended) in printed {
        let line = words.join(" ");
        read_again::gives_the_same(&line, ended.out.as_bytes());
        document.ended(&line, ended.code);
        document.add(&format!("stdout of {line}"), mask.text(&ended.out).as_bytes());
        document.add(&format!("stderr of {line}"), mask.text(&ended.err).as_bytes());
    }
    let by_hand = |name: &str| {
        let is_it = |step: &Step| matches!(step, Step::Write(written, _) if written == name);
        scenario.steps.iter().any(is_it)
    };
    for (name, bytes) in files {
        if !by_hand(&name) {
            read_again::gives_the_same(&name, &bytes);
        }
        document.add(&format!("file {}", mask.text(&name)), &mask.bytes(bytes));
    }
    document
}

/// The program in `folder`, by the name `fizeau` and with no terminal's width.
fn run(folder: &Path, words: &[String]) -> Ended {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let built = fizeau(&words);
    let program = std::env::var_os("FIZEAU_GOLDEN_BIN");
    let mut command = Command::new(program.unwrap_or_else(|| built.get_program().to_owned()));
    command.arg0("fizeau").args(&words).current_dir(folder);
    for (name, value) in built.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    for name in ["COLUMNS", "LINES", "NO_COLOR", "CLICOLOR_FORCE", "TERM"] {
        command.env_remove(name);
    }
    command.output().unwrap().into()
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

/// All files below `folder` by their names from there, in order; the link to the fixtures is none.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let (path, kind) =
                entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
