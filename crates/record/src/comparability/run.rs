//! One of the runs that are compared.

use std::path::{Path, PathBuf};

use fizeau_metrics::GoodputGoals;

use super::agree::{levels_must_agree, must_agree, repeats_must_agree};
use super::level::{Level, Repeat};
use super::{CompareError, CompareOptions};
use crate::reading::{StoredGoals, is_sustained_folder, sweep};
use crate::{
    ChangedField, ComparedRunNote, DocumentFields, ImportedRun, RunDocument, StoredError,
    StoredLevel, StoredRun,
};

/// One side of a comparison: a run, or several that were asked the same.
pub(super) struct Side {
    first: Run,
    more: Vec<Run>,
    /// In what later runs differ from the first where they must not.
    unlike: Vec<ComparedRunNote>,
}

impl Side {
    pub(super) fn open(paths: &[PathBuf], options: &CompareOptions) -> Result<Self, CompareError> {
        let mut runs = paths.iter().map(|path| Run::open(path));
        let first = runs.next().ok_or(CompareError::NoRuns)??;
        let more: Vec<Run> = runs.collect::<Result<_, CompareError>>()?;
        let mut unlike = Vec::new();
        for run in &more {
            let fields = first.unlike(run);
            unlike.extend(repeats_must_agree(options, &first.name(), &run.name(), fields)?);
        }
        Ok(Self { first, more, unlike })
    }

    pub(super) const fn first(&self) -> &Run {
        &self.first
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        std::iter::once(&self.first).chain(&self.more)
    }

    pub(super) fn name(&self) -> String {
        self.runs().map(Run::name).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn is_virtual(&self) -> bool {
        self.runs().all(Run::is_virtual)
    }

    /// What is to be known of its runs: parts and doubts, of several by name.
    pub(super) fn notes(&self) -> Vec<ComparedRunNote> {
        let named = |run: &Run| {
            let name = run.name();
            let notes = run.notes().into_iter();
            notes
                .map(|note| if self.more.is_empty() { note } else { note.of(&name) })
                .collect::<Vec<_>>()
        };
        self.unlike.iter().cloned().chain(self.runs().flat_map(named)).collect()
    }

    /// Every load with all of its runs, in the order in which they are first met.
    pub(super) fn loads(&self) -> Vec<Load<'_>> {
        let mut loads: Vec<Load<'_>> = Vec::new();
        for run in self.runs() {
            for level in &run.levels {
                match loads.iter_mut().find(|load| load.first.load == level.load) {
                    Some(load) => load.more.push(level),
                    None => loads.push(Load { run, first: level, more: Vec::new() }),
                }
            }
        }
        loads
    }
}

/// All runs of one load.
#[derive(Clone)]
pub(super) struct Load<'a> {
    /// That of the first level.
    run: &'a Run,
    first: &'a Level,
    more: Vec<&'a Level>,
}

impl<'a> Load<'a> {
    pub(super) fn name(&self) -> &'a str {
        &self.first.load
    }

    pub(super) const fn run(&self) -> &'a Run {
        self.run
    }

    pub(super) const fn first(&self) -> &'a Level {
        self.first
    }

    /// Those that came to their end.
    pub(super) fn repeats(&self) -> Vec<&'a Repeat> {
        let levels = std::iter::once(self.first).chain(self.more.iter().copied());
        levels.filter_map(|level| level.repeat.as_ref()).collect()
    }
}

/// A stored run, its levels in the order of their loads.
pub(super) struct Run {
    stored: StoredRun,
    /// What was asked; of a turn of B in an A/B run, with B's endpoint.
    document: RunDocument,
    /// The same, leaf by leaf.
    fields: DocumentFields,
    levels: Vec<Level>,
}

impl Run {
    pub(super) fn open(path: &Path) -> Result<Self, CompareError> {
        if ImportedRun::read(path)?.is_some() {
            return Err(CompareError::FiguresAlone(path.to_path_buf()));
        }
        let stored = StoredRun::open(path)?;
        let document = document(&stored)?;
        let goals = sweep::read(&stored)?.map(|_| stored.goals()).transpose()?;
        let StoredGoals { slo, set_aside } = goals.unwrap_or_default();
        // A load that was sustained is no repeat of the level at that load: it is longer, and each run may have sustained another.
        let is_sustained = |level: &&StoredLevel| is_sustained_folder(level.name());
        let has_curve = !stored.levels().iter().all(|level| is_sustained(&level));
        let levels = stored.levels().iter().filter(|level| !(has_curve && is_sustained(level)));
        let levels = levels.map(|level| Level::read(level, &document, slo.as_ref()));
        let mut levels: Vec<Level> = levels.collect::<Result<_, StoredError>>()?;
        levels.iter_mut().take(1).for_each(|first| first.notes.extend(set_aside.iter().cloned()));
        let fields = document.fields();
        Ok(Self { stored, document, fields, levels })
    }

    pub(super) fn name(&self) -> String {
        self.stored.path().display().to_string()
    }

    pub(super) fn is_virtual(&self) -> bool {
        self.document.is_virtual()
    }

    pub(super) const fn document(&self) -> &RunDocument {
        &self.document
    }

    pub(super) const fn fields(&self) -> &DocumentFields {
        &self.fields
    }

    /// The fields in which a repeat must agree with it and does not.
    fn unlike(&self, repeat: &Self) -> Vec<ChangedField> {
        let mut fields = must_agree(&self.fields, &repeat.fields);
        for level in &self.levels {
            let same = repeat.levels.iter().find(|other| other.load == level.load);
            fields.extend(
                same.into_iter().flat_map(|other| {
                    levels_must_agree(level, &self.fields, other, &repeat.fields)
                }),
            );
        }
        fields
    }

    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// What is to be known of it: parts and doubts, level by level.
    pub(super) fn notes(&self) -> Vec<ComparedRunNote> {
        let only = self.levels.len() == 1;
        let notes = |level: &Level| {
            let at = (!only).then(|| level.load.clone());
            let texts = level.notes.iter().cloned();
            texts.map(|text| ComparedRunNote { at: at.clone(), text }).collect::<Vec<_>>()
        };
        self.levels.iter().flat_map(notes).collect()
    }

    /// Why it is not a measurement, if it is not.
    pub(super) fn invalid(&self) -> Option<&str> {
        self.levels.iter().find_map(|level| level.invalid.as_deref())
    }

    /// The goals of goodput that it was given.
    pub(super) fn goals(&self) -> Result<GoodputGoals, StoredError> {
        let goals = self.document.goodput.join(" ").parse();
        goals.map_err(|error| self.stored.wrong("goodput", error))
    }

    /// Whether both sent what the same plan says, but for the seed.
    pub(super) fn sends_as(&self, other: &Self) -> bool {
        let differing = self.fields.differing(&other.fields, &["plan", "shard", "lengths"]);
        let has_no_part = ["plan.salt", "plan.seed", "plan.dataset.path"];
        differing.iter().all(|field| has_no_part.contains(&field.field.as_str()))
    }

    /// The seed of a level's own plan: a sweep has one for each.
    pub(super) fn seed(&self, level: &Level) -> Option<u64> {
        let own = self.document.levels.get(level.index).and_then(|plan| plan.seed);
        own.or_else(|| self.document.seed())
    }
}

/// Refuses an A/B run as a whole: its turns are of one load, and its rounds are compared already.
fn document(stored: &StoredRun) -> Result<RunDocument, CompareError> {
    let document = stored.document();
    if document.ab.is_none() {
        return Ok(document.clone());
    }
    match stored.levels() {
        [turn] if turn.name().starts_with("b-") => Ok(document.of_side_b()),
        [turn] if turn.name().starts_with("a-") => Ok(document.clone()),
        _ => Err(CompareError::AbRun(stored.path().to_path_buf())),
    }
}
