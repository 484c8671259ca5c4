//! A sample of latencies, summarised without pretence.

mod buckets;
mod column;
mod counted;
mod describe;
mod interval;
mod json;
mod pooled;
mod rates;
mod sample;

pub(crate) use column::Column;
pub(crate) use counted::TokenCensus;
pub use counted::TokenDistribution;
pub use describe::percentile_of_sorted;
pub(crate) use json::OrReason;
pub use pooled::PooledSample;
pub use rates::RateDistribution;
pub(crate) use rates::{RateSample, RatesOrReason};
pub(crate) use sample::Sample;

use fizeau_core::{Millis, Tokens};

use crate::Statistic;
use sample::WeightedSample;

/// The summary of a sample of latencies.
///
/// Percentiles are exact, with linear interpolation (numpy's default), and are withheld where the sample is
/// too small to support them: a percentile p is given if at least one value is expected beyond it: `n (1 - p) >= 1`.
/// So p90 needs 10 values, p95 20, p99 100, p999 1000; the median needs 1. An empty sample has no figures.
///
/// In JSON a distribution is one flat object; see `Serialize` below.
///
/// ```
/// use fizeau_core::Millis;
/// use fizeau_metrics::{Distribution, Quantile};
///
/// let latencies = Distribution::of((1..=11).map(|ms| Millis::new(f64::from(ms))));
/// assert_eq!(latencies.p50.value(), Some(Millis::new(6.0)));
/// assert_eq!(latencies.p90.value(), Some(Millis::new(10.0)));
/// assert_eq!(latencies.p99, Quantile::Withheld { needs: 100 });
/// ```
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
    /// How exactly the percentiles are known; all other figures are exact either way.
    pub resolution: Resolution,
}

/// How exactly the percentiles of a sample are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resolution {
    /// From every single value.
    #[default]
    Exact,
    /// To within 2^-11 of the value, under 0.05 %: the sample was too large to keep ([`PooledSample::EXACT`]).
    Folded,
}

impl Resolution {
    /// The name used in files and reports: `exact`, or `within 0.05 %`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Folded => "within 0.05 %",
        }
    }
}

impl Distribution {
    /// The summary of independent values, such as one latency a request, with confidence intervals.
    ///
    /// A value that is not a latency (negative, infinite or NaN) is left out and does not count into `n`. The
    /// order of the values does not matter.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = Millis>) -> Self {
        values.into_iter().collect::<Sample>().summary()
    }

    /// The summary of values that are pooled from several requests, such as inter-chunk gaps: as
    /// [`Distribution::of`], without intervals.
    ///
    /// The order-statistics interval assumes independent values. Gaps of one reply are not: they share a
    /// batch, a server step, a network path. Their interval would come out far too narrow, so there is none.
    #[must_use]
    pub fn of_pooled(values: impl IntoIterator<Item = Millis>) -> Self {
        values.into_iter().collect::<Sample>().pooled_summary()
    }

    /// The summary of pooled values with weights, such as inter-token latencies.
    ///
    /// The sample is the multiset with each value repeated as often as its weight says; its percentiles are
    /// those of that multiset (computed without expanding it), and `n` is the sum of the weights. Values of
    /// weight zero do not occur. There are no intervals, for the reason given at [`Distribution::of_pooled`].
    #[must_use]
    pub fn from_weighted(values: impl IntoIterator<Item = (Millis, Tokens)>) -> Self {
        let mut sample = WeightedSample::default();
        for (value, weight) in values {
            sample.push(value, weight);
        }
        sample.summary()
    }

    /// One statistic of the sample; absent if the sample is empty or cannot support it, and for
    /// [`Statistic::Value`], which a sample does not have.
    #[must_use]
    pub fn statistic(&self, statistic: Statistic) -> Option<Millis> {
        match statistic {
            Statistic::Mean => self.mean,
            Statistic::P50 => self.p50.value(),
            Statistic::P90 => self.p90.value(),
            Statistic::P95 => self.p95.value(),
            Statistic::P99 => self.p99.value(),
            Statistic::P999 => self.p999.value(),
            Statistic::Max => self.max,
            Statistic::Value => None,
        }
    }
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
        /// The 95 % interval; absent where the sample does not reach far enough on both sides, and for pooled
        /// values.
        interval: Option<Interval>,
    },
    /// The sample has fewer values than the percentile needs.
    Withheld {
        /// How many values it would take.
        needs: u64,
    },
}

/// A confidence interval: two values of the sample that enclose the true percentile with a probability of at
/// least 95 %, whatever the distribution, as long as the values are independent.
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

    /// The 95 % interval, if it is known.
    #[must_use]
    pub const fn interval(self) -> Option<Interval> {
        match self {
            Self::Known { interval, .. } => interval,
            Self::Absent | Self::Withheld { .. } => None,
        }
    }
}
