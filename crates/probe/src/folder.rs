//! A probe's folder: each measurement as it is made, and at the end the document and the device that follow from them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::device::DeviceFacts;
use crate::document::ProbeDocument;
use crate::drive::MeasurementSink;
use crate::host::ProbeHost;
use crate::import::{ImportJoinError, MeasurementImportError, import_measurements};
use crate::measured_device::MeasuredDevice;
use crate::measurement::Measurement;

const DOCUMENT: &str = "probe.json";
const ROWS: &str = "measurements.jsonl";
const DEVICE: &str = "device.toml";

/// A folder into which measurements go one by one, so that a program that is killed has kept those before it.
///
/// `measurements.jsonl` has the machine in its first line and a measurement in each further one; `probe.json` and `device.toml` are
/// written at the end.
#[derive(Debug)]
pub struct ProbeFolder {
    path: PathBuf,
    rows: File,
}

/// Why a probe's folder cannot be written or read. The message names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeFolderError {
    /// The folder is in use already.
    #[error("{}: it has a probe already; name another folder", .0.display())]
    Taken(PathBuf),
    /// Nothing is there.
    #[error("{}: there is no such file or folder; name the folder of a probe, its probe.json, or the file of another tool", .0.display())]
    NotThere(PathBuf),
    /// A folder stands where a file is wanted.
    #[error("{}: this is a folder; name the files in it that tools printed or wrote, such as the output of nvbandwidth", .0.display())]
    IsFolder(PathBuf),
    /// The system would not.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// There are no results of a probe.
    #[error("{}: {problem}", path.display())]
    NoProbe {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file is neither a probe's nor of a tool that is known.
    #[error(transparent)]
    Import(#[from] MeasurementImportError),
    /// Files are not of one machine.
    #[error(transparent)]
    Join(#[from] ImportJoinError),
}

/// Measurements in memory, and in a folder where there is one.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct KeptMeasurements {
    /// The folder.
    pub folder: Option<ProbeFolder>,
    /// All of them, in the order in which they were made.
    pub rows: Vec<Measurement>,
}

impl KeptMeasurements {
    /// None yet; each is kept in `folder` too, where there is one.
    #[must_use]
    pub const fn new(folder: Option<ProbeFolder>) -> Self {
        Self { folder, rows: Vec::new() }
    }
}

impl MeasurementSink for KeptMeasurements {
    type Error = ProbeFolderError;

    fn keep(&mut self, measured: &Measurement) -> Result<(), ProbeFolderError> {
        if let Some(folder) = &mut self.folder {
            folder.keep(measured)?;
        }
        self.rows.push(measured.clone());
        Ok(())
    }
}

/// The first line of the measurements.
#[derive(Serialize, Deserialize)]
struct Machine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begun: Option<String>,
    host: ProbeHost,
    devices: Vec<DeviceFacts>,
}

impl ProbeFolder {
    /// A new folder at `path` for what `host` measures on `devices`, `begun` at that time in UTC (`2026-11-23T06:00:00Z`), where it is known.
    /// `%n` in the path is the machine's name, so that one command serves all machines of a fleet.
    ///
    /// # Errors
    /// If there is a probe in it, or it cannot be written.
    pub fn create(
        path: impl Into<PathBuf>,
        host: &ProbeHost,
        devices: &[DeviceFacts],
        begun: Option<&str>,
    ) -> Result<Self, ProbeFolderError> {
        let path = of_machine(path.into(), host);
        if path.join(DOCUMENT).exists() || path.join(ROWS).exists() {
            return Err(ProbeFolderError::Taken(path));
        }
        let rows = path.join(ROWS);
        let created = fs::create_dir_all(&path).and_then(|()| File::create_new(&rows));
        let rows = created.map_err(|error| ProbeFolderError::Io { path: rows, error })?;
        let mut folder = Self { path, rows };
        let begun = begun.map(str::to_owned);
        folder.add(&Machine { begun, host: host.clone(), devices: devices.to_vec() })?;
        Ok(folder)
    }

    /// A new folder at `path`, as [`create`](Self::create) makes it, with what lies in `document` already.
    ///
    /// # Errors
    /// As of that.
    pub fn of_document(
        path: impl Into<PathBuf>,
        document: &ProbeDocument,
    ) -> Result<Self, ProbeFolderError> {
        let begun = document.begun.as_deref();
        let mut folder = Self::create(path, &document.host, &document.devices, begun)?;
        document.rows.iter().try_for_each(|row| folder.keep(&row.measured))?;
        Ok(folder)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn add(&mut self, line: &impl Serialize) -> Result<(), ProbeFolderError> {
        let written = serde_json::to_vec(line).map_err(io::Error::other).and_then(|mut line| {
            line.push(b'\n');
            self.rows.write_all(&line)
        });
        written.map_err(|error| ProbeFolderError::Io { path: self.path.join(ROWS), error })
    }

    /// Writes the document and, where enough was measured, the device: `device.toml`. Of several devices each has a file of its own
    /// beside it, and `device.toml` is the slowest GPU of them, which is what a model's ranks wait for. Where collectives alone were
    /// measured it is the data sheet's device with them, if that is named. Gives the files' paths.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(self, document: &ProbeDocument) -> Result<Vec<PathBuf>, ProbeFolderError> {
        let mut files = vec![(self.path.join(DOCUMENT), document.to_json())];
        let made = |name: &str| MeasuredDevice::of(document, name).ok();
        let devices = document.devices.iter();
        let devices: Vec<(&DeviceFacts, MeasuredDevice)> =
            devices.filter_map(|facts| Some((facts, made(&facts.name)?))).collect();
        let bandwidth = |device: &MeasuredDevice| device.device.memory_bandwidth().get();
        let first = devices.iter().min_by(|(one, a), (other, b)| {
            let order = one.is_processor().cmp(&other.is_processor());
            order.then(bandwidth(a).total_cmp(&bandwidth(b)))
        });
        let mut file = |name: &str, device: &MeasuredDevice| {
            files.push((self.path.join(name), device.toml.clone()));
        };
        match first {
            Some((_, first)) => file(DEVICE, first),
            None => MeasuredDevice::of_sheet(document).iter().for_each(|own| file(DEVICE, own)),
        }
        if devices.len() > 1 {
            devices.iter().for_each(|(facts, each)| file(&format!("{}.toml", facts.name), each));
        }
        for (path, text) in &files {
            let unfinished = path.with_extension("part");
            let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
            written.map_err(|error| ProbeFolderError::Io { path: path.clone(), error })?;
        }
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }

    /// The document of a folder, or of a file: a `probe.json`, or what another tool printed. Of a probe that was killed: of the
    /// measurements that it kept.
    ///
    /// # Errors
    /// If there is none.
    pub fn read(path: &Path) -> Result<ProbeDocument, ProbeFolderError> {
        if path.is_dir() {
            let document = path.join(DOCUMENT);
            return match document.exists() {
                true => document_of(&content(&document)?, &document),
                false => rows_of(&path.join(ROWS)),
            };
        }
        let content = content(path)?;
        match is_own(&content) {
            true => document_of(&content, path),
            false => imported(&[(path, content)]),
        }
    }

    /// The document beside a device's file, or in a folder that stands for it, as a probe leaves both; none where there is no such file.
    ///
    /// # Errors
    /// If there is one that is no probe's.
    pub fn beside(device: impl AsRef<Path>) -> Option<Result<ProbeDocument, ProbeFolderError>> {
        let device = device.as_ref();
        let folder = if device.is_dir() { device } else { device.parent()? };
        let document = folder.join(DOCUMENT);
        let is_there = device.exists() && document.is_file();
        is_there.then(|| document_of(&content(&document)?, &document))
    }

    /// The document of what other tools printed or wrote of one machine. Where no file names the machine, it is called as the first
    /// file is, without its ending.
    ///
    /// # Errors
    /// If a file cannot be read, is of no known tool, or is of another machine than those before it.
    pub fn import(paths: &[impl AsRef<Path>]) -> Result<ProbeDocument, ProbeFolderError> {
        let files = paths.iter().map(AsRef::as_ref);
        let files = files.map(|path| Ok((path, content(path)?)));
        imported(&files.collect::<Result<Vec<_>, ProbeFolderError>>()?)
    }
}

/// `path` with the name of `host` where it has `%n`.
fn of_machine(path: PathBuf, host: &ProbeHost) -> PathBuf {
    let name = host.node.replace(std::path::is_separator, "-");
    match path.to_str() {
        Some(text) if text.contains("%n") => text.replace("%n", &name).into(),
        _ => path,
    }
}

/// Whether a file says that it is one of ours, whichever, even one that ends too early: the schema is what it begins with.
fn is_own(content: &[u8]) -> bool {
    let text: Vec<u8> =
        content.iter().take(200).filter(|byte| !byte.is_ascii_whitespace()).copied().collect();
    text.starts_with(br#"{"schema":"fizeau."#)
}

fn document_of(content: &[u8], path: &Path) -> Result<ProbeDocument, ProbeFolderError> {
    let problem = |problem| ProbeFolderError::NoProbe { path: path.to_path_buf(), problem };
    let text = std::str::from_utf8(content).map_err(|error| problem(error.to_string()))?;
    ProbeDocument::from_json(text).map_err(|error| problem(error.to_string()))
}

fn imported(files: &[(&Path, Vec<u8>)]) -> Result<ProbeDocument, ProbeFolderError> {
    let import = |(path, content): &(&Path, Vec<u8>)| {
        import_measurements(content, Some(&path.display().to_string()))
    };
    let imports = files.iter().map(import).collect::<Result<Vec<_>, _>>()?;
    let stem = files.first().and_then(|(path, _)| path.file_stem());
    let node = stem.map(|stem| stem.to_string_lossy()).unwrap_or_default();
    Ok(ProbeDocument::of_imports(imports, &node)?)
}

impl MeasurementSink for ProbeFolder {
    type Error = ProbeFolderError;

    fn keep(&mut self, measured: &Measurement) -> Result<(), ProbeFolderError> {
        self.add(measured)
    }
}

fn content(path: &Path) -> Result<Vec<u8>, ProbeFolderError> {
    let path = || path.to_path_buf();
    fs::read(path()).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ProbeFolderError::NotThere(path()),
        io::ErrorKind::IsADirectory => ProbeFolderError::IsFolder(path()),
        _ => ProbeFolderError::Io { path: path(), error },
    })
}

/// Whole lines; a last one that was cut is left out.
fn rows_of(path: &Path) -> Result<ProbeDocument, ProbeFolderError> {
    let content = content(path)?;
    let text = String::from_utf8_lossy(&content);
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut lines = whole.lines().enumerate();
    let wrong = |(number, error): (usize, serde_json::Error)| ProbeFolderError::NoProbe {
        path: path.to_path_buf(),
        problem: format!("line {}: {error}", number + 1),
    };
    let (number, first) = lines.next().unwrap_or_default();
    let machine: Machine = serde_json::from_str(first).map_err(|error| wrong((number, error)))?;
    let row = |(number, line)| serde_json::from_str(line).map_err(|error| wrong((number, error)));
    let measured = lines.map(row).collect::<Result<Vec<Measurement>, _>>()?;
    let mut document = ProbeDocument::new(machine.host, machine.devices, measured);
    document.begun = machine.begun;
    Ok(document)
}
