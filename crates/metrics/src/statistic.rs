//! Statistics of a sample: which there are, and percentiles that a sample may not support.

use fizeau_core::{Interval, Millis};

use crate::SampleSupport;

/// Which statistic of a figure is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile; that of a latency unless another is named.
    P99,
    /// The 99.9th percentile.
    P999,
    /// The greatest value.
    Max,
    /// The figure itself: a rate or a share is a single number for the whole level.
    Value,
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
        /// The 95 % interval, or how many values it takes for both its ends to lie within the sample; of pooled values, and of those
        /// whose order is not kept, that it is not known how far they are correlated. Absent where a document left it out.
        interval: Option<SampleSupport<Interval<Millis>>>,
    },
    /// The sample has fewer values than the percentile needs.
    Withheld {
        /// How many values it would take.
        needs: u64,
    },
}

/// A statistic of a sample, or what stands in for it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct StatisticValue {
    /// The value.
    pub value: Millis,
    /// That it is the greatest value in place of a percentile; absent where it is the statistic itself.
    pub stand_in: Option<StandIn>,
}

/// The greatest value in place of a percentile, where a sample is too small for the percentile. It is no less than any percentile of
/// the same sample, so that a limit that it keeps was kept by every value there is; how few they are, belongs beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandIn {
    /// How many values there are.
    pub values: u64,
    /// How many the percentile needs.
    pub needs: u64,
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

    /// The 95 % interval of a sample of `n`, or how many values it takes; none where there is none to be had.
    pub(crate) const fn support(self, n: u64) -> Option<SampleSupport<Interval<Millis>>> {
        match self {
            Self::Known { interval, .. } => interval,
            Self::Withheld { needs } => Some(SampleSupport::NotSupported { needs, has: n }),
            Self::Absent => None,
        }
    }

    /// The 95 % interval, if it is known.
    #[must_use]
    pub const fn interval(self) -> Option<Interval<Millis>> {
        match self {
            Self::Known { interval: Some(SampleSupport::Known(interval)), .. } => Some(interval),
            Self::Known { .. } | Self::Absent | Self::Withheld { .. } => None,
        }
    }
}

impl Statistic {
    /// Every statistic that has a name.
    pub(crate) const NAMED: [Self; 7] =
        [Self::Mean, Self::P50, Self::P90, Self::P95, Self::P99, Self::P999, Self::Max];

    /// The one of that name; the median and the last percentile have two.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "median" => Some(Self::P50),
            "p99.9" => Some(Self::P999),
            _ => Self::NAMED.into_iter().find(|known| known.as_str() == name),
        }
    }
}

fizeau_core::words! {
    /// The name in goals and reports: `mean`, `p50` ... `p999`, `max`; empty for [`Statistic::Value`].
    pub Statistic::as_str {
        Mean = "mean", P50 = "p50", P90 = "p90", P95 = "p95", P99 = "p99", P999 = "p999", Max = "max",
        Value = "",
    }
}
