//! Several series as one.

use super::history::History;
use super::series::SampledSeries;
use super::track::SeriesPoint;
use crate::exposition::SeriesName;

/// How the values of several series on one page become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Combine {
    /// Added: requests of several engines.
    Sum,
    /// The largest.
    Largest,
    /// The mean, each series weighted as the caller says: shares of caches of different size.
    WeightedMean,
}

impl Combine {
    /// `series` of `history`, each with its weight (which counts in a mean alone), as one point a page. A page that lacks one of
    /// several says what the others do.
    #[must_use]
    pub fn points(self, history: &History, series: &[(&SeriesName, f64)]) -> Vec<SeriesPoint> {
        self.of(series.iter().filter_map(|(name, weight)| Some((history.one(name)?, *weight))))
    }

    /// The same of series of one history.
    pub(crate) fn of<'a>(
        self,
        series: impl IntoIterator<Item = (SampledSeries<'a>, f64)>,
    ) -> Vec<SeriesPoint> {
        let mut pages: Vec<(SeriesPoint, f64)> = Vec::new();
        for (series, weight) in series {
            if pages.is_empty() {
                pages.extend(
                    series.points().map(|point| (SeriesPoint { value: None, ..point }, 0.0)),
                );
            }
            for ((together, weights), point) in pages.iter_mut().zip(series.points()) {
                let Some(value) = point.value else { continue };
                let so_far = together.value;
                *weights += weight;
                together.value = Some(match self {
                    Self::Sum => so_far.unwrap_or(0.0) + value,
                    Self::Largest => so_far.map_or(value, |largest| largest.max(value)),
                    Self::WeightedMean => so_far.unwrap_or(0.0) + value * weight,
                });
            }
        }
        let finish = |(point, weights): (SeriesPoint, f64)| match self {
            Self::WeightedMean => {
                let mean = point.value.map(|value| value / weights);
                SeriesPoint { value: mean.filter(|mean| mean.is_finite()), ..point }
            }
            _ => point,
        };
        pages.into_iter().map(finish).collect()
    }
}
