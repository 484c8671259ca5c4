//! Levels of runs as rows of one table.

mod csv;
mod figures;
mod imported;
mod list;
#[cfg(feature = "parquet")]
mod parquet;

pub use csv::csv_field;
pub use imported::ImportedTableRun;

use fizeau_core::UsdPerHour;
use fizeau_roofline::{HourlyRate, System};

use crate::{ChartFigure, ChartFigures, LevelReport, Setup, SweepReport};
use list::{COLUMNS, Content};

/// A run whose levels become rows of a [`LevelTable`], with what its tapes do not say.
#[derive(Debug, Clone)]
pub struct TableRun<'a> {
    /// What tells it from the others, as a reader names it.
    pub name: String,
    /// What was run.
    pub setup: &'a Setup,
    /// Its levels.
    pub levels: &'a [LevelReport],
    /// The model on its devices; absent where they are not known.
    pub system: Option<&'a System>,
    /// How many devices it takes, at least 1; absent where it is not known.
    pub devices: Option<u64>,
    /// What an hour of one of them costs; absent where it is not known.
    pub price: Option<UsdPerHour>,
    /// How good its output is, by whatever measure the reader has; absent where nobody said.
    pub quality: Option<f64>,
}

impl<'a> TableRun<'a> {
    /// The levels of a sweep, called `name`; the model on its devices and the quality are absent.
    #[must_use]
    pub fn of(report: &'a SweepReport, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            setup: report.setup(),
            levels: report.levels(),
            system: None,
            devices: report.devices(),
            price: report.price().map(HourlyRate::low),
            quality: None,
        }
    }
}

/// One field of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum TableCell {
    /// Nothing is known.
    Empty,
    /// A word.
    Text(String),
    /// A finite number, in the unit that the column's name says.
    Number(f64),
}

/// A level that may be compared with nothing, and is therefore no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Which run.
    pub run: String,
    /// Which of its levels: `concurrency 64`.
    pub load: String,
    /// Why, in plain words.
    pub reason: String,
}

/// The levels of runs as rows, with a column for each figure that people hold against another.
///
/// Only levels that may be compared are rows: neither partial nor invalid ones. What is not known is empty. Of
/// fewer than 100 values the greatest stands in for a 99th percentile, as on a sweep's own frontier, and the column
/// `greatest_for_p99` names the columns where it does. A figure whose
/// 95 % interval is known anywhere has two further columns, `NAME_low` and `NAME_high`.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelTable {
    heads: Vec<String>,
    /// Whether a column holds words, be it without any.
    is_text: Vec<bool>,
    rows: Vec<Vec<TableCell>>,
    left_out: Vec<LeftOut>,
}

/// A level of a run.
struct Row<'a> {
    run: &'a TableRun<'a>,
    level: &'a LevelReport,
}

impl LevelTable {
    /// The levels of `runs`, in order.
    #[must_use]
    pub fn new(runs: &[TableRun<'_>]) -> Self {
        let (mut rows, mut left_out) = (Vec::new(), Vec::new());
        for run in runs {
            for level in run.levels {
                match level.left_out() {
                    Some(reason) => {
                        let (run, load) = (run.name.clone(), level.load.words());
                        left_out.push(LeftOut { run, load, reason });
                    }
                    None => rows.push(Row { run, level }),
                }
            }
        }
        let (mut heads, mut is_text) = (Vec::new(), Vec::new());
        let mut cells = vec![Vec::new(); rows.len()];
        for column in &COLUMNS {
            for (suffix, values) in column.content.columns(&rows) {
                heads.push(format!("{}{suffix}", column.name));
                is_text.push(matches!(column.content, Content::Text(_)));
                cells.iter_mut().zip(values).for_each(|(row, cell)| row.push(cell));
            }
        }
        Self { heads, is_text, rows: cells, left_out }
    }

    /// The name of every column without intervals, and what it holds, in order.
    pub fn legend() -> impl Iterator<Item = (&'static str, &'static str)> {
        COLUMNS.iter().map(|column| (column.name, column.about))
    }

    /// The columns' names.
    #[must_use]
    pub fn heads(&self) -> &[String] {
        &self.heads
    }

    /// The rows, each with as many fields as there are columns.
    #[must_use]
    pub fn rows(&self) -> &[Vec<TableCell>] {
        &self.rows
    }

    /// The levels that are no rows.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// A field by its column's name; none if there is no such row or column.
    #[must_use]
    pub fn cell(&self, row: usize, column: &str) -> Option<&TableCell> {
        let column = self.heads.iter().position(|head| head == column)?;
        self.rows.get(row)?.get(column)
    }
}

impl Content {
    /// The columns that it comes to, each with what its name has behind that of the figure.
    fn columns(self, rows: &[Row<'_>]) -> Vec<(&'static str, Vec<TableCell>)> {
        let number = |value: Option<f64>| match value {
            Some(value) if value.is_finite() => TableCell::Number(value),
            _ => TableCell::Empty,
        };
        let text = |value: Option<String>| value.map_or(TableCell::Empty, TableCell::Text);
        match self {
            Self::Text(of) => vec![("", rows.iter().map(|row| text(of(row))).collect())],
            Self::Number(of) => vec![("", rows.iter().map(|row| number(of(row))).collect())],
            Self::Figure(_) | Self::Latency(..) => {
                let figures: Vec<_> = rows.iter().map(|row| self.figure(row)).collect();
                let part = |part: fn(&figures::Figure) -> Option<f64>| {
                    figures.iter().map(|figure| number(part(figure))).collect::<Vec<_>>()
                };
                let mut all = vec![("", part(|figure| figure.value))];
                let low = part(|figure| Some(figure.ends?.0));
                if low.iter().any(|cell| *cell != TableCell::Empty) {
                    let high = part(|figure| Some(figure.ends?.1));
                    all.extend([("_low", low), ("_high", high)]);
                }
                all
            }
        }
    }
}

/// The figures of a level that have intervals, by the names of their columns.
pub(crate) fn figures_of(run: &TableRun<'_>, level: &LevelReport) -> ChartFigures {
    let row = Row { run, level };
    let stand_ins = figures::stand_ins(&row).unwrap_or_default();
    let figure = |column: &list::Column| {
        let figure = column.content.figure(&row);
        let value = figure.value.filter(|value| value.is_finite());
        let figure = value.map(|value| ChartFigure {
            value,
            low: figure.ends.map(|ends| ends.0),
            high: figure.ends.map(|ends| ends.1),
            stand_in: stand_ins.split(' ').any(|name| name == column.name),
        });
        (column.name, figure)
    };
    ChartFigures::new(COLUMNS.iter().map(figure))
}
