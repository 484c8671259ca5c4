//! The run's folder: taken before anything is sent.

use std::path::{Path, PathBuf};

use fizeau::experiment::WallTime;
use fizeau::record::ClaimedFolder;

use crate::exit::{Fail, Named};

/// Takes the folder that `--out` names, or the one by default.
pub(crate) fn claim(path: &Path) -> Result<ClaimedFolder, Fail> {
    ClaimedFolder::new(path).named("--out")
}

/// The folder of a run that was given none: `fizeau-runs/20261120-184500-sweep`, and `...-sweep-2` where another began in the
/// same second.
pub(crate) fn by_default(now: WallTime, what: &str) -> PathBuf {
    let name = format!("{}-{what}", now.compact());
    let first = PathBuf::from("fizeau-runs").join(&name);
    let next = |count: u32| first.with_file_name(format!("{name}-{count}"));
    let mut further = (2..1_000).map(next);
    match first.exists() {
        true => further.find(|path| !path.exists()).unwrap_or(first),
        false => first,
    }
}
