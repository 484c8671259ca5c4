//! A published figure and where it comes from.

use serde::Serialize;

use super::quantity::FigureQuantity;

/// One published figure of a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedFigure {
    /// Which figure, as the table's files call it: `memory.bandwidth`, `rates.fp8`.
    pub field: &'static str,
    /// The figure that is used, with its unit: of one device, dense, one direction.
    pub value: String,
    /// In bytes, bytes/s, FLOP/s, W or s.
    #[serde(skip)]
    pub(super) number: f64,
    /// What the source prints, where that is something else: a sum of both directions, a figure with sparsity or of
    /// a whole board, or bytes counted in another unit.
    pub printed: Option<String>,
    pub(super) range: Option<SourceRange>,
    /// What a rate's ratio to the next wider type is said to be, where it is not what bits alone would give.
    #[serde(skip)]
    pub(super) ratio: Option<f64>,
    /// Who published it.
    pub source: String,
    /// When the source said so: a year, a month or a day, as in `2026-08`.
    pub date: Option<String>,
    /// Whether the file has a list of sources and this is none of it, nor dated: a slip in its key.
    #[serde(skip)]
    pub(super) unlisted: bool,
    /// Whether the figure is an assumption, or its source is weak or was not seen again.
    pub is_unverified: bool,
    /// What must be known besides.
    pub note: Option<String>,
}

/// The least and the most that sources give.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct SourceRange {
    pub(super) texts: (String, String),
    #[serde(skip)]
    pub(super) numbers: (f64, f64),
}

impl PublishedFigure {
    /// A figure that somebody gave without saying where it is from.
    pub(super) fn given(field: &'static str, measure: FigureQuantity, number: f64) -> Self {
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
            is_unverified: false,
            note: None,
        }
    }

    /// Whether `fizeau probe` measured it, or read what another tool had measured: files that it writes name it as the source.
    pub(crate) fn is_probed(&self) -> bool {
        self.source.starts_with("fizeau probe")
    }

    /// The least and the most that sources give, where they disagree. The figure that is used is the end that keeps
    /// a bound sound: the most, or for a latency the least.
    #[must_use]
    pub fn range(&self) -> Option<(&str, &str)> {
        self.range.as_ref().map(|span| (span.texts.0.as_str(), span.texts.1.as_str()))
    }

    /// The least that sources give over the figure that is used; none where they agree. Of a device that was measured: what it
    /// typically does, over its best.
    #[must_use]
    pub fn low_over_value(&self) -> Option<f64> {
        let (low, _) = self.range.as_ref()?.numbers;
        (self.number > 0.0).then(|| low / self.number)
    }
}
