//! The columns of the table of levels, shared by whatever shows one.

use std::cmp::Reverse;

use fizeau_core::LevelLoad;
use fizeau_metrics::{Metric, Statistic, TableColumns};
use fizeau_record::LevelReport;
use fizeau_record::text::{half_width, supported};
use fizeau_roofline::BoundShare;

use crate::columns::{Figure, failed, of_metric};

/// One column with its cells, a cell for each level.
#[derive(Debug)]
pub(crate) struct Column {
    /// What stands above the heads of columns that belong together, with the unit.
    pub(crate) group: &'static str,
    /// What stands above the cells.
    pub(crate) head: &'static str,
    /// How soon it may be left out where there is no room, the lowest first; none if it must stay.
    pub(crate) rank: Option<u8>,
    /// The cells.
    pub(crate) cells: Vec<Cell>,
}

impl Column {
    /// Whether it is for wide tables alone: an interval, or a figure beside those that a level is known by.
    pub(crate) fn is_extra(&self) -> bool {
        self.rank.is_some_and(|rank| rank < FIRST_USUAL)
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// The figure, or `-` where there is none.
    pub(crate) text: String,
    /// Whether the greatest value stands in for a percentile.
    pub(crate) marked: bool,
}

/// The head of a column of intervals: half the width of each.
pub(crate) const PLUS_MINUS: &str = "±";

/// What it means.
pub(crate) const PLUS_MINUS_NOTE: &str = "±: half of the 95 % interval";

/// Columns with a lower rank are extra.
const FIRST_USUAL: u8 = 10;

/// The columns for levels of one kind of load, those for wide tables too.
pub(crate) fn columns(levels: &[&LevelReport]) -> Vec<Column> {
    let by_rate = |level: &&LevelReport| matches!(level.load, LevelLoad::Rate(_));
    let (requested, unit) =
        if levels.iter().any(by_rate) { ("load", "req/s") } else { ("", "conc") };
    let column = |group, head, rank, cells| Column { group, head, rank, cells };
    let failed = texts(levels, |level| failed(level).to_string());
    let of_light = |level: &&LevelReport| Figure {
        value: level.speed_of_light.output_share().map(BoundShare::percent),
        ..Figure::default()
    };
    let light = cells(&levels.iter().map(of_light).collect::<Vec<_>>());
    let figure = |level: &&LevelReport, metric, statistic| of_metric(level, metric, statistic);
    let (every, of_some) = places();
    let mut all = vec![column(requested, unit, None, loads(levels))];
    all.extend(every.iter().flat_map(|place| place.columns(levels, &figure)));
    all.push(column("", "failed", Some(16), failed));
    // A column without a single figure is said to be absent, with the reason, below the table.
    let of_some = of_some.iter().flat_map(|place| place.columns(levels, &figure));
    let of_some = [column("SoL", "%", Some(17), light)].into_iter().chain(of_some);
    all.extend(of_some.filter(|column| column.cells.iter().any(|cell| cell.text != "-")));
    all
}

/// The place of a figure in tables of levels.
pub(crate) struct TablePlace {
    pub(crate) metric: Metric,
    pub(crate) statistic: Statistic,
    pub(crate) table: TableColumns,
    ranks: [Option<u8>; 2],
}

/// The places that the catalogue names: those of every table, rates first, and those that are there where some level has the figure.
pub(crate) fn places() -> (Vec<TablePlace>, Vec<TablePlace>) {
    let known = Metric::ALL.iter().filter_map(|&metric| Some((metric, metric.entry().table?)));
    let (latencies, rates): (Vec<_>, Vec<_>) = known.partition(|(metric, _)| metric.is_latency());
    let (mut of_some, rates): (Vec<_>, Vec<_>) =
        rates.into_iter().partition(|(_, table)| table.ranks[0][0].is_some());
    of_some.sort_by_key(|(_, table)| Reverse(table.ranks[0][0]));
    let each = |(metric, table): (Metric, TableColumns)| {
        let statistics: &[Statistic] = match metric.is_latency() {
            true => &[Statistic::P50, Statistic::P99],
            false => &[Statistic::Value],
        };
        let ranked = statistics.iter().zip(table.ranks);
        ranked.map(move |(&statistic, ranks)| TablePlace { metric, statistic, table, ranks })
    };
    let every = rates.into_iter().chain(latencies).flat_map(each).collect();
    (every, of_some.into_iter().flat_map(each).collect())
}

impl TablePlace {
    /// Its columns, with what `of` has of each level.
    pub(crate) fn columns<L>(
        &self,
        levels: &[L],
        of: &dyn Fn(&L, Metric, Statistic) -> Figure,
    ) -> Vec<Column> {
        let head = if self.metric.is_latency() { self.statistic.as_str() } else { self.table.head };
        // A share is shown in per cent.
        let by = if self.metric.entry().unit.is_empty() { 100.0 } else { 1.0 };
        let figure = |level: &L| of(level, self.metric, self.statistic).times(Some(by));
        let figures: Vec<Figure> = levels.iter().map(figure).collect();
        with_interval(self.table.group, head, self.ranks, &figures)
    }
}

/// A column of figures, and that of their intervals, where there may be one and any has one.
fn with_interval(
    group: &'static str,
    head: &'static str,
    [rank, rank_of_interval]: [Option<u8>; 2],
    figures: &[Figure],
) -> Vec<Column> {
    let mut columns = vec![Column { group, head, rank, cells: cells(figures) }];
    if rank_of_interval.is_some() && figures.iter().any(|figure| figure.ends.is_some()) {
        let half = |figure: &Figure| Some(half_width(figure.value?, figure.ends?));
        let cell = |figure: &Figure| Cell {
            text: half(figure).unwrap_or_else(|| "-".to_owned()),
            marked: false,
        };
        let cells = figures.iter().map(cell).collect();
        columns.push(Column { group, head: PLUS_MINUS, rank: rank_of_interval, cells });
    }
    columns
}

/// Each with the digits that its own interval supports.
fn cells(figures: &[Figure]) -> Vec<Cell> {
    let cell = |figure: &Figure| match figure.value.filter(|value| value.is_finite()) {
        Some(value) => Cell { text: supported(value, figure.ends), marked: figure.is_stand_in },
        None => Cell { text: "-".to_owned(), marked: false },
    };
    figures.iter().map(cell).collect()
}

/// The loads, those of saturated levels with a mark behind the digits.
fn loads(levels: &[&LevelReport]) -> Vec<Cell> {
    let any = levels.iter().any(|level| level.is_saturated());
    let mark = |level: &LevelReport| match (any, level.is_saturated()) {
        (_, true) => "!",
        (true, false) => " ",
        (false, false) => "",
    };
    let cell = |level: &&LevelReport| Cell {
        text: format!("{}{}", level.load.number(), mark(level)),
        marked: false,
    };
    levels.iter().map(cell).collect()
}

fn texts(levels: &[&LevelReport], text: fn(&LevelReport) -> String) -> Vec<Cell> {
    let cell = |level: &&LevelReport| Cell { text: text(level), marked: false };
    levels.iter().map(cell).collect()
}
