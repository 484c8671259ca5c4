//! JSON Lines: an object a line.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use fizeau::report::csv_field;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::Field;

/// Where each row is. Empty lines are no rows.
pub(super) fn rows(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let range = |line: &str| {
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        start..start + line.trim().len()
    };
    text.split_inclusive('\n').map(range).filter(|range| !range.is_empty()).collect()
}

/// The names of all columns, in the order in which they first come; or the row that cannot be read, and why.
pub(super) fn heads<'a>(
    rows: impl Iterator<Item = &'a str>,
) -> Result<Vec<String>, (usize, String)> {
    let mut heads: Vec<String> = Vec::new();
    for (number, row) in rows.enumerate() {
        for (name, _) in object(row).map_err(|error| (number, error))? {
            if !heads.contains(&name) {
                heads.push(name);
            }
        }
    }
    Ok(heads)
}

/// The fields of a row under `names`, and which of them it has.
pub(super) fn fields<'a>(
    row: &'a str,
    names: &[&str],
    seen: &mut [bool],
) -> Result<Vec<Field<'a>>, String> {
    let mut of = serde_json::Deserializer::from_str(row);
    let found = Wanted { names, seen }.deserialize(&mut of).map_err(not_an_object)?;
    of.end().map_err(not_an_object)?;
    Ok(found)
}

#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
fn not_an_object(error: serde_json::Error) -> String {
    format!("not a JSON object on one line: {error}")
}

/// The fields of an object in their order.
fn object(row: &str) -> Result<Vec<(String, Value)>, String> {
    serde_json::from_str(row).map(|Ordered(fields)| fields).map_err(not_an_object)
}

struct Ordered(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Ordered;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Ordered(fields))
            }
        }
        from.deserialize_map(All)
    }
}

/// Reads the fields of some names and passes over all others.
struct Wanted<'w> {
    names: &'w [&'w str],
    seen: &'w mut [bool],
}

impl<'de> DeserializeSeed<'de> for Wanted<'_> {
    type Value = Vec<Field<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Wanted<'_> {
    type Value = Vec<Field<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = vec![Field::Absent; self.names.len()];
        while let Some(Name(name)) = map.next_key()? {
            if !self.names.contains(&&*name) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let field = match map.next_value::<Value>()? {
                Value::Null => Field::Absent,
                Value::Number(number) => number.as_f64().map_or(Field::Absent, Field::Number),
                Value::String(text) if text.is_empty() => Field::Absent,
                Value::String(text) => Field::Text(Cow::Owned(text)),
                other => Field::Text(Cow::Owned(other.to_string())),
            };
            for (at, _) in self.names.iter().enumerate().filter(|(_, wanted)| **wanted == name) {
                found[at] = field.clone();
                self.seen[at] = true;
            }
        }
        Ok(found)
    }
}

/// A name that is borrowed where no escape is in it.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Rows as lines of CSV under a header: the names that any of them has. What is nested stays JSON. Of an error the row's place
/// among these.
pub(super) fn as_csv(rows: &[&str]) -> Result<(String, Vec<String>), (usize, String)> {
    let heads = heads(rows.iter().copied())?;
    let mut lines = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let object = object(row).map_err(|error| (at, error))?;
        let value =
            |head: &String| object.iter().find(|(name, _)| name == head).map(|pair| &pair.1);
        let field = |head: &String| match value(head) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => csv_field(text).into_owned(),
            Some(other) => csv_field(&other.to_string()).into_owned(),
        };
        lines.push(heads.iter().map(field).collect::<Vec<_>>().join(","));
    }
    let heads: Vec<Cow<'_, str>> = heads.iter().map(|head| csv_field(head)).collect();
    Ok((heads.join(","), lines))
}
