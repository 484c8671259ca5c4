//! What a program writes with the libraries is what the command line writes.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

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
        let mut document: Value = serde_json::from_str(text).unwrap();
        for field in ["started", "command_line"] {
            document
                .pointer_mut(&format!("/setup/{field}"))
                .into_iter()
                .for_each(|of| *of = Value::Null);
        }
        return document.to_string();
    }
    let is_own =
        |line: &&str| ["Started", "Command line", "When"].iter().any(|own| line.contains(own));
    text.lines().filter(|line| !is_own(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_program_writes_the_folder_that_the_command_line_writes() {
    let scratch = Scratch::new("embedded");
    let out = scratch.path("run");
    run(&["simulate", "--slots", "64", "--levels", "1,8", "--out", &out]);
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
