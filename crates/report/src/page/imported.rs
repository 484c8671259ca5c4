//! Figures of another tool: what is known, and what is not.

use serde::Serialize;

use super::figures::Figure;
use super::levels::{Column, columns};
use super::table::{Cell, Head, Row, Table};
use super::template::{Template, data, render};
use fizeau_record::{ImportedRun, NotKnown};

use crate::{ChartLevel, ChartPlace, ChartRun, Shown};

/// All that the page shows.
#[derive(Debug, Serialize)]
struct Content {
    title: String,
    shown: Imported,
    figures: Vec<Figure>,
    setup: Vec<(&'static str, String)>,
}

/// A run without tapes, on its own page or beside others.
#[derive(Debug, Serialize)]
pub(super) struct Imported {
    /// What tells it from the others; empty where it stands alone.
    name: String,
    /// What was measured.
    title: String,
    /// Who measured, and from which files that is known.
    source: String,
    levels: Table,
    caveats: Vec<String>,
    not_known: Table,
}

/// The columns that files of other tools may know.
const COLUMNS: [&str; 9] = [
    "requests_per_s",
    "output_tps",
    "user_tps",
    "p50_ttft_ms",
    "p99_ttft_ms",
    "p50_tpot_ms",
    "p99_tpot_ms",
    "p50_e2el_ms",
    "p99_e2el_ms",
];

impl Shown<'_, ImportedRun> {
    /// The content of `report.html`: the levels as far as another tool's file tells, the charts that take no tapes, and what is
    /// not known, with the reasons. Foreign text is escaped, and nothing is loaded from anywhere.
    #[must_use]
    pub fn page(&self) -> String {
        let charts = [self.charts("")];
        // What lies behind the third takes what each request did.
        let figures = Figure::all(&charts).into_iter().take(3).collect();
        let title = self.title();
        let shown = Content {
            title: title.clone(),
            shown: Imported::of(self, &charts[0]),
            figures,
            setup: self.setup().rows(),
        };
        render(Template::Imported, &format!("Fizeau: {title}"), &shown, &data(&charts))
    }
}

impl Imported {
    /// With the charts that are drawn of it.
    pub(super) fn of(run: &ImportedRun, chart: &ChartRun) -> Self {
        Self {
            name: chart.name.clone(),
            title: run.title(),
            source: source_words(run),
            levels: levels(run, chart),
            caveats: run.caveats().into_iter().map(str::to_owned).collect(),
            not_known: not_known(run.not_known()),
        }
    }

    /// Its line among those of other runs, which has cells for `answers` answers: a run without tapes has none.
    pub(super) fn overview(&self, answers: usize) -> Row {
        let verdict = Cell { below: "imported without tapes".to_owned(), ..Cell::left("suspect") };
        let first = [Cell { below: self.title.clone(), ..Cell::left(&*self.name) }, verdict];
        let none = std::iter::repeat_with(|| Cell::left("not known")).take(answers);
        Row::plain(first.into_iter().chain(none))
    }
}

fn source_words(run: &ImportedRun) -> String {
    let mut files: Vec<&str> =
        run.levels().iter().map(|level| level.source.file.as_str()).collect();
    files.dedup();
    let tool = run.levels().first().map_or("another tool", |level| &level.source.tool);
    format!("Measured by {tool}. Imported from {}.", files.join(", "))
}

fn levels(run: &ImportedRun, chart: &ChartRun) -> Table {
    let is_known = |name: &str| run.levels().iter().any(|level| level.figure(name).is_some());
    let columns =
        columns().filter(|column| COLUMNS.contains(&&*column.name) && is_known(&column.name));
    let columns: Vec<Column> = columns.collect();
    let row = |level: &ChartLevel| {
        let (class, standing) = standing(level);
        let figures = columns.iter().map(|column| Cell::figure(level.figures.get(&column.name)));
        let cells = std::iter::once(Cell::left(&*level.load)).chain(figures);
        Row { class, cells: cells.chain([Cell::left(standing)]).collect() }
    };
    let figures = columns.iter().map(|column| Head::figure(&column.head, column.unit));
    let heads = std::iter::once(Head::words("load")).chain(figures);
    let mut notes = vec!["A dash: not known.".to_owned()];
    if run.levels().iter().any(|level| !level.greatest_for_p99.is_empty()) {
        notes.push("* the greatest of fewer than 100 values.".to_owned());
    }
    let heads = heads.chain([Head::words("standing")]);
    let table = Table::new("Levels", heads, chart.levels.iter().map(row)).noting(notes);
    // A page knows one table of levels by its name.
    if chart.name.is_empty() { table.named("levels") } else { table }
}

/// How a row looks, and how its level stands to the others in words.
fn standing(level: &ChartLevel) -> (&'static str, String) {
    match (&level.left_out, level.place) {
        (Some(reason), _) => ("dimmed", format!("left out: {reason}")),
        (None, ChartPlace::Frontier) => ("best", "on the frontier".to_owned()),
        (None, _) => ("dimmed", "dominated".to_owned()),
    }
}

/// What is not known, and why.
pub(super) fn not_known<'a>(all: impl IntoIterator<Item = &'a NotKnown>) -> Table {
    let row = |known: &NotKnown| Row::plain([Cell::left(&*known.what), Cell::left(&*known.why)]);
    Table::new("Not known", ["what", "why"].map(Head::words), all.into_iter().map(row))
}
