//! The times themselves: every sample, or the figures that a tool reported in place of them.

use fizeau_core::{BytesPerSec, FlopsPerSec, Millis};
use serde::{Deserialize, Serialize};

use super::work::ByteConvention;

/// Every sample as it was taken; where a tool keeps none, the figures that it reported.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timing {
    /// How long each sample took, in order.
    #[serde(rename = "samples_ms", default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Millis>,
    /// How many operations one sample is.
    pub operations_per_sample: u64,
    /// Figures that a tool reported, in place of samples or besides them.
    #[serde(alias = "told", default, skip_serializing_if = "Vec::is_empty")]
    pub reported: Vec<ReportedFigure>,
}

impl Timing {
    /// Samples of `operations` operations each.
    #[must_use]
    pub const fn of_samples(samples: Vec<Millis>, operations: u64) -> Self {
        Self { samples, operations_per_sample: operations, reported: Vec::new() }
    }

    /// Figures of a tool that kept no sample.
    #[must_use]
    pub const fn of_reported(reported: Vec<ReportedFigure>) -> Self {
        Self { samples: Vec::new(), operations_per_sample: 1, reported }
    }
}

/// A figure that a tool reported of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReportedFigure {
    /// Of its operations, which. The best has the least time and the highest rate.
    pub statistic: SampleStatistic,
    /// Of how many operations, where it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// The figure.
    pub figure: ReportedValue,
}

impl ReportedFigure {
    /// `figure` as the `statistic` of operations whose number is not known.
    #[must_use]
    pub const fn new(statistic: SampleStatistic, figure: ReportedValue) -> Self {
        Self { statistic, of: None, figure }
    }
}

/// Which of several operations a figure is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SampleStatistic {
    /// Half are faster.
    Median,
    /// Their mean; of operations back to back an inverse rate.
    Mean,
    /// There was one.
    Single,
    /// The tool does not report which.
    #[serde(rename = "not_reported", alias = "not_said")]
    NotReported,
    /// The fastest.
    Best,
    /// Of a hundred, five are slower.
    P95,
    /// Of a hundred, one is slower.
    P99,
    /// The slowest.
    Worst,
}

fizeau_core::words! {
    /// The name in files: `median`.
    pub SampleStatistic::as_str, all, shown {
        Median = "median", Mean = "mean", Single = "single", NotReported = "not_reported", Best = "best",
        P95 = "p95", P99 = "p99", Worst = "worst",
    }
}

/// A figure that a tool reported, in our units: GB/s that are GiB/s have been converted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReportedValue {
    /// The time of one operation.
    #[serde(rename = "time_ms")]
    Time(Millis),
    /// A bandwidth by [`ByteConvention::Stream`].
    #[serde(rename = "stream_bytes_per_s")]
    StreamBandwidth(BytesPerSec),
    /// A bandwidth by [`ByteConvention::Copy`]: the algorithm bandwidth of a collective.
    #[serde(rename = "copy_bytes_per_s")]
    CopyBandwidth(BytesPerSec),
    /// A bandwidth by [`ByteConvention::Hardware`].
    #[serde(rename = "hardware_bytes_per_s")]
    HardwareBandwidth(BytesPerSec),
    /// The bus bandwidth of a collective.
    #[serde(rename = "bus_bytes_per_s")]
    BusBandwidth(BytesPerSec),
    /// A rate of arithmetic.
    #[serde(rename = "flop_per_s")]
    Arithmetic(FlopsPerSec),
}

impl ReportedValue {
    /// A bandwidth by `convention`.
    #[must_use]
    pub const fn bandwidth(convention: ByteConvention, rate: BytesPerSec) -> Self {
        match convention {
            ByteConvention::Stream => Self::StreamBandwidth(rate),
            ByteConvention::Copy => Self::CopyBandwidth(rate),
            ByteConvention::Hardware => Self::HardwareBandwidth(rate),
        }
    }
}
