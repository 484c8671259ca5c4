//! Runs of which no more is at hand than what was printed of them or a run's folder was left with: compared by their intervals.

use std::path::{Path, PathBuf};

use fizeau_core::TokenSource;
use fizeau_metrics::{ComparisonSettings, ComparisonTable, Figure, FigureChoice, IntervalFigure};
use serde::Serialize;

use super::agree::{changed, files_must_agree};
use super::{CompareError, CompareOptions, UnlikeRuns, level};
use crate::level::SUMMARY;
use crate::stored::{Levels, read_document, read_summary, read_sweep, schema_of};
use crate::sweep::SWEEP;
use crate::{
    ChangedField, ComparedLevel, ComparedRun, ComparisonReport, DocumentFields, FrontierDistance,
    FrontierPoint, ImportedRun, RunComparison, Setup, SummaryDocument, SweepDocument,
};

/// What is to be known of every such comparison.
const OF_INTERVALS: &str = "compared by the intervals in the files, not by requests: what pairs of the same requests would show is \
                            lost, and the intervals know nothing of what differs from run to run; folders with tapes are compared better";

/// The schemas of which figures can be had.
pub(super) const READ: &str = "fizeau.summary/1, fizeau.sweep/1 or fizeau.levels/1";

/// Each run against the first.
pub(super) fn compare(
    paths: &[PathBuf],
    options: &CompareOptions,
) -> Result<ComparisonReport, CompareError> {
    let mut runs = paths.iter().map(|path| Run::read(path));
    let baseline = runs.next().ok_or(CompareError::NoRuns)??;
    let comparisons = runs.map(|run| against(options, &baseline, &run?));
    let comparisons = comparisons.collect::<Result<_, CompareError>>()?;
    let baseline = ComparedRun { notes: baseline.notes(), name: baseline.name };
    Ok(ComparisonReport { baseline, comparisons, notes: vec![OF_INTERVALS.to_owned()] })
}

/// What is printed of levels that are none of a sweep.
const LEVELS: &str = "fizeau.levels/1";

/// A run's document.
struct Run {
    name: String,
    /// What was asked of whom, field by field; none where it does not say.
    setup: Option<DocumentFields>,
    levels: Vec<SummaryDocument>,
}

/// What a sweep says of what was asked of whom.
#[derive(Serialize)]
struct About {
    setup: Setup,
    version: String,
}

impl Run {
    /// A file, or what a folder has of this kind.
    fn read(path: &Path) -> Result<Self, CompareError> {
        let file = match path.is_dir() {
            true => ["sweep.json", "summary.json"]
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
        match schema_of(&file)?.as_str() {
            SUMMARY => Ok(Self { name, setup: None, levels: vec![read_summary(&file)?] }),
            SWEEP => {
                let SweepDocument { setup, levels, version, .. } = read_sweep(&file)?;
                let setup = DocumentFields::of(&About { setup, version });
                Ok(Self { name, setup, levels: levels.into_iter().map(|of| of.level).collect() })
            }
            LEVELS => {
                let Levels { levels } = read_document(&file, LEVELS)?;
                Ok(Self { name, setup: None, levels })
            }
            schema => {
                let found =
                    if schema.is_empty() { "none".to_owned() } else { format!("`{schema}`") };
                Err(CompareError::Schema { path: file, found })
            }
        }
    }

    fn must_be_valid(&self) -> Result<(), CompareError> {
        match self.levels.iter().find_map(level::invalid) {
            None => Ok(()),
            Some(reason) => Err(CompareError::Invalid { name: self.name.clone(), reason }),
        }
    }

    fn notes(&self) -> Vec<String> {
        let one = self.levels.len() == 1;
        let of = |summary: &SummaryDocument| {
            let load = if one { String::new() } else { format!("{}: ", level::load(summary)) };
            let notes = level::notes(summary).into_iter();
            notes.map(|note| format!("{load}{note}")).collect::<Vec<_>>()
        };
        self.levels.iter().flat_map(of).collect()
    }

    fn loads(&self) -> String {
        self.levels.iter().map(level::load).collect::<Vec<_>>().join(", ")
    }
}

fn against(
    options: &CompareOptions,
    baseline: &Run,
    candidate: &Run,
) -> Result<RunComparison, CompareError> {
    let mut notes = Vec::new();
    let pairs = pairs(options, baseline, candidate, &mut notes)?;
    let (mut forced, mut differing) = (Vec::new(), Vec::new());
    if let (Some(one), Some(other)) = (&baseline.setup, &candidate.setup) {
        forced = files_must_agree(one, other);
        differing = changed(one, other);
    } else {
        let text = "a summary alone does not say what was asked of whom: that workload and model are the same is taken on trust";
        notes.push(text.to_owned());
    }
    forced.extend(pairs.iter().find_map(|(a, b)| goals_differ(a, b)));
    if options.unlike == UnlikeRuns::Refuse {
        if !forced.is_empty() {
            let (baseline, candidate) = (baseline.name.clone(), candidate.name.clone());
            return Err(CompareError::Unlike { baseline, candidate, fields: forced });
        }
        baseline.must_be_valid()?;
        candidate.must_be_valid()?;
    }
    let only = baseline.levels.len() == 1 && candidate.levels.len() == 1;
    let compared = |(a, b): (&SummaryDocument, &SummaryDocument)| ComparedLevel {
        name: if only { String::new() } else { level::load(a) },
        table: table(options, a, b),
        notes: Vec::new(),
    };
    let points = |run: &Run| -> Vec<FrontierPoint> {
        run.levels.iter().filter_map(FrontierPoint::of_summary).collect()
    };
    Ok(RunComparison {
        frontier_distance: FrontierDistance::between(&points(baseline), &points(candidate)),
        candidate: ComparedRun { name: candidate.name.clone(), notes: candidate.notes() },
        forced,
        changed: differing,
        levels: pairs.into_iter().map(compared).collect(),
        notes,
    })
}

/// The goals of good requests, where both levels have some and they are not the same.
fn goals_differ(a: &SummaryDocument, b: &SummaryDocument) -> Option<ChangedField> {
    let goals = |of: &SummaryDocument| Some(of.summary.goodput.as_ref()?.goals().to_string());
    let (a, b) = (goals(a)?, goals(b)?);
    let field = "goodput.goals".to_owned();
    (a != b).then_some(ChangedField { field, baseline: Some(a), candidate: Some(b) })
}

/// Levels of one load, of both runs.
type Alike<'a> = Vec<(&'a SummaryDocument, &'a SummaryDocument)>;

fn pairs<'a>(
    options: &CompareOptions,
    baseline: &'a Run,
    candidate: &'a Run,
    notes: &mut Vec<String>,
) -> Result<Alike<'a>, CompareError> {
    let partner = |of: &SummaryDocument| {
        candidate.levels.iter().find(|other| level::load(other) == level::load(of))
    };
    let both = baseline.levels.iter().filter_map(|level| Some((level, partner(level)?)));
    let both: Vec<_> = both.collect();
    let (a, b) = (baseline.loads(), candidate.loads());
    match (&*baseline.levels, &*candidate.levels) {
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

fn table(options: &CompareOptions, a: &SummaryDocument, b: &SummaryDocument) -> ComparisonTable {
    let has_goals = [a, b].iter().all(|level| level.summary.throughput.goodput.is_some());
    let is_tokenless = a.summary.tokens.source == Some(TokenSource::Tokenless);
    let figures = match (&*options.figures, is_tokenless) {
        ([], true) => FigureChoice::without_tokens(),
        ([], false) => FigureChoice::usual(),
        (asked, _) => FigureChoice::only(asked.iter().copied()),
    };
    let goals = options.figures.is_empty() && has_goals;
    let figures = if goals { figures.with_goals() } else { figures };
    let wanted: Vec<Figure> = figures.decided.iter().chain(&figures.beside).copied().collect();
    let of = |level: &SummaryDocument| -> Vec<IntervalFigure> {
        wanted.iter().filter_map(|figure| known(level, *figure)).collect()
    };
    let (alpha, smallest) = (options.alpha, options.smallest);
    let settings = ComparisonSettings { figures, alpha, smallest, ..ComparisonSettings::default() };
    ComparisonTable::of_intervals(&of(a), &of(b), &settings)
}

/// A figure of a level as its summary has it; none where it is unknown there.
fn known(level: &SummaryDocument, figure: Figure) -> Option<IntervalFigure> {
    let (metric, statistic, level) = (figure.metric, figure.statistic, &level.summary);
    let sample = metric.distribution(level);
    Some(IntervalFigure {
        figure,
        value: metric.measured(statistic, level)?,
        interval: metric.interval(statistic, level),
        n: sample.map_or(level.requests.completed, |sample| sample.n),
    })
}
