//! What `sweep.json` says of a sweep that its tapes do not.

use std::path::PathBuf;

use fizeau_core::LevelLoad;

use crate::stored::read_sweep;
use crate::{Profile, StoredError, StoredRun, SweepDocument, file};

/// The `sweep.json` of `run`; none if there is none.
pub(crate) fn read(run: &StoredRun) -> Result<Option<SweepDocument>, StoredError> {
    let path = path(run);
    path.is_file().then(|| read_sweep(&path)).transpose()
}

/// That `field` of it is not understood.
pub(super) fn wrong(run: &StoredRun, field: &str, error: impl std::fmt::Display) -> StoredError {
    StoredError::field(path(run), field, error)
}

/// What it put first; of one that does not say, nothing in particular.
pub(super) fn profile(sweep: &SweepDocument, run: &StoredRun) -> Result<Profile, StoredError> {
    let Some(stored) = &sweep.profile else { return Ok(Profile::GENERAL) };
    let profile = Profile::named(&stored.name).unwrap_or_default();
    let rule = stored.step_rule.as_deref().map(str::parse).transpose();
    Ok(profile.with_rule(rule.map_err(|error| wrong(run, "profile.step_rule", error))?))
}

/// The loads that it has figures of, and the names of their folders.
pub(super) fn measured(sweep: &SweepDocument) -> impl Iterator<Item = (LevelLoad, String)> {
    sweep.levels.iter().filter_map(|swept| {
        let folder = swept.folder.as_deref()?;
        LevelLoad::of_folder(folder)?;
        Some((swept.level.load, folder.to_owned()))
    })
}

fn path(run: &StoredRun) -> PathBuf {
    run.path().join(file::SWEEP)
}
