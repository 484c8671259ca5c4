//! The run's folder: taken before anything is sent.

use std::path::{Path, PathBuf};

use fizeau::experiment::WallTime;
use fizeau::record::RunFolder;

use crate::exit::{Fail, Named};

/// Takes the folder that `--out` names, or the one by default.
pub(crate) fn claim(path: &Path) -> Result<RunFolder, Fail> {
    RunFolder::claim(path).named("--out")
}

/// The folder of a run that was given none: `fizeau-runs/20261120-184500-sweep`, and `...-sweep-2` where another began in the
/// same second.
pub(crate) fn by_default(now: WallTime, what: &str) -> PathBuf {
    RunFolder::unused(Path::new("fizeau-runs"), &format!("{}-{what}", now.compact()))
}

/// Writes a file that a flag names.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Fail> {
    std::fs::write(path, text).map_err(|error| broken!("cannot write {}: {error}", path.display()))
}
