//! Requests as rows of a table: what was asked, when what happened, how it ended, and its figures.

mod list;
#[cfg(feature = "parquet")]
mod parquet;

#[cfg(feature = "parquet")]
pub use parquet::RequestsParquet;

use std::borrow::Cow;

use crate::csv_field;
use fizeau_core::LoadKind;
use fizeau_core::Tape;
use fizeau_metrics::RequestMetrics;
use fizeau_record::{LoadPoint, Unseen};
use list::{COLUMNS, Column, Content};

/// A request of a level, as a row. The columns and their order are the same for every run; what is not known is empty.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_record::LoadPoint;
/// use fizeau_report::RequestRow;
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(10));
/// tape.arrivals.push(Arrival::tokens(ms(30), 1, Channel::Visible));
///
/// let row = RequestRow { level: "concurrency-0008", load: LoadPoint::Concurrency(8), tape: &tape, unseen: None };
/// assert!(RequestRow::csv_head().starts_with("level,load_kind,load_value,request,session,turn,"));
/// assert!(row.csv().starts_with("concurrency-0008,concurrency,8,0,0,0,"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RequestRow<'a> {
    /// The folder of its level within the run; empty for the only level of a run.
    pub level: &'a str,
    /// The load of the level.
    pub load: LoadPoint,
    /// All that was seen of it.
    pub tape: &'a Tape,
    /// What was not, where another tool measured.
    pub unseen: Option<&'a Unseen>,
}

/// One field of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestCell<'a> {
    /// It is not known, or does not apply.
    Empty,
    /// A word.
    Text(Cow<'a, str>),
    /// A count, or a number of a request.
    Whole(u64),
    /// A finite number, in the unit that the column's name says.
    Number(f64),
}

/// What the fields of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestCellKind {
    /// Words.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
}

/// A row, with its figures.
struct Seen<'a> {
    row: RequestRow<'a>,
    metrics: RequestMetrics,
}

impl<'a> RequestRow<'a> {
    /// The name of every column, what its fields are, and what it holds, in order. Instants end in `_at_ms` and count from the
    /// run's epoch, lengths of time in `_ms`.
    pub fn legend() -> impl Iterator<Item = (&'static str, RequestCellKind, &'static str)> {
        COLUMNS.iter().map(|column| (column.name, column.content.kind(), &*column.about))
    }

    /// The fields, in the order of the columns.
    pub fn cells(&self) -> impl Iterator<Item = RequestCell<'a>> {
        let seen = Seen { row: *self, metrics: RequestMetrics::of(self.tape) };
        let is_hidden = move |column: &Column| {
            let unseen = seen.row.unseen;
            unseen.is_some_and(|unseen| unseen.hides(column.name, seen.row.tape))
        };
        COLUMNS.iter().map(move |column| match is_hidden(column) {
            true => RequestCell::Empty,
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
        let field = |cell| match cell {
            RequestCell::Empty => String::new(),
            RequestCell::Text(text) => csv_field(&text).into_owned(),
            RequestCell::Whole(number) => number.to_string(),
            RequestCell::Number(number) => number.to_string(),
        };
        let fields: Vec<String> = self.cells().map(field).collect();
        fields.join(",")
    }
}

impl Content {
    const fn kind(self) -> RequestCellKind {
        match self {
            Self::Text(_) => RequestCellKind::Text,
            Self::Whole(_) => RequestCellKind::Whole,
            Self::Number(_) | Self::Metric(_) => RequestCellKind::Number,
        }
    }

    fn cell<'a>(self, seen: &Seen<'a>) -> RequestCell<'a> {
        match self {
            Self::Text(of) => of(seen).map_or(RequestCell::Empty, RequestCell::Text),
            Self::Whole(of) => of(seen).map_or(RequestCell::Empty, RequestCell::Whole),
            Self::Number(of) => number(of(seen)),
            Self::Metric(metric) => number(metric.of_request(&seen.metrics)),
        }
    }
}

fn number<'a>(value: Option<f64>) -> RequestCell<'a> {
    let known = value.filter(|value| value.is_finite());
    known.map_or(RequestCell::Empty, RequestCell::Number)
}

/// In what a load is counted, as a column has it.
fn load_kind(load: LoadPoint) -> &'static str {
    match load.kind() {
        LoadKind::Concurrency => "concurrency",
        LoadKind::Rate => "requests_per_s",
    }
}
