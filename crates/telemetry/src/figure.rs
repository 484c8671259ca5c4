//! A figure, and which metric it was read off.

use serde::{Deserialize, Serialize};

/// A figure with the name of the metric that says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reported<T> {
    /// The metric's name as it stands on the page, without the suffixes of a histogram.
    pub metric: String,
    /// What it says.
    #[serde(flatten)]
    pub figure: T,
}

impl<T> Reported<T> {
    /// What `metric` says.
    #[must_use]
    pub fn new(metric: impl Into<String>, figure: T) -> Self {
        Self { metric: metric.into(), figure }
    }
}
