//! A sample of latencies, summarised without pretence.

use fizeau_core::Millis;

/// The summary of a sample of latencies.
///
/// Percentiles are exact, with linear interpolation (numpy's default), and are withheld where the sample is too small to
/// support them. An empty sample has no figures at all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distribution {
    /// How many values (for ITL: how many tokens they are spread over).
    pub n: u64,
    /// The mean.
    pub mean: Option<Millis>,
    /// The standard deviation of the sample (population form, `ddof` 0, as the other tools have it).
    pub std: Option<Millis>,
    /// The smallest value.
    pub min: Option<Millis>,
    /// The median.
    pub p50: Quantile,
    /// The 90th percentile.
    pub p90: Quantile,
    /// The 95th percentile.
    pub p95: Quantile,
    /// The 99th percentile.
    pub p99: Quantile,
    /// The 99.9th percentile.
    pub p999: Quantile,
    /// The greatest value.
    pub max: Option<Millis>,
}

/// A percentile, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Quantile {
    /// The sample is empty.
    #[default]
    Absent,
    /// The percentile, with a distribution-free confidence interval where order statistics give one.
    Known {
        /// The value.
        value: Millis,
        /// The 95 % interval.
        interval: Option<Interval>,
    },
    /// The sample has fewer values than the percentile needs.
    Withheld {
        /// How many values it would take.
        needs: u64,
    },
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: Millis,
    /// Its upper end.
    pub high: Millis,
}

impl Quantile {
    /// The value, if it is known.
    #[must_use]
    pub const fn value(self) -> Option<Millis> {
        match self {
            Self::Known { value, .. } => Some(value),
            Self::Absent | Self::Withheld { .. } => None,
        }
    }
}
