//! What tests found of a run against the baseline.

use fizeau_metrics::{ComparedFigure, ComparisonAnswer, TestFindings};
use serde::Serialize;

use super::super::table::{Cell, Head, Row, Table};
use crate::Shown;
use crate::comparison::summary::FEWER_COMPLETED;
use crate::comparison::{answer, change, distance, p_value};
use fizeau_record::text::listed;
use fizeau_record::text::number;
use fizeau_record::{ComparedLevel, ComparisonReport, ComparisonView, RunComparison};

/// A run against the baseline.
#[derive(Debug, Serialize)]
pub(super) struct TestedRun {
    baseline: String,
    candidate: String,
    /// `better`, `worse`, `mixed`, or `even` where no difference was found.
    class: &'static str,
    /// The answer in a sentence.
    sentence: String,
    /// Every figure that differs, with its change, and at which levels.
    better: Vec<String>,
    worse: Vec<String>,
    /// How far the frontier was pushed; empty where it is not known.
    distance: String,
    notes: Vec<String>,
    tables: Vec<Level>,
}

/// A level of both runs.
#[derive(Debug, Serialize)]
struct Level {
    name: String,
    table: Table,
}

/// Each comparison of `report`, by the names that the page has for its runs, the baseline first; by the report's own where it
/// is of others.
pub(super) fn tested(report: &ComparisonReport, runs: &[&str]) -> Vec<TestedRun> {
    let own = |comparison: &RunComparison| comparison.candidate.name.clone();
    let mut names: Vec<String> = vec![report.baseline.name.clone()];
    names.extend(report.comparisons.iter().map(own));
    if names.len() == runs.len() {
        names = runs.iter().map(|&name| name.to_owned()).collect();
    }
    let (baseline, candidates) = names.split_first().unwrap_or((&report.baseline.name, &[]));
    let pairs = report.comparisons.iter().zip(candidates);
    pairs.map(|(one, candidate)| TestedRun::of(report, one, [baseline, candidate])).collect()
}

impl TestedRun {
    fn of(report: &ComparisonReport, comparison: &RunComparison, names: [&str; 2]) -> Self {
        let counts = [
            ComparisonAnswer::Better,
            ComparisonAnswer::Worse,
            ComparisonAnswer::NoDetectableDifference,
        ]
        .map(|answer| {
            comparison.levels.iter().map(|level| figures_with_answer(level, answer).count()).sum()
        });
        let class = match counts {
            [0, 0, _] => "even",
            [_, 0, _] => "better",
            [0, _, _] => "worse",
            _ => "mixed",
        };
        let tables = comparison.levels.iter().map(|one| level(one, names)).collect();
        let [baseline, candidate] = names.map(str::to_owned);
        let distance = comparison.frontier_distance.as_ref();
        let sides =
            [(&baseline, &report.baseline.notes), (&candidate, &comparison.candidate.notes)];
        let notes = sides
            .into_iter()
            .flat_map(|(name, notes)| notes.iter().map(move |note| format!("{name}: {note}")));
        let notes = notes.chain(comparison.notes.iter().cloned()).chain(dashes(comparison));
        Self {
            sentence: match Shown(comparison).fails_more() {
                true => {
                    format!("{} {FEWER_COMPLETED}.", sentence(class, counts, counts.iter().sum()))
                }
                false => sentence(class, counts, counts.iter().sum()),
            },
            notes: notes.collect(),
            better: outcome_lines(&comparison.levels, ComparisonAnswer::Better),
            worse: outcome_lines(&comparison.levels, ComparisonAnswer::Worse),
            distance: distance
                .map(|of| distance::text(of, [&baseline, &candidate]))
                .unwrap_or_default(),
            candidate,
            tables,
            baseline,
            class,
        }
    }
}

fn sentence(class: &str, counts: [usize; 3], all: usize) -> String {
    if all == 0 {
        return "No figure could be tested.".to_owned();
    }
    let words = ["better", "worse", "without a detectable difference"];
    let parts = counts.into_iter().zip(words).filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, word)| format!("{n} {word}")).collect();
    let head = match class {
        "better" => "Better",
        "worse" => "Worse",
        "mixed" => "Better and worse",
        _ => {
            return format!(
                "No difference was found in any of {all} figures; that is not the same as being equal."
            );
        }
    };
    format!("{head}: of {all} figures {}.", listed(&parts))
}

/// The figures of a level that came out so.
fn figures_with_answer(
    level: &ComparedLevel,
    answer: ComparisonAnswer,
) -> impl Iterator<Item = &ComparedFigure> {
    level.table.rows.iter().filter(move |row| row.is_decided && row.answer() == Some(answer))
}

/// A figure that came out alike at some levels: its name, and of each level its name and what was found.
type SameOutcome<'a> = (String, Vec<(&'a str, &'a TestFindings)>);

/// Every figure that came out so, each once: `p99 TTFT -48 % to -34 % at concurrency 4, 8 and 16`.
fn outcome_lines(levels: &[ComparedLevel], answer: ComparisonAnswer) -> Vec<String> {
    let mut all: Vec<SameOutcome<'_>> = Vec::new();
    for level in levels {
        for row in figures_with_answer(level, answer) {
            let Ok(tested) = &row.tested else { continue };
            let label = row.figure.label();
            match all.iter_mut().find(|known| known.0 == label) {
                Some(known) => known.1.push((&*level.name, tested)),
                None => all.push((label, vec![(&*level.name, tested)])),
            }
        }
    }
    all.into_iter().map(|(label, at)| alike(&label, at)).collect()
}

fn alike(label: &str, mut at: Vec<(&str, &TestFindings)>) -> String {
    let names: Vec<&str> = at.iter().map(|one| one.0).collect();
    let levels = match loads(&names) {
        none if none.is_empty() => String::new(),
        loads => format!(" at {loads}"),
    };
    let size = |one: &TestFindings| one.relative.unwrap_or(one.difference).value().abs();
    at.sort_by(|a, b| size(a.1).total_cmp(&size(b.1)));
    let change = match &*at {
        [(_, only)] => match interval(only) {
            (by, Some(interval)) => format!("{by} ({interval})"),
            (by, None) => by,
        },
        [(_, least), .., (_, most)] => match (change(least).0, change(most).0) {
            (least, most) if least == most => least,
            (least, most) => format!("{least} to {most}"),
        },
        [] => String::new(),
    };
    format!("{label} {change}{levels}")
}

/// `concurrency 4, 8 and 16`: what all names begin with stands once.
fn loads(names: &[&str]) -> String {
    let kind = names.first().and_then(|name| Some(name.split_once(' ')?.0)).unwrap_or_default();
    let short =
        |name: &&str| name.strip_prefix(kind).map(str::trim_start).unwrap_or(name).to_owned();
    let is_shared =
        !kind.is_empty() && names.iter().all(|name| name.split(' ').next() == Some(kind));
    if is_shared {
        return format!("{kind} {}", listed(&names.iter().map(short).collect::<Vec<_>>()));
    }
    listed(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
}

/// The change, and its interval where there is one that its digits show.
fn interval(tested: &TestFindings) -> (String, Option<String>) {
    let (by, interval) = change(tested);
    let is_one = interval.split_once(" to ").is_none_or(|(low, high)| low == high);
    (by, (!is_one).then_some(interval))
}

/// What a dash means, where there is one.
fn dashes(comparison: &RunComparison) -> impl Iterator<Item = String> {
    let rows = || comparison.levels.iter().flat_map(|level| &level.table.rows);
    let is_narrow =
        |row: &ComparedFigure| row.tested.as_ref().is_ok_and(|one| interval(one).1.is_none());
    let beside = rows()
        .any(|row| !row.is_decided && row.tested.is_ok())
        .then_some("a figure without a result (-) is not judged, and its p is not corrected");
    let narrow = rows().any(is_narrow).then_some(
        "a change without an interval (-) has too few independent values for one, or one that is narrower than its last digit",
    );
    beside.into_iter().chain(narrow).map(str::to_owned)
}

fn level(level: &ComparedLevel, [baseline, candidate]: [&str; 2]) -> Level {
    let heads = [baseline, candidate, "change", "95 % interval", "p"];
    let heads = [Head::words("figure")].into_iter().chain(heads.map(|head| Head::figure(head, "")));
    let view = ComparisonView { table: &level.table, baseline, candidate };
    let notes = Shown(&view).remarks().into_iter().chain(level.notes.iter().cloned());
    let label = format!("Figures at {}", level.name);
    let heads = heads.chain([Head::words("result")]);
    let table = Table::new(label.trim_end_matches(" at "), heads, level.table.rows.iter().map(row));
    Level { name: level.name.clone(), table: table.noting(notes) }
}

fn row(row: &ComparedFigure) -> Row {
    let figure = format!("{}, {}", row.figure.label(), row.figure.unit());
    let value = |value: Option<f64>| match value {
        Some(value) => Cell::number(value, number(value)),
        None => Cell::text("-"),
    };
    let mut cells =
        vec![Cell::left(figure.trim_end_matches(", ")), value(row.baseline), value(row.candidate)];
    let class = match row.answer() {
        Some(ComparisonAnswer::Better) => "better",
        Some(ComparisonAnswer::Worse) => "worse",
        Some(ComparisonAnswer::NoDetectableDifference) => "",
        None => "dimmed",
    };
    match &row.tested {
        Ok(tested) => {
            let (by, interval) = interval(tested);
            let interval = interval.unwrap_or_else(|| "-".to_owned());
            let p = tested.decision.map(|decision| decision.adjusted).or_else(|| tested.p());
            let p = p.map_or_else(|| "-".to_owned(), |p| p_value(p.get()));
            cells.extend([by, interval, p].map(Cell::text));
            cells.push(Cell { class: "left outcome", ..Cell::text(answer(row)) });
        }
        Err(why) => {
            cells.extend(["-", "-", "-"].map(Cell::text));
            cells.push(Cell::left(why.to_string()));
        }
    }
    Row { class, cells }
}
