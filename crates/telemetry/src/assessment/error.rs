//! Why there is no assessment.

use crate::vocabulary::Exporter;

/// Why nothing can be said of how near its bound a server runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssessmentError {
    /// The server does not tell what is needed.
    #[error(
        "the page{} has no known series for {what}; give the metrics page of a serving engine, in a version that is known", of(*.exporter)
    )]
    NotReported {
        /// What is missing.
        what: &'static str,
        /// Whose page it is, where that is known.
        exporter: Option<Exporter>,
    },
    /// Nothing can be a rate.
    #[error("the window has no length; it takes two pages of metrics, one after the other")]
    NoTime,
}

fn of(exporter: Option<Exporter>) -> String {
    exporter.map_or_else(String::new, |exporter| format!(" of {}", exporter.name()))
}
