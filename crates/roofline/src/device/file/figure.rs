//! Figures of a file, with their sources.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::DeValue;

use super::section::{Section, number};
use crate::device::cell::SourceRange;
use crate::device::quantity::FigureQuantity;
use crate::device::{DeviceError, PublishedFigure};

/// What figures without a source are said to be from.
const THE_FILE: &str = "given by the file";

/// The sources that a file names once and its figures refer to.
pub(super) struct Sources<'a>(BTreeMap<&'a str, (&'a str, Option<&'a str>)>);

impl<'a> Sources<'a> {
    pub(super) fn read(root: &Section<'a>) -> Result<Self, DeviceError> {
        let Some(section) = root.table("sources")? else {
            return Ok(Self(BTreeMap::new()));
        };
        let mut sources = BTreeMap::new();
        for key in section.keys() {
            let source = section.needed_table(key)?;
            source.only(&["name", "date"])?;
            let name = source.needed_text("name", "what the source is called")?;
            sources.insert(key, (name, date(&source)?));
        }
        Ok(Self(sources))
    }

    /// Source and date of a figure: one of the file's, or spelt out beside the figure.
    pub(super) fn of(
        &self,
        section: &Section<'a>,
    ) -> Result<(&'a str, Option<&'a str>), DeviceError> {
        let (name, known) = match section.text("source")? {
            Some(key) => self.0.get(key).copied().unwrap_or((key, None)),
            None => (THE_FILE, None),
        };
        Ok((name, date(section)?.or(known)))
    }

    /// Whether the source that is named is neither one of the file's nor dated, though the file has some.
    pub(super) fn lack(&self, section: &Section<'a>) -> Result<bool, DeviceError> {
        let key = section.text("source")?;
        let is_stranger = key.is_some_and(|key| !self.0.is_empty() && !self.0.contains_key(key));
        Ok(is_stranger && date(section)?.is_none())
    }

    /// The figure `field`, of which the part after the dot is its name in `section`; none where it is absent.
    pub(super) fn cell(
        &self,
        section: &Section<'a>,
        field: &'static str,
        measure: FigureQuantity,
    ) -> Result<Option<PublishedFigure>, DeviceError> {
        let key = last(field);
        let Some(value) = section.value(key) else {
            return Ok(None);
        };
        if value.get_ref().is_table()
            && let Some(table) = section.table(key)?
        {
            return self.told(&table, field, measure).map(Some);
        }
        let (text, number) =
            read(value, measure).ok_or_else(|| section.wrong(key, value, measure.wanted()))?;
        let plain = PublishedFigure::given(field, measure, number);
        Ok(Some(PublishedFigure { value: text, source: THE_FILE.to_owned(), ..plain }))
    }

    pub(super) fn needed(
        &self,
        section: &Section<'a>,
        field: &'static str,
        measure: FigureQuantity,
    ) -> Result<PublishedFigure, DeviceError> {
        let cell = self.cell(section, field, measure)?;
        cell.ok_or_else(|| section.missing(last(field), measure.wanted()))
    }

    /// A figure with all that is told of it.
    fn told(
        &self,
        section: &Section<'a>,
        field: &'static str,
        measure: FigureQuantity,
    ) -> Result<PublishedFigure, DeviceError> {
        section.only(&[
            "value",
            "printed",
            "range",
            "ratio",
            "source",
            "date",
            "unverified",
            "note",
        ])?;
        let value = section.value("value");
        let value = value.ok_or_else(|| section.missing("value", measure.wanted()))?;
        let (text, number) =
            read(value, measure).ok_or_else(|| section.wrong("value", value, measure.wanted()))?;
        let (source, date) = self.of(section)?;
        Ok(PublishedFigure {
            field,
            value: text,
            number,
            printed: section.text("printed")?.map(str::to_owned),
            range: range(section, number, measure)?,
            ratio: section.number("ratio", "a ratio above 0")?,
            source: source.to_owned(),
            date: date.map(str::to_owned),
            unlisted: self.lack(section)?,
            is_unverified: section.flag("unverified")?,
            note: section.text("note")?.map(str::to_owned),
        })
    }
}

fn last(field: &str) -> &str {
    field.rsplit('.').next().unwrap_or(field)
}

/// The figure as text, and in base units.
fn read(value: &Spanned<DeValue<'_>>, measure: FigureQuantity) -> Option<(String, f64)> {
    let value = value.get_ref();
    match value.as_str() {
        Some(text) => measure.read(text).map(|number| (text.trim().to_owned(), number)),
        None => number(value).map(|number| (measure.show(number), number)),
    }
}

/// `[least, most]` around the figure.
fn range(
    section: &Section<'_>,
    number: f64,
    measure: FigureQuantity,
) -> Result<Option<SourceRange>, DeviceError> {
    let Some(value) = section.value("range") else {
        return Ok(None);
    };
    let ends: Option<Vec<(String, f64)>> = value
        .get_ref()
        .as_array()
        .and_then(|list| list.iter().map(|end| read(end, measure)).collect());
    match ends.as_deref() {
        Some([(least, low), (most, high)]) if (*low..=*high).contains(&number) => {
            Ok(Some(SourceRange { texts: (least.clone(), most.clone()), numbers: (*low, *high) }))
        }
        _ => Err(section.wrong("range", value, "[least, most] with the value between them")),
    }
}

/// A year, a month or a day: `2026`, `2026-08`, `2026-08-31`.
fn date<'a>(section: &Section<'a>) -> Result<Option<&'a str>, DeviceError> {
    let Some(text) = section.text("date")? else {
        return Ok(None);
    };
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    let is_digits = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    if is_digits && matches!(lengths.as_slice(), [4] | [4, 2] | [4, 2, 2]) {
        return Ok(Some(text));
    }
    let wanted = "a date such as \"2026-08\"";
    Err(section.value("date").map_or_else(
        || section.missing("date", wanted),
        |value| section.wrong("date", value, wanted),
    ))
}
