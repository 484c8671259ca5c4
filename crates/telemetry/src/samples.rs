//! A series of pages on the run's own clock.

mod combine;
mod history;
mod track;

pub use combine::Combine;
pub use history::{Fetch, FetchFailure, History, HistoryLine};
pub use track::Point;
