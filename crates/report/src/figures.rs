//! Figures of a level by name, with their intervals: what tables and charts are made from.

use std::collections::BTreeMap;

use serde::Serialize;

/// Figures by name. A name that is not there is not known.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct ChartFigures(pub BTreeMap<String, ChartFigure>);

impl ChartFigures {
    /// Those of `figures` that are known.
    pub(crate) fn new<'a>(
        figures: impl IntoIterator<Item = (&'a str, Option<ChartFigure>)>,
    ) -> Self {
        let known = figures.into_iter();
        Self(known.filter_map(|(name, figure)| Some((name.to_owned(), figure?))).collect())
    }

    /// The figure of that name, where it is known.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<ChartFigure> {
        self.0.get(name).copied()
    }
}

/// A figure, with the ends of its 95 % interval where they are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChartFigure {
    /// The figure, in the unit that its name says; finite.
    pub value: f64,
    /// The low end of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The high end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Whether it is the greatest value of fewer than 100, in place of a 99th percentile.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stand_in: bool,
}
