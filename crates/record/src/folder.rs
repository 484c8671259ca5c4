//! A run's folder: what is written, where, and when.

mod claim;
mod lock;
mod tapes;

pub use lock::host_name;
pub use tapes::TapeFile;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use claim::FolderClaim;

use fizeau_core::Nanos;
use fizeau_metrics::{HistogramError, LevelHistograms};
use fizeau_telemetry::ForwardPassLine;
use serde::Serialize;

use crate::shards::ShardDocument;
use crate::stored::SET_ASIDE;
use crate::{LevelReport, RunDocument, ScrapedPages, ShardRecord, SummaryDocument, file};

/// Why a run's folder could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The folder already holds a run.
    #[error("{} already holds a run; name another folder or remove it", .0.display())]
    Occupied(PathBuf),
    /// There is a file of that name.
    #[error("{} is a file; name a folder", .0.display())]
    NotAFolder(PathBuf),
    /// Another process writes into the folder.
    #[error("{} is in use: {by} writes into it; name another folder or wait until it is done", path.display())]
    Held {
        /// The folder.
        path: PathBuf,
        /// Who writes: which process, of which machine where that is known.
        by: String,
    },
    /// The folder already holds several configurations, each in a folder of its own.
    #[error("{} already holds a what-if; name another folder or remove it", .0.display())]
    HoldsWhatIf(PathBuf),
    /// The system refused.
    #[error("cannot write {}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// A histogram could not be put into its log.
    #[error("cannot write {name}: {error}")]
    Histogram {
        /// The file's name.
        name: &'static str,
        /// Why.
        #[source]
        error: HistogramError,
    },
    /// A document could not be put into JSON.
    #[error("cannot put {name} into JSON: {error}")]
    Json {
        /// The file's name.
        name: String,
        /// Why.
        error: String,
    },
}

impl FolderError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| match path.is_file() && error.kind() == io::ErrorKind::AlreadyExists {
            true => Self::NotAFolder(path.to_path_buf()),
            false => Self::Io { path: path.to_path_buf(), error },
        }
    }

    pub(crate) fn json(name: &str) -> impl FnOnce(serde_json::Error) -> Self + '_ {
        |error| Self::Json { name: name.to_owned(), error: error.to_string() }
    }
}

/// The folder of a run, of a sweep, or of one level of a sweep.
///
/// Documents appear whole or not at all (written aside, then renamed). Tapes are appended as requests end, so that a
/// killed run keeps what it had. `run.json` and a level that is summed up are on the disk, its tapes before its summary, when the call
/// that writes them returns, so that not even a machine that goes down loses a finished level; a run in virtual time is left to
/// the system, since it can be had again.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
    /// None where nobody is kept out.
    claim: Option<Arc<FolderClaim>>,
}

impl RunFolder {
    /// A place in `parent` where nothing is: `name`, or `name-2` and so on where another run took that.
    #[must_use]
    pub fn unused(parent: &Path, name: &str) -> PathBuf {
        let first = parent.join(name);
        let mut further = (2..1_000).map(|count: u32| parent.join(format!("{name}-{count}")));
        match first.exists() {
            true => further.find(|path| !path.exists()).unwrap_or(first),
            false => first,
        }
    }

    /// Makes the folder, parents included.
    ///
    /// # Errors
    /// If it already holds a run, or the system refuses.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let path = path.into();
        Self::check_free(&path)?;
        fs::create_dir_all(&path).map_err(FolderError::io(&path))?;
        Ok(Self::again(path))
    }

    /// # Errors
    /// If it already holds a run.
    pub fn check_free(path: &Path) -> Result<(), FolderError> {
        let marks = [file::RUN, file::TAPES, file::SWEEP];
        match marks.iter().any(|name| path.join(name).exists()) {
            true => Err(FolderError::Occupied(path.to_path_buf())),
            false => Ok(()),
        }
    }

    /// The folder of a run that is there already, which others may write into too.
    #[must_use]
    pub fn again(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), claim: None }
    }

    /// Sets a level's folder within this one aside, under a name that no level has: `concurrency-0008-partial`. Nothing happens if
    /// it is not there.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn set_aside(&self, name: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        if !path.exists() {
            return Ok(());
        }
        let aside = |n: u32| match n {
            1 => self.path.join(format!("{name}{SET_ASIDE}")),
            n => self.path.join(format!("{name}{SET_ASIDE}-{n}")),
        };
        let free = (1..).map(aside).find(|aside| !aside.exists());
        let free = free.unwrap_or_else(|| aside(0));
        fs::rename(&path, &free).map_err(FolderError::io(&path))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sees whether it is still there: what is removed while a run goes on is not to be made again without what it held.
    ///
    /// # Errors
    /// If it is not, or the system does not say.
    pub fn check(&self) -> Result<(), FolderError> {
        fs::metadata(&self.path).map(drop).map_err(FolderError::io(&self.path))
    }

    /// Makes a folder for a level within this one.
    ///
    /// # Errors
    /// As [`RunFolder::create`]; and if this one is gone, which is not made again without what it held.
    pub fn level(&self, name: &str) -> Result<Self, FolderError> {
        fs::metadata(&self.path).map_err(FolderError::io(&self.path))?;
        Self::create(self.path.join(name))
    }

    /// Writes `run.json`.
    ///
    /// # Errors
    /// If it cannot be put into JSON, or the system refuses.
    pub fn write_run(&self, document: &RunDocument) -> Result<PathBuf, FolderError> {
        self.write_document(file::RUN, document, !document.is_virtual())
    }

    /// Writes `summary.json`, which says that a level came to its end, and how many tapes it has: those, what was to be measured, and
    /// what servers said are on the disk before it.
    ///
    /// # Errors
    /// If it cannot be put into JSON, or the system refuses.
    pub fn write_summary(&self, level: &LevelReport) -> Result<PathBuf, FolderError> {
        let is_synced = !level.is_simulated();
        if is_synced {
            [file::LEVEL, file::TAPES, file::TELEMETRY, file::FORWARD_PASSES]
                .into_iter()
                .try_for_each(|of| self.sync(of))?;
        }
        self.write_document(file::SUMMARY, &SummaryDocument::from(level), is_synced)
    }

    /// Writes `shard.json`, what is known of one shard's part of a level.
    ///
    /// # Errors
    /// If it cannot be put into JSON, or the system refuses.
    pub fn write_shard(&self, record: &ShardRecord) -> Result<PathBuf, FolderError> {
        self.write_json(file::SHARD, &ShardDocument::from(record.clone()))
    }

    /// Sees to it that what this file holds is on the disk, where it is there.
    fn sync(&self, name: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        match File::options().append(true).open(&path).and_then(|file| file.sync_all()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FolderError::Io { path, error })
            }
            _ => Ok(()),
        }
    }

    /// Sees to it that the names of all that lies here are on the disk, and this folder's own. Where a folder cannot be opened as a
    /// file, they are left to the system.
    fn sync_names(&self) {
        let above = self.path.parent().map(|above| match above.as_os_str().is_empty() {
            true => Path::new("."),
            false => above,
        });
        for folder in [Some(&*self.path), above].into_iter().flatten() {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
    }

    /// Writes `document` as pretty JSON.
    ///
    /// # Errors
    /// If it cannot be put into JSON, or the system refuses.
    pub fn write_json(
        &self,
        name: &str,
        document: &impl Serialize,
    ) -> Result<PathBuf, FolderError> {
        self.write_document(name, document, false)
    }

    /// As [`write_json`](Self::write_json), seen to it that it is on the disk where `is_synced`.
    fn write_document(
        &self,
        name: &str,
        document: &impl Serialize,
        is_synced: bool,
    ) -> Result<PathBuf, FolderError> {
        let mut text = serde_json::to_vec_pretty(document).map_err(FolderError::json(name))?;
        text.push(b'\n');
        self.replace(name, &text, is_synced)
    }

    /// Writes a text file whole: aside first, then renamed into place.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write_text(&self, name: &str, text: &str) -> Result<PathBuf, FolderError> {
        self.replace(name, text.as_bytes(), false)
    }

    /// A name is given to what is whole: what is to be on the disk is there before it has one.
    fn replace(&self, name: &str, text: &[u8], is_synced: bool) -> Result<PathBuf, FolderError> {
        let path = self.path.join(name);
        let aside = self.path.join(format!(".{name}.part"));
        let written = File::create(&aside).and_then(|mut file| {
            file.write_all(text)?;
            if is_synced { file.sync_all() } else { Ok(()) }
        });
        match written.and_then(|()| fs::rename(&aside, &path)) {
            Ok(()) => {
                if is_synced {
                    self.sync_names();
                }
                Ok(path)
            }
            Err(error) => {
                // A full disk may have taken a part of it, which is of no use to anybody.
                let _ = fs::remove_file(&aside);
                Err(FolderError::Io { path, error })
            }
        }
    }

    /// Writes `ttft.hdr`, `itl.hdr` and `e2el.hdr`: HDR interval logs of a level that took `duration`.
    ///
    /// # Errors
    /// If a histogram cannot be put into its log, or the system refuses.
    pub fn write_histograms(
        &self,
        histograms: &LevelHistograms,
        duration: Nanos,
    ) -> Result<(), FolderError> {
        let LevelHistograms { ttft, itl, e2el } = histograms;
        for (name, histogram) in [("ttft.hdr", ttft), ("itl.hdr", itl), ("e2el.hdr", e2el)] {
            let log = histogram.to_interval_log(duration);
            let log = log.map_err(|error| FolderError::Histogram { name, error })?;
            self.write_text(name, &log)?;
        }
        Ok(())
    }

    /// Writes `telemetry.jsonl`: of each page, in the order in which they came, what changed since the one before it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write_telemetry(&self, pages: &[ScrapedPages]) -> Result<(), FolderError> {
        self.write_lines(file::TELEMETRY, ScrapedPages::lines(pages))
    }

    /// Writes `forward-pass.jsonl`: the records of an engine's steps, in the order in which they came.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write_forward_passes(&self, passes: &[ForwardPassLine]) -> Result<(), FolderError> {
        self.write_lines(file::FORWARD_PASSES, passes)
    }

    /// Writes a file of which each line is a document.
    pub(crate) fn write_lines(
        &self,
        name: &str,
        lines: impl IntoIterator<Item = impl Serialize>,
    ) -> Result<(), FolderError> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, &line).map_err(FolderError::json(name))?;
            text.push(b'\n');
        }
        self.replace(name, &text, false).map(drop)
    }

    /// Opens `tapes.jsonl` for the tapes of this run.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn tapes(&self) -> Result<TapeFile, FolderError> {
        TapeFile::create(self.path.join(file::TAPES))
    }
}
