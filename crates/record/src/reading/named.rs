//! Runs and what they are called beside one another.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::stored::read_document;
use crate::whatif::WHAT_IF;
use crate::{StoredError, VariantDocument, WhatIfDocument, file};

/// The folder of a run, and what the run is called beside others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRun {
    /// The name.
    pub name: String,
    /// The folder.
    pub path: PathBuf,
}

/// Why inputs name no runs.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunInputError {
    /// There is nothing in that place.
    #[error("{path}: there is no such folder or file")]
    NotThere {
        /// The place.
        path: String,
    },
    /// Two are called the same.
    #[error("{name}: two runs are called so; give each a name of its own, such as {name}-2={path}")]
    SameName {
        /// The name.
        name: String,
        /// The second of them.
        path: String,
    },
    /// A file stands among folders.
    #[error("{path} is not a folder; name either one table or folders of runs")]
    NotFolder {
        /// The file.
        path: String,
    },
    /// The system refused.
    #[error("{path}: {error}")]
    Io {
        /// The folder.
        path: String,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The `whatif.json` that says what sets configurations apart cannot be read.
    #[error("{0}; without this file they are called as their folders are")]
    WhatIf(#[from] StoredError),
}

/// Whom a value without a name is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnnamedValue {
    /// Nobody: it must have a name.
    Refused,
    /// All runs.
    ForAll,
}

/// Why a value is for no run, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}: {why}")]
pub struct NamedValueError {
    text: String,
    why: String,
}

impl NamedRun {
    /// The runs that `inputs` name, each `[NAME=]DIR`, called apart; none where they are files. What is there as it stands has no name in
    /// front.
    ///
    /// # Errors
    /// If something is not there, a file stands among folders, or a folder or its `whatif.json` cannot be read.
    pub fn given(inputs: &[String]) -> Result<Option<Vec<Self>>, RunInputError> {
        let taken: Vec<(Option<&str>, &str)> =
            inputs.iter().map(|text| taken_apart(text)).collect();
        let is_folder = |path: &str| Path::new(path).is_dir();
        let is_missing = |path: &&str| *path != "-" && !Path::new(path).exists();
        let folders = taken.iter().filter(|(_, path)| is_folder(path)).count();
        let missing = taken.iter().map(|(_, path)| *path).find(is_missing);
        if let Some(path) = missing.filter(|_| folders > 0 || taken.len() == 1) {
            return Err(RunInputError::NotThere { path: path.to_owned() });
        }
        if folders == 0 {
            return Ok(None);
        }
        if let Some((_, file)) = taken.iter().find(|(_, path)| !is_folder(path)) {
            return Err(RunInputError::NotFolder { path: (*file).to_owned() });
        }
        for (index, (name, path)) in taken.iter().enumerate() {
            if name.is_some() && taken.iter().take(index).any(|(other, _)| other == name) {
                let (name, path) = (name.unwrap_or_default().to_owned(), (*path).to_owned());
                return Err(RunInputError::SameName { name, path });
            }
        }
        let mut runs = Vec::new();
        for (name, path) in taken {
            runs.extend(Self::within(Path::new(path), name)?);
        }
        Ok(Some(Self::distinct(runs)))
    }

    /// What is given for each of `runs`, as `NAME=VALUE`, whose values `parse` reads; of two the later one.
    ///
    /// # Errors
    /// If `parse` refuses a value, or none of the runs is called so.
    pub fn values<T: Copy>(
        runs: &[Self],
        given: &[String],
        unnamed: UnnamedValue,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Vec<Option<T>>, NamedValueError> {
        let mut values = vec![None; runs.len()];
        for text in given {
            let wrong = |why: String| NamedValueError { text: text.clone(), why };
            // A name may have an equals sign of its own.
            let (name, value) = match text.rsplit_once('=') {
                Some((name, value)) => (Some(name), value),
                None => (None, text.as_str()),
            };
            let value = parse(value.trim()).map_err(wrong)?;
            let is_meant = |run: &&Self| match name {
                Some(name) => name == run.name,
                None => unnamed == UnnamedValue::ForAll,
            };
            if !runs.iter().any(|run| is_meant(&run)) {
                let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
                let names = names.join(", ");
                return Err(wrong(format!("give NAME=VALUE, where NAME is one of {names}")));
            }
            let meant = values.iter_mut().zip(runs).filter(|(_, run)| is_meant(run));
            meant.for_each(|(place, _)| *place = Some(value));
        }
        Ok(values)
    }

    /// The run in `path`, called as its folder is.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { name: last(path), path: path.to_owned() }
    }

    /// The runs in `path`: itself, or each folder in it that is one, as a what-if has them: these are called by what sets them apart,
    /// after `name` where there is one.
    ///
    /// # Errors
    /// If the folder or its `whatif.json` cannot be read.
    pub fn within(path: &Path, name: Option<&str>) -> Result<Vec<Self>, RunInputError> {
        let is_run = |path: &PathBuf| path.join(file::RUN).is_file();
        let mut inside: Vec<PathBuf> = Vec::new();
        if !is_run(&path.to_owned()) {
            let io = |error| RunInputError::Io { path: path.display().to_string(), error };
            let entries = fs::read_dir(path).map_err(io)?.map(|entry| Ok(entry?.path()));
            inside = entries.collect::<io::Result<_>>().map_err(io)?;
            inside.retain(is_run);
            inside.sort();
        }
        if inside.is_empty() {
            let name = name.map_or_else(|| last(path), str::to_owned);
            return Ok(vec![Self { name, path: path.to_owned() }]);
        }
        let settings = settings(path)?;
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

/// A name and a path; what is there as it stands has no name.
fn taken_apart(input: &str) -> (Option<&str>, &str) {
    match input.split_once('=') {
        Some((name, path)) if !Path::new(input).exists() && !name.is_empty() => (Some(name), path),
        _ => (None, input),
    }
}

/// The last part of a folder's path, whatever way it was named.
fn last(path: &Path) -> String {
    let whole = path.canonicalize();
    let last = whole.as_deref().unwrap_or(path).file_name();
    last.map_or_else(|| path.display().to_string(), |last| last.to_string_lossy().into_owned())
}

/// What sets the configurations of a what-if apart, by the names of their folders; nothing of what is none.
fn settings(path: &Path) -> Result<BTreeMap<String, String>, StoredError> {
    let path = path.join(file::WHATIF);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let WhatIfDocument { variants, .. } = read_document(&path, WHAT_IF)?;
    let words = |(index, variant): (usize, &VariantDocument)| {
        let words = variant.settings.iter().map(|(name, value)| format!("{name} {value}"));
        (format!("configuration-{:02}", index + 1), words.collect::<Vec<_>>().join(", "))
    };
    let named = variants.iter().enumerate().map(words);
    Ok(named.filter(|(_, words)| !words.is_empty()).collect())
}
