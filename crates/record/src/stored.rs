//! A run that was stored: what was asked, its levels, and their tapes.

pub(crate) mod document;
mod level;
mod line;
mod lines;
mod merged;
mod seen;

pub(crate) use document::{
    DocumentLevels, read as read_document, read_json_text, read_or_earlier, read_summary,
    read_sweep, read_text, reader_of, schema_of,
};
pub(crate) use level::SET_ASIDE;
pub use level::{StoredEnding, StoredLevel};
pub use lines::{StoredTapes, TruncatedTail};
pub use merged::MergedTapes;
pub(crate) use merged::{OntoAxis, ended};

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fizeau_workload::Shard;

use crate::ab::AB;
use crate::run::{RUN, TAPES};
use crate::search::SEARCH;
use crate::{AbDocument, ReferenceError, RunDocument, SearchDocument, file};

/// Whether several configurations lie there, each in a folder of its own.
pub(crate) fn holds_whatif(path: &Path) -> bool {
    [file::WHATIF, "configuration-01"].iter().any(|name| path.join(name).exists())
}

/// Whether parts of a run of several shards lie there, each in a folder of its own.
fn holds_parts(path: &Path) -> bool {
    let is_part = |entry: io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path().join(file::RUN);
        let document: RunDocument = path.is_file().then(|| document::read(&path, RUN).ok())??;
        document.part()
    };
    fs::read_dir(path).is_ok_and(|mut entries| entries.any(|entry| is_part(entry).is_some()))
}

/// Why a stored run could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredError {
    /// There is nothing there.
    #[error("{}: there is no such folder; name the folder of a run, which holds run.json", .0.display())]
    NotThere(PathBuf),
    /// There is no run there.
    #[error("{} is not a run: a run's folder holds run.json, and tapes.jsonl or a folder for each level", .0.display())]
    NoRun(PathBuf),
    /// It holds configurations of a what-if, each a run of its own.
    #[error("{path}: several configurations side by side, which its report.html shows; name one: {path}/configuration-01", path = .0.display())]
    Configurations(PathBuf),
    /// It holds the parts of the shards of a run, each a run by itself.
    #[error("{path}: parts of a run of several shards, each in a folder of its own; name the folder of the whole run, or, to merge \
     them, each of them: {path}/*", path = .0.display())]
    Parts(PathBuf),
    /// It is the part of one shard of a run, where a whole run is asked for.
    #[error("{} is the part of shard {shard} alone: the endpoint had the load of all {} shards, which its figures do not \
     show; name the folder of the whole run, or merge the parts of all shards and name what comes of it", path.display(), shard.count())]
    Part {
        /// The folder.
        path: PathBuf,
        /// Which part it is.
        shard: Shard,
    },
    /// There is a run, of which all tapes are gone, or were never kept.
    #[error("{} is a run without tapes: neither it nor a folder in it holds tapes.jsonl, from which its \
     figures are computed", .0.display())]
    NoTapes(PathBuf),
    /// A run that was imported, of which no level is there.
    #[error("{} is an imported run without imported.json, which should be in it or in a folder of it", .0.display())]
    NothingImported(PathBuf),
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
    #[error("{}: its schema is {}, and this program reads `{reads}`", path.display(), named(found))]
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema that the file names; empty if it names none.
        found: String,
        /// The one that can be read.
        reads: &'static str,
    },
    /// A document without its end.
    #[error("{} ends too early at byte {bytes} (line {line}{}): the file was cut off", path.display(), at(field))]
    CutOff {
        /// The file.
        path: PathBuf,
        /// How long it is, in bytes.
        bytes: usize,
        /// Its last line, from 1.
        line: usize,
        /// The path of the field in which it ends; empty at the top.
        field: String,
    },
    /// A file that is not as long as it was when it was kept.
    #[error("{} is {bytes} bytes long, but run.json records {recorded}: the file was cut off or edited", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// How long it is.
        bytes: u64,
        /// How long it was.
        recorded: u64,
    },
    /// A document that is no JSON, or not of the right form.
    #[error("{}: {problem}{}", path.display(), at(field))]
    Document {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// The path of the field (`levels[0].requests`); empty at the top.
        field: String,
        /// What is wrong, with the place.
        problem: String,
    },
    /// A field of a document that is not understood.
    #[error("{}: {field}: {problem}", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The path of the field (`client.thresholds`).
        field: String,
        /// What is wrong.
        problem: String,
    },
    /// What the speed of light is computed from was kept with the run, and is not understood.
    #[error("{}: {error}", folder.display())]
    Reference {
        /// The folder that holds it.
        folder: PathBuf,
        /// What is wrong.
        error: ReferenceError,
    },
    /// A whole line that is no tape.
    #[error("{}: line {line} is not the record of a request (a tape): {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong.
        problem: String,
    },
    /// A request that is there twice, where each ought to be there once at the most.
    #[error("{}: request {request} is also in {}, but only one shard may have sent it", path.display(), also.display())]
    Repeated {
        /// The file in which it was read for the second time.
        path: PathBuf,
        /// The file in which it was read before.
        also: PathBuf,
        /// Its number.
        request: u64,
    },
    /// A request that is there twice in one file.
    #[error("{}: line {line} has request {request}, which an earlier line has already", path.display())]
    Again {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// Its number.
        request: u64,
    },
    /// A line without an end.
    #[error("{}: line {line} is not the record of a request (a tape): it is longer than {longest} bytes", path.display())]
    LongLine {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// How long a line may be at the most.
        longest: u64,
    },
}

/// The field in which something is wrong, as words behind it.
fn at(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!(", in `{field}`") }
}

/// What is wrong with a line by itself, without the line and the column that its parser counts from its beginning.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    text.strip_prefix("EOF while parsing ")
        .map_or_else(|| text.to_owned(), |what| format!("it ends in the midst of {what}"))
}

impl StoredError {
    /// That a field of a document is not understood.
    pub(crate) fn field(path: PathBuf, field: &str, problem: impl std::fmt::Display) -> Self {
        Self::Field { path, field: field.to_owned(), problem: problem.to_string() }
    }

    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| Self::Io { path: path.to_path_buf(), error }
    }
}

/// A run as its folder has it.
#[derive(Debug, Clone)]
pub struct StoredRun {
    path: PathBuf,
    document_path: PathBuf,
    written: Box<RunDocument>,
    document: Box<RunDocument>,
    levels: Vec<StoredLevel>,
}

impl StoredRun {
    /// Opens the folder of a run of one level, of a sweep, or of one level of a sweep.
    ///
    /// # Errors
    /// If there is no run, or its `run.json` cannot be read or is of another schema.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoredError> {
        let path = path.into();
        if !path.exists() {
            return Err(StoredError::NotThere(path));
        }
        let mut levels = level::all(&path)?;
        let mut document_path = path.join(file::RUN);
        if !document_path.is_file() && holds_parts(&path) {
            return Err(StoredError::Parts(path));
        }
        if levels.is_empty() {
            let is_run = document_path.is_file();
            return Err(match is_run {
                true => StoredError::NoTapes(path),
                false if holds_whatif(&path) => StoredError::Configurations(path),
                false => StoredError::NoRun(path),
            });
        }
        if !document_path.is_file() {
            // `.` has no parent by its name.
            let above = path.file_name().and_then(|_| path.parent());
            let above = above.map_or_else(|| path.join(".."), Path::to_path_buf);
            document_path = above.join(file::RUN);
            let name = path.canonicalize().map_err(StoredError::io(&path))?;
            let name = name.file_name().map(|name| name.to_string_lossy().into_owned());
            levels.iter_mut().for_each(|level| level.name = name.clone().unwrap_or_default());
        }
        if !document_path.is_file() {
            return Err(StoredError::NoRun(path));
        }
        let written = run_document(&document_path)?;
        let document = levels.iter().try_fold(written.clone(), level::described)?;
        let (written, document) = (Box::new(written), Box::new(document));
        Ok(Self { path, document_path, written, document, levels })
    }

    /// That a field of its `run.json` is not understood.
    pub(crate) fn wrong(&self, field: &str, problem: impl std::fmt::Display) -> StoredError {
        StoredError::field(self.document_path.clone(), field, problem)
    }

    /// The same, unless it is the part of one shard, whose figures are not those of what its endpoint served.
    ///
    /// # Errors
    /// If it is one.
    pub fn whole(self) -> Result<Self, StoredError> {
        match self.document.part() {
            Some(shard) => Err(StoredError::Part { path: self.path, shard }),
            None => Ok(self),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its `run.json` is: one level of a sweep has it in the folder above.
    #[must_use]
    pub fn document_path(&self) -> &Path {
        &self.document_path
    }

    /// What was asked: `run.json`, whose `levels` are joined by what each level's folder says of itself in `level.json`:
    /// some levels are only decided upon as a sweep goes on.
    #[must_use]
    pub fn document(&self) -> &RunDocument {
        &self.document
    }

    /// `run.json` alone.
    #[must_use]
    pub fn written(&self) -> &RunDocument {
        &self.written
    }

    /// What the rounds of an A/B run came to, as its `ab.json` has it; none if it did not come to its end, or is no A/B run.
    ///
    /// # Errors
    /// If it cannot be read or is of another schema.
    pub fn ab(&self) -> Result<Option<AbDocument>, StoredError> {
        let path = self.path.join(file::AB);
        path.is_file().then(|| document::read(&path, AB)).transpose()
    }

    /// What came of a search, as its `search.json` has it; none if it did not come to its end, or is no search.
    ///
    /// # Errors
    /// If it cannot be read or is of another schema.
    pub fn search(&self) -> Result<Option<SearchDocument>, StoredError> {
        let path = self.path.join(file::SEARCH);
        path.is_file().then(|| document::read(&path, SEARCH)).transpose()
    }

    /// Its levels: closed loops before open ones, each kind rising, later visits to a load after earlier ones; then what is
    /// named otherwise, in the order of the names. A run of one level has one, without a name.
    #[must_use]
    pub fn levels(&self) -> &[StoredLevel] {
        &self.levels
    }
}

/// The name of a schema in a sentence.
fn named(schema: &str) -> String {
    match schema {
        "" => "missing".to_owned(),
        named => format!("`{named}`"),
    }
}

/// The `run.json` at `path`, whose tapes can be read too.
fn run_document(path: &Path) -> Result<RunDocument, StoredError> {
    let document: RunDocument = document::read(path, RUN)?;
    match reader_of(document.tapes_schema()) {
        TAPES => Ok(document),
        _ => {
            let (path, found) = (path.to_path_buf(), document.tapes_schema().to_owned());
            Err(StoredError::Schema { path, found, reads: TAPES })
        }
    }
}
