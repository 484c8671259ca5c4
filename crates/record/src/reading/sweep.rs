//! What `sweep.json` says of a sweep that its tapes do not.

use std::path::PathBuf;

use fizeau_core::{LevelLoad, PerSec};
use fizeau_metrics::Slo;
use serde::Deserialize;

use crate::stored::read_document;
use crate::{LoadPoint, Profile, StoredError, StoredRun, Unmeasured};

/// The schema of the documents that can be read.
const SWEEP: &str = "fizeau.sweep/1";

/// What is read of `sweep.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SweepFile {
    slo: Option<String>,
    profile: Option<StoredProfile>,
    unmeasured: Option<Vec<StoredLoad>>,
    levels: Option<Vec<StoredSweepLevel>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StoredProfile {
    name: Option<String>,
    step_rule: Option<String>,
}

#[derive(Debug, Deserialize)]
struct StoredSweepLevel {
    folder: Option<String>,
    load: Option<StoredLoad>,
}

#[derive(Debug, Deserialize)]
struct StoredLoad {
    concurrency: Option<u32>,
    requests_per_s: Option<PerSec>,
    reason: Option<String>,
}

impl StoredLoad {
    fn point(&self) -> Option<LoadPoint> {
        let slots = self.concurrency.map(LoadPoint::Concurrency);
        slots.or_else(|| self.requests_per_s.map(LoadPoint::Rate))
    }
}

impl SweepFile {
    /// That of `run`; none if there is none.
    pub(super) fn read(run: &StoredRun) -> Result<Option<Self>, StoredError> {
        let path = path(run);
        path.is_file().then(|| read_document(&path, SWEEP)).transpose()
    }

    /// The goals.
    pub(super) fn slo(&self, run: &StoredRun) -> Result<Option<Slo>, StoredError> {
        let slo = self.slo.as_deref().map(str::parse).transpose();
        slo.map_err(|error| StoredError::field(path(run), "slo", error))
    }

    /// What it put first; of one that does not say, nothing in particular.
    pub(super) fn profile(&self, run: &StoredRun) -> Result<Profile, StoredError> {
        let Some(stored) = &self.profile else { return Ok(Profile::GENERAL) };
        let profile = stored.name.as_deref().and_then(Profile::named).unwrap_or_default();
        let rule = stored.step_rule.as_deref().map(str::parse).transpose();
        let rule = rule.map_err(|error| StoredError::field(path(run), "profile.step_rule", error));
        Ok(profile.with_rule(rule?))
    }

    /// The loads that it says were never measured.
    pub(super) fn never_measured(&self) -> Vec<Unmeasured> {
        let never = |load: &StoredLoad| Some(Unmeasured::never(load.point()?, load.reason.clone()));
        self.unmeasured.iter().flatten().filter_map(never).collect()
    }

    /// The loads that it has figures of, and the names of their folders.
    pub(super) fn measured(&self) -> impl Iterator<Item = (LoadPoint, String)> {
        self.levels.iter().flatten().filter_map(|level| {
            let folder = level.folder.as_deref()?;
            LevelLoad::of_folder(folder)?;
            Some((level.load.as_ref()?.point()?, folder.to_owned()))
        })
    }
}

fn path(run: &StoredRun) -> PathBuf {
    run.path().join("sweep.json")
}
