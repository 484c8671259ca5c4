//! The run's folder: taken before anything is sent, given back if nothing came of it.

use std::fs;
use std::path::{Path, PathBuf};

use fizeau::experiment::WallTime;
use fizeau::record::RunFolder;

use crate::exit::{Fail, Named};

/// A folder that is known to be writable.
pub(crate) struct Claim {
    folder: RunFolder,
    /// Whether it was made here, and did not lie there before.
    is_new: bool,
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

/// Whether several configurations lie there, each in a folder of its own.
pub(crate) fn holds_whatif(path: &Path) -> bool {
    ["whatif.json", "configuration-01"].iter().any(|name| path.join(name).exists())
}

impl Claim {
    /// Takes the folder that `--out` names, or the one by default.
    pub(crate) fn new(path: &Path) -> Result<Self, Fail> {
        let is_new = !path.exists();
        if holds_whatif(path) {
            return Err(Fail::usage(format!("--out: {} already holds a what-if", path.display())));
        }
        let folder = RunFolder::create(path).named("--out")?;
        let probe = folder.write_text("probe", "").named("--out")?;
        fs::remove_file(probe).named("--out")?;
        Ok(Self { folder, is_new })
    }

    /// The folder of a run that is gone on with.
    pub(crate) fn again(path: &Path) -> Self {
        Self { folder: RunFolder::again(path), is_new: false }
    }

    pub(crate) const fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Removes the folder, if it was made here and holds nothing.
    pub(crate) fn give_back(&self) {
        if self.is_new {
            // What holds something stays; nothing is left to do about any other error.
            let _ = fs::remove_dir(self.folder.path());
        }
    }
}
