//! The run's folder: taken before anything is sent, with what goes on record there, and read again.

use std::path::{Path, PathBuf};

use fizeau::experiment::{RunOrigin, WallTime};
use fizeau::record::{OpenedRun, RunFolder, StoredRun};

use crate::exit::{Fail, Named};

/// Takes the folder that `--out` names, or the one by default.
pub(crate) fn claim(path: &Path) -> Result<RunFolder, Fail> {
    RunFolder::claim(path).named("--out")
}

/// The folder that is `given`, or that of a run which begins `now` and was given none: `fizeau-runs/20261120-184500-sweep`, and
/// `...-sweep-2` where another began in the same second.
pub(crate) fn given_or_usual(given: Option<&PathBuf>, now: WallTime, what: &str) -> PathBuf {
    let name = || format!("{}-{what}", now.compact());
    given.cloned().unwrap_or_else(|| RunFolder::unused(Path::new("fizeau-runs"), &name()))
}

/// Writes a file that `flag` names, for a command that measures nothing.
pub(crate) fn write(flag: &str, path: &Path, text: &str) -> Result<(), Fail> {
    std::fs::write(path, text).named(&format!("{flag} {}", path.display()))
}

// What goes on record about a run: when, with what command line, on which machine.

/// Who runs this, from now on.
pub(crate) fn origin() -> RunOrigin {
    let words = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    RunOrigin::now().with_command_line(words, &["--header", "--server-metrics-header"])
}

// Folders of imported runs, read again.

/// Refuses a file where a run is to be named, with what to name: the folder that it lies in, or what takes it in.
pub(crate) fn refuse_file(path: &Path) -> Result<(), Fail> {
    if !path.is_file() {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let (name, is_of_run) = (path.display(), folder.join("run.json").is_file());
    Err(Fail::usage(match is_of_run {
        true => format!("{name} is a file; name the folder of its run, {}", folder.display()),
        false => format!(
            "{name} is a file, and a run is a folder; `fizeau convert {name} --out DIR` makes a \
             run of another tool's file"
        ),
    }))
}

/// Opens a run for what takes its requests; one that was imported without says so.
pub(crate) fn open_with_tapes(path: &Path) -> Result<StoredRun, Fail> {
    refuse_file(path)?;
    match OpenedRun::open(path)? {
        OpenedRun::Figures(_) => Err(no_requests(path)),
        OpenedRun::Tapes(run) => Ok(run),
    }
}

/// That a run has figures alone, and what there is to do with it.
pub(crate) fn no_requests(path: &Path) -> Fail {
    let path = path.display();
    usage!(
        "{path}: imported without tapes: its figures have no requests behind them and no intervals; `fizeau pareto` and \
         `fizeau report` of several runs show its levels beside others"
    )
}
