//! Requests as rows of a table: what was asked, when what happened, how it ended, and its figures.

mod list;
#[cfg(feature = "parquet")]
mod parquet;

#[cfg(feature = "parquet")]
pub use parquet::RequestsParquet;

use crate::{TableCell, TableCellKind};
use fizeau_core::{LevelLoad, Tape};
use fizeau_metrics::RequestMetrics;
use fizeau_record::{
    ImportUnknowns, StoredError, StoredLevel, StoredLevelContext, StoredRun, TruncatedTail,
};
use list::{COLUMNS, Column, FieldSource};

/// A request of a level, as a row. The columns and their order are the same for every run; what is not known is empty.
///
/// ```
/// use fizeau_core::{Arrival, Channel, LoadKind, Nanos, Stamp, Tape};
/// use fizeau_report::RequestRow;
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(10));
/// tape.arrivals.push(Arrival::tokens(ms(30), 1, Channel::Visible));
///
/// let row = RequestRow { level: "concurrency-0008", load: LoadKind::Concurrency.at(8.0), tape: &tape, unseen: None };
/// assert!(RequestRow::csv_head().starts_with("level,load_kind,load_value,request,session,turn,"));
/// assert!(row.csv().starts_with("concurrency-0008,concurrency,8,0,0,0,"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RequestRow<'a> {
    /// The folder of its level within the run; empty for the only level of a run.
    pub level: &'a str,
    /// The load of the level.
    pub load: LevelLoad,
    /// All that was seen of it.
    pub tape: &'a Tape,
    /// What was not, where another tool measured.
    pub unseen: Option<&'a ImportUnknowns>,
}

/// A row, with its figures.
struct RequestValues<'a> {
    row: RequestRow<'a>,
    metrics: RequestMetrics,
}

impl RequestRow<'_> {
    /// Hands every request of `run` to `each`, in the order of the levels and of their ends, until that fails; `cut` hears of each level whose
    /// tapes a killed run left cut.
    ///
    /// # Errors
    /// If a file of the run cannot be read or is not understood, or as `each` fails.
    pub fn each_of<E: From<StoredError>>(
        run: &StoredRun,
        mut cut: impl FnMut(&StoredLevel, TruncatedTail),
        mut each: impl FnMut(&RequestRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for stored in run.levels() {
            let load = StoredLevelContext::read(run, stored)?.load;
            let (level, unseen) = (stored.name(), stored.unseen(run.document())?);
            let mut done = Ok(());
            let tail = stored.each_tape(|tape| {
                if done.is_ok() {
                    done = each(&RequestRow { level, load, tape: &tape, unseen: unseen.as_ref() });
                }
            })?;
            tail.into_iter().for_each(|tail| cut(stored, tail));
            done?;
        }
        Ok(())
    }
}

impl<'a> RequestRow<'a> {
    /// The name of every column, what its fields are, and what it holds, in order. Instants end in `_at_ms` and count from the
    /// run's epoch, lengths of time in `_ms`.
    pub fn legend() -> impl Iterator<Item = (&'static str, TableCellKind, &'static str)> {
        COLUMNS.iter().map(|column| (column.name, column.content.kind(), &*column.about))
    }

    /// The fields, in the order of the columns.
    pub fn cells(&self) -> impl Iterator<Item = TableCell<'a>> {
        let seen = RequestValues { row: *self, metrics: RequestMetrics::of(self.tape) };
        let is_hidden = move |column: &Column| {
            let unseen = seen.row.unseen;
            unseen.is_some_and(|unseen| unseen.hides(column.name, seen.row.tape))
        };
        COLUMNS.iter().map(move |column| match is_hidden(column) {
            true => TableCell::Empty,
            false => column.content.cell(&seen),
        })
    }

    /// The names of the columns as a line of comma-separated values (RFC 4180), without a newline.
    #[must_use]
    pub fn csv_head() -> String {
        let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        names.join(",")
    }

    /// The row as a line of comma-separated values, without a newline. Numbers have all their digits.
    #[must_use]
    pub fn csv(&self) -> String {
        TableCell::csv_line(&self.cells().collect::<Vec<_>>())
    }
}

impl FieldSource {
    const fn kind(self) -> TableCellKind {
        match self {
            Self::Text(_) => TableCellKind::Text,
            Self::Whole(_) => TableCellKind::Whole,
            Self::Number(_) | Self::Metric(_) => TableCellKind::Number,
        }
    }

    fn cell<'a>(self, seen: &RequestValues<'a>) -> TableCell<'a> {
        match self {
            Self::Text(of) => TableCell::text(of(seen)),
            Self::Whole(of) => of(seen).map_or(TableCell::Empty, TableCell::Whole),
            Self::Number(of) => TableCell::number(of(seen)),
            Self::Metric(metric) => TableCell::number(metric.of_request(&seen.metrics)),
        }
    }
}
