//! Files of other tools on a disk, as runs.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use fizeau_record::text::unreadable;
use fizeau_record::{ImportedLevel, ImportedRun};

use crate::{ForeignError, ForeignFile, ForeignFormat, ForeignFormats, plain_name};

/// What files of other tools amount to.
#[derive(Debug)]
#[non_exhaustive]
pub struct ImportedFiles {
    /// The runs, one for each model and setting.
    pub runs: Vec<ImportedRun>,
    /// Whole files that lie in the folders and have no form that is known.
    pub passed_over: Vec<String>,
    /// Files of the folders that are damaged, or hold what their form cannot: each error names its file. All others are imported.
    pub refused: Vec<ForeignError>,
}

/// Why files could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The system refused.
    #[error("{file}: {}", unreadable(error))]
    Io {
        /// The file or folder.
        file: String,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// A folder has no file of a kind that results have.
    #[error("{folder}: no file in it ends in .json, .jsonl or .csv")]
    NoFiles {
        /// The folder.
        folder: String,
    },
    /// A folder is one of ours.
    #[error("{folder} is already a run of Fizeau; `fizeau report` shows it")]
    OwnRun {
        /// The folder.
        folder: String,
    },
    /// No file has a form that is known.
    #[error("{first}: none of {count} files has a known format; the formats are {known}")]
    NothingKnown {
        /// The first of them.
        first: String,
        /// How many there are.
        count: usize,
        /// The names of the formats that were tried.
        known: String,
    },
    /// All levels are empty.
    #[error("{file}: no request completed")]
    NothingCompleted {
        /// The first of the files.
        file: String,
    },
    /// A file is damaged, or of no form that is known.
    #[error(transparent)]
    Foreign(#[from] ForeignError),
}

impl ImportError {
    fn io(file: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        |error| Self::Io { file: file.into(), error }
    }
}

impl ForeignFormats {
    /// The runs in files of other tools, and in folders that hold them, all of the form `form` or of whichever each has. A file
    /// that is named itself must be whole and of a known form; one that lies in a folder and is not keeps no other from being
    /// imported. This one reads the disk.
    ///
    /// # Errors
    /// If a file cannot be read, one that was named or all are damaged or of no known form, or no request completed in any.
    pub fn import_paths(
        paths: &[PathBuf],
        form: Option<&'static dyn ForeignFormat>,
    ) -> Result<ImportedFiles, ImportError> {
        let mut read = read(paths)?;
        let mut refused = Vec::new();
        let (levels, passed_over) = loop {
            let error = match levels_of(&read, form) {
                Ok(found) => break found,
                Err(ImportError::Foreign(error)) => error,
                Err(error) => return Err(refused.into_iter().next().map_or(error, Into::into)),
            };
            let is_its = |file: &File| !file.is_named && error.file() == Some(&*file.name);
            let Some(at) = read.iter().position(is_its) else { return Err(error.into()) };
            read.remove(at);
            refused.push(error);
        };
        if levels.iter().all(|level| level.left_out().is_some()) {
            let file = levels.first().map_or("the files", |level| &level.source.file);
            return Err(ImportError::NothingCompleted { file: file.to_owned() });
        }
        Ok(ImportedFiles { runs: ImportedRun::of_levels(levels), passed_over, refused })
    }
}

impl ImportedFiles {
    /// Where each run goes: a single one to `out` itself, several each to a folder in it that is named as the run.
    #[must_use]
    pub fn folders(&self, out: &Path) -> Vec<PathBuf> {
        if self.runs.len() == 1 {
            return vec![out.to_owned()];
        }
        let mut taken = HashSet::new();
        let mut folder = |run: &ImportedRun| {
            let name = plain_name(run.name()).unwrap_or_else(|| "imported".to_owned());
            let numbered = (2..).map(|n| format!("{name}-{n}"));
            let free = std::iter::once(name.clone()).chain(numbered);
            let free = free.take(self.runs.len() + 1).find(|name| taken.insert(name.clone()));
            out.join(free.unwrap_or(name))
        };
        self.runs.iter().map(&mut folder).collect()
    }
}

/// A file, read whole.
struct File {
    /// Its path, with `/` between folders.
    name: String,
    bytes: Vec<u8>,
    /// Whether it was named itself, and so must be of a known form.
    is_named: bool,
}

/// How deep folders are looked into.
const DEPTH: usize = 8;

/// What is in a folder, but of no kind that a result has, is passed over.
const KINDS: [&str; 3] = ["json", "jsonl", "csv"];

fn read(paths: &[PathBuf]) -> Result<Vec<File>, ImportError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(file(path, true)?);
            continue;
        }
        let before = files.len();
        within(path, 0, &mut files)?;
        if files.len() == before {
            return Err(ImportError::NoFiles { folder: path.display().to_string() });
        }
    }
    Ok(files)
}

fn file(path: &Path, is_named: bool) -> Result<File, ImportError> {
    let name = path.to_string_lossy().replace('\\', "/");
    let bytes = fs::read(path).map_err(ImportError::io(&*name))?;
    Ok(File { name, bytes, is_named })
}

fn within(folder: &Path, depth: usize, files: &mut Vec<File>) -> Result<(), ImportError> {
    let name = folder.display().to_string();
    if folder.join("run.json").is_file() {
        return Err(ImportError::OwnRun { folder: name });
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(ImportError::io(&*name))? {
        entries.push(entry.map_err(ImportError::io(&*name))?.path());
    }
    entries.sort();
    for path in entries {
        // What a system puts beside files, such as macOS's `._NAME`.
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            continue;
        }
        let kind = path.extension().map(|kind| kind.to_string_lossy().to_lowercase());
        if path.is_dir() && depth < DEPTH {
            within(&path, depth + 1, files)?;
        } else if path.is_file() && kind.is_some_and(|kind| KINDS.contains(&kind.as_str())) {
            files.push(file(&path, false)?);
        }
    }
    Ok(())
}

/// The levels in the files of known forms, and the names of the other files.
fn levels_of(
    read: &[File],
    form: Option<&'static dyn ForeignFormat>,
) -> Result<(Vec<ImportedLevel>, Vec<String>), ImportError> {
    let (files, passed_over) = recognised(read, form)?;
    Ok((ForeignFormats::import(files, form)?, passed_over))
}

/// The files of known forms, and the names of the others. What lies in a folder is passed over if it is whole: of one that was cut
/// off nobody knows what it was.
fn recognised<'a>(
    read: &'a [File],
    form: Option<&'static dyn ForeignFormat>,
) -> Result<(Vec<ForeignFile<'a>>, Vec<String>), ImportError> {
    let (mut files, mut passed) = (Vec::new(), Vec::new());
    let (mut runs, mut tables) = (Vec::new(), Vec::new());
    for own in read {
        let file = ForeignFile::new(&own.name, &own.bytes);
        match (form, ForeignFormats::of(&file)) {
            (Some(form), _) if own.is_named || form.recognises(&file) => files.push(file),
            (None, Ok(format)) => {
                match (format.key(), is_table(&file)) {
                    ("vllm-sweep", true) => tables.push(file.name()),
                    ("vllm-sweep", false) => runs.push(file.folder()),
                    _ => {}
                }
                files.push(file);
            }
            (None, Err(error)) if own.is_named => return Err(error.into()),
            _ => {
                file.check_whole()?;
                passed.push(own.name.clone());
            }
        }
    }
    // The table of a sweep has its runs once more, which lie beside it or in folders below.
    let is_told = |table: &ForeignFile<'_>| runs.iter().any(|run| is_below(run, table.folder()));
    files.retain(|file| !(tables.contains(&file.name()) && is_told(file)));
    if files.is_empty() {
        return Err(ImportError::NothingKnown {
            first: passed.first().cloned().unwrap_or_default(),
            count: passed.len(),
            known: ForeignFormats::names(),
        });
    }
    Ok((files, passed))
}

/// Whether `folder` is that one, or lies in it.
fn is_below(folder: &str, above: &str) -> bool {
    let rest = folder.strip_prefix(above);
    above.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_table(file: &ForeignFile<'_>) -> bool {
    file.file_name().ends_with(".csv")
}
