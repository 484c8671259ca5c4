//! Tables of a TOML file, read with errors that name field and line.

use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::device::DeviceError;

/// One table, and where it is.
pub(super) struct Section<'a> {
    file: &'a str,
    path: String,
    table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    pub(super) const fn root(file: &'a str, table: &'a DeTable<'a>) -> Self {
        Self { file, path: String::new(), table }
    }

    /// Refuses fields that are not in `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), DeviceError> {
        let stranger = self.table.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
        stranger.map_or(Ok(()), |key| {
            let line = line_of(self.file, key.span().start);
            let (field, known) = (self.name(key.get_ref()), known.join(", "));
            Err(DeviceError(format!("line {line}: `{field}` is not known; known here are {known}")))
        })
    }

    pub(super) fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.table.keys().map(|key| key.get_ref().as_ref())
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, DeviceError> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        one_line(value.get_ref()).map(Some).ok_or_else(|| self.wrong(key, value, ONE_LINE))
    }

    pub(super) fn needed_text(&self, key: &str, wanted: &str) -> Result<&'a str, DeviceError> {
        self.text(key)?.ok_or_else(|| self.missing(key, wanted))
    }

    /// A list of texts; empty where it is absent.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, DeviceError> {
        let Some(value) = self.value(key) else {
            return Ok(Vec::new());
        };
        let texts = value.get_ref().as_array().and_then(|list| {
            list.iter().map(|item| one_line(item.get_ref()).map(str::to_owned)).collect()
        });
        texts.ok_or_else(|| self.wrong(key, value, "a list of texts in quotes"))
    }

    pub(super) fn flag(&self, key: &str) -> Result<bool, DeviceError> {
        let Some(value) = self.value(key) else {
            return Ok(false);
        };
        value.get_ref().as_bool().ok_or_else(|| self.wrong(key, value, "true or false"))
    }

    /// A positive finite number.
    pub(super) fn number(&self, key: &str, wanted: &str) -> Result<Option<f64>, DeviceError> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        number(value.get_ref()).map(Some).ok_or_else(|| self.wrong(key, value, wanted))
    }

    pub(super) fn needed_number(&self, key: &str, wanted: &str) -> Result<f64, DeviceError> {
        self.number(key, wanted)?.ok_or_else(|| self.missing(key, wanted))
    }

    /// A whole number within `range`.
    pub(super) fn count(&self, key: &str, range: RangeInclusive<u32>) -> Result<u32, DeviceError> {
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        let value = self.value(key).ok_or_else(|| self.missing(key, &wanted))?;
        let count = value.get_ref().as_integer().filter(|integer| integer.radix() == 10);
        let count = count.and_then(|integer| integer.as_str().parse::<u32>().ok());
        let count = count.filter(|count| range.contains(count));
        count.ok_or_else(|| self.wrong(key, value, &wanted))
    }

    pub(super) fn table(&self, key: &str) -> Result<Option<Self>, DeviceError> {
        self.value(key).map(|value| self.inner(self.name(key), key, value)).transpose()
    }

    pub(super) fn needed_table(&self, key: &str) -> Result<Self, DeviceError> {
        self.table(key)?.ok_or_else(|| self.missing(key, &format!("a table, [{key}]")))
    }

    /// A list of tables, `[[key]]`; empty where it is absent.
    pub(super) fn each(&self, key: &str) -> Result<Vec<Self>, DeviceError> {
        let Some(value) = self.value(key) else {
            return Ok(Vec::new());
        };
        let list = value.get_ref().as_array();
        let list =
            list.ok_or_else(|| self.wrong(key, value, &format!("a list of tables, [[{key}]]")))?;
        let tables = list.iter().zip(1_usize..);
        tables.map(|(item, k)| self.inner(format!("{}[{k}]", self.name(key)), key, item)).collect()
    }

    pub(super) fn missing(&self, key: &str, wanted: &str) -> DeviceError {
        DeviceError(format!("`{}` is missing; it must be {wanted}", self.name(key)))
    }

    pub(super) fn wrong(
        &self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        wanted: &str,
    ) -> DeviceError {
        let line = line_of(self.file, value.span().start);
        let (field, found) = (self.name(key), found(value.get_ref()));
        DeviceError(format!("line {line}: `{field}` is {found}; it must be {wanted}"))
    }

    fn inner(
        &self,
        path: String,
        key: &str,
        value: &'a Spanned<DeValue<'a>>,
    ) -> Result<Self, DeviceError> {
        let table = value.get_ref().as_table();
        let table = table.ok_or_else(|| self.wrong(key, value, "a table"))?;
        Ok(Self { file: self.file, path, table })
    }

    fn name(&self, key: &str) -> String {
        let short: String = key.chars().take(40).flat_map(char::escape_debug).collect();
        if self.path.is_empty() { short } else { format!("{}.{short}", self.path) }
    }
}

const ONE_LINE: &str = "a line of text in quotes";

/// A text that can stand in a line of a table.
fn one_line<'a>(value: &'a DeValue<'_>) -> Option<&'a str> {
    let text = value.as_str()?.trim();
    (!text.is_empty() && !text.contains(char::is_control)).then_some(text)
}

/// A positive finite number, whole or not.
pub(super) fn number(value: &DeValue<'_>) -> Option<f64> {
    let number = match value {
        DeValue::Integer(whole) if whole.radix() == 10 => whole.as_str().parse::<f64>().ok()?,
        DeValue::Float(float) => float.as_str().parse().ok()?,
        _ => return None,
    };
    (number.is_finite() && number > 0.0).then_some(number)
}

fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// The line, from 1, that a byte of the text is in.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
