//! The table as comma-separated values, as RFC 4180 has them.

use std::borrow::Cow;

use super::{LevelTable, TableCell};

impl LevelTable {
    /// A line of names and a line for each row. Numbers have all their digits, and what is not known is empty.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let heads: Vec<Cow<'_, str>> = self.heads.iter().map(|head| csv_field(head)).collect();
        let mut out = heads.join(",") + "\n";
        for row in &self.rows {
            let fields: Vec<Cow<'_, str>> = row.iter().map(field).collect();
            out.push_str(&fields.join(","));
            out.push('\n');
        }
        out
    }
}

fn field(cell: &TableCell) -> Cow<'_, str> {
    match cell {
        TableCell::Empty => Cow::Borrowed(""),
        TableCell::Text(text) => csv_field(text),
        TableCell::Number(number) => Cow::Owned(number.to_string()),
    }
}

/// `text` as a field of a CSV file: in quotes, with its own quotes doubled, where a reader would otherwise take it apart.
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
