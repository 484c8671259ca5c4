//! Tables of comma-separated values, by the `csv` crate.

use csv::{ReaderBuilder, Terminator, WriterBuilder};
use serde_json::{Map, Value};

use super::{ForeignError, ForeignFile};
use crate::vllm::object::Field;

/// The first line of a file, if it is a table.
pub(super) fn heads(file: &ForeignFile<'_>) -> Vec<String> {
    let line = file.content().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(line);
    let heads = reader.headers().map(|heads| heads.iter().map(str::to_owned).collect());
    heads.unwrap_or_default()
}

/// The rows of `table`, which is of `file` and has a header, each as an object: what is empty is null, what JSON can read is
/// that, anything else a text. A row that is shorter than the header lacks the rest.
///
/// # Errors
/// If a row is longer than the header, or no text.
pub(super) fn rows(
    file: &ForeignFile<'_>,
    table: &[u8],
) -> Result<Vec<Map<String, Value>>, ForeignError> {
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(table);
    let broken = |error: csv::Error| ForeignError::damaged(file.name(), error.to_string());
    let heads = reader.headers().map_err(broken)?.clone();
    let mut rows = Vec::new();
    for (index, row) in reader.records().enumerate() {
        let row = row.map_err(broken)?;
        if row.len() > heads.len() {
            let (found, wanted) = (row.len(), heads.len());
            let why = format!("row {} has {found} fields, and the header {wanted}", index + 1);
            return Err(ForeignError::damaged(file.name(), why));
        }
        let cells = heads.iter().map(str::to_owned).zip(row.iter().map(value));
        rows.push(cells.collect());
    }
    Ok(rows)
}

fn value(field: &str) -> Value {
    match field.trim() {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| Value::from(field)),
    }
}

/// A value as a cell: lists and objects as JSON, nothing for null.
pub(super) fn cell(field: &Field) -> String {
    match field {
        Field::Value(Value::Null) => String::new(),
        Field::Value(Value::String(text)) => text.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// Lines of cells as a table.
pub(crate) fn table(
    terminator: Terminator,
    lines: impl IntoIterator<Item = Vec<String>>,
) -> Vec<u8> {
    let mut writer =
        WriterBuilder::new().flexible(true).terminator(terminator).from_writer(Vec::new());
    // Memory refuses nothing.
    let written = lines.into_iter().try_for_each(|line| writer.write_record(line));
    written.ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ForeignFile, rows};

    fn read(text: &str) -> Result<Vec<Value>, String> {
        let file = ForeignFile::new("x.csv", text.as_bytes());
        let found = rows(&file, file.content()).map_err(|error| error.to_string())?;
        Ok(found.into_iter().map(Value::Object).collect())
    }

    #[test]
    fn quotes_numbers_and_gaps_are_read() {
        let text = "a,b,\"c, d\"\r\n1,x,\"[1, 2]\"\n2.5,,\"say \"\"no\"\"\"\n\n";
        let wanted = [
            json!({"a": 1, "b": "x", "c, d": [1, 2]}),
            json!({"a": 2.5, "b": null, "c, d": "say \"no\""}),
        ];
        assert_eq!(read(text).unwrap(), wanted);
    }

    #[test]
    fn damage_is_said_with_its_row() {
        let found = read("a\n1,2\n").unwrap_err();
        assert_eq!(found, "x.csv: row 1 has 2 fields, and the header 1");
        assert!(read("").unwrap().is_empty());
    }
}
