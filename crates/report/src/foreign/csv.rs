//! Comma-separated values as RFC 4180 has them, read into records.

use serde_json::{Map, Value};

/// The rows of a table with a header, each as an object: what is empty is null, what JSON can read is that, anything else a
/// text. A row that is shorter than the header lacks the rest.
///
/// # Errors
/// If a row is longer than the header, or a quote is never closed; in plain words, with the row from 1.
pub(super) fn rows(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    let mut lines = records(text)?.into_iter();
    let heads = lines.next().unwrap_or_default();
    let row = |(index, fields): (usize, Vec<String>)| {
        if fields.len() > heads.len() {
            let (found, wanted) = (fields.len(), heads.len());
            return Err(format!("row {} has {found} fields, and the header {wanted}", index + 1));
        }
        Ok(heads.iter().cloned().zip(fields.iter().map(|field| value(field))).collect())
    };
    lines.enumerate().map(row).collect()
}

fn value(field: &str) -> Value {
    match field.trim() {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| Value::from(field)),
    }
}

fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let (mut all, mut row, mut field, mut is_quoted) =
        (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, is_quoted) {
            ('"', true) if chars.peek() == Some(&'"') => field.extend(chars.next()),
            ('"', _) => is_quoted = !is_quoted,
            (',', false) => row.push(std::mem::take(&mut field)),
            ('\r', false) if chars.peek() == Some(&'\n') => {}
            ('\n', false) => {
                row.push(std::mem::take(&mut field));
                all.push(std::mem::take(&mut row));
            }
            (c, _) => field.push(c),
        }
    }
    if is_quoted {
        return Err(format!("a quote in row {} is never closed", all.len()));
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        all.push(row);
    }
    // A blank line is no row.
    all.retain(|row| row.len() > 1 || row.first().is_some_and(|field| !field.is_empty()));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::rows;

    #[test]
    fn quotes_numbers_and_gaps_are_read() {
        let text = "a,b,\"c, d\"\r\n1,x,\"[1, 2]\"\n2.5,,\"say \"\"no\"\"\"\n\n";
        let found: Vec<Value> = rows(text).unwrap().into_iter().map(Value::Object).collect();
        let wanted = [
            json!({"a": 1, "b": "x", "c, d": [1, 2]}),
            json!({"a": 2.5, "b": null, "c, d": "say \"no\""}),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn damage_is_said_with_its_row() {
        assert_eq!(rows("a\n1,2\n").unwrap_err(), "row 1 has 2 fields, and the header 1");
        assert_eq!(rows("a\n\"x\n").unwrap_err(), "a quote in row 1 is never closed");
        assert!(rows("").unwrap().is_empty());
    }
}
