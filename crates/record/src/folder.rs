//! A run's folder: what is written, where, and when.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fizeau_core::{Nanos, Tape, TapeSink};
use fizeau_metrics::{HistogramError, LevelHistograms};
use serde::Serialize;

use crate::stored::{SET_ASIDE, TELEMETRY};
use crate::{RunDocument, ScrapedPages};

/// Why a run's folder could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The folder already holds a run.
    #[error("{} already holds a run; name another folder or remove it", .0.display())]
    Occupied(PathBuf),
    /// The folder already holds several configurations, each in a folder of its own.
    #[error("{} already holds a what-if", .0.display())]
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
        |error| Self::Io { path: path.to_path_buf(), error }
    }

    pub(crate) fn json(name: &str) -> impl FnOnce(serde_json::Error) -> Self + '_ {
        |error| Self::Json { name: name.to_owned(), error: error.to_string() }
    }
}

/// A run's folder that is taken before anything is sent: it is known to be writable. When this is dropped it is given back, if it was made
/// here and nothing came of the run.
#[derive(Debug)]
pub struct ClaimedFolder {
    folder: RunFolder,
    /// Whether it was made here, and did not lie there before.
    is_new: bool,
}

impl ClaimedFolder {
    /// Takes the folder, parents included.
    ///
    /// # Errors
    /// If it already holds a run, or the system refuses.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let path = path.into();
        let is_new = !path.exists();
        if RunFolder::holds_whatif(&path) {
            return Err(FolderError::HoldsWhatIf(path));
        }
        let claimed = Self { folder: RunFolder::create(path)?, is_new };
        let probe = claimed.folder.write_text("probe", "")?;
        fs::remove_file(&probe).map_err(FolderError::io(&probe))?;
        Ok(claimed)
    }

    /// The folder of a run that is resumed.
    #[must_use]
    pub fn again(path: impl Into<PathBuf>) -> Self {
        Self { folder: RunFolder::again(path), is_new: false }
    }

    /// It.
    #[must_use]
    pub const fn folder(&self) -> &RunFolder {
        &self.folder
    }
}

impl Drop for ClaimedFolder {
    fn drop(&mut self) {
        if self.is_new {
            // What holds something stays; nothing is left to do about any other error.
            let _ = fs::remove_dir(self.folder.path());
        }
    }
}

/// The folder of a run, of a sweep, or of one level of a sweep.
///
/// Documents appear whole or not at all (written aside, then renamed). Tapes are appended as requests end, so that a
/// killed run keeps what it had.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
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
        let marks = ["run.json", "tapes.jsonl", "sweep.json"];
        if marks.iter().any(|name| path.join(name).exists()) {
            return Err(FolderError::Occupied(path));
        }
        fs::create_dir_all(&path).map_err(FolderError::io(&path))?;
        Ok(Self { path })
    }

    /// Whether several configurations lie there, each in a folder of its own.
    #[must_use]
    pub fn holds_whatif(path: &Path) -> bool {
        ["whatif.json", "configuration-01"].iter().any(|name| path.join(name).exists())
    }

    /// The folder of a run that is there already, to resume.
    #[must_use]
    pub fn again(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
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

    /// Makes a folder for a level within this one.
    ///
    /// # Errors
    /// As [`RunFolder::create`].
    pub fn level(&self, name: &str) -> Result<Self, FolderError> {
        Self::create(self.path.join(name))
    }

    /// Writes `run.json`.
    ///
    /// # Errors
    /// If it cannot be put into JSON, or the system refuses.
    pub fn write_run(&self, document: &RunDocument) -> Result<PathBuf, FolderError> {
        self.write_json("run.json", document)
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
        let mut text = serde_json::to_string_pretty(document).map_err(FolderError::json(name))?;
        text.push('\n');
        self.write_text(name, &text)
    }

    /// Writes a text file whole: aside first, then renamed into place.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write_text(&self, name: &str, text: &str) -> Result<PathBuf, FolderError> {
        let path = self.path.join(name);
        let aside = self.path.join(format!(".{name}.part"));
        fs::write(&aside, text).map_err(FolderError::io(&aside))?;
        fs::rename(&aside, &path).map_err(FolderError::io(&path))?;
        Ok(path)
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
        let mut text = String::new();
        for line in ScrapedPages::lines(pages) {
            text += &serde_json::to_string(&line).map_err(FolderError::json(TELEMETRY))?;
            text.push('\n');
        }
        self.write_text(TELEMETRY, &text).map(drop)
    }

    /// Opens `tapes.jsonl` for the tapes of this run.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn tapes(&self) -> Result<TapeFile, FolderError> {
        let path = self.path.join("tapes.jsonl");
        let file = OpenOptions::new().create_new(true).append(true).open(&path);
        let file = file.map_err(FolderError::io(&path))?;
        Ok(TapeFile { path, file, whole: 0, lines: Vec::with_capacity(2 * MOST_KEPT_BACK) })
    }
}

/// How many bytes of tapes are kept back at the most before they are written.
const MOST_KEPT_BACK: usize = 1 << 16;

/// `tapes.jsonl`: one tape a line, in the order in which the requests ended.
///
/// Whole lines are written, as soon as no further tape is at hand, or every 64 KiB where tapes come faster than that. So a
/// killed run keeps every request that ended, but for those 64 KiB where the disk or this side could not keep up.
#[derive(Debug)]
pub struct TapeFile {
    path: PathBuf,
    file: File,
    /// How many bytes of whole lines are written.
    whole: u64,
    lines: Vec<u8>,
}

impl TapeSink for TapeFile {
    type Error = FolderError;

    fn record(&mut self, tape: &Tape) -> Result<(), FolderError> {
        let line = serde_json::to_writer(&mut self.lines, tape);
        line.map_err(FolderError::json("tapes.jsonl"))?;
        self.lines.push(b'\n');
        if self.lines.len() >= MOST_KEPT_BACK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), FolderError> {
        let written = self.file.write_all(&self.lines);
        match &written {
            Ok(()) => self.whole += self.lines.len() as u64,
            // A full disk may have taken half a line; the file must end with a whole one.
            Err(_) => drop(self.file.set_len(self.whole)),
        }
        self.lines.clear();
        written.map_err(FolderError::io(&self.path))
    }
}

impl Drop for TapeFile {
    fn drop(&mut self) {
        // A driver flushes and hears of errors; this is for who stopped in the midst.
        let _ = self.flush();
    }
}
