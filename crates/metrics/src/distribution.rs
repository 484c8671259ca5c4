//! A sample of latencies, summarised without pretence.

mod buckets;
mod column;
mod counted;
mod describe;
mod interval;
mod json;
mod ordered;
mod pooled;
mod rates;
mod sample;

pub(crate) use counted::TokenCensus;
pub use counted::TokenDistribution;
pub use describe::percentile_of_sorted;
pub(crate) use ordered::mean_interval;
pub use pooled::PooledSample;
pub use rates::RateDistribution;
pub(crate) use rates::RateSample;
pub(crate) use sample::Sample;

use fizeau_core::{Interval, Millis, Tokens};

use crate::SampleSupport;
use crate::statistic::{Quantile, StandIn, Statistic, StatisticValue};
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
#[non_exhaustive]
pub struct Distribution {
    /// How many values the figures are made from (for ITL: how many tokens they are spread over). Where `resolution` is
    /// [`PercentileResolution::Drawn`] these are the requests of the part that was drawn, and fewer than completed.
    pub n: u64,
    /// The mean.
    pub mean: Option<Millis>,
    /// Where the true mean lies, for values in the order of sending ([`Distribution::of_series`]) and for the gaps of a level; that their
    /// correlation is not known, for other pooled values. Absent for independent ones.
    pub mean_interval: Option<SampleSupport<Interval<Millis>>>,
    /// How many independent values would know the mean as well, at most `n`; absent where `mean_interval` is not known.
    pub effective_n: Option<f64>,
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
    pub resolution: PercentileResolution,
    /// MLPerf's bounds for the tail; absent but for the TTFT, TPOT and E2EL of a level.
    pub early_stopping: Option<EarlyStopping>,
    /// The percentiles over all requests that were sent; absent where none failed, and but for latencies of a level that a
    /// request has one of.
    pub over_sent: Option<Box<SentPercentiles>>,
}

/// Percentiles over all requests that were sent, of which a failed one lies beyond every latency: where 0.5 % failed, the p99 of
/// these is nearly the p99.5 of those that completed. One that lies among the failed is the greatest latency, and one that the
/// completed ones cannot support is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct SentPercentiles {
    /// The median.
    pub p50: Option<Millis>,
    /// The 90th percentile.
    pub p90: Option<Millis>,
    /// The 95th percentile.
    pub p95: Option<Millis>,
    /// The 99th percentile.
    pub p99: Option<Millis>,
    /// The 99.9th percentile.
    pub p999: Option<Millis>,
}

impl SentPercentiles {
    /// The percentile that `statistic` names; none if it is no percentile or not supported.
    #[must_use]
    pub const fn get(&self, statistic: Statistic) -> Option<Millis> {
        match statistic {
            Statistic::P50 => self.p50,
            Statistic::P90 => self.p90,
            Statistic::P95 => self.p95,
            Statistic::P99 => self.p99,
            Statistic::P999 => self.p999,
            Statistic::Mean | Statistic::Max | Statistic::Value => None,
        }
    }
}

/// What the true tail does not exceed in ninety-nine cases of a hundred: [`early_stopping_bound`] at 0.99.
///
/// [`early_stopping_bound`]: crate::early_stopping_bound
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EarlyStopping {
    /// Of the 90th percentile; it takes 64 values.
    pub p90: SampleSupport<Millis>,
    /// Of the 99th percentile; it takes 662 values.
    pub p99: SampleSupport<Millis>,
}

/// How exactly the percentiles of a sample are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PercentileResolution {
    /// From every single value.
    #[default]
    #[serde(rename = "exact")]
    Exact,
    /// To within 2^-11 of the value, under 0.05 %: the sample was too large to keep ([`PooledSample::EXACT`]).
    #[serde(rename = "within 0.05 %")]
    Folded,
    /// From a part of the requests, drawn by lot: all were too many to keep in their order
    /// ([`LevelTally::EXACT`](crate::LevelTally::EXACT)). Intervals are those of the part.
    #[serde(rename = "of a part of the requests")]
    Drawn,
}

fizeau_core::words! {
    /// The name used in files and reports: `exact`, `within 0.05 %` or `of a part of the requests`.
    pub PercentileResolution::as_str {
        Exact = "exact", Folded = "within 0.05 %", Drawn = "of a part of the requests",
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

    /// The summary of the latencies of successive requests, in the order in which they were sent, with 95 % intervals that
    /// heed how far neighbours are correlated.
    ///
    /// The mean's is that of [`BatchMeans`](crate::BatchMeans). A percentile's is made of two values of the sample, as for
    /// independent ones, but for as many as would know as well what share of values lies above the percentile: `n` over
    /// [`Autocorrelation::time`](crate::Autocorrelation::time) of the series that is 1 where a value does and 0 where it does
    /// not. A share's interval turned into one for a percentile is R. S. Woodruff's (JASA 47, 1952); of dependent series, P.
    /// Heidelberger and P. A. W. Lewis, "Quantile estimation in dependent sequences" (Operations Research 32, 1984). Any takes
    /// thirty values, fewer of which do not tell how far they are correlated.
    ///
    /// ```
    /// use fizeau_core::Millis;
    /// use fizeau_metrics::Distribution;
    ///
    /// // Each latency is that of its neighbours, nearly: a slow wave.
    /// let wave = |k: u32| Millis::new(f64::from(k % 200).mul_add(0.1, 20.0));
    /// let (plain, series) = (Distribution::of((0..1000).map(wave)), Distribution::of_series((0..1000).map(wave)));
    /// let width = |of: &Distribution| of.p50.interval().map(|interval| interval.high.get() - interval.low.get());
    /// assert_eq!(plain.p50.value(), series.p50.value());
    /// assert!(width(&series) > width(&plain) || width(&series).is_none());
    /// ```
    #[must_use]
    pub fn of_series(values: impl IntoIterator<Item = Millis>) -> Self {
        values.into_iter().collect::<Sample>().series_summary()
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

    /// A statistic, or the greatest value in its place where the sample is too small for the percentile; none if it is empty, and for
    /// [`Statistic::Value`].
    ///
    /// ```
    /// use fizeau_core::Millis;
    /// use fizeau_metrics::{Distribution, StandIn, Statistic};
    /// let few = Distribution::of([1.0, 2.0, 5.0].map(Millis::new));
    /// let tail = few.value_or_max(Statistic::P99).ok_or("three values have a greatest")?;
    /// assert_eq!(tail.value, Millis::new(5.0));
    /// assert_eq!(tail.stand_in, Some(StandIn { values: 3, needs: 100 }));
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn value_or_max(&self, statistic: Statistic) -> Option<StatisticValue> {
        match self.quantile(statistic) {
            Some(Quantile::Withheld { needs }) => {
                let stand_in = StandIn { values: self.n, needs };
                Some(StatisticValue { value: self.max?, stand_in: Some(stand_in) })
            }
            _ => Some(StatisticValue { value: self.statistic(statistic)?, stand_in: None }),
        }
    }

    /// The same with the intervals of `part`, a part of the same values in the order of sending, made wider where they do not
    /// hold the figure itself.
    pub(crate) fn with_intervals_of(self, part: &Self) -> Self {
        let holding = |Interval { low, high, confidence }: Interval<Millis>, value: Millis| {
            let (low, high) = (low.get().min(value.get()), high.get().max(value.get()));
            Interval { low: Millis::new(low), high: Millis::new(high), confidence }
        };
        let quantile = |ours: Quantile, theirs: Quantile| match ours {
            Quantile::Known { value, .. } => {
                let found = theirs.support(part.n);
                let interval = found.map(|found| found.map(|ends| holding(ends, value)));
                Quantile::Known { value, interval }
            }
            Quantile::Absent | Quantile::Withheld { .. } => ours,
        };
        let mean = part.mean_interval.zip(self.mean);
        Self {
            mean_interval: mean.map(|(found, mean)| found.map(|ends| holding(ends, mean))),
            effective_n: part.effective_n,
            p50: quantile(self.p50, part.p50),
            p90: quantile(self.p90, part.p90),
            p95: quantile(self.p95, part.p95),
            p99: quantile(self.p99, part.p99),
            p999: quantile(self.p999, part.p999),
            ..self
        }
    }

    /// The percentile that `statistic` names; none if it is no percentile.
    #[must_use]
    pub const fn quantile(&self, statistic: Statistic) -> Option<Quantile> {
        Some(match statistic {
            Statistic::P50 => self.p50,
            Statistic::P90 => self.p90,
            Statistic::P95 => self.p95,
            Statistic::P99 => self.p99,
            Statistic::P999 => self.p999,
            Statistic::Mean | Statistic::Max | Statistic::Value => return None,
        })
    }

    /// Where the true value of a statistic lies, at 95 %; none where it cannot be known: of the greatest value and of pooled
    /// percentiles, and where the sample is too small.
    #[must_use]
    pub fn interval(&self, statistic: Statistic) -> Option<Interval<Millis>> {
        match statistic {
            Statistic::Mean => self.mean_interval?.known(),
            _ => self.quantile(statistic)?.interval(),
        }
    }
}
