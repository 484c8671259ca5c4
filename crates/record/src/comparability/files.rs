//! Runs of which no more is at hand than what was printed of them or a run's folder was left with: compared by their intervals.

use std::path::{Path, PathBuf};

use fizeau_metrics::{
    ComparisonSettings, ComparisonTable, Figure, FigureChoice, Interval, IntervalFigure, Metric,
};
use serde_json::Value;

use super::agree::{changed, files_must_agree};
use super::{CompareError, CompareOptions, UnlikeRuns, level};
use crate::stored::read_any;
use crate::{
    ChangedField, ComparedLevel, ComparedRun, ComparisonReport, DocumentFields, FrontierDistance,
    FrontierPoint, ImportedRun, RunComparison,
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

/// A run's document.
struct Run {
    name: String,
    /// All of it, field by field.
    fields: DocumentFields,
    /// Each level, field by field.
    levels: Vec<DocumentFields>,
    /// Whether it says what was asked of whom.
    has_setup: bool,
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
        let document: Value = read_any(&file)?;
        let schema = document["schema"].as_str().unwrap_or_default();
        if !["fizeau.summary/1", "fizeau.sweep/1", "fizeau.levels/1"].contains(&schema) {
            let found = if schema.is_empty() { "none".to_owned() } else { format!("`{schema}`") };
            return Err(CompareError::Schema { path: file, found });
        }
        let fields = |value: &Value| DocumentFields::of(value).unwrap_or_default();
        Ok(Self {
            name: file.display().to_string(),
            fields: fields(&document),
            levels: match document["levels"].as_array() {
                Some(levels) => levels.iter().map(fields).collect(),
                None => vec![fields(&document)],
            },
            has_setup: document["setup"].is_object(),
        })
    }

    fn must_be_valid(&self) -> Result<(), CompareError> {
        match self.levels.iter().find_map(level::invalid) {
            None => Ok(()),
            Some(reason) => Err(CompareError::Invalid { name: self.name.clone(), reason }),
        }
    }

    fn notes(&self) -> Vec<String> {
        let one = self.levels.len() == 1;
        let of = |summary: &DocumentFields| {
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
    if baseline.has_setup && candidate.has_setup {
        forced = files_must_agree(&baseline.fields, &candidate.fields);
        differing = changed(&baseline.fields, &candidate.fields);
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
    let compared = |(a, b): (&DocumentFields, &DocumentFields)| ComparedLevel {
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
fn goals_differ(a: &DocumentFields, b: &DocumentFields) -> Option<ChangedField> {
    let field = "goodput.goals".to_owned();
    let (a, b) = (a.text(&field)?, b.text(&field)?);
    (a != b).then_some(ChangedField { field, baseline: Some(a), candidate: Some(b) })
}

/// Levels of one load, of both runs.
type Alike<'a> = Vec<(&'a DocumentFields, &'a DocumentFields)>;

fn pairs<'a>(
    options: &CompareOptions,
    baseline: &'a Run,
    candidate: &'a Run,
    notes: &mut Vec<String>,
) -> Result<Alike<'a>, CompareError> {
    let partner = |of: &DocumentFields| {
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

fn table(options: &CompareOptions, a: &DocumentFields, b: &DocumentFields) -> ComparisonTable {
    let has_goals = [a, b].iter().all(|level| level.number("throughput.good_share").is_some());
    let is_tokenless = a.text("tokens.source").as_deref() == Some("tokenless");
    let figures = match (&*options.figures, is_tokenless) {
        ([], true) => FigureChoice::without_tokens(),
        ([], false) => FigureChoice::usual(),
        (asked, _) => FigureChoice::only(asked.iter().copied()),
    };
    let goals = options.figures.is_empty() && has_goals;
    let figures = if goals { figures.with_goals() } else { figures };
    let wanted: Vec<Figure> = figures.decided.iter().chain(&figures.beside).copied().collect();
    let of = |level: &DocumentFields| -> Vec<IntervalFigure> {
        wanted.iter().filter_map(|figure| known(level, *figure)).collect()
    };
    let (alpha, smallest) = (options.alpha, options.smallest);
    let settings = ComparisonSettings { figures, alpha, smallest, ..ComparisonSettings::default() };
    ComparisonTable::of_intervals(&of(a), &of(b), &settings)
}

/// A figure of a level as its summary has it; none where it is unknown there.
fn known(level: &DocumentFields, figure: Figure) -> Option<IntervalFigure> {
    let (of, name) = match figure.metric {
        Metric::RequestsPerSec => ("throughput".to_owned(), "requests_per_s"),
        Metric::OutputTokensPerSec => ("throughput".to_owned(), "output_tokens_per_s"),
        Metric::GoodputPerSec => ("throughput".to_owned(), "goodput_per_s"),
        Metric::GoodShare => ("throughput".to_owned(), "good_share"),
        latency => (format!("metrics.{}_ms", latency.entry().key), figure.statistic.as_str()),
    };
    let n = match of.as_str() {
        "throughput" => level.whole("requests.completed"),
        latency => level.whole(&format!("{latency}.n")),
    };
    let end = |at: u32| level.number(&format!("{of}.{name}_ci[{at}]"));
    Some(IntervalFigure {
        figure,
        value: level.number(&format!("{of}.{name}"))?,
        interval: end(0).zip(end(1)).map(|(low, high)| Interval::p95(low, high)),
        n: n.unwrap_or(0),
    })
}
