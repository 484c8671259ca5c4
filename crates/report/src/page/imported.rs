//! Figures of another tool: what is known, and what is not.

use serde::Serialize;

use super::answers::{rates, tails};
use super::figures::Figure;
use super::levels::{Column, columns};
use super::table::{Cell, Head, Row, Table};
use super::template::{Template, data, render};
use fizeau_record::{ImportedRun, UnknownFact};

use crate::{ChartLevel, ChartLevelPosition, ChartRun, Shown};

/// All that the page shows.
#[derive(Debug, Serialize)]
struct ImportedPageData {
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
    /// Its level with the most throughput, and what was measured there; none without a level that may be compared.
    #[serde(skip)]
    best: Option<[String; 2]>,
}

impl Shown<'_, ImportedRun> {
    /// The content of `report.html`: the levels as far as another tool's file tells, the charts that take no tapes, and what is
    /// not known, with the reasons. Foreign text is escaped, and nothing is loaded from anywhere.
    #[must_use]
    pub fn page(&self) -> String {
        let charts = [self.charts("")];
        // What lies behind the third takes what each request did.
        let figures = Figure::all(&charts).into_iter().take(3).collect();
        let title = self.title();
        let shown = ImportedPageData {
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
            caveats: Shown(run).remarks(),
            not_known: not_known(run.not_known()),
            best: best(chart),
        }
    }

    /// Its line among those of other runs, which has cells for `answers` answers: the first is what it measured, and of the others a
    /// run without tapes knows none.
    pub(super) fn overview(&self, answers: usize) -> Row {
        let verdict = Cell { below: "imported without tapes".to_owned(), ..Cell::left("suspect") };
        let first = [Cell { below: self.title.clone(), ..Cell::left(&*self.name) }, verdict];
        let none = || Cell { below: "it takes requests".to_owned(), ..Cell::left("not known") };
        let best = self
            .best
            .clone()
            .map_or_else(none, |[headline, below]| Cell { below, ..Cell::left(headline) });
        let none = std::iter::repeat_with(none).take(answers.saturating_sub(1));
        Row::plain(first.into_iter().chain([best]).chain(none))
    }
}

fn best(chart: &ChartRun) -> Option<[String; 2]> {
    let rate = |level: &ChartLevel| {
        let names = ["output_tps", "requests_per_s"];
        names.iter().find_map(|name| level.figures.get(name)).map_or(0.0, |figure| figure.value)
    };
    let compared = chart.levels.iter().filter(|level| level.left_out.is_none());
    let level = compared.max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let most = if chart.levels.len() > 1 { "most throughput: " } else { "" };
    let figures = [Some(rates(level)).filter(|rates| !rates.is_empty()), tails(level)];
    let figures = figures.into_iter().flatten().collect::<Vec<_>>().join("; ");
    Some([level.load.clone(), format!("{most}{figures}")])
}

fn source_words(run: &ImportedRun) -> String {
    let mut files: Vec<&str> =
        run.levels().iter().map(|level| level.source.file.as_str()).collect();
    files.dedup();
    let tool = run.levels().first().map_or("another tool", |level| &level.source.tool);
    let doubts = run.not_known().into_iter().filter(|fact| fact.is_contradiction());
    let doubts = doubts.map(|fact| format!(" It contradicts itself: {}.", fact.why));
    format!("Measured by {tool}. Imported from {}.{}", files.join(", "), doubts.collect::<String>())
}

fn levels(run: &ImportedRun, chart: &ChartRun) -> Table {
    let is_known = |name: &str| run.levels().iter().any(|level| level.figure(name).is_some());
    let columns = columns().filter(|column| column.stays && is_known(&column.name));
    let columns: Vec<Column> = columns.collect();
    let row = |level: &ChartLevel| {
        let (class, position) = position(level);
        let figures = columns.iter().map(|column| Cell::figure(level.figures.get(&column.name)));
        let cells = std::iter::once(Cell::left(&*level.load)).chain(figures);
        Row { class, cells: cells.chain([Cell::left(position)]).collect() }
    };
    let figures = columns.iter().map(|column| Head::figure(&column.head, column.unit));
    let heads = std::iter::once(Head::words("load")).chain(figures);
    let mut notes = vec!["A dash: not known.".to_owned()];
    if run.levels().iter().any(|level| !level.greatest_for_p99.is_empty()) {
        notes.push("* the greatest of fewer than 100 values.".to_owned());
    }
    let heads = heads.chain([Head::words("position")]);
    let table = Table::new("Levels", heads, chart.levels.iter().map(row)).noting(notes);
    // A page knows one table of levels by its name.
    if chart.name.is_empty() { table.named("levels") } else { table }
}

/// How a row looks, and how its level stands to the others in words.
fn position(level: &ChartLevel) -> (&'static str, String) {
    match (&level.left_out, level.position) {
        (Some(reason), _) => ("dimmed", format!("left out: {reason}")),
        (None, ChartLevelPosition::Frontier) => ("best", "on the frontier".to_owned()),
        (None, _) => ("dimmed", "dominated".to_owned()),
    }
}

/// What is not known, and why.
pub(super) fn not_known<'a>(all: impl IntoIterator<Item = &'a UnknownFact>) -> Table {
    let row = |known: &UnknownFact| Row::plain([Cell::left(&*known.what), Cell::left(&*known.why)]);
    Table::new("Not known", ["what", "why"].map(Head::words), all.into_iter().map(row))
}
