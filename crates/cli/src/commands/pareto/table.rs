//! A table of somebody's own: CSV with a header, or JSON Lines. Rows stay as they came; only the columns that are asked for are
//! read.

mod csv;
mod jsonl;

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

use fizeau::report::LevelTable;

use crate::exit::{Fail, Named};

/// The column in which a table says why a row is not to be compared.
const LEFT_OUT: &str = LevelTable::LEFT_OUT;

/// Rows of fields under names.
#[derive(Debug)]
pub(crate) struct Table {
    /// What it is called in messages.
    name: String,
    text: String,
    format: Format,
    /// Where each row is, without the end of its line.
    rows: Vec<Range<usize>>,
    /// The rows that are not to be compared, rising.
    left_out: Vec<usize>,
}

#[derive(Debug)]
enum Format {
    Csv { heads: Vec<String>, header: Range<usize>, newline: &'static str },
    Jsonl,
}

/// A field of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Field<'a> {
    /// The row has no such field, or an empty one.
    Absent,
    Text(Cow<'a, str>),
    Number(f64),
}

impl Field<'_> {
    /// The number that it is, or says; none for NaN, which cannot be compared.
    pub(crate) fn number(&self) -> Option<f64> {
        let number = match self {
            Self::Absent => None,
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
        };
        number.filter(|number: &f64| !number.is_nan())
    }

    /// What it says.
    pub(crate) fn words(&self) -> Cow<'_, str> {
        match self {
            Self::Absent => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Number(number) => Cow::Owned(number.to_string()),
        }
    }
}

impl Table {
    /// Reads a file, or with `-` standard input.
    pub(crate) fn read(path: &str) -> Result<Self, Fail> {
        let mut bytes = Vec::new();
        let name = if path == "-" { "standard input" } else { path };
        match path {
            "-" => std::io::stdin().lock().read_to_end(&mut bytes).map(drop).named(name)?,
            path => bytes = std::fs::read(path).named(name)?,
        }
        Self::new(name, bytes)?.without_left_out()
    }

    /// The same without the levels that may be compared with nothing, as a table of `fizeau report --csv` marks them.
    fn without_left_out(mut self) -> Result<Self, Fail> {
        if !matches!(&self.format, Format::Csv { heads, .. } if heads.iter().any(|head| head == LEFT_OUT))
        {
            return Ok(self);
        }
        let mut left_out = Vec::new();
        self.each(&[LEFT_OUT], |row, fields| {
            left_out.extend(fields.iter().any(|why| !why.words().is_empty()).then_some(row));
            Ok(())
        })?;
        if !left_out.is_empty() {
            let rows = if left_out.len() == 1 { "row" } else { "rows" };
            tell!("note: {}: {} {rows} left out, as `{LEFT_OUT}` says", self.name, left_out.len());
        }
        self.left_out = left_out;
        Ok(self)
    }

    /// The table that `bytes` hold: JSON Lines if they begin with an object, else CSV.
    pub(crate) fn new(name: &str, mut bytes: Vec<u8>) -> Result<Self, Fail> {
        if bytes.starts_with("\u{feff}".as_bytes()) {
            bytes.drain(..3);
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = 1 + count_lines(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
            Fail::usage(format!("{name}: line {line} is not UTF-8; save the table as UTF-8"))
        })?;
        let found = match text.trim_start().starts_with('{') {
            true => Ok((Format::Jsonl, jsonl::rows(&text))),
            false => csv::rows(&text),
        };
        let (format, rows) = found.named(name)?;
        Ok(Self { name: name.to_owned(), text, format, rows, left_out: Vec::new() })
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows that may be compared.
    pub(crate) fn compared(&self) -> Vec<usize> {
        (0..self.len()).filter(|row| !self.left_out.contains(row)).collect()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The columns' names: of JSON Lines all that any row has, in the order in which they first come.
    pub(crate) fn heads(&self) -> Result<Vec<String>, Fail> {
        match &self.format {
            Format::Csv { heads, .. } => Ok(heads.clone()),
            Format::Jsonl => jsonl::heads((0..self.len()).map(|row| self.row(row)))
                .map_err(|(row, error)| self.wrong(row, &error)),
        }
    }

    /// The fields of each row in the columns of these names go to `each`, with the row's number, but for rows that are left out.
    ///
    /// # Errors
    /// If there is no such column, a row cannot be read, or what `each` fails with.
    pub(crate) fn each(
        &self,
        columns: &[&str],
        mut each: impl FnMut(usize, &[Field<'_>]) -> Result<(), Fail>,
    ) -> Result<(), Fail> {
        let mut seen = vec![false; columns.len()];
        match &self.format {
            Format::Csv { heads, .. } => {
                let place = |name: &&str| heads.iter().position(|head| head == name);
                let places: Vec<Option<usize>> = columns.iter().map(place).collect();
                seen = places.iter().map(Option::is_some).collect();
                if seen.iter().all(|seen| *seen) {
                    let is_compared = |row: &usize| self.left_out.binary_search(row).is_err();
                    for row in (0..self.len()).filter(is_compared) {
                        each(row, &csv::fields(self.row(row), &places))?;
                    }
                }
            }
            Format::Jsonl => {
                for row in 0..self.len() {
                    let fields = jsonl::fields(self.row(row), columns, &mut seen);
                    each(row, &fields.map_err(|error| self.wrong(row, &error))?)?;
                }
            }
        }
        match seen.iter().zip(columns).find(|(seen, _)| !**seen) {
            // A table of no rows has its own fault.
            Some((_, column)) if !matches!(self.format, Format::Jsonl) || self.len() > 0 => {
                Err(self.no_column(column))
            }
            _ => Ok(()),
        }
    }

    fn no_column(&self, column: &str) -> Fail {
        let heads = self.heads().unwrap_or_default();
        let near = like(&heads, column);
        let named: Vec<String> = near.iter().map(|head| format!("`{head}`")).collect();
        let few = match near.len() < heads.len() {
            true => format!("; of {} columns these are like it: ", heads.len()),
            false => "; there are ".to_owned(),
        };
        Fail::usage(format!("{}: no column `{column}`{few}{}", self.name, named.join(", ")))
    }

    /// What is wrong with a row.
    pub(crate) fn wrong(&self, row: usize, what: &str) -> Fail {
        let start = self.rows.get(row).map_or(0, |range| range.start);
        let line = 1 + count_lines(self.text.get(..start).unwrap_or_default().as_bytes());
        Fail::usage(format!("{}: row {row} (line {line}): {what}", self.name))
    }

    fn row(&self, row: usize) -> &str {
        self.rows.get(row).and_then(|range| self.text.get(range.clone())).unwrap_or_default()
    }

    /// These rows as CSV, as they came, with further columns: a name, and a field for each of the rows.
    pub(crate) fn to_csv(
        &self,
        rows: &[usize],
        more: &[(String, Vec<String>)],
    ) -> Result<String, Fail> {
        let fields = |at: usize| {
            more.iter().map(move |(_, fields)| fields.get(at).map_or("", String::as_str))
        };
        let names = more.iter().map(|(name, _)| name.as_str());
        let mut out = String::new();
        match &self.format {
            Format::Csv { header, newline, .. } => {
                let mut line = |text: &str, more: &mut dyn Iterator<Item = &str>| {
                    out.push_str(text);
                    more.for_each(|field| {
                        out.push(',');
                        out.push_str(field);
                    });
                    out.push_str(newline);
                };
                line(self.text.get(header.clone()).unwrap_or_default(), &mut { names });
                for (at, &row) in rows.iter().enumerate() {
                    line(self.row(row), &mut fields(at));
                }
            }
            Format::Jsonl => {
                let texts: Vec<&str> = rows.iter().map(|&row| self.row(row)).collect();
                let (heads, lines) = jsonl::as_csv(&texts).map_err(|(at, error)| {
                    self.wrong(rows.get(at).copied().unwrap_or_default(), &error)
                })?;
                let names: Vec<&str> = names.collect();
                out.push_str(&[vec![heads.as_str()], names].concat().join(","));
                for (at, line) in lines.iter().enumerate() {
                    out.push('\n');
                    let fields: Vec<&str> = fields(at).collect();
                    out.push_str(&[vec![line.as_str()], fields].concat().join(","));
                }
                out.push('\n');
            }
        }
        Ok(out)
    }
}

/// Of many names those that share a word with `column`, and all of few.
fn like<'a>(heads: &'a [String], column: &str) -> Vec<&'a str> {
    /// As many as a reader takes in.
    const FEW: usize = 12;
    let all = heads.iter().map(String::as_str);
    if heads.len() <= FEW {
        return all.collect();
    }
    let words: Vec<&str> = column.split('_').filter(|word| word.len() > 2).collect();
    let is_end = |head: &str| head.ends_with("_low") || head.ends_with("_high");
    let mut near: Vec<(usize, &str)> = all
        .filter(|head| !is_end(head))
        .map(|head| (words.iter().filter(|word| head.contains(**word)).count(), head))
        .collect();
    // The sort is stable: of equals the first of the table come first.
    near.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    near.into_iter().map(|(_, head)| head).take(FEW).collect()
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests;
