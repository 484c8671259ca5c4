//! Our own runs, and those that were imported, as other tools' files are made of them.

use std::path::{Path, PathBuf};

use fizeau_core::{Nanos, Tape};
use fizeau_metrics::GoodputGoals;
use fizeau_record::{
    ImportedLevel, ImportedRun, LevelStatus, RunDocument, StoredError, StoredLevel,
    StoredLevelContext, StoredRun, TruncatedTail,
};

use crate::{ExportArrivals, ExportLevel, VllmRequestRate, VllmRun};

/// The levels of a stored run, with all that is exported of them.
#[derive(Debug)]
pub struct ExportSource {
    levels: Vec<Level>,
    cut: Vec<(PathBuf, TruncatedTail)>,
}

/// Why a stored run cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportSourceError {
    /// It cannot be read.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// Its goals of single requests are not understood.
    #[error("{file}: goodput: {reason}")]
    Goals {
        /// Its document.
        file: String,
        /// Why.
        reason: String,
    },
    /// A level has no request that ended.
    #[error("{level}: no request ended in it")]
    Empty {
        /// The level's folder.
        level: String,
    },
}

#[derive(Debug)]
struct Level {
    name: String,
    run: VllmRun,
    arrivals: ExportArrivals,
    path: String,
    dataset: String,
    goals: GoodputGoals,
    tapes: Vec<Tape>,
    epoch_unix: Option<Nanos>,
    status: LevelStatus,
    imported: Option<ImportedLevel>,
}

impl ExportSource {
    /// The run in the folder `path`, whether it has tapes or was imported without.
    ///
    /// # Errors
    /// If there is no such run, or a file of it is not understood.
    pub fn read(path: &Path) -> Result<Self, ExportSourceError> {
        match ImportedRun::read(path)? {
            Some(run) => Ok(Self::figures(run)),
            None => Self::tapes(&StoredRun::open(path)?),
        }
    }

    /// The levels, as [`ForeignFormat::export`](crate::ForeignFormat::export) takes them.
    #[must_use]
    pub fn levels(&self) -> Vec<ExportLevel<'_>> {
        self.levels.iter().map(Level::as_export).collect()
    }

    /// The levels whose file of tapes is cut, by their folders, and what is left over.
    #[must_use]
    pub fn cut(&self) -> &[(PathBuf, TruncatedTail)] {
        &self.cut
    }

    fn tapes(run: &StoredRun) -> Result<Self, ExportSourceError> {
        let document = run.document();
        let goals = document.goodput.join(" ").parse();
        let goals: GoodputGoals = goals.map_err(|error| ExportSourceError::Goals {
            file: run.document_path().display().to_string(),
            reason: format!("{error}"),
        })?;
        let (mut levels, mut cuts) = (Vec::new(), Vec::new());
        for stored in run.levels() {
            let mut tapes = Vec::new();
            let cut = stored.each_tape(|tape| tapes.push(tape))?;
            cuts.extend(cut.map(|cut| (stored.path().to_owned(), cut)));
            if tapes.is_empty() {
                let level = stored.path().display().to_string();
                return Err(ExportSourceError::Empty { level });
            }
            let imported = ImportedLevel::read(stored.path())?;
            let of = StoredLevelContext::read(run, stored)?;
            levels.push(Level {
                goals: goals.clone(),
                tapes,
                ..Level::of(document, stored, of, imported)
            });
        }
        Ok(Self { levels, cut: cuts })
    }

    /// What another tool's file had, which can be written again in its own form alone.
    fn figures(run: ImportedRun) -> Self {
        let (setup, single) = (run.setup(), run.levels().len() == 1);
        let level = |(index, imported): (usize, ImportedLevel)| Level {
            name: if single { String::new() } else { format!("level-{:02}", index + 1) },
            run: VllmRun {
                date: compact(imported.about.date.as_deref().unwrap_or("undated")),
                backend: setup.endpoint.backend.clone(),
                label: imported.about.label.clone(),
                model_id: setup.endpoint.model.clone(),
                tokenizer_id: None,
                metadata: Vec::new(),
                request_rate: rate_of(&imported),
                burstiness: arrivals_of(&imported).burstiness(),
                max_concurrency: imported.load.max_in_flight,
            },
            arrivals: arrivals_of(&imported),
            path: String::new(),
            dataset: setup.workload.dataset.clone(),
            goals: GoodputGoals::default(),
            tapes: Vec::new(),
            epoch_unix: None,
            status: LevelStatus::Finished,
            imported: Some(imported),
        };
        let levels = run.into_levels().into_iter().enumerate().map(level).collect();
        Self { levels, cut: Vec::new() }
    }
}

impl Level {
    /// One whose requests did something, which are for the caller to add.
    fn of(
        document: &RunDocument,
        stored: &StoredLevel,
        of: StoredLevelContext,
        imported: Option<ImportedLevel>,
    ) -> Self {
        let law = document.arrival_law();
        let own = VllmRun::of(&of.setup, &of.requested, law.as_ref(), of.cap);
        let request_rate = imported.as_ref().map_or(own.request_rate, rate_of);
        let words = &of.setup.workload.arrivals;
        let arrivals = match &imported {
            Some(level) => arrivals_of(level),
            None => ExportArrivals::of(&of.requested, law.as_ref(), words),
        };
        let epoch = imported.as_ref().and_then(|level| level.epoch_unix_ns);
        Self {
            name: stored.name().to_owned(),
            run: VllmRun {
                date: compact(&own.date),
                metadata: ranks(document),
                request_rate,
                ..own
            },
            arrivals,
            path: of.setup.endpoint.path,
            dataset: document.setup.workload.dataset.clone(),
            goals: GoodputGoals::default(),
            tapes: Vec::new(),
            epoch_unix: epoch.or(document.epoch_unix_ns).map(Nanos::from_nanos),
            status: of.status,
            imported,
        }
    }

    fn as_export(&self) -> ExportLevel<'_> {
        ExportLevel {
            name: &self.name,
            run: self.run.clone(),
            arrivals: self.arrivals.clone(),
            path: &self.path,
            dataset: &self.dataset,
            goals: &self.goals,
            tapes: &self.tapes,
            epoch_unix: self.epoch_unix,
            status: self.status.clone(),
            imported: self.imported.as_ref(),
        }
    }
}

/// By the rate in a tool's file, and how regular the file says that they were.
fn arrivals_of(imported: &ImportedLevel) -> ExportArrivals {
    let law = imported.requested_load().arrivals;
    ExportArrivals::at(law.and_then(|law| law.rate), law.and_then(|law| law.cv_squared))
}

/// As a tool's file has it.
fn rate_of(imported: &ImportedLevel) -> VllmRequestRate {
    let rate = imported.load.requests_per_s;
    rate.map_or(VllmRequestRate::Unlimited, VllmRequestRate::Limited)
}

/// How the model lay on its devices, by vLLM's flags: its sweeps plot throughput by device from these. Groups of attention are
/// replicas to vLLM.
fn ranks(run: &RunDocument) -> Vec<(String, String)> {
    let Some(deployed) = &run.speed_of_light else { return Vec::new() };
    [
        ("tensor_parallel_size", deployed.tp),
        ("pipeline_parallel_size", deployed.pp),
        ("data_parallel_size", deployed.dp.saturating_mul(deployed.replicas)),
    ]
    .map(|(name, degree)| (name.to_owned(), degree.to_string()))
    .into()
}

/// `2026-11-20T18:45:00Z` as `20261120-184500`, as vLLM dates its results; anything else as it is.
fn compact(date: &str) -> String {
    let digits: String = date.chars().filter(char::is_ascii_digit).take(14).collect();
    match (date.get(10..11), digits.len()) {
        (Some("T"), 14) => format!("{}-{}", &digits[..8], &digits[8..]),
        _ => date.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn dates_are_written_as_vllm_writes_them() {
        assert_eq!(compact("2026-11-20T18:45:00Z"), "20261120-184500");
        assert_eq!(compact("2026-08-01T12:00:00"), "20260801-120000");
        assert_eq!(compact("not recorded"), "not recorded");
    }
}
