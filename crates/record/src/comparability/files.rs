//! Runs of which no more is at hand than what was printed of them or a run's folder was left with: compared by their intervals.

use std::path::{Path, PathBuf};

use fizeau_core::{LevelLoad, TokenSource};
use fizeau_metrics::{
    ComparisonBasis, ComparisonTable, GoodputGoals, IntervalFigure, LevelFigure, ReplyOutput,
};
use serde::Serialize;

use super::agree::{changed, files_must_agree, repeats_must_agree};
use super::level::Repeat;
use super::notes::failed_have_no_latencies;
use super::repeats::by_repeats;
use super::{CompareError, CompareOptions, UnlikeRuns, level, notes};
use crate::level::SUMMARY;
use crate::stored::{
    DocumentLevels, read_document, read_summary, read_sweep, reader_of, schema_of,
};
use crate::sweep::SWEEP;
use crate::{
    ChangedField, ComparedLevel, ComparedRun, ComparedRunNote, ComparisonReport, DocumentFields,
    FrontierDistance, FrontierPoint, ImportedRun, LEVELS_SCHEMA, RunComparison, RunSetup,
    StoredError, SummaryDocument, SweepDocument, file,
};

/// What is to be known of every such comparison.
const OF_INTERVALS: &str = "compared by the intervals in the files, not request by request; folders with tapes give a \
 sharper comparison";

/// The schemas of which figures can be obtained.
pub(super) const READ: &str = "fizeau.summary/2, fizeau.sweep/2 or fizeau.levels/2";

/// Each side against the first.
pub(super) fn compare(
    sides: &[Vec<PathBuf>],
    options: &CompareOptions,
) -> Result<ComparisonReport, CompareError> {
    let mut sides = sides.iter().map(|paths| Run::read_all(paths, options));
    let baseline = sides.next().ok_or(CompareError::NoRuns)??;
    let comparisons = sides.map(|side| against(options, &baseline, &side?));
    let comparisons: Vec<RunComparison> = comparisons.collect::<Result<_, CompareError>>()?;
    let baseline = ComparedRun { notes: baseline.notes(), name: baseline.name };
    let mut notes = notes::of_all(&comparisons, None, options);
    let mut levels = comparisons.iter().flat_map(|comparison| &comparison.levels);
    if levels.any(|level| level.table.basis == ComparisonBasis::Intervals) {
        notes.insert(0, OF_INTERVALS.to_owned());
    }
    Ok(ComparisonReport { baseline, comparisons, notes })
}

/// The document of a run, or those of several that were asked the same.
struct Run {
    name: String,
    /// What was requested, and from whom, field by field; none where it does not say.
    setup: Option<DocumentFields>,
    levels: Vec<SummaryDocument>,
    /// In what later runs differ from the first where they must not.
    unlike: Vec<ComparedRunNote>,
}

/// What a sweep says of what was requested, and from whom.
#[derive(Serialize)]
struct About {
    setup: RunSetup,
    version: String,
    levels: Vec<AboutLevel>,
}

/// That a level has a load of its own.
#[derive(Serialize)]
struct AboutLevel {
    load: LevelLoad,
}

impl Run {
    /// All runs of a side as one, with the levels of all.
    fn read_all(paths: &[PathBuf], options: &CompareOptions) -> Result<Self, CompareError> {
        let mut runs = paths.iter().map(|path| Self::read(path));
        let mut all = runs.next().ok_or(CompareError::NoRuns)??;
        let first = all.name.clone();
        for run in runs {
            let run = run?;
            let mut fields = match (&all.setup, &run.setup) {
                (Some(one), Some(other)) => files_must_agree(one, other),
                _ => Vec::new(),
            };
            let goals = all.levels.first().zip(run.levels.first());
            fields.extend(goals.and_then(|(one, other)| goals_differ(one, other)));
            all.unlike.extend(repeats_must_agree(options, &first, &run.name, fields)?);
            all.name = format!("{}, {}", all.name, run.name);
            all.levels.extend(run.levels);
        }
        Ok(all)
    }

    /// A file, or what a folder has of this kind.
    fn read(path: &Path) -> Result<Self, CompareError> {
        let file = match path.is_dir() {
            true => [file::SWEEP, file::SUMMARY]
                .map(|name| path.join(name))
                .into_iter()
                .find(|file| file.is_file())
                .ok_or_else(|| match ImportedRun::read(path) {
                    Ok(Some(_)) => CompareError::FiguresAlone(path.to_path_buf()),
                    _ => CompareError::NoDocument(path.to_path_buf()),
                })?,
            false => path.to_path_buf(),
        };
        let name = file.display().to_string();
        let schema = match schema_of(&file) {
            // What is wrong at its very beginning is no JSON.
            Err(StoredError::Document { line: 1, ref field, .. }) if field.is_empty() => {
                return Err(CompareError::NotOfRun(file));
            }
            schema => schema?,
        };
        let unlike = Vec::new();
        match reader_of(&schema) {
            SUMMARY => Ok(Self { name, setup: None, levels: vec![read_summary(&file)?], unlike }),
            SWEEP => {
                let SweepDocument { setup, levels, version, .. } = read_sweep(&file)?;
                let levels: Vec<SummaryDocument> = levels.into_iter().map(|of| of.level).collect();
                let loads = levels.iter().map(|level| AboutLevel { load: level.load }).collect();
                let setup = DocumentFields::of(&About { setup, version, levels: loads });
                Ok(Self { name, setup, levels, unlike })
            }
            LEVELS_SCHEMA => {
                let DocumentLevels { levels } = read_document(&file, LEVELS_SCHEMA)?;
                Ok(Self { name, setup: None, levels, unlike })
            }
            "" => Err(CompareError::NotOfRun(file)),
            schema => Err(CompareError::Schema { path: file, found: format!("`{schema}`") }),
        }
    }

    fn must_be_valid(&self) -> Result<(), CompareError> {
        match self.levels.iter().find_map(level::invalid) {
            None => Ok(()),
            Some(reason) => Err(CompareError::Invalid { name: self.name.clone(), reason }),
        }
    }

    fn notes(&self) -> Vec<ComparedRunNote> {
        let one = self.levels.len() == 1;
        let of = |summary: &SummaryDocument| {
            let at = (!one).then(|| summary.load.to_string());
            let notes = level::notes(summary).into_iter();
            notes.map(|text| ComparedRunNote { at: at.clone(), text }).collect::<Vec<_>>()
        };
        self.unlike.iter().cloned().chain(self.levels.iter().flat_map(of)).collect()
    }

    /// Every load with all of its levels, in the order in which they are first met.
    fn loads(&self) -> Vec<Load<'_>> {
        let mut loads: Vec<Load<'_>> = Vec::new();
        for summary in &self.levels {
            let name = level::load(summary);
            match loads.iter_mut().find(|load| load.name == name) {
                Some(load) => load.levels.push(summary),
                None => loads.push(Load { name, levels: vec![summary] }),
            }
        }
        loads
    }
}

fn against(
    options: &CompareOptions,
    baseline: &Run,
    candidate: &Run,
) -> Result<RunComparison, CompareError> {
    let mut notes = Vec::new();
    let (of_a, of_b) = (baseline.loads(), candidate.loads());
    let pairs = pairs(options, [baseline, candidate], [&of_a, &of_b], &mut notes)?;
    let (mut forced, mut differing) = (Vec::new(), Vec::new());
    if let (Some(one), Some(other)) = (&baseline.setup, &candidate.setup) {
        forced = files_must_agree(one, other);
        differing = changed(one, other);
    } else {
        let text =
            "a summary alone does not name its workload and model; they are assumed to be the same";
        notes.push(text.to_owned());
    }
    let firsts =
        || pairs.iter().filter_map(|(a, b)| Some((*a.levels.first()?, *b.levels.first()?)));
    forced.extend(firsts().find_map(|(a, b)| goals_differ(a, b)));
    forced.extend(firsts().enumerate().filter_map(|(index, (a, b))| law_differs(index, a, b)));
    if options.unlike == UnlikeRuns::Refuse {
        if !forced.is_empty() {
            let (baseline, candidate) = (baseline.name.clone(), candidate.name.clone());
            return Err(CompareError::Unlike { baseline, candidate, fields: forced });
        }
        baseline.must_be_valid()?;
        candidate.must_be_valid()?;
    }
    let only = of_a.len() == 1 && of_b.len() == 1;
    let compared = |(a, b): (&Load<'_>, &Load<'_>)| {
        let name = if only { String::new() } else { a.name.clone() };
        let mut notes = Vec::new();
        let table = table(options, a, b, &mut notes)?;
        Some(ComparedLevel { name, table, notes })
    };
    let points = |run: &Run| -> Vec<FrontierPoint> {
        run.levels.iter().filter_map(FrontierPoint::of_summary).collect()
    };
    // A load that was paired with one of another name is not missing.
    let paired = |of: &&Load<'_>| pairs.iter().all(|(load, _)| load.name != of.name);
    let missing_levels =
        options.missing.of(of_a.iter().filter(paired).map(|load| &*load.name), &[]);
    Ok(RunComparison {
        frontier_distance: FrontierDistance::between(&points(baseline), &points(candidate)),
        candidate: ComparedRun { name: candidate.name.clone(), notes: candidate.notes() },
        forced,
        changed: differing,
        missing_levels,
        levels: pairs.into_iter().filter_map(compared).collect(),
        notes,
    })
}

/// All levels of one load.
struct Load<'a> {
    name: String,
    levels: Vec<&'a SummaryDocument>,
}

/// The goals of good requests, where both levels have some and they are not the same.
fn goals_differ(a: &SummaryDocument, b: &SummaryDocument) -> Option<ChangedField> {
    let goals = |of: &SummaryDocument| Some(of.summary.goodput.as_ref()?.goals().to_string());
    let (a, b) = (goals(a)?, goals(b)?);
    let field = "goodput.goals".to_owned();
    (a != b).then_some(ChangedField { field, baseline: Some(a), candidate: Some(b) })
}

/// The law of arrivals, where both levels came at a rate and by laws that are not the same.
fn law_differs(index: usize, a: &SummaryDocument, b: &SummaryDocument) -> Option<ChangedField> {
    let law = |of: &SummaryDocument| of.requested.arrivals?.cv_squared;
    let (a, b) = (law(a)?, law(b)?);
    // That of merged shards is computed back from theirs.
    let is_same = (a - b).abs() <= 1e-9 * a.max(b);
    (!is_same).then(|| ChangedField {
        field: format!("levels[{index}].arrivals.cv_squared"),
        baseline: Some(a.to_string()),
        candidate: Some(b.to_string()),
    })
}

/// Loads that both sides have.
type Alike<'a> = Vec<(&'a Load<'a>, &'a Load<'a>)>;

fn pairs<'a>(
    options: &CompareOptions,
    [baseline, candidate]: [&Run; 2],
    [of_a, of_b]: [&'a [Load<'a>]; 2],
    notes: &mut Vec<String>,
) -> Result<Alike<'a>, CompareError> {
    let partner = |of: &Load<'_>| of_b.iter().find(|other| other.name == of.name);
    let both: Vec<_> = of_a.iter().filter_map(|load| Some((load, partner(load)?))).collect();
    let words = |loads: &[Load<'_>]| {
        loads.iter().map(|load| load.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (a, b) = (words(of_a), words(of_b));
    match (of_a, of_b) {
        ([one], [other]) if both.is_empty() && options.unlike == UnlikeRuns::Compare => {
            notes.push(format!("the loads differ: A has {a}, B has {b}"));
            Ok(vec![(one, other)])
        }
        _ if both.is_empty() => Err(CompareError::NoCommonLoad {
            baseline: baseline.name.clone(),
            baseline_loads: a,
            candidate: candidate.name.clone(),
            candidate_loads: b,
        }),
        (one, other) => {
            if both.len() < one.len() || both.len() < other.len() {
                notes.push(format!("only loads of both are compared: A has {a}; B has {b}"));
            }
            Ok(both)
        }
    }
}

/// None of loads without a level, of which there are none.
fn table(
    options: &CompareOptions,
    a: &Load<'_>,
    b: &Load<'_>,
    notes: &mut Vec<String>,
) -> Option<ComparisonTable> {
    let goals = |level: &SummaryDocument| Some(level.summary.goodput.as_ref()?.goals().clone());
    let (first, other) = (a.levels.first()?, b.levels.first()?);
    let goals = goals(other).and_then(|_| goals(first)).unwrap_or(GoodputGoals::NONE);
    let settings = |output| options.settings(&goals, output);
    let repeats = |load: &Load<'_>| -> Vec<Repeat> {
        load.levels.iter().filter_map(|level| Repeat::of(level, None)).collect()
    };
    let (of_a, of_b) = (repeats(a), repeats(b));
    let (of_a, of_b) = (of_a.iter().collect::<Vec<_>>(), of_b.iter().collect::<Vec<_>>());
    let mut of_failures = None;
    let table = by_repeats(&of_a, &of_b, notes, settings).or_else(|| {
        let is_tokenless = first.summary.tokens.source == Some(TokenSource::Tokenless);
        let output = if is_tokenless { ReplyOutput::None } else { ReplyOutput::Tokens };
        let mut settings = settings(output);
        let failed = [first, other].map(|level| level.summary.requests.failures());
        if failed.iter().sum::<u64>() > 0 {
            settings.figures = settings.figures.with_failures();
        }
        of_failures = failed_have_no_latencies(failed, "");
        let of = |level: &SummaryDocument| -> Vec<IntervalFigure> {
            let wanted = settings.figures.decided.iter().chain(&settings.figures.beside);
            wanted.filter_map(|figure| known(level, *figure)).collect()
        };
        Some(ComparisonTable::of_intervals(&of(first), &of(other), &settings))
    });
    notes.extend(of_failures);
    table
}

/// A figure of a level as its summary has it; none where it is unknown there.
fn known(level: &SummaryDocument, figure: LevelFigure) -> Option<IntervalFigure> {
    let (metric, statistic, level) = (figure.metric, figure.statistic, &level.summary);
    let sample = metric.distribution(level);
    let requests = &level.requests;
    // Of how many requests a share of failed ones is.
    let counted = match figure {
        LevelFigure::FAILED_SHARE => requests.answerable(),
        _ => requests.completed,
    };
    Some(IntervalFigure {
        figure,
        value: metric.measured(statistic, level)?,
        interval: metric.interval(statistic, level),
        n: sample.map_or(counted, |sample| sample.n),
    })
}
