//! Queries of the speed of light: which system, and what is asked of it; by values, by a line of JSON, by the folder of a run.

mod fit_levels;
mod line;
mod lines;
mod passes;
mod query;
mod runs;
mod samples;
mod seen;
mod steps;
mod systems;

use thiserror::Error;

pub use fit_levels::FitLevels;
pub use line::QueryLine;
pub use lines::{AnsweredLine, UnansweredLines};
pub use query::{LoadQuery, SolQuery, SystemQuery};
pub(crate) use runs::sample_of;
pub use samples::{FitSources, SampleError, UnfittedServing};
pub(crate) use seen::seen_samples;
pub(crate) use steps::SeenRequests;
pub use systems::{CalibrationChoice, PreparedSystem, SolSystems};

/// Why a query has no answer, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SolQueryError(String);

impl SolQueryError {
    fn new(what: impl std::fmt::Display) -> Self {
        Self(what.to_string())
    }
}
