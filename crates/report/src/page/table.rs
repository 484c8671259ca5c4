//! Tables as templates get them.

use serde::Serialize;

use crate::ChartFigure;
use fizeau_record::text::supported;

/// A table of a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Table {
    /// What a script knows it by, which sorts it, copies it and saves it; none where it is not to be sorted.
    pub(super) name: Option<String>,
    /// What it is, for whoever hears it.
    pub(super) label: String,
    pub(super) heads: Vec<Head>,
    pub(super) rows: Vec<Row>,
    /// Below it.
    pub(super) notes: Vec<String>,
}

/// What stands above a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Head {
    pub(super) text: String,
    pub(super) unit: String,
    /// Whether it holds words, which begin at the left.
    pub(super) is_left: bool,
}

/// A line of it; its first cell names it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    /// How it looks; empty where it looks like any other.
    pub(super) class: &'static str,
    pub(super) cells: Vec<Cell>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Its number in full, by which it is sorted and saved; none of words.
    pub(super) value: Option<String>,
    /// What stands small below it, such as its interval; empty where there is nothing.
    pub(super) below: String,
    pub(super) class: &'static str,
}

impl Table {
    pub(super) fn new(
        label: impl Into<String>,
        heads: impl IntoIterator<Item = Head>,
        rows: impl IntoIterator<Item = Row>,
    ) -> Self {
        let (heads, rows) = (heads.into_iter().collect(), rows.into_iter().collect());
        Self { name: None, label: label.into(), heads, rows, notes: Vec::new() }
    }

    /// The same with `notes` below it.
    pub(super) fn noting(self, notes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { notes: notes.into_iter().map(Into::into).collect(), ..self }
    }

    /// The same, which a script sorts and saves by this name.
    pub(super) fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// None where it has no row.
    pub(super) fn unless_empty(self) -> Option<Self> {
        (!self.rows.is_empty()).then_some(self)
    }
}

impl Head {
    pub(super) fn figure(text: &str, unit: &str) -> Self {
        Self { text: text.to_owned(), unit: unit.to_owned(), is_left: false }
    }

    pub(super) fn words(text: &str) -> Self {
        Self { is_left: true, ..Self::figure(text, "") }
    }
}

impl Row {
    pub(super) fn plain(cells: impl IntoIterator<Item = Cell>) -> Self {
        Self { class: "", cells: cells.into_iter().collect() }
    }
}

impl Cell {
    /// Words, or a figure that was written elsewhere.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Words that begin at the left.
    pub(super) fn left(text: impl Into<String>) -> Self {
        Self { class: "left", ..Self::text(text) }
    }

    /// A figure that is written as `text`.
    pub(super) fn number(value: f64, text: impl Into<String>) -> Self {
        let value = value.is_finite().then(|| value.to_string());
        Self { value, ..Self::text(text) }
    }

    /// A figure with its interval below it; a dash where it is not known.
    pub(super) fn figure(figure: Option<ChartFigure>) -> Self {
        let Some(figure) = figure else { return Self::text("-") };
        let mark = if figure.stand_in { "*" } else { "" };
        let below = ends(figure).map(|[low, high]| format!("{low} to {high}"));
        Self {
            below: below.unwrap_or_default(),
            ..Self::number(figure.value, format!("{}{mark}", rounded(figure)))
        }
    }
}

/// A figure with the digits that its interval supports.
pub(super) fn rounded(figure: ChartFigure) -> String {
    supported(figure.value, figure.low.zip(figure.high))
}

/// The ends of its interval, with as many digits; none where it has none, or the digits do not tell them apart.
pub(super) fn ends(figure: ChartFigure) -> Option<[String; 2]> {
    let interval = figure.low.zip(figure.high).filter(|(low, high)| low < high)?;
    let ends = [interval.0, interval.1].map(|end| supported(end, Some(interval)));
    (ends[0] != ends[1]).then_some(ends)
}
