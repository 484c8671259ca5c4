//! Levels of runs as rows of one table.

mod compared;
mod figures;
mod imported;
mod list;
#[cfg(feature = "parquet")]
mod parquet;

pub use compared::{LevelTableContent, LevelTableRun};
pub use imported::ImportedTableRun;

use crate::{ChartFigure, ChartFigures, TableCell};
pub(crate) use figures::{Figure, failed, of_metric};
use fizeau_core::UsdPerHour;
use fizeau_record::{LevelReport, ReadRun, RunSetup, SweepReport};
use fizeau_roofline::System;
pub(crate) use list::in_a_sentence;
use list::{COLUMNS, FieldSource};

/// A run whose levels become rows of a [`LevelTable`], with what its tapes do not say.
#[derive(Debug, Clone)]
pub struct TableRun<'a> {
    /// What tells it from the others, as a reader names it.
    pub name: String,
    /// What was run.
    pub setup: &'a RunSetup,
    /// Its levels.
    pub levels: &'a [LevelReport],
    /// The model on its devices; absent where they are not known.
    pub system: Option<&'a System>,
    /// How many devices it takes, at least 1; absent where it is not known.
    pub devices: Option<u64>,
    /// What an hour of one of them costs; absent where it is not known.
    pub price: Option<UsdPerHour>,
    /// How good its output is, by whatever measure the reader has; absent where it was not given.
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

    /// These levels of a run that was read again, called `name`, on the model and devices that it was compared with; the price and the
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

/// A level that may be compared with nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedLevel {
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
    /// Whether a column holds words, even if it has none.
    is_text: Vec<bool>,
    rows: Vec<Vec<TableCell<'static>>>,
    left_out: Vec<ExcludedLevel>,
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
                    let (run, load) = (row.run.name.clone(), row.level.load.to_string());
                    left_out.push(ExcludedLevel { run, load, reason });
                }
                None => rows.push(row),
            }
        }
        Self::of(&rows, left_out)
    }

    /// Every level of a run called `name`, which was read again and came to `report`: of a load that was measured more than once each.
    #[must_use]
    pub fn of_run(run: &ReadRun, report: &SweepReport, name: &str) -> Self {
        let of = TableRun::of_read(run, &run.levels, name);
        let devices = report.devices().or(of.devices);
        let price = report.price().map(|price| price.low);
        Self::of_all(&[TableRun { setup: report.setup(), devices, price, ..of }])
    }

    /// Every level of `runs`, in order, whether it may be compared or not: the column `left_out` says so.
    #[must_use]
    pub fn of_all(runs: &[TableRun<'_>]) -> Self {
        Self::of(&all(runs).collect::<Vec<_>>(), Vec::new())
    }

    fn of(rows: &[Row<'_>], left_out: Vec<ExcludedLevel>) -> Self {
        let (mut heads, mut is_text) = (Vec::new(), Vec::new());
        let mut cells = vec![Vec::new(); rows.len()];
        for column in COLUMNS.iter() {
            for (suffix, values) in column.content.columns(rows) {
                heads.push(format!("{}{suffix}", column.name));
                is_text.push(column.content.is_text());
                cells.iter_mut().zip(values).for_each(|(row, cell)| row.push(cell));
            }
        }
        Self { heads, is_text, rows: cells, left_out }
    }

    /// Whether a table of levels has a column of this name, or of an end of its interval.
    #[must_use]
    pub fn has_column(name: &str) -> bool {
        let end = name.strip_suffix("_low").or_else(|| name.strip_suffix("_high"));
        Self::legend().any(|(known, _)| known == end.unwrap_or(name))
    }

    /// The name of every column but for the ends of intervals, and what it holds, in order.
    pub fn legend() -> impl Iterator<Item = (&'static str, &'static str)> {
        COLUMNS.iter().map(|column| (&*column.name, &*column.about))
    }

    /// As comma-separated values (RFC 4180): a line of names and a line for each row. Numbers have all their digits, and what is not
    /// known is empty.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let heads = self.heads.iter().map(|head| TableCell::Text(head.into())).collect();
        let lines = std::iter::once(&heads).chain(&self.rows);
        lines.map(|row| TableCell::csv_line(row) + "\n").collect()
    }

    /// The columns' names.
    #[must_use]
    pub fn heads(&self) -> &[String] {
        &self.heads
    }

    /// The rows, each with as many fields as there are columns.
    #[must_use]
    pub fn rows(&self) -> &[Vec<TableCell<'static>>] {
        &self.rows
    }

    /// The name of the column that says why a level may be compared with nothing; whoever compares passes over such rows.
    pub const LEFT_OUT: &str = list::LEFT_OUT;

    /// The levels that are no rows, because they may be compared with nothing.
    #[must_use]
    pub fn left_out(&self) -> &[ExcludedLevel] {
        &self.left_out
    }

    /// A field by its column's name; none if there is no such row or column.
    #[must_use]
    pub fn cell(&self, row: usize, column: &str) -> Option<&TableCell<'static>> {
        let column = self.heads.iter().position(|head| head == column)?;
        self.rows.get(row)?.get(column)
    }
}

/// Every level of `runs`, in order.
fn all<'a>(runs: &'a [TableRun<'a>]) -> impl Iterator<Item = Row<'a>> {
    runs.iter().flat_map(|run| run.levels.iter().map(move |level| Row { run, level }))
}

impl FieldSource {
    /// The columns that it comes to, each with what its name has behind that of the figure.
    fn columns(self, rows: &[Row<'_>]) -> Vec<(&'static str, Vec<TableCell<'static>>)> {
        let each = |of: &dyn Fn(&Row<'_>) -> TableCell<'static>| rows.iter().map(of).collect();
        match self {
            Self::Text(of) => vec![("", each(&|row| TableCell::text(of(row))))],
            Self::Number(of) => vec![("", each(&|row| TableCell::number(of(row))))],
            Self::Reported(of) => vec![("", each(&|row| of.cell(row.level.telemetry.as_deref())))],
            Self::Figure(_) | Self::Metric(..) => {
                let figures: Vec<Figure> = rows.iter().map(|row| self.figure(row)).collect();
                let part = |part: fn(&Figure) -> Option<f64>| {
                    figures.iter().map(|figure| TableCell::number(part(figure))).collect()
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
    let figure = |column: &'static list::Column| {
        let figure = column.content.figure(&row);
        let value = figure.value.filter(|value| value.is_finite());
        let figure = value.map(|value| ChartFigure {
            value,
            low: figure.ends.map(|ends| ends.0),
            high: figure.ends.map(|ends| ends.1),
            stand_in: figure.is_stand_in,
        });
        (&*column.name, figure)
    };
    ChartFigures::new(COLUMNS.iter().map(figure))
}
