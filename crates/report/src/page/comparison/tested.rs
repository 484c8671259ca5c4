//! What tests found of a run against the baseline.

use fizeau_metrics::{Answer, ComparedFigure};
use serde::Serialize;

use super::super::table::{Cell, Head, Row, Table};
use crate::comparison::{change, p_value};
use crate::number::number;
use crate::words::listed;
use crate::{ComparedLevel, ComparisonReport, ComparisonView, RunComparison};

/// A run against the baseline.
#[derive(Debug, Serialize)]
pub(super) struct Tested {
    baseline: String,
    candidate: String,
    /// `better`, `worse`, `mixed`, or `even` where no difference was found.
    class: &'static str,
    /// The answer in a sentence.
    sentence: String,
    /// Every figure that differs, with its change and interval.
    better: Vec<String>,
    worse: Vec<String>,
    notes: Vec<String>,
    tables: Vec<Level>,
}

/// A level of both runs.
#[derive(Debug, Serialize)]
struct Level {
    name: String,
    table: Table,
}

/// Each comparison of `report`.
pub(super) fn tested(report: &ComparisonReport) -> Vec<Tested> {
    report.comparisons.iter().map(|comparison| Tested::of(report, comparison)).collect()
}

impl Tested {
    fn of(report: &ComparisonReport, comparison: &RunComparison) -> Self {
        let found = |answer: Answer| {
            let levels = comparison.levels.iter();
            levels.flat_map(|level| found(level, answer)).collect::<Vec<_>>()
        };
        let (better, worse) = (found(Answer::Better), found(Answer::Worse));
        let even = found(Answer::NoDetectableDifference).len();
        let class = match (better.is_empty(), worse.is_empty()) {
            (true, true) => "even",
            (false, true) => "better",
            (true, false) => "worse",
            (false, false) => "mixed",
        };
        let all = better.len() + worse.len() + even;
        let baseline = report.baseline.name.clone();
        let sides = [
            (&baseline, &report.baseline.notes),
            (&comparison.candidate.name, &comparison.candidate.notes),
        ];
        let notes = sides
            .into_iter()
            .flat_map(|(name, notes)| notes.iter().map(move |note| format!("{name}: {note}")));
        Self {
            sentence: sentence(class, [better.len(), worse.len(), even], all),
            candidate: comparison.candidate.name.clone(),
            notes: notes.chain(comparison.notes.iter().cloned()).collect(),
            tables: comparison.levels.iter().map(|level| self::level(level, &baseline)).collect(),
            baseline,
            class,
            better,
            worse,
        }
    }
}

fn sentence(class: &str, counts: [usize; 3], all: usize) -> String {
    if all == 0 {
        return "No figure could be tested.".to_owned();
    }
    let words = ["better", "worse", "without a difference that could be found"];
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

/// `concurrency 8, p99 TTFT -4.2 % (-6.0 to -2.1)`.
fn found(level: &ComparedLevel, answer: Answer) -> Vec<String> {
    let rows = level.table.rows.iter().filter(|row| row.is_decided && row.answer() == Some(answer));
    let said = rows.filter_map(|row| {
        let (by, interval) = change(row.tested.as_ref().ok()?);
        let at = if level.name.is_empty() { String::new() } else { format!("{}, ", level.name) };
        let interval = if interval == "-" { String::new() } else { format!(" ({interval})") };
        Some(format!("{at}{} {by}{interval}", row.figure.label()))
    });
    said.collect()
}

fn level(level: &ComparedLevel, baseline: &str) -> Level {
    let heads = [baseline, "this run", "change", "95 % interval", "p"];
    let heads = [Head::words("figure")].into_iter().chain(heads.map(|head| Head::figure(head, "")));
    let view = ComparisonView { table: &level.table, baseline: "A", candidate: "B" };
    let notes = view.remarks().into_iter().chain(level.notes.iter().cloned());
    Level {
        name: level.name.clone(),
        table: Table {
            name: None,
            label: format!("Figures at {}", level.name).trim_end_matches(" at ").to_owned(),
            heads: heads.chain([Head::words("answer")]).collect(),
            rows: level.table.rows.iter().map(row).collect(),
            notes: notes.collect(),
        },
    }
}

fn row(row: &ComparedFigure) -> Row {
    let figure = format!("{}, {}", row.figure.label(), row.figure.unit());
    let value = |value: Option<f64>| match value {
        Some(value) => Cell::number(value, number(value)),
        None => Cell::text("-"),
    };
    let mut cells =
        vec![Cell::left(figure.trim_end_matches(", ")), value(row.baseline), value(row.candidate)];
    let (class, answer) = match row.answer() {
        Some(Answer::Better) => ("better", "better"),
        Some(Answer::Worse) => ("worse", "worse"),
        Some(Answer::NoDetectableDifference) => ("", "no difference found"),
        None => ("dimmed", "-"),
    };
    match &row.tested {
        Ok(tested) => {
            let (by, interval) = change(tested);
            let p = tested.decision.map(|decision| decision.adjusted).or_else(|| tested.p());
            let p = p.map_or_else(|| "-".to_owned(), |p| p_value(p.get()));
            cells.extend([by, interval, p].map(Cell::text));
            cells.push(Cell { class: "left outcome", ..Cell::text(answer) });
        }
        Err(why) => {
            cells.extend(["-", "-", "-"].map(Cell::text));
            cells.push(Cell::left(why.to_string()));
        }
    }
    Row { class, cells }
}
