//! Runs of which no more is at hand than what `--json` printed or a run's folder was left with: compared by their intervals.

use std::fs;
use std::path::Path;

use fizeau::metrics::{
    ComparisonSettings, ComparisonTable, Figure, FigureChoice, Interval, IntervalFigure,
};
use fizeau::record::{
    ChangedField, ComparedLevel, ComparedRun, ComparisonReport, DocumentFields, RunComparison,
};
use serde_json::Value;

use super::agree::{changed, files_must_agree, refused};
use super::{Decided, level};
use crate::args::CompareArgs;
use crate::commands::shared::imported;
use crate::exit::Fail;

/// What is to be known of every such comparison.
const OF_INTERVALS: &str = "compared by the intervals in the files, not by requests: what pairs of the same requests would show is \
                            lost, and the intervals know nothing of what differs from run to run; folders with tapes are compared better";

/// The schemas of which figures can be had.
const READ: &str = "fizeau.summary/1, fizeau.sweep/1 or fizeau.levels/1";

/// Whether any run is given as a file.
pub(super) fn is_any(args: &CompareArgs) -> bool {
    args.runs.iter().any(|path| path.is_file())
}

/// Each run against the first.
pub(super) fn compare(args: &CompareArgs, decided: &Decided) -> Result<ComparisonReport, Fail> {
    let mut runs = args.runs.iter().map(|path| Run::read(path));
    let baseline = match runs.next() {
        Some(run) => run?,
        None => return Err(Fail::usage("name the runs to compare")),
    };
    let comparisons = runs.map(|run| against(args, decided, &baseline, &run?));
    let comparisons = comparisons.collect::<Result<_, Fail>>()?;
    let baseline = ComparedRun { notes: baseline.notes(), name: baseline.name };
    Ok(ComparisonReport { baseline, comparisons, notes: vec![OF_INTERVALS.to_owned()] })
}

/// A run's document.
struct Run {
    name: String,
    document: Value,
    /// All of it, field by field.
    record: DocumentFields,
}

impl Run {
    /// A file, or what a folder has of this kind.
    fn read(path: &Path) -> Result<Self, Fail> {
        let file = match path.is_dir() {
            true => ["sweep.json", "summary.json"]
                .map(|name| path.join(name))
                .into_iter()
                .find(|file| file.is_file())
                .ok_or_else(|| {
                    if let Ok(Some(_)) = fizeau::record::ImportedRun::read(path) {
                        return imported::no_requests(path);
                    }
                    let path = path.display();
                    Fail::usage(format!(
                        "{path}: no sweep.json and no summary.json, which a comparison with a file takes"
                    ))
                })?,
            false => path.to_path_buf(),
        };
        let name = file.display().to_string();
        let text = fs::read(&file).map_err(|e| Fail::usage(format!("cannot read {name}: {e}")))?;
        let document: Value =
            serde_json::from_slice(&text).map_err(|e| Fail::usage(format!("{name}: {e}")))?;
        let schema = document["schema"].as_str().unwrap_or_default();
        if !["fizeau.summary/1", "fizeau.sweep/1", "fizeau.levels/1"].contains(&schema) {
            let found = if schema.is_empty() { "none".to_owned() } else { format!("`{schema}`") };
            return Err(Fail::usage(format!("{name}: its schema is {found}, not {READ}")));
        }
        let record = DocumentFields::of(&document).unwrap_or_default();
        Ok(Self { name, document, record })
    }

    fn levels(&self) -> &[Value] {
        match self.document["levels"].as_array() {
            Some(levels) => levels,
            None => std::slice::from_ref(&self.document),
        }
    }

    fn must_be_valid(&self) -> Result<(), Fail> {
        match self.levels().iter().find_map(level::invalid) {
            None => Ok(()),
            Some(reason) => Err(Fail::usage(format!(
                "{}: the verdict of the run is invalid: {reason}; --force compares it all the same",
                self.name
            ))),
        }
    }

    fn notes(&self) -> Vec<String> {
        let one = self.levels().len() == 1;
        let of = |summary: &Value| {
            let load = if one { String::new() } else { format!("{}: ", level::load(summary)) };
            let notes = level::notes(summary).into_iter();
            notes.map(|note| format!("{load}{note}")).collect::<Vec<_>>()
        };
        self.levels().iter().flat_map(of).collect()
    }
}

fn against(
    args: &CompareArgs,
    decided: &Decided,
    baseline: &Run,
    candidate: &Run,
) -> Result<RunComparison, Fail> {
    let mut notes = Vec::new();
    let pairs = pairs(args, baseline, candidate, &mut notes)?;
    let both_asked = [baseline, candidate].iter().all(|run| run.document["setup"].is_object());
    let (mut forced, mut differing) = (Vec::new(), Vec::new());
    if both_asked {
        forced = files_must_agree(&baseline.record, &candidate.record);
        differing = changed(&baseline.record, &candidate.record);
    } else {
        let text = "a summary alone does not say what was asked of whom: that workload and model are the same is taken on trust";
        notes.push(text.to_owned());
    }
    forced.extend(pairs.iter().find_map(|(a, b)| goals_differ(a, b)));
    if !args.force {
        if !forced.is_empty() {
            return Err(refused(&baseline.name, &candidate.name, &forced));
        }
        baseline.must_be_valid()?;
        candidate.must_be_valid()?;
    }
    let only = baseline.levels().len() == 1 && candidate.levels().len() == 1;
    let compared = |(a, b): (&Value, &Value)| ComparedLevel {
        name: if only { String::new() } else { level::load(a) },
        table: table(decided, a, b),
        notes: Vec::new(),
    };
    Ok(RunComparison {
        candidate: ComparedRun { name: candidate.name.clone(), notes: candidate.notes() },
        forced,
        changed: differing,
        levels: pairs.into_iter().map(compared).collect(),
        notes,
    })
}

/// The goals of good requests, where both levels have some and they are not the same.
fn goals_differ(a: &Value, b: &Value) -> Option<ChangedField> {
    let goals = |level: &Value| level["goodput"]["goals"].as_str().map(str::to_owned);
    let (a, b) = (goals(a)?, goals(b)?);
    let field = "goodput.goals".to_owned();
    (a != b).then_some(ChangedField { field, baseline: Some(a), candidate: Some(b) })
}

/// The levels of one load.
fn pairs<'a>(
    args: &CompareArgs,
    baseline: &'a Run,
    candidate: &'a Run,
    notes: &mut Vec<String>,
) -> Result<Vec<(&'a Value, &'a Value)>, Fail> {
    let partner =
        |of: &Value| candidate.levels().iter().find(|other| level::load(other) == level::load(of));
    let both = baseline.levels().iter().filter_map(|level| Some((level, partner(level)?)));
    let both: Vec<_> = both.collect();
    let loads = |run: &Run| run.levels().iter().map(level::load).collect::<Vec<_>>().join(", ");
    let (a, b) = (loads(baseline), loads(candidate));
    match (baseline.levels(), candidate.levels()) {
        ([one], [other]) if both.is_empty() && args.force => {
            notes.push(format!("the loads differ: A has {a}, B has {b}"));
            Ok(vec![(one, other)])
        }
        _ if both.is_empty() => {
            let (one, other) = (&baseline.name, &candidate.name);
            Err(Fail::usage(format!("no load in common: {one} has {a}; {other} has {b}")))
        }
        (one, other) => {
            if both.len() < one.len() || both.len() < other.len() {
                notes.push(format!("only loads of both are compared: A has {a}; B has {b}"));
            }
            Ok(both)
        }
    }
}

fn table(decided: &Decided, a: &Value, b: &Value) -> ComparisonTable {
    let has_goals = [a, b].iter().all(|level| level["throughput"]["good_share"].is_number());
    let is_tokenless = a["tokens"]["source"] == "tokenless";
    let figures = match (&*decided.asked, is_tokenless) {
        ([], true) => FigureChoice::without_tokens(),
        ([], false) => FigureChoice::usual(),
        (asked, _) => FigureChoice::only(asked.iter().copied()),
    };
    let goals = decided.asked.is_empty() && has_goals;
    let figures = if goals { figures.with_goals() } else { figures };
    let wanted: Vec<Figure> = figures.decided.iter().chain(&figures.beside).copied().collect();
    let of = |level: &Value| -> Vec<IntervalFigure> {
        wanted.iter().filter_map(|figure| known(level, *figure)).collect()
    };
    let Decided { alpha, smallest, .. } = *decided;
    let settings = ComparisonSettings { figures, alpha, smallest, ..ComparisonSettings::default() };
    ComparisonTable::of_intervals(&of(a), &of(b), &settings)
}

/// A figure of a level as its summary has it; none where it is unknown there.
fn known(level: &Value, figure: Figure) -> Option<IntervalFigure> {
    let completed = level["requests"]["completed"].as_u64().unwrap_or(0);
    let [object, key] = figure.metric().json_path();
    let (of, name, n) = match figure.metric().is_latency() {
        true => {
            let of = &level[object][key];
            (of, figure.statistic().as_str(), of["n"].as_u64().unwrap_or(0))
        }
        false => (&level[object], key, completed),
    };
    let ends = &of[format!("{name}_ci")];
    let interval = ends[0].as_f64().zip(ends[1].as_f64());
    Some(IntervalFigure {
        figure,
        value: of[name].as_f64()?,
        interval: interval.map(|(low, high)| Interval::p95(low, high)),
        n,
    })
}
