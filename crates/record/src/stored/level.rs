//! The folders of a run's levels.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::{StoredError, StoredTapes, TruncatedTail, document, reason};
use crate::level_plan::LEVEL;
use crate::{LevelPlan, LevelStatus, RunDocument, SummaryDocument, file};
use fizeau_core::{LevelLoad, Tape};
use fizeau_telemetry::{ForwardPassLine, HistoryLine};
use serde::de::DeserializeOwned;

/// One level of a stored run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLevel {
    pub(super) path: PathBuf,
    pub(super) name: String,
}

/// How a stored level ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredEnding {
    /// All that was planned was done.
    Finished,
    /// It was interrupted, and says so.
    Partial,
    /// There is no summary: whoever measured did not live to write one.
    Killed,
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

    /// What it was to be, as its `level.json` says; none if there is none, as of a run that is no sweep.
    ///
    /// # Errors
    /// If it cannot be read or is of another schema.
    pub fn plan(&self) -> Result<Option<LevelPlan>, StoredError> {
        let path = self.path.join(file::LEVEL);
        path.is_file().then(|| document::read(&path, LEVEL)).transpose()
    }

    /// Its `summary.json`; none if there is none, as after a run that was killed.
    ///
    /// # Errors
    /// If it cannot be read or is of another schema.
    pub fn summary(&self) -> Result<Option<SummaryDocument>, StoredError> {
        let path = self.path.join(file::SUMMARY);
        path.is_file().then(|| document::read_summary(&path)).transpose()
    }

    /// The pages that its servers gave meanwhile, as the whole lines of its `telemetry.jsonl` have them; empty where there is none.
    ///
    /// # Errors
    /// If it cannot be read, or a whole line of it is no page.
    pub fn telemetry(&self) -> Result<Vec<HistoryLine>, StoredError> {
        self.lines(file::TELEMETRY, "page of metrics")
    }

    /// What its engines told of their steps meanwhile, as the whole lines of its `forward-pass.jsonl` have it; empty where there is none.
    ///
    /// # Errors
    /// If it cannot be read, or a whole line of it is no record.
    pub fn forward_passes(&self) -> Result<Vec<ForwardPassLine>, StoredError> {
        self.lines(file::FORWARD_PASSES, "record of a forward pass")
    }

    /// The whole lines of a file, each `what`.
    fn lines<T: DeserializeOwned>(&self, name: &str, what: &str) -> Result<Vec<T>, StoredError> {
        let path = self.path.join(name);
        if !path.is_file() {
            return Ok(Vec::new());
        }
        let text = fs::read(&path).map_err(StoredError::io(&path))?;
        let read = |(line, text): (usize, &[u8])| match serde_json::from_slice(text) {
            // A last line without its end is what a cut leaves.
            Err(_) if !text.ends_with(b"\n") => None,
            read => Some(read.map_err(|error| StoredError::Document {
                path: path.clone(),
                line,
                field: String::new(),
                problem: format!("line {line} is no {what}: {}", reason(&error)),
            })),
        };
        (1..).zip(text.split_inclusive(|byte| *byte == b'\n')).filter_map(read).collect()
    }

    /// How it ended.
    ///
    /// # Errors
    /// As [`StoredLevel::summary`].
    pub fn ending(&self) -> Result<StoredEnding, StoredError> {
        Ok(match self.summary()?.as_ref().map(SummaryDocument::status) {
            Some(LevelStatus::Finished) => StoredEnding::Finished,
            Some(LevelStatus::Partial { .. }) => StoredEnding::Partial,
            None => StoredEnding::Killed,
        })
    }

    /// Its tapes, read one by one, in the order in which the requests ended. Where a summary counted them, a file that was cut
    /// between two lines is found to be cut. A request that is there twice is an error.
    ///
    /// # Errors
    /// If the file cannot be opened, or the summary is not understood.
    pub fn tapes(&self) -> Result<StoredTapes<BufReader<File>>, StoredError> {
        let counted = self.summary()?.map(|document| document.tapes());
        let path = self.path.join(file::TAPES);
        let file = File::open(&path).map_err(StoredError::io(&path))?;
        let tapes = StoredTapes::new(path, BufReader::with_capacity(1 << 18, file));
        Ok(tapes.counted(counted).each_once())
    }

    /// Every tape goes to `each`, in the order in which the requests ended; what is left over where their file is cut.
    ///
    /// # Errors
    /// If the file cannot be opened, a whole line of it is no tape, or the summary is not understood.
    pub fn each_tape(
        &self,
        mut each: impl FnMut(Tape),
    ) -> Result<Option<TruncatedTail>, StoredError> {
        let mut tapes = self.tapes()?;
        for tape in tapes.by_ref() {
            each(tape?);
        }
        Ok(tapes.cut())
    }

    /// Where it stands among the levels of its run.
    fn rising(&self, other: &Self) -> Ordering {
        match (LevelLoad::of_folder(&self.name), LevelLoad::of_folder(&other.name)) {
            (Some((one, visit)), Some((other, later))) => {
                one.rising(&other).then(visit.cmp(&later))
            }
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.name.cmp(&other.name),
        }
    }
}

/// The folders in which tapes lie: this one, or those right below it but for what was set aside.
pub(super) fn all(path: &Path) -> Result<Vec<StoredLevel>, StoredError> {
    if path.join(file::TAPES).is_file() {
        return Ok(vec![StoredLevel { path: path.to_path_buf(), name: String::new() }]);
    }
    let mut levels = Vec::new();
    for entry in fs::read_dir(path).map_err(StoredError::io(path))? {
        let entry = entry.map_err(StoredError::io(path))?.path();
        if entry.join(file::TAPES).is_file()
            && let Some(name) = entry.file_name()
        {
            let name = name.to_string_lossy().into_owned();
            if !name.contains(SET_ASIDE) {
                levels.push(StoredLevel { path: entry, name });
            }
        }
    }
    levels.sort_by(StoredLevel::rising);
    Ok(levels)
}

/// What the name of a level's folder has that a sweep which went on measured again.
pub(crate) const SET_ASIDE: &str = "-partial";

/// `document` with what `level` says of itself among its levels: in place of what `run.json` says of it, or after the last.
pub(super) fn described(
    mut document: RunDocument,
    level: &StoredLevel,
) -> Result<RunDocument, StoredError> {
    let Some(plan) = level.plan()? else { return Ok(document) };
    let is_it = |other: &&mut LevelPlan| {
        (other.load, other.visit, other.role) == (plan.load, plan.visit, plan.role)
    };
    match document.levels.iter_mut().find(is_it) {
        Some(level) => *level = plan,
        None => document.levels.push(plan),
    }
    Ok(document)
}
