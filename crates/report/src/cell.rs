//! A field of a table, whatever the table is of, and how CSV has it.

use std::borrow::Cow;

/// One field of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum TableCell<'a> {
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
pub enum TableCellKind {
    /// Words.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
}

impl<'a> TableCell<'a> {
    /// A word, where there is one.
    pub(crate) fn text<T: Into<Cow<'a, str>>>(text: Option<T>) -> Self {
        text.map_or(Self::Empty, |text| Self::Text(text.into()))
    }

    /// A number, where it is known and finite.
    pub(crate) fn number(value: Option<f64>) -> Self {
        value.filter(|value| value.is_finite()).map_or(Self::Empty, Self::Number)
    }

    /// Numbers with all their digits, and nothing where it is empty.
    fn csv(&self) -> Cow<'_, str> {
        match self {
            Self::Empty => Cow::Borrowed(""),
            Self::Text(text) => csv_field(text),
            Self::Whole(number) => Cow::Owned(number.to_string()),
            Self::Number(number) => Cow::Owned(number.to_string()),
        }
    }

    /// The cells of a row as a line, without a newline.
    pub(crate) fn csv_line(cells: &[TableCell<'_>]) -> String {
        let fields: Vec<Cow<'_, str>> = cells.iter().map(TableCell::csv).collect();
        fields.join(",")
    }
}

/// `text` as a field of a CSV file (RFC 4180): in quotes, with its own quotes doubled, where a reader would otherwise take it apart.
///
/// ```
/// use fizeau_report::csv_field;
/// assert_eq!(csv_field("tp 2"), "tp 2");
/// assert_eq!(csv_field("tp 2, weights \"fp8\""), "\"tp 2, weights \"\"fp8\"\"\"");
/// ```
#[must_use]
pub fn csv_field(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"', '\n', '\r']) {
        true => Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))),
        false => Cow::Borrowed(text),
    }
}
