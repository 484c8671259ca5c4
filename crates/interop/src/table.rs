//! Tables of anybody's: CSV with a header, or JSON Lines. Rows stay as they came.

mod join;
mod loads;

use std::borrow::Cow;
use std::io::{self, Read as _};
use std::{fmt, fs};

use csv::{ReaderBuilder, StringRecord, Terminator};
use fizeau_record::text::unreadable;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::foreign::csv_of_lines;

/// Rows of fields under names.
///
/// ```
/// use fizeau_interop::InputTable;
/// let table = InputTable::new("runs.csv", b"run,rps\nbaseline,7.50\n".to_vec())?;
/// assert_eq!(table.heads(), ["run", "rps"]);
/// table.each::<fizeau_interop::InputTableError>(&["rps"], |row, field| {
///     assert_eq!((row, field("rps").as_deref()), (0, Some("7.50")));
///     Ok(())
/// })?;
/// # Ok::<(), fizeau_interop::InputTableError>(())
/// ```
#[derive(Debug)]
pub struct InputTable {
    name: String,
    heads: Vec<String>,
    rows: Vec<Row>,
    /// The rows that are not to be compared, rising.
    left_out: Vec<usize>,
    /// The header as it came and what ends a line; none of JSON Lines.
    csv: Option<(String, &'static str)>,
}

#[derive(Debug)]
struct Row {
    /// The line of the file on which it begins, from 1.
    line: u64,
    fields: Fields,
}

#[derive(Debug)]
enum Fields {
    /// As it came, and taken apart.
    Csv(String, StringRecord),
    Json(Vec<(String, Value)>),
}

/// What the fields of a row say, by the names of their columns.
type FieldsOf<'a> = dyn Fn(&str) -> Option<Cow<'a, str>> + 'a;

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputTableError {
    /// The whole of it.
    #[error("{table}: {what}")]
    Table {
        /// The table's name.
        table: String,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// One row.
    #[error("{table}: row {row} (line {line}): {what}")]
    Row {
        /// The table's name.
        table: String,
        /// The row, from 0.
        row: usize,
        /// The line on which it begins, from 1.
        line: u64,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// Two tables that have no column in common, and so cannot be joined.
    #[error("{table} has no column in common with the table, such as run; it has {heads}")]
    NothingShared {
        /// The name of the second.
        table: String,
        /// The second's columns.
        heads: String,
    },
}

impl InputTable {
    /// The table in a file, or with `-` that of standard input.
    ///
    /// # Errors
    /// If it cannot be read, or holds no such table.
    pub fn read(path: &str) -> Result<Self, InputTableError> {
        let name = if path == "-" { "standard input" } else { path };
        let bytes = match path {
            "-" => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
            }
            path => fs::read(path),
        };
        let bytes = bytes.map_err(|error| {
            let what = format!("{}; give a table in CSV or JSON", unreadable(&error));
            InputTableError::Table { table: name.to_owned(), what }
        })?;
        Self::new(name, bytes)
    }

    /// The table that `bytes` hold: JSON Lines if they begin with an object, else CSV.
    ///
    /// # Errors
    /// If they are no such table; with the line.
    pub fn new(name: &str, mut bytes: Vec<u8>) -> Result<Self, InputTableError> {
        if bytes.starts_with("\u{feff}".as_bytes()) {
            bytes.drain(..3);
        }
        let damaged = |what: String| InputTableError::Table { table: name.to_owned(), what };
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            damaged(format!("line {line} is not UTF-8; save the table as UTF-8"))
        })?;
        let mut table = Self {
            name: name.to_owned(),
            heads: vec![],
            rows: vec![],
            left_out: vec![],
            csv: None,
        };
        if serde_json::from_str::<Vec<IgnoredAny>>(&text).is_ok() {
            let what = "a JSON array; a table is CSV, or JSON with an object on each line (jq -c '.[]' \
                        writes one)";
            return Err(damaged(what.to_owned()));
        }
        match text.trim_start().starts_with('{') {
            true => table.read_json_lines(&text)?,
            false => table.read_csv(&text).map_err(damaged)?,
        }
        Ok(table)
    }

    fn read_json_lines(&mut self, text: &str) -> Result<(), InputTableError> {
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let row = self.rows.len();
            let object = serde_json::from_str(text.trim()).map_err(|error| {
                let what = format!("not a JSON object on one line: {error}");
                InputTableError::Row { table: self.name.clone(), row, line, what }
            });
            let Object(fields) = object?;
            self.rows.push(Row { line, fields: Fields::Json(fields) });
        }
        self.heads = heads(self.rows.iter());
        Ok(())
    }

    fn read_csv(&mut self, text: &str) -> Result<(), String> {
        /// A line of its own, unless it lands within a quote that is never closed.
        const END: &str = "\u{0}";
        let whole = format!("{text}\n{END}");
        let mut reader =
            ReaderBuilder::new().has_headers(false).flexible(true).from_reader(whole.as_bytes());
        let mut all = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            let (from, line) = record.position().map_or((0, 1), |at| (at.byte(), at.line()));
            all.push((usize::try_from(from).unwrap_or_default(), line, record));
        }
        let ends = all.iter().skip(1).map(|(from, ..)| *from).chain([whole.len()]);
        let ends: Vec<usize> = ends.collect();
        let mut rows = Vec::new();
        for ((from, line, fields), to) in all.into_iter().zip(ends) {
            // Empty lines before a record are counted to it.
            let raw = whole.get(from..to).unwrap_or_default();
            let own = raw.trim_start_matches(['\r', '\n']);
            let blank = &raw[..raw.len() - own.len()];
            let line = line + blank.matches('\n').count() as u64;
            rows.push((line, own.trim_end_matches(['\r', '\n']).to_owned(), fields));
        }
        match rows.pop() {
            Some((_, own, _)) if own == END => {}
            Some((line, ..)) => {
                return Err(format!("line {line}: a quote is opened and never closed"));
            }
            None => {}
        }
        let mut rows = rows.into_iter();
        let Some((_, header, heads)) = rows.next() else {
            return Err("the table is empty; its first line must name the columns".to_owned());
        };
        self.heads = heads.iter().map(|head| head.trim().to_owned()).collect();
        let is_twice = |&at: &usize| self.heads[..at].contains(&self.heads[at]);
        if let Some(twice) = (1..self.heads.len()).find(is_twice) {
            let twice = &self.heads[twice];
            return Err(format!("two columns are named `{twice}`; give each a name of its own"));
        }
        let is_crlf = text.get(text.find(&header).unwrap_or(0) + header.len()..);
        let newline =
            if is_crlf.is_some_and(|rest| rest.starts_with("\r\n")) { "\r\n" } else { "\n" };
        self.csv = Some((header, newline));
        for (line, own, fields) in rows {
            if fields.len() != self.heads.len() {
                let has = if fields.len() == 1 {
                    "1 field".to_owned()
                } else {
                    format!("{} fields", fields.len())
                };
                return Err(format!(
                    "row {} (line {line}) has {has} and the header {}; a comma within a field needs quotes around it",
                    self.rows.len(),
                    self.heads.len()
                ));
            }
            self.rows.push(Row { line, fields: Fields::Csv(own, fields) });
        }
        Ok(())
    }

    /// Leaves out the rows that say something in `column`, if there is such a column; how many those are.
    pub fn leave_out(&mut self, column: &str) -> usize {
        if let Some(at) = self.heads.iter().position(|head| head == column) {
            let says = |row: &usize| {
                let row = self.rows.get(*row);
                row.is_some_and(|row| row.field(column, Some(at)).is_some())
            };
            self.left_out = (0..self.rows.len()).filter(says).collect();
        }
        self.left_out.len()
    }

    /// The rows that may be compared, rising.
    #[must_use]
    pub fn compared(&self) -> Vec<usize> {
        (0..self.rows.len()).filter(|row| self.left_out.binary_search(row).is_err()).collect()
    }

    /// What it is called in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns' names: of JSON Lines all that any row has, in the order in which they first come.
    #[must_use]
    pub fn heads(&self) -> &[String] {
        &self.heads
    }

    /// Each row goes to `each`, but for those that are left out: its number from 0, and what its fields in the columns of these names
    /// say. A field that is empty says nothing; what JSON nests it says in JSON.
    ///
    /// # Errors
    /// If there is no such column, or what `each` fails with.
    pub fn each<E: From<InputTableError>>(
        &self,
        columns: &[&str],
        mut each: impl for<'a> FnMut(usize, &FieldsOf<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let place = |name: &str| self.heads.iter().position(|head| head == name);
        let places: Vec<Option<usize>> = columns.iter().map(|name| place(name)).collect();
        // A table of no rows has its own fault.
        let has_columns = self.csv.is_some() || !self.rows.is_empty();
        let missing = columns.iter().zip(&places).find(|(_, place)| place.is_none());
        if let Some((column, _)) = missing.filter(|_| has_columns) {
            return Err(self.no_column(column).into());
        }
        for at in self.compared() {
            let Some(row) = self.rows.get(at) else { continue };
            let field = |name: &str| {
                let known = columns.iter().position(|column| *column == name)?;
                row.field(name, places.get(known).copied().flatten())
            };
            each(at, &field)?;
        }
        Ok(())
    }

    fn no_column(&self, column: &str) -> InputTableError {
        let (near, is_like) = like(&self.heads, column);
        let named: Vec<String> = near.iter().map(|head| format!("`{head}`")).collect();
        let few = match (near.len() < self.heads.len(), is_like) {
            (true, true) => format!("of {} columns the most similar are", self.heads.len()),
            (true, false) => format!("the first of {} columns are", self.heads.len()),
            (false, _) => "the columns are".to_owned(),
        };
        let what = format!("there is no column `{column}`; {few} {}", named.join(", "));
        InputTableError::Table { table: self.name.clone(), what }
    }

    /// What is wrong with a row, for who reads it.
    #[must_use]
    pub fn wrong(&self, row: usize, what: impl Into<String>) -> InputTableError {
        let line = self.rows.get(row).map_or(1, |row| row.line);
        InputTableError::Row { table: self.name.clone(), row, line, what: what.into() }
    }

    /// These rows as CSV, as they came, with further columns: a name, and a field for each of the rows.
    #[must_use]
    pub fn to_csv(&self, rows: &[usize], more: &[(String, Vec<String>)]) -> String {
        let names: Vec<&str> = more.iter().map(|(name, _)| name.as_str()).collect();
        let of =
            |at: usize| more.iter().map(move |(_, all)| all.get(at).map_or("", String::as_str));
        let shown = rows.iter().filter_map(|row| self.rows.get(*row));
        let Some((header, newline)) = &self.csv else {
            let heads = heads(shown.clone());
            let first = heads.iter().map(String::as_str).chain(names).map(str::to_owned).collect();
            let lines = shown.enumerate().map(|(at, row)| {
                let own = heads.iter().map(|head| row.cell(head));
                own.chain(of(at).map(str::to_owned)).collect()
            });
            let lines = std::iter::once(first).chain(lines);
            let bytes = csv_of_lines(Terminator::Any(b'\n'), lines);
            return String::from_utf8(bytes).unwrap_or_default();
        };
        let mut out = [vec![header.as_str()], names].concat().join(",") + newline;
        for (at, row) in shown.enumerate() {
            if let Fields::Csv(own, _) = &row.fields {
                out.push_str(own);
            }
            of(at).for_each(|field| out.extend([",", field]));
            out.push_str(newline);
        }
        out
    }
}

impl Row {
    /// What the field of a column says, which stands at `place` in a row of CSV; none where it is empty.
    fn field(&self, name: &str, place: Option<usize>) -> Option<Cow<'_, str>> {
        match &self.fields {
            Fields::Csv(_, fields) => fields.get(place?).map(Cow::Borrowed),
            Fields::Json(fields) => match &fields.iter().rfind(|field| field.0 == name)?.1 {
                Value::Null => None,
                Value::Number(number) => number.as_f64().map(|number| number.to_string().into()),
                Value::String(text) => Some(Cow::Borrowed(text.as_str())),
                nested => Some(Cow::Owned(nested.to_string())),
            },
        }
        .filter(|text| !text.is_empty())
    }

    /// A field of JSON as a cell: numbers as JSON has them.
    fn cell(&self, name: &str) -> String {
        let Fields::Json(fields) = &self.fields else { return String::new() };
        match fields.iter().find(|field| field.0 == name).map(|(_, value)| value) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
}

/// The names that any of these rows of JSON has, in the order in which they first come.
fn heads<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<String> {
    let mut heads: Vec<String> = Vec::new();
    for row in rows {
        let Fields::Json(fields) = &row.fields else { continue };
        for (name, _) in fields {
            if !heads.contains(name) {
                heads.push(name.clone());
            }
        }
    }
    heads
}

/// The fields of an object in their order.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                std::iter::from_fn(|| map.next_entry().transpose())
                    .collect::<Result<_, _>>()
                    .map(Object)
            }
        }
        from.deserialize_map(All)
    }
}

/// Of many names those that share a word with `column`, or the first ones where none does, and all of few; and whether they are like it.
fn like<'a>(heads: &'a [String], column: &str) -> (Vec<&'a str>, bool) {
    /// As many as a reader takes in.
    const FEW: usize = 12;
    let all = heads.iter().map(String::as_str);
    if heads.len() <= FEW {
        return (all.collect(), true);
    }
    let words: Vec<&str> = column.split('_').filter(|word| word.len() > 2).collect();
    let is_end = |head: &str| head.ends_with("_low") || head.ends_with("_high");
    let mut near: Vec<(usize, &str)> = all
        .filter(|head| !is_end(head))
        .map(|head| (words.iter().filter(|word| head.contains(**word)).count(), head))
        .collect();
    // The sort is stable: of equals the first of the table come first.
    near.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    let is_like = near.first().is_some_and(|(shared, _)| *shared > 0);
    if is_like {
        near.retain(|(shared, _)| *shared > 0);
    }
    (near.into_iter().map(|(_, head)| head).take(FEW).collect(), is_like)
}

#[cfg(test)]
mod tests;
