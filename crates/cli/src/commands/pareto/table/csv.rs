//! Comma-separated values, as RFC 4180 has them: fields in quotes may hold commas and ends of lines.

use std::borrow::Cow;
use std::ops::Range;

use super::{Field, Format};

/// The header and where each row is. Empty lines are no rows.
pub(super) fn rows(text: &str) -> Result<(Format, Vec<Range<usize>>), String> {
    let mut records = Records { text, at: 0, line: 1 };
    let Some(first) = records.next().transpose()? else {
        return Err("the table is empty; its first line must name the columns".to_owned());
    };
    let header = first.range;
    let heads: Vec<String> = each_field(text.get(header.clone()).unwrap_or_default())
        .map(|field| field.trim().to_owned())
        .collect();
    if let Some(twice) = (1..heads.len()).find(|&at| heads[..at].contains(&heads[at])) {
        return Err(format!(
            "two columns are named `{}`; give each a name of its own",
            heads[twice]
        ));
    }
    let newline = match text.get(header.end..) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        _ => "\n",
    };
    let mut rows = Vec::new();
    for record in records {
        let Record { range, line, fields } = record?;
        if fields != heads.len() {
            return Err(format!(
                "row {} (line {line}) has {fields} fields and the header {}; a comma within a field needs quotes around it",
                rows.len(),
                heads.len()
            ));
        }
        rows.push(range);
    }
    Ok((Format::Csv { heads, header, newline }, rows))
}

/// The lines of a file, where an end of line within quotes ends nothing.
struct Records<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

/// Where in a field a byte is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Start,
    Bare,
    Quoted,
    /// Behind a quote that ends it, or is one of two.
    Closed,
}

struct Record {
    range: Range<usize>,
    /// The line on which it begins, from 1.
    line: usize,
    /// How many fields it has.
    fields: usize,
}

impl Iterator for Records<'_> {
    type Item = Result<Record, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        while let Some(b'\n' | b'\r') = bytes.get(self.at) {
            self.line += usize::from(bytes.get(self.at) == Some(&b'\n'));
            self.at += 1;
        }
        let (start, line) = (self.at, self.line);
        bytes.get(start)?;
        let (mut place, mut fields, mut end) = (Place::Start, 1, bytes.len());
        for (offset, &byte) in bytes.iter().enumerate().skip(start) {
            place = match (place, byte) {
                (Place::Quoted, b'"') => Place::Closed,
                (Place::Quoted, _) => {
                    self.line += usize::from(byte == b'\n');
                    Place::Quoted
                }
                (_, b'\n') => {
                    end = offset;
                    break;
                }
                (_, b',') => {
                    fields += 1;
                    Place::Start
                }
                // A doubled quote within quotes closes and opens again.
                (Place::Start | Place::Closed, b'"') => Place::Quoted,
                _ => Place::Bare,
            };
        }
        if place == Place::Quoted {
            return Some(Err(format!("line {line}: a quote is opened and never closed")));
        }
        self.at = end;
        let is_crlf = end > start && bytes.get(end - 1) == Some(&b'\r');
        Some(Ok(Record { range: start..end - usize::from(is_crlf), line, fields }))
    }
}

/// The fields of a row at `places`.
pub(super) fn fields<'a>(row: &'a str, places: &[Option<usize>]) -> Vec<Field<'a>> {
    let mut found = vec![Field::Absent; places.len()];
    let last = places.iter().flatten().max().map_or(0, |last| last + 1);
    for (at, field) in each_field(row).take(last).enumerate() {
        if field.is_empty() {
            continue;
        }
        let wanted = found.iter_mut().zip(places).filter(|(_, place)| **place == Some(at));
        wanted.for_each(|(found, _)| *found = Field::Text(field.clone()));
    }
    found
}

/// Each field of a row, without its quotes.
fn each_field(row: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = Some(row);
    std::iter::from_fn(move || {
        let text = rest?;
        if text.starts_with('"') {
            let (field, after) = quoted(text);
            rest = after;
            return Some(field);
        }
        let (field, after) = match text.split_once(',') {
            Some((field, after)) => (field, Some(after)),
            None => (text, None),
        };
        rest = after;
        Some(Cow::Borrowed(field))
    })
}

/// A field that begins with a quote, and what comes after the comma behind it.
fn quoted(text: &str) -> (Cow<'_, str>, Option<&str>) {
    let bytes = text.as_bytes();
    let (mut close, mut at, mut is_doubled) = (None, 1, false);
    while let Some(byte) = bytes.get(at) {
        match (byte, close) {
            (b'"', None) if bytes.get(at + 1) == Some(&b'"') => {
                is_doubled = true;
                at += 1;
            }
            (b'"', None) => close = Some(at),
            (b',', Some(_)) => break,
            _ => {}
        }
        at += 1;
    }
    // What stands behind the closing quote belongs to nothing.
    let field = text.get(1..close.unwrap_or(at)).unwrap_or_default();
    let field = match is_doubled {
        true => Cow::Owned(field.replace("\"\"", "\"")),
        false => Cow::Borrowed(field),
    };
    (field, text.get(at + 1..))
}
