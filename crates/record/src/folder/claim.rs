//! A run's folder that is taken before anything is sent.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;

use super::lock::{self, FolderLock};
use super::{FolderError, RunFolder};
use crate::stored::holds_whatif;

/// That no other process takes a folder, as long as one who knows it is left.
#[derive(Debug)]
pub(super) struct FolderClaim {
    /// Goes first: a folder that holds something stays.
    _lock: FolderLock,
    _made: MadeFolders,
    /// What lay there before; none where a run is gone on with.
    before: Option<BTreeSet<OsString>>,
}

/// Folders that were made here, the innermost first, which go again where nothing came into them.
#[derive(Debug, Default)]
struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// That `path` is about to be made, with what is missing above it.
    fn of(path: &Path) -> Self {
        let missing = |above: &&Path| !above.as_os_str().is_empty() && !above.exists();
        Self(path.ancestors().take_while(missing).map(Path::to_path_buf).collect())
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        // What holds something stays; nothing is left to do about any other error.
        let _ = self.0.iter().try_for_each(fs::remove_dir);
    }
}

/// The folder of the parts of a run's shards.
const PARTS: &str = "shards";

/// How the names of what a run writes end, and those without an end.
const WRITTEN: [&str; 5] = ["hdr", "html", "json", "jsonl", "toml"];
const WITHOUT_END: [&str; 2] = [lock::NAME, "shard"];

/// Whether a run may have written `path`, all of it: what somebody else put beside it is not for us to remove.
fn is_of_a_run(path: &Path) -> bool {
    if path.is_dir() {
        let mut entries = fs::read_dir(path).into_iter().flatten().flatten();
        return entries.all(|entry| is_of_a_run(&entry.path()));
    }
    let is_one = |name: Option<&OsStr>, of: &[&str]| {
        name.is_some_and(|name| of.iter().any(|own| name == *own))
    };
    is_one(path.extension(), &WRITTEN) || is_one(path.file_name(), &WITHOUT_END)
}

/// The names of what lies in `folder`, but for the lock of its writer.
fn names(folder: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    names.filter(|name| name != lock::NAME).collect()
}

impl RunFolder {
    /// Takes a folder for a run, parents included: it is known to be writable, and no other process takes it until the last clone of this
    /// is dropped. Then it is given back, if it was made here and nothing came of the run.
    ///
    /// # Errors
    /// If it already holds a run, another process writes into it, or the system refuses.
    pub fn claim(path: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let path = path.into();
        let made = MadeFolders::of(&path);
        fs::create_dir_all(&path).map_err(FolderError::io(&path))?;
        let before = Some(names(&path));
        let lock = FolderLock::take(&path);
        // Whoever holds it is writing the run that would be found in it.
        if !matches!(lock, Err(FolderError::Held { .. })) {
            if holds_whatif(&path) {
                return Err(FolderError::HoldsWhatIf(path));
            }
            Self::create(&path)?;
        }
        let claim = FolderClaim { _lock: lock?, _made: made, before };
        Ok(Self { path, claim: Some(Arc::new(claim)) })
    }

    /// Sees whether something could be written there, folders made where there are none, and leaves nothing behind.
    ///
    /// # Errors
    /// If it is a file, or the system refuses.
    pub fn check_writable(path: &Path) -> Result<(), FolderError> {
        if path.is_file() {
            return Err(FolderError::NotAFolder(path.to_path_buf()));
        }
        let there = path.ancestors().find(|above| above.exists()).unwrap_or_else(|| Path::new("."));
        let aside = there.join(format!(".fizeau-{}", process::id()));
        File::create(&aside).and_then(|_| fs::remove_file(&aside)).map_err(FolderError::io(path))
    }

    /// Removes what came into it since it was [claimed](Self::claim), as where nothing was sent: the same run can then be kept there. What lay
    /// there before stays, and so does all of a run that is gone on with. The parts of shards are theirs to remove.
    pub fn withdraw(&self) {
        let Some(before) = self.claim.as_ref().and_then(|claim| claim.before.as_ref()) else {
            return;
        };
        for name in names(&self.path).difference(before).filter(|name| *name != PARTS) {
            let path = self.path.join(name);
            if !is_of_a_run(&path) {
                continue;
            }
            // What cannot be removed stays, and is named to whoever comes next.
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }

    /// Takes the folder of a run that is there already, to resume, as [`claim`](Self::claim) does.
    ///
    /// # Errors
    /// If another process writes into it, or the system refuses.
    pub fn claim_again(path: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let path = path.into();
        let lock = FolderLock::take(&path)?;
        let claim = FolderClaim { _lock: lock, _made: MadeFolders::default(), before: None };
        Ok(Self { path, claim: Some(Arc::new(claim)) })
    }
}
