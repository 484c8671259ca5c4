//! What was written, read and written again: the same bytes, whatever wrote it.

use fizeau::record::{
    AbDocument, CompareDocument, DiagnosisDocument, LevelDocument, PlanDocument, RunDocument,
    SearchDocument, SummaryDocument, SweepDocument, WhatIfDocument,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Holds a document, as a file or printed, against what its type writes of what it read there; nothing of any other text.
pub(super) fn gives_the_same(name: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    // Other tools have a `summary.json` too.
    if !text.contains(r#""schema": "fizeau."#) {
        return;
    }
    let again = match name.rsplit('/').next().unwrap_or_default() {
        "run.json" => again::<RunDocument>(name, &text),
        "level.json" => again::<LevelDocument>(name, &text),
        "summary.json" => again::<SummaryDocument>(name, &text),
        "sweep.json" => again::<SweepDocument>(name, &text),
        "search.json" => again::<SearchDocument>(name, &text),
        "ab.json" => again::<AbDocument>(name, &text),
        "whatif.json" => again::<WhatIfDocument>(name, &text),
        _ if is_of(&text, "plan") => again::<PlanDocument>(name, &text),
        _ if is_of(&text, "comparison") => again::<CompareDocument>(name, &text),
        _ if is_of(&text, "diagnosis") => again::<DiagnosisDocument>(name, &text),
        _ => return,
    };
    assert_eq!(again, text.trim_end(), "{name}");
}

/// Whether a document is of that schema itself, and does not only hold one that is.
fn is_of(text: &str, kind: &str) -> bool {
    text.starts_with(&format!("{{\n  \"schema\": \"fizeau.{kind}/1\""))
}

fn again<T: DeserializeOwned + Serialize>(name: &str, text: &str) -> String {
    let read: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::to_string_pretty(&read).unwrap()
}
