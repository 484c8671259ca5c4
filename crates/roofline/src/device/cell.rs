//! A published figure and where it comes from.

use serde::Serialize;

use super::quantity::Measure;

/// One published figure of a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    pub(super) field: &'static str,
    pub(super) value: String,
    /// In bytes, bytes/s, FLOP/s, W or s.
    #[serde(skip)]
    pub(super) number: f64,
    pub(super) printed: Option<String>,
    pub(super) range: Option<Span>,
    /// What a rate's ratio to the next wider type is said to be, where it is not what bits alone would give.
    #[serde(skip)]
    pub(super) ratio: Option<f64>,
    pub(super) source: String,
    pub(super) date: Option<String>,
    /// Whether the file has a list of sources and this is none of it, nor dated: a slip in its key.
    #[serde(skip)]
    pub(super) unlisted: bool,
    #[serde(rename = "is_unverified")]
    pub(super) unverified: bool,
    pub(super) note: Option<String>,
}

/// The least and the most that sources give.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Span {
    pub(super) texts: (String, String),
    #[serde(skip)]
    pub(super) numbers: (f64, f64),
}

impl Cell {
    /// A figure that somebody gave without saying where it is from.
    pub(super) fn given(field: &'static str, measure: Measure, number: f64) -> Self {
        Self {
            field,
            value: measure.show(number),
            number,
            printed: None,
            range: None,
            ratio: None,
            source: "given by the caller".to_owned(),
            date: None,
            unlisted: false,
            unverified: false,
            note: None,
        }
    }

    /// Which figure, as the table's files call it: `memory.bandwidth`, `rates.fp8`.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        self.field
    }

    /// The figure that is used, with its unit: of one device, dense, one direction.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What the source prints, where that is something else: a sum of both directions, a figure with sparsity or of
    /// a whole board, or bytes counted in another unit.
    #[must_use]
    pub fn printed(&self) -> Option<&str> {
        self.printed.as_deref()
    }

    /// The least and the most that sources give, where they disagree. The figure that is used is the end that keeps
    /// a bound sound: the most, or for a latency the least.
    #[must_use]
    pub fn range(&self) -> Option<(&str, &str)> {
        self.range.as_ref().map(|span| (span.texts.0.as_str(), span.texts.1.as_str()))
    }

    /// Who published it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// When the source said so: a year, a month or a day, as in `2026-08`.
    #[must_use]
    pub fn date(&self) -> Option<&str> {
        self.date.as_deref()
    }

    /// Whether the figure is an assumption, or its source is weak or was not seen again.
    #[must_use]
    pub const fn is_unverified(&self) -> bool {
        self.unverified
    }

    /// What must be known besides.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}
