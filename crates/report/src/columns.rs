//! Levels of runs as rows of one table.

mod csv;
mod figures;
mod imported;
mod list;
#[cfg(feature = "parquet")]
mod parquet;

pub use csv::csv_field;
pub use imported::ImportedTableRun;

use crate::{ChartFigure, ChartFigures};
use fizeau_core::UsdPerHour;
use fizeau_record::{LevelReport, ReadRun, Setup, SweepReport};
use fizeau_roofline::System;
pub(crate) use list::in_a_sentence;
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
            price: report.price().map(|price| price.low),
            quality: None,
        }
    }

    /// These levels of a run that was read again, called `name`, on the model and devices that it was held against; the price and the
    /// quality are absent.
    #[must_use]
    pub fn of_read(run: &'a ReadRun, levels: &'a [LevelReport], name: &str) -> Self {
        let system = run.reference.as_ref().map(|reference| reference.reference().system);
        Self {
            name: name.to_owned(),
            setup: &run.setup,
            levels,
            system,
            devices: system.map(|system| system.deployment().devices()),
            price: None,
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

/// A level that may be compared with nothing.
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
/// The columns are always the same, so that tables of several programs' runs go into one. What is not known is empty. Of
/// fewer than 100 values the greatest stands in for a 99th percentile, as on a sweep's own frontier, and the column
/// `greatest_for_p99` names the columns where it does. A figure that may have a 95 % interval has two further columns,
/// `NAME_low` and `NAME_high`. The last column, `left_out`, says why a level may be compared with nothing: partial and invalid
/// ones.
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
    /// The levels of `runs` that may be compared, in order.
    #[must_use]
    pub fn new(runs: &[TableRun<'_>]) -> Self {
        let (mut rows, mut left_out) = (Vec::new(), Vec::new());
        for row in all(runs) {
            match row.level.left_out() {
                Some(reason) => {
                    let (run, load) = (row.run.name.clone(), row.level.load.words());
                    left_out.push(LeftOut { run, load, reason });
                }
                None => rows.push(row),
            }
        }
        Self::of(&rows, left_out)
    }

    /// Every level of `runs`, in order, whether it may be compared or not: the column `left_out` says so.
    #[must_use]
    pub fn of_all(runs: &[TableRun<'_>]) -> Self {
        Self::of(&all(runs).collect::<Vec<_>>(), Vec::new())
    }

    fn of(rows: &[Row<'_>], left_out: Vec<LeftOut>) -> Self {
        let (mut heads, mut is_text) = (Vec::new(), Vec::new());
        let mut cells = vec![Vec::new(); rows.len()];
        for column in COLUMNS.iter() {
            for (suffix, values) in column.content.columns(rows) {
                heads.push(format!("{}{suffix}", column.name));
                is_text.push(matches!(column.content, Content::Text(_)));
                cells.iter_mut().zip(values).for_each(|(row, cell)| row.push(cell));
            }
        }
        Self { heads, is_text, rows: cells, left_out }
    }

    /// The name of every column but for the ends of intervals, and what it holds, in order.
    pub fn legend() -> impl Iterator<Item = (&'static str, &'static str)> {
        COLUMNS.iter().map(|column| (&*column.name, &*column.about))
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

    /// The name of the column that says why a level may be compared with nothing; whoever compares passes over such rows.
    pub const LEFT_OUT: &str = list::LEFT_OUT;

    /// The levels that are no rows, because they may be compared with nothing.
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

/// Every level of `runs`, in order.
fn all<'a>(runs: &'a [TableRun<'a>]) -> impl Iterator<Item = Row<'a>> {
    runs.iter().flat_map(|run| run.levels.iter().map(move |level| Row { run, level }))
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
            Self::Figure(_) | Self::Metric(..) => {
                let figures: Vec<_> = rows.iter().map(|row| self.figure(row)).collect();
                let part = |part: fn(&figures::Figure) -> Option<f64>| {
                    figures.iter().map(|figure| number(part(figure))).collect::<Vec<_>>()
                };
                let mut all = vec![("", part(|figure| figure.value))];
                if self.has_ends() {
                    all.push(("_low", part(|figure| Some(figure.ends?.0))));
                    all.push(("_high", part(|figure| Some(figure.ends?.1))));
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
    let figure = |column: &'static list::Column| {
        let figure = column.content.figure(&row);
        let value = figure.value.filter(|value| value.is_finite());
        let figure = value.map(|value| ChartFigure {
            value,
            low: figure.ends.map(|ends| ends.0),
            high: figure.ends.map(|ends| ends.1),
            stand_in: stand_ins.split(' ').any(|name| name == column.name),
        });
        (&*column.name, figure)
    };
    ChartFigures::new(COLUMNS.iter().map(figure))
}
