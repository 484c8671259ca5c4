//! A run that was stored: what was asked, its levels, and their tapes.

mod line;
mod lines;
mod merged;
mod record;

pub use lines::{Cut, StoredTapes};
pub use merged::MergedTapes;
pub use record::{Differing, RunRecord};

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// Why a stored run could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// There is no run there.
    #[error("{}: no run: a run's folder holds run.json, and tapes.jsonl or a folder for each level", .0.display())]
    NoRun(PathBuf),
    /// The system refused.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// A file of another version of its schema, or of another schema.
    #[error("{}: schema `{found}`, and this program reads `{reads}`", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema that the file names; empty if it names none.
        found: String,
        /// The one that can be read.
        reads: &'static str,
    },
    /// A document that is no JSON, or not of the right form.
    #[error("{}: {error}", path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: serde_json::Error,
    },
    /// A whole line that is no tape.
    #[error("{}: line {line} is no tape: {}", path.display(), without_place(error))]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// Why.
        #[source]
        error: serde_json::Error,
    },
    /// A line without an end.
    #[error("{}: line {line} is no tape: it is longer than {longest} bytes", path.display())]
    LongLine {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// How long a line may be at the most.
        longest: u64,
    },
}

/// What was wrong with a line, without the line and the column that its parser counts from its beginning.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or_else(|| text.clone(), str::to_owned)
}

impl StoredError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| Self::Io { path: path.to_path_buf(), error }
    }
}

/// A run as its folder has it.
#[derive(Debug, Clone)]
pub struct StoredRun {
    path: PathBuf,
    document: PathBuf,
    record: RunRecord,
    levels: Vec<StoredLevel>,
}

/// One level of a stored run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLevel {
    path: PathBuf,
    name: String,
}

/// How a stored level ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredEnding {
    /// All that was planned was done.
    Finished,
    /// It was broken off, and says so.
    Partial,
    /// There is no summary: whoever measured did not live to write one.
    Killed,
}

/// The schema of the summaries that can be read.
const SUMMARY: &str = "fizeau.summary/1";

impl StoredRun {
    /// Opens the folder of a run of one level, of a sweep, or of one level of a sweep.
    ///
    /// # Errors
    /// If there is no run, or its `run.json` cannot be read or is of another schema.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoredError> {
        let path = path.into();
        let mut levels = levels(&path)?;
        if levels.is_empty() {
            return Err(StoredError::NoRun(path));
        }
        let mut document = path.join("run.json");
        if !document.is_file() {
            // `.` has no parent by its name.
            let above = path.file_name().and_then(|_| path.parent());
            document = above.map_or_else(|| path.join(".."), Path::to_path_buf).join("run.json");
            let name = path.canonicalize().map_err(StoredError::io(&path))?;
            let name = name.file_name().map(|name| name.to_string_lossy().into_owned());
            levels.iter_mut().for_each(|level| level.name = name.clone().unwrap_or_default());
        }
        if !document.is_file() {
            return Err(StoredError::NoRun(path));
        }
        let record = RunRecord::read(&document)?;
        Ok(Self { path, document, record, levels })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its `run.json` is: one level of a sweep has it in the folder above.
    #[must_use]
    pub fn document(&self) -> &Path {
        &self.document
    }

    /// What was asked: `run.json`.
    #[must_use]
    pub const fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Its levels, in the order of their names; a run of one level has one, without a name.
    #[must_use]
    pub fn levels(&self) -> &[StoredLevel] {
        &self.levels
    }
}

impl StoredLevel {
    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of its folder within a sweep (`concurrency-0008`); empty for the only level of a run.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its `summary.json` says, field by field; none if there is none, as after a run that was killed.
    ///
    /// # Errors
    /// If it cannot be read or is of another schema.
    pub fn summary(&self) -> Result<Option<RunRecord>, StoredError> {
        let path = self.path.join("summary.json");
        path.is_file().then(|| RunRecord::of(&path, SUMMARY)).transpose()
    }

    /// How it ended.
    ///
    /// # Errors
    /// As [`StoredLevel::summary`].
    pub fn ending(&self) -> Result<StoredEnding, StoredError> {
        let status = self.summary()?.and_then(|summary| summary.text("status"));
        Ok(match status.as_deref() {
            Some("finished") => StoredEnding::Finished,
            Some(_) => StoredEnding::Partial,
            None => StoredEnding::Killed,
        })
    }

    /// Its tapes, read one by one, in the order in which the requests ended.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn tapes(&self) -> Result<StoredTapes<BufReader<File>>, StoredError> {
        let path = self.path.join("tapes.jsonl");
        let file = File::open(&path).map_err(StoredError::io(&path))?;
        Ok(StoredTapes::new(path, BufReader::with_capacity(1 << 18, file)))
    }
}

/// The folders in which tapes lie: this one, or those right below it.
fn levels(path: &Path) -> Result<Vec<StoredLevel>, StoredError> {
    if path.join("tapes.jsonl").is_file() {
        return Ok(vec![StoredLevel { path: path.to_path_buf(), name: String::new() }]);
    }
    let mut levels = Vec::new();
    for entry in fs::read_dir(path).map_err(StoredError::io(path))? {
        let entry = entry.map_err(StoredError::io(path))?.path();
        if entry.join("tapes.jsonl").is_file()
            && let Some(name) = entry.file_name()
        {
            let name = name.to_string_lossy().into_owned();
            levels.push(StoredLevel { path: entry, name });
        }
    }
    levels.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(levels)
}
