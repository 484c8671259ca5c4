//! Folders of imported runs, read again.

use std::path::{Path, PathBuf};

use fizeau::record::Unseen;
use fizeau::record::{ImportedLevel, ImportedRun};
use fizeau::record::{StoredLevel, StoredRun};
use serde_json::Value;

use crate::exit::{Fail, Named};

/// The schema of a level's `imported.json`.
pub(crate) const SCHEMA: &str = "fizeau.imported/1";

const FILE: &str = "imported.json";

/// What was imported into `folder`, that of a run of one level or of one level; none if it was not imported.
pub(crate) fn level(folder: &Path) -> Result<Option<ImportedLevel>, Fail> {
    let path = folder.join(FILE);
    let name = path.display().to_string();
    let text = match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.named(&name)?,
    };
    let document: Value = serde_json::from_slice(&text).named(&name)?;
    let found = document["schema"].as_str().unwrap_or_default();
    if found != SCHEMA {
        return Err(Fail::usage(format!(
            "{name}: schema `{found}`, and this program reads `{SCHEMA}`"
        )));
    }
    serde_json::from_value(document).named(&name).map(Some)
}

/// What another tool that measured a level did not see, or did not tell; none of a level that Fizeau measured.
pub(crate) fn unseen(run: &StoredRun, stored: &StoredLevel) -> Result<Option<Unseen>, Fail> {
    if run.record().text("imported.source.tool").is_none() {
        return Ok(None);
    }
    Ok(level(stored.path())?.as_ref().map(ImportedLevel::unseen))
}

/// Opens a run for what takes its requests; one that was imported without says so.
pub(crate) fn open_with_tapes(path: &Path) -> Result<StoredRun, Fail> {
    match without_tapes(path)? {
        Some(_) => Err(no_requests(path)),
        None => StoredRun::open(path).map_err(Fail::usage),
    }
}

/// That a run has figures alone, and what there is to do with it.
pub(crate) fn no_requests(path: &Path) -> Fail {
    let path = path.display();
    Fail::usage(format!(
        "{path}: imported without tapes: its figures have no requests behind them and no intervals; `fizeau pareto` and \
         `fizeau report` of several runs show its levels beside others"
    ))
}

/// An imported run that holds figures alone; none of any other run, one that was imported with tapes among them.
pub(crate) fn without_tapes(path: &Path) -> Result<Option<ImportedRun>, Fail> {
    let document = path.join("run.json");
    let name = document.display().to_string();
    let Ok(text) = std::fs::read(&document) else { return Ok(None) };
    let Ok(run) = serde_json::from_slice::<Value>(&text) else { return Ok(None) };
    if run["imported"]["has_tapes"] != false {
        return Ok(None);
    }
    let folders = folders(path).named(&name)?;
    let mut levels = Vec::new();
    for folder in &folders {
        levels.extend(level(folder)?);
    }
    if levels.is_empty() {
        return Err(Fail::usage(format!(
            "{}: an imported run without {FILE} in it or in a folder of it",
            path.display()
        )));
    }
    let called = run["imported"]["name"].as_str().unwrap_or("imported");
    Ok(Some(ImportedRun::new(called, levels)))
}

/// The folder itself, and those right below it.
fn folders(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut all = vec![path.to_owned()];
    for entry in std::fs::read_dir(path)? {
        let entry = entry?.path();
        if entry.is_dir() {
            all.push(entry);
        }
    }
    all.sort();
    Ok(all)
}
