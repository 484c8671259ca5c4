//! Documents of stored runs, read and written again.

use std::fs;
use std::path::{Path, PathBuf};

use fizeau_record::{
    AbDocument, Json, LevelDocument, RequestedLengths, RunDocument, RunSetup, SearchDocument,
    SummaryDocument, SweepDocument, WhatIfDocument,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The text of `path` as the type writes what it read.
fn again<T: DeserializeOwned + Serialize>(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let read: T =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::to_string_pretty(&read).unwrap() + "\n"
}

/// Documents with words that were replaced since are read as those of the present, which are written in the new words.
#[test]
fn the_words_of_earlier_schemas_are_read_as_the_present_ones() {
    fn same<T: DeserializeOwned + Serialize>(name: &str) {
        let path = format!("{}/../../fixtures/runs/{name}", env!("CARGO_MANIFEST_DIR"));
        let present = fs::read_to_string(path).unwrap();
        let words = [
            ("\"row\": \"speed_of_light\"", "\"row\": \"light\""),
            ("\"side\":", "\"standing\":"),
            ("\"requested\":", "\"asked\":"),
            ("\"requested_mean\":", "\"asked_mean\":"),
            ("\"kind\": \"plateau\"", "\"found\": \"plateau\""),
            ("\"tpot_alone_ms\":", "\"tpot_ms\":"),
            ("\"purpose\": \"search\"", "\"purpose\": \"evaluation\""),
            ("\"judgement\": \"met\"", "\"judgement\": \"held\""),
            ("\"answer\": {\n    \"load\"", "\"found\": {\n    \"load\""),
        ];
        let schemas =
            ["search", "summary", "sweep", "whatif"].map(|kind| format!("fizeau.{kind}/"));
        let earlier = words.iter().fold(present.clone(), |text, (new, old)| text.replace(new, old));
        let earlier = schemas
            .iter()
            .fold(earlier, |text, kind| text.replace(&format!("{kind}2"), &format!("{kind}1")));
        assert!(earlier.contains("/1\"") && earlier.contains("\"light\""), "{name}");
        let read: T = serde_json::from_str(&earlier).unwrap();
        assert_eq!(serde_json::to_string_pretty(&read).unwrap() + "\n", present, "{name}");
    }
    same::<SummaryDocument>("bench/summary.json");
    same::<SweepDocument>("simulated/sweep.json");
    same::<SearchDocument>("search/search.json");
    same::<WhatIfDocument>("what-if/whatif.json");
}

/// All files below `folder`.
fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { below(&path, files) } else { files.push(path) }
    }
}

#[test]
fn what_was_stored_is_written_again_to_the_same_bytes() {
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs");
    let mut files = Vec::new();
    below(Path::new(runs), &mut files);
    let mut seen = std::collections::BTreeMap::<&str, u32>::new();
    for path in &files {
        let (name, again) = match path.file_name().and_then(|name| name.to_str()) {
            Some("run.json") => ("run", again::<RunDocument>(path)),
            Some("level.json") => ("level", again::<LevelDocument>(path)),
            Some("ab.json") => ("ab", again::<AbDocument>(path)),
            Some("search.json") => ("search", again::<SearchDocument>(path)),
            Some("summary.json") => ("summary", again::<SummaryDocument>(path)),
            Some("sweep.json") => ("sweep", again::<SweepDocument>(path)),
            Some("whatif.json") => ("whatif", again::<WhatIfDocument>(path)),
            _ => continue,
        };
        if std::env::var_os("FIZEAU_BLESS").is_some() {
            fs::write(path, &again).unwrap();
        }
        assert_eq!(again, fs::read_to_string(path).unwrap(), "{}: FIZEAU_BLESS=1", path.display());
        *seen.entry(name).or_default() += 1;
    }
    assert!(
        ["run", "level", "ab", "search", "summary", "sweep", "whatif"]
            .iter()
            .all(|name| seen.contains_key(name)),
        "{seen:?}"
    );
}

#[test]
fn a_goal_is_the_same_however_it_was_typed() {
    let of = |goal: &str| {
        let mut document =
            RunDocument::new(RunSetup::default(), Json::default(), RequestedLengths::default());
        document.goodput = vec![goal.to_owned()];
        document.fields()
    };
    let differing = |other: &str| of("ttft:500.0").differing(&of(other), &["goodput"]).len();
    assert_eq!((differing("ttft:500"), differing("ttft:501")), (0, 1));
}

#[test]
fn only_null_and_what_has_no_parts_are_empty() {
    for (text, is_empty) in [
        ("null", true),
        ("[]", true),
        ("{}", true),
        ("[0]", false),
        ("{\"a\":1}", false),
        ("0", false),
    ] {
        assert_eq!(Json::parse(text).unwrap().is_empty(), is_empty, "{text}");
    }
}
