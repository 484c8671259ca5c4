//! Runs and what they are called beside one another.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The folder of a run, and what the run is called beside others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRun {
    /// The name.
    pub name: String,
    /// The folder.
    pub path: PathBuf,
}

impl NamedRun {
    /// The run in `path`, called as its folder is.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { name: last(path), path: path.to_owned() }
    }

    /// The runs in `path`: itself, or each folder in it that is one, as a what-if has them: these are called by what sets them apart,
    /// after `name` where there is one.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn within(path: &Path, name: Option<&str>) -> io::Result<Vec<Self>> {
        let is_run = |path: &PathBuf| path.join("run.json").is_file();
        let mut inside: Vec<PathBuf> = Vec::new();
        if !is_run(&path.to_owned()) {
            let entries = std::fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
            inside = entries.collect::<io::Result<_>>()?;
            inside.retain(is_run);
            inside.sort();
        }
        if inside.is_empty() {
            let name = name.map_or_else(|| last(path), str::to_owned);
            return Ok(vec![Self { name, path: path.to_owned() }]);
        }
        let settings = settings(path);
        let called = |path: PathBuf| {
            let own = last(&path);
            let own = settings.get(&own).cloned().unwrap_or(own);
            let name = name.map_or_else(|| own.clone(), |name| format!("{name}: {own}"));
            Self { name, path }
        };
        Ok(inside.into_iter().map(called).collect())
    }

    /// The same runs, where two are called alike by where they are.
    ///
    /// ```
    /// use std::path::Path;
    /// use fizeau_record::NamedRun;
    ///
    /// let runs = ["a/fast", "b/fast", "b/slow"].map(|path| NamedRun::at(Path::new(path)));
    /// let names = NamedRun::distinct(runs.into()).into_iter().map(|run| run.name);
    /// assert_eq!(names.collect::<Vec<_>>(), ["a/fast", "b/fast", "slow"]);
    /// ```
    #[must_use]
    pub fn distinct(mut runs: Vec<Self>) -> Vec<Self> {
        let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
        for run in &mut runs {
            if names.iter().filter(|other| **other == run.name).count() > 1 {
                run.name = run.path.display().to_string();
            }
        }
        runs
    }
}

/// The last part of a folder's path, whatever way it was named.
fn last(path: &Path) -> String {
    let whole = path.canonicalize();
    let last = whole.as_deref().unwrap_or(path).file_name();
    last.map_or_else(|| path.display().to_string(), |last| last.to_string_lossy().into_owned())
}

/// What is read of `whatif.json`.
#[derive(Default, Deserialize)]
struct WhatIfFile {
    variants: Vec<VariantFile>,
}

#[derive(Deserialize)]
struct VariantFile {
    settings: serde_json::Map<String, serde_json::Value>,
}

/// What sets the configurations of a what-if apart, by the names of their folders; nothing of what is none.
fn settings(path: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(path.join("whatif.json")).unwrap_or_default();
    let file: WhatIfFile = serde_json::from_str(&text).unwrap_or_default();
    let words = |(index, variant): (usize, &VariantFile)| {
        let settings = variant.settings.iter();
        let words =
            settings.map(|(name, value)| format!("{name} {}", value.as_str().unwrap_or("")));
        (format!("configuration-{:02}", index + 1), words.collect::<Vec<_>>().join(", "))
    };
    let named = file.variants.iter().enumerate().map(words);
    named.filter(|(_, words)| !words.is_empty()).collect()
}
