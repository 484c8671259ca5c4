//! What a form of file has to offer.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::PeerSettings;
use fizeau_core::{Nanos, Tape};
use fizeau_metrics::GoodputGoals;
use fizeau_record::LevelStatus;

use super::{ExportArrivals, ForeignError, ForeignFile, ImportedLevel};
use crate::VllmRun;

/// One form of another tool's result files. Stateless.
///
/// # How to add a format
///
/// 1. `foreign/NAME.rs`: a unit struct with `impl ForeignFormat`. `recognises` looks at what is peculiar to the tool's files.
///    `import` gets all files of one folder that it recognised, and makes a level of each record: types of the format's own derive
///    `Deserialize`, `Record` reads them and names the file and the field in every error, `FigureSheet` takes the figures and
///    withholds percentiles that the sample does not support, `Seen` makes a tape of what is known of one request. `export` writes
///    figures by the tool's own definitions, from `Peer::figures`, with `Object`, which keeps the order of the keys.
/// 2. A line in `FORMATS` (`foreign/formats.rs`), the more peculiar before the more general.
/// 3. A small file in `fixtures/foreign/` with its source in the README there, and a line for each of the tests in
///    `tests/it/foreign/`: figures, round trip, damage.
pub trait ForeignFormat: Sync {
    /// The word for it on a command line: `vllm`, `sglang`.
    fn key(&self) -> &'static str;

    /// Other words that mean it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The tool, and which of its files, in a few words.
    fn about(&self) -> &'static str;

    /// Whether a file has this form, by what is peculiar to the tool. A damaged file may have no form at all.
    fn recognises(&self, file: &ForeignFile<'_>) -> bool;

    /// The levels in `files`, which are all those of one folder that were recognised: tools write several files of one run.
    ///
    /// # Errors
    /// If a file is damaged or lacks what every result has; the message names the file and the field.
    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError>;

    /// The files that the tool would have written of these levels, by its own definitions.
    ///
    /// # Errors
    /// If the form cannot hold what is given, or nothing of it is written here.
    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError>;

    /// What its files say of arrivals that the tool has no word for, in words; none where it has one.
    fn in_place_of(&self, level: &ExportLevel<'_>) -> Option<&'static str> {
        level.arrivals.peculiar().map(|_| "its file has the mean rate alone")
    }

    /// Whether its files say of a level that it did not come to its end.
    fn tells_of_interruption(&self) -> bool {
        false
    }
}

/// A level to be written in another tool's form.
#[derive(Debug, Clone)]
pub struct ExportLevel<'a> {
    /// The name of its folder within the run; empty for the only level.
    pub name: &'a str,
    /// What was asked, as vLLM's client names it: most tools record the same.
    pub run: VllmRun,
    /// When requests were to leave.
    pub arrivals: ExportArrivals,
    /// The path of the route; empty where it is not known.
    pub path: &'a str,
    /// Where the prompts came from.
    pub dataset: &'a str,
    /// The goals of goodput; empty without.
    pub goals: &'a GoodputGoals,
    /// What was seen of each request, in the order of the requests. Empty for a level that was imported without.
    pub tapes: &'a [Tape],
    /// What the wall clock showed at the epoch of the tapes, since 1970; none where it is not known.
    pub epoch_unix: Option<Nanos>,
    /// How far it came.
    pub status: LevelStatus,
    /// What was imported, where the level came from another tool's file.
    pub imported: Option<&'a ImportedLevel>,
}

/// A file in another tool's form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportedFile {
    /// Its name as the tool gives it, with `/` after each folder.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Why files could not be written. The message names the place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportWriteError {
    /// Something is there.
    #[error("{} already exists; name another place", .0.display())]
    Taken(PathBuf),
    /// There are several files, and the place is called as one.
    #[error("{}: there are {count} files to write, and this is the name of one; name a folder for them", path.display())]
    Several {
        /// The place.
        path: PathBuf,
        /// How many files there are.
        count: usize,
    },
    /// A folder cannot be made.
    #[error(transparent)]
    Folder(io::Error),
    /// A file cannot be written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
}

impl ExportedFile {
    /// Writes `files`, and gives back where they are: a single one at `out` itself unless that is a folder or ends in `/`, several into
    /// it. Nothing that is there is written over.
    ///
    /// # Errors
    /// If something is there, several files have the name of one, or the system refuses.
    pub fn write_all(files: &[Self], out: &Path) -> Result<Vec<PathBuf>, ExportWriteError> {
        let is_folder = out.is_dir() || out.to_string_lossy().ends_with('/');
        let is_name_of_file = out
            .extension()
            .is_some_and(|ending| ["json", "jsonl", "csv"].iter().any(|known| ending == *known));
        if files.len() > 1 && is_name_of_file && !is_folder {
            return Err(ExportWriteError::Several { path: out.to_owned(), count: files.len() });
        }
        let paths: Vec<PathBuf> = match files {
            [_] if !is_folder => vec![out.to_owned()],
            files => files.iter().map(|file| out.join(&file.name)).collect(),
        };
        if let Some(taken) = paths.iter().find(|path| path.exists()) {
            return Err(ExportWriteError::Taken(taken.clone()));
        }
        for (path, file) in paths.iter().zip(files) {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(ExportWriteError::Folder)?;
            }
            let path = path.clone();
            let written = fs::write(&path, &file.bytes);
            written.map_err(|error| ExportWriteError::File { path, error })?;
        }
        Ok(paths)
    }
}

impl ExportLevel<'_> {
    /// What `format` has no word for in how requests were to leave and how far the level came, and what its files say in place of that;
    /// none where it has one, or the level is written as it came.
    #[must_use]
    pub fn unsaid(&self, format: &dyn ForeignFormat) -> Vec<String> {
        let key = format.key();
        if self.own_record(key).is_some() {
            return Vec::new();
        }
        let arrivals = self.arrivals.peculiar().zip(format.in_place_of(self));
        let arrivals =
            arrivals.map(|(words, instead)| format!("{key} has no word for {words}: {instead}"));
        let is_lost = self.is_partial() && !format.tells_of_interruption();
        let partial = is_lost.then(|| {
            format!(
                "{key} has no word for a level that was interrupted: its file reads as a whole one"
            )
        });
        arrivals.into_iter().chain(partial).collect()
    }

    /// Whether it was interrupted.
    pub(super) const fn is_partial(&self) -> bool {
        matches!(self.status, LevelStatus::Partial { .. })
    }

    /// What the same format had of this level, if that is where it came from: it is written again as it was.
    pub(super) fn own_record(&self, format: &str) -> Option<&ImportedLevel> {
        self.imported.filter(|imported| imported.source.format == format)
    }

    /// How the form of requests is called that chat has another route for.
    pub(super) fn request_format(&self) -> &'static str {
        let is_chat = [self.path, &self.run.backend].iter().any(|name| name.contains("chat"));
        if is_chat { "chat" } else { "completions" }
    }

    /// How long another tool's clock said that it took.
    fn lasted(&self) -> Nanos {
        let took = self.imported.and_then(|level| level.counts.duration_s);
        took.and_then(|took| Nanos::from_secs_f64(took).ok()).unwrap_or_default()
    }

    /// What a tool was told beside the requests, for its figures of them.
    pub(super) fn peer_settings(&self) -> PeerSettings {
        PeerSettings {
            goals: self.goals.clone(),
            max_concurrency: self.run.max_concurrency,
            lasted: self.lasted(),
            ..PeerSettings::default()
        }
    }

    /// Refuses a level without tapes: figures by somebody's definitions need what each request did.
    pub(super) fn with_tapes(&self, format: &'static str) -> Result<&[Tape], ForeignError> {
        if !self.tapes.is_empty() {
            return Ok(self.tapes);
        }
        let why = match self.imported {
            Some(imported) => format!(
                "{} holds figures of {} and no requests: nothing can be computed by other definitions",
                imported.source.file, imported.source.tool
            ),
            None => "the level has no tapes".to_owned(),
        };
        Err(ForeignError::NotWritten { format, why })
    }
}
