//! A series of pages on the run's own clock.

mod combine;
mod history;
mod packed;
mod series;
mod track;

pub use combine::Combine;
pub use history::{Fetch, FetchFailure, History, HistoryLine};
pub(crate) use series::SampledSeries;
pub(crate) use track::Said;
pub use track::SeriesPoint;
