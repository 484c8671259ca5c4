//! What a measurement reached of its peaks.

use serde::{Deserialize, Serialize};

/// What a row's best reached of three peaks, in percent. Absent where the peak is not known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PeakShares {
    /// Of what the vendor prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_of_specification: Option<f64>,
    /// Of what the units give at the clock that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_of_clock_peak: Option<f64>,
    /// Of the best row of the same component, type and device; of bandwidth among those from memory, or among those from caches;
    /// of copies between memories among those of the same route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_of_best_seen: Option<f64>,
}
