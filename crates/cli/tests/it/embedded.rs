//! What a program writes with the libraries is what the command line writes.

use std::collections::BTreeMap;
use std::path::Path;

use crate::stand::{Scratch, run};

#[path = "../../../fizeau/examples/embed_sweep.rs"]
mod embed_sweep;

/// The files of a run by their names, without when it began and who began it.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let (path, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
        let name = name.into_string().unwrap();
        if path.is_dir() {
            found.extend(
                files(&path).into_iter().map(|(own, text)| (format!("{name}/{own}"), text)),
            );
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            found.insert(name.clone(), alike(&name, &text));
        }
    }
    found
}

fn alike(name: &str, text: &str) -> String {
    if name.ends_with(".json") {
        return without_its_own(text);
    }
    let is_own =
        |line: &&str| ["Started", "Command line", "When"].iter().any(|own| line.contains(own));
    text.lines().filter(|line| !is_own(line)).collect::<Vec<_>>().join("\n")
}

/// A document as it is written, byte for byte, but for the lines that say when it began and by which command.
fn without_its_own(text: &str) -> String {
    let mut lines = text.lines();
    let mut kept = Vec::new();
    while let Some(line) = lines.next() {
        match line.trim_start() {
            "\"command_line\": [" => {
                lines.by_ref().find(|line| line.trim_start().starts_with(']'));
            }
            own if ["\"started\":", "\"command_line\":"]
                .iter()
                .any(|name| own.starts_with(name)) => {}
            _ => kept.push(line),
        }
    }
    kept.join("\n")
}

#[test]
fn a_program_writes_the_folder_that_the_command_line_writes() {
    let scratch = Scratch::new("embedded");
    let out = scratch.path("run");
    let goals = "p99 ttft<500ms, p99 tpot<20ms";
    run(&["simulate", "--slots", "64", "--levels", "1,8", "--slo", goals, "--out", &out]);
    embed_sweep::main().unwrap();
    let own = std::env::temp_dir().join(format!("fizeau-embedded-{}", std::process::id()));
    let (ours, theirs) = (files(&own), files(Path::new(&out)));
    std::fs::remove_dir_all(own).unwrap();
    let names = |of: &BTreeMap<String, String>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
    for (name, text) in &ours {
        assert!(*text == theirs[name], "{name} differs");
    }
}
