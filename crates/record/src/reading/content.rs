//! What a stored run says, its levels read again.

use std::fs;
use std::path::Path;

use fizeau_metrics::Verdict;

use super::{LEVELS_SCHEMA, ReadLevel, RunReader, is_level_folder};
use crate::text::plain_lines;
use crate::{
    AbDocument, Checklist, JsonError, LevelReport, SearchDocument, StoredError, StoredRun,
    SummaryDocument, SweepReport, file,
};

/// What a stored run says, its levels read again: of [`RunReader::content`].
///
/// ```no_run
/// use fizeau_record::{RunReader, StoredRun};
/// let run = StoredRun::open("results/friday")?;
/// let reader = RunReader::new(&run, run.reference()?)?;
/// let content = reader.content(reader.levels()?)?;
/// println!("{} levels, {}", content.report().levels().len(), if content.passes() { "good" } else { "missed" });
/// # Ok::<(), fizeau_record::StoredError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunContent<'a> {
    run: &'a StoredRun,
    kind: RunContentKind,
    report: SweepReport,
    passes: bool,
}

/// What kind of run it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RunContentKind {
    /// A search, whose answer does not follow from tapes alone: which level came next followed from those before.
    Search {
        /// What it wrote at its end.
        document: Box<SearchDocument>,
        /// The same as text.
        text: String,
    },
    /// One level.
    Alone(Box<ReadLevel>),
    /// Levels of a sweep, or what is left of one.
    Sweep,
    /// Levels that belong to no sweep: of an A/B run the turns of both sides.
    Apart {
        /// Each.
        levels: Vec<ReadLevel>,
        /// By the sides that they are of.
        sides: Vec<(String, SweepReport)>,
        /// What the rounds came to, if it is an A/B run.
        rounds: Option<AbOutcome>,
    },
}

/// What the rounds of an A/B run came to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AbOutcome {
    /// It did not finish: there is no `ab.json`.
    Unfinished,
    /// What `ab.json` says.
    Finished(Box<AbDocument>),
}

impl<'a> RunReader<'a> {
    /// What the run says by these `levels` of it.
    ///
    /// # Errors
    /// If `sweep.json`, `search.json` or `ab.json` cannot be read or is of another schema, or the text of a search is missing.
    pub fn content(&self, levels: Vec<ReadLevel>) -> Result<RunContent<'a>, StoredError> {
        let run = self.run;
        let is_missed = levels.iter().any(|level| level.report.is_missed());
        let kind = match (searched(run)?, &*levels) {
            (Some(search), _) => search,
            (None, [level]) if !run.is_rest(&level.report)? => {
                RunContentKind::Alone(Box::new(level.clone()))
            }
            (None, levels) if levels.iter().all(|level| is_level_folder(&level.name)) => {
                RunContentKind::Sweep
            }
            (None, levels) => RunContentKind::Apart {
                levels: levels.to_vec(),
                sides: self.sides(levels.to_vec())?,
                rounds: rounds(run)?,
            },
        };
        let report = self.together(levels)?.report();
        // Of goals that were given now; of a level alone its own goals have to be decided, while of a sweep another level may keep them.
        let keeps_given = self.slo.is_none() || report.passes();
        let passes = match &kind {
            // A load beyond the edge may fail as it likes.
            RunContentKind::Search { document, .. } => document.verdict != Verdict::Invalid,
            RunContentKind::Alone(level) if level.name.is_empty() => {
                !is_missed && keeps_given && !report.leaves_goals_open()
            }
            RunContentKind::Alone(_) | RunContentKind::Sweep => !is_missed && keeps_given,
            RunContentKind::Apart { .. } => !is_missed,
        };
        Ok(RunContent { run, kind, report, passes })
    }
}

impl RunContent<'_> {
    /// The run's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.run.path()
    }

    /// Which kind of run it is.
    #[must_use]
    pub const fn kind(&self) -> &RunContentKind {
        &self.kind
    }

    /// All levels side by side.
    #[must_use]
    pub const fn report(&self) -> &SweepReport {
        &self.report
    }

    /// Whether what was measured is to be believed, and keeps the goals that the reader was given; of a level alone its own, too.
    #[must_use]
    pub const fn passes(&self) -> bool {
        self.passes
    }

    /// What must be shown before it is believed.
    #[must_use]
    pub fn checklist(&self) -> Checklist {
        match &self.kind {
            RunContentKind::Search { .. } | RunContentKind::Sweep => self.report.checklist(),
            RunContentKind::Alone(level) => level.checklist(),
            RunContentKind::Apart { levels, .. } => {
                let reports: Vec<&LevelReport> = levels.iter().map(|level| &level.report).collect();
                Checklist::of(&self.run.document().setup, &reports)
            }
        }
    }

    /// As the document that its kind of run has: `search.json`, `summary.json`, `sweep.json`, or [`LEVELS_SCHEMA`].
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, JsonError> {
        match &self.kind {
            RunContentKind::Search { document, .. } => JsonError::pretty(document),
            RunContentKind::Alone(level) => {
                let mut report = level.report.clone();
                // One of a sweep is as its own file has it: the list is that of all levels.
                report.checklist = level.name.is_empty().then(|| level.checklist());
                report.to_json()
            }
            RunContentKind::Sweep => self.report.to_json(),
            RunContentKind::Apart { levels, .. } => {
                let all = levels.iter().map(|level| SummaryDocument::from(&level.report));
                self.run.levels_json(LEVELS_SCHEMA, &all.collect::<Vec<_>>())
            }
        }
    }
}

/// A search that came to its end.
fn searched(run: &StoredRun) -> Result<Option<RunContentKind>, StoredError> {
    let Some(document) = run.search()? else { return Ok(None) };
    let path = run.path().join(file::SEARCH_TEXT);
    let text = fs::read_to_string(&path).map_err(|error| StoredError::Io { path, error })?;
    // What a file says may hold what a terminal would obey.
    let text = plain_lines(text.trim_end());
    Ok(Some(RunContentKind::Search { document: Box::new(document), text }))
}

/// What the rounds came to; nothing of a run that is no A/B run.
fn rounds(run: &StoredRun) -> Result<Option<AbOutcome>, StoredError> {
    if run.document().ab.is_none() {
        return Ok(None);
    }
    let document = run.ab()?;
    let of = |document| AbOutcome::Finished(Box::new(document));
    Ok(Some(document.map_or(AbOutcome::Unfinished, of)))
}
