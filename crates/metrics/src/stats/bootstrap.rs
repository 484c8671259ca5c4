//! How far a statistic may be off, by drawing the run again and again from itself, in blocks.

mod interval;
mod length;
mod ranked;
mod resample;

use std::ops::Range;

use thiserror::Error;

use super::select::check_finite;
use super::{
    Autocorrelation, Confidence, Estimate, Percent, PercentileRule, RandomBits, ResampleSeed,
    Support,
};
use interval::Replicates;
pub(crate) use interval::least_for_percentile;
pub(crate) use ranked::Ranked;
pub(crate) use resample::Resampling;
use resample::without_groups;

/// A confidence interval of any statistic of a run, by resampling blocks of successive requests.
///
/// Requests that are in flight together meet the same batches and queues, so their latencies are not independent, and an
/// interval that takes them to be is too narrow. Blocks keep neighbours together. Give values in the order in which their
/// requests were sent.
///
/// ```
/// use fizeau_metrics::{Bootstrap, Percent, PercentileRule, ResampleSeed, Support};
/// let latencies: Vec<f64> = (0..1000).map(|k| f64::from(k * 7919 % 1009)).collect();
/// let bootstrap = Bootstrap::new(ResampleSeed(1));
///
/// let p99 = bootstrap.percentile(&latencies, Percent::P99, PercentileRule::Linear)?;
/// let p99 = p99.known().ok_or("1000 requests support it")?;
/// assert!(p99.interval.low <= p99.value && p99.value <= p99.interval.high);
///
/// let too_few = bootstrap.percentile(&latencies[..200], Percent::P99, PercentileRule::Linear)?;
/// assert!(matches!(too_few, Support::NotSupported { needs: 368.., has: 200 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// How blocks are drawn.
    pub kind: BlockKind,
    /// How long blocks are.
    pub length: BlockLength,
    /// How often the run is drawn again.
    pub resamples: u32,
    /// How often such an interval shall enclose the truth.
    pub confidence: Confidence,
    /// How an interval is read off what was drawn.
    pub method: IntervalMethod,
    /// What the drawing starts from.
    pub seed: ResampleSeed,
}

/// How blocks are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BlockKind {
    /// Blocks of random, geometric lengths from anywhere, the end of the run joined to its beginning: D. N. Politis and J.
    /// P. Romano, "The stationary bootstrap" (JASA 89, 1994). Every value is drawn as often as any other.
    #[default]
    Stationary,
    /// Overlapping blocks of one length that lie within the run: H. R. Künsch, "The jackknife and the bootstrap for general
    /// stationary observations" (Annals of Statistics 17, 1989). The first and last values are drawn less often.
    Moving,
}

/// How long blocks are: the mean length of stationary ones, the length of moving ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BlockLength {
    /// From how far values are seen to hang together: D. N. Politis and H. White, "Automatic block-length selection for the
    /// dependent bootstrap" (Econometric Reviews 23, 2004), as corrected by A. Patton, D. N. Politis and H. White (28,
    /// 2009). For a percentile the series looked at is whether each value lies above it.
    #[default]
    Auto,
    /// The cube root of the number of values, which grows as the best length does.
    CubeRoot,
    /// So many requests; 1 takes them as independent.
    Requests(u32),
}

/// How an interval is read off the statistics of the resamples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IntervalMethod {
    /// Between their percentiles.
    #[default]
    Percentile,
    /// Likewise, with the percentiles moved for bias and skew: B. Efron, "Better bootstrap confidence intervals" (JASA 82,
    /// 1987), the acceleration from a jackknife that leaves out one block at a time. Meant for smooth statistics such as
    /// means; of a percentile the jackknife knows little.
    BiasCorrected,
}

/// Below this many values there are too few different resamples to speak of an interval.
const LEAST: u64 = 10;
/// A jackknife leaves out no more than so many groups, one at a time: what it costs is this times the statistic.
const MOST_GROUPS: usize = 1_000;

impl Bootstrap {
    /// Stationary blocks of automatic length, 1,000 resamples, 95 % between percentiles.
    #[must_use]
    pub const fn new(seed: ResampleSeed) -> Self {
        Self {
            kind: BlockKind::Stationary,
            length: BlockLength::Auto,
            resamples: 1_000,
            confidence: Confidence::P95,
            method: IntervalMethod::Percentile,
            seed,
        }
    }

    /// The value of `statistic` on `values` and its interval. The statistic may reorder what it is given.
    ///
    /// It takes at least ten values. For a percentile use [`Bootstrap::percentile`], which is many times as fast.
    ///
    /// ```
    /// use fizeau_metrics::{Bootstrap, ResampleSeed};
    /// let values: Vec<f64> = (0..100).map(|k| f64::from(k * 37 % 101)).collect();
    /// let mean = |values: &mut [f64]| values.iter().sum::<f64>() / values.len() as f64;
    /// let found = Bootstrap::new(ResampleSeed(1)).statistic(&values, mean)?;
    /// assert!(found.known().is_some());
    /// # Ok::<(), fizeau_metrics::BootstrapError>(())
    /// ```
    ///
    /// # Errors
    /// If a value, or the statistic of the sample or of a resample, is NaN or infinite, if no resamples are asked for, or if a
    /// correction for bias is and blocks are longer than half the run.
    pub fn statistic(
        &self,
        values: &[f64],
        mut statistic: impl FnMut(&mut [f64]) -> f64,
    ) -> Result<Support<Estimate>, BootstrapError> {
        self.check(values)?;
        let n = values.len();
        if (n as u64) < LEAST {
            return Ok(Support::NotSupported { needs: LEAST, has: n as u64 });
        }
        let mut finite = |values: &mut [f64]| {
            let found = statistic(values);
            if found.is_finite() { Ok(found) } else { Err(BootstrapError::Statistic) }
        };
        let value = finite(&mut values.to_vec())?;
        let resampling = Resampling::new(n, self.kind, self.length.of(values, self.kind));
        let mut bits = RandomBits::new(self.seed);
        let mut drawn = Vec::with_capacity(n);
        let mut replicates = Vec::with_capacity(self.resamples as usize);
        for _ in 0..self.resamples {
            drawn.clear();
            resampling.draw(&mut bits, |block| drawn.extend_from_slice(&values[block]));
            replicates.push(finite(&mut drawn)?);
        }
        let replicates = Replicates::new(value, replicates);
        let interval = match self.method {
            IntervalMethod::Percentile => replicates.between(self.confidence),
            IntervalMethod::BiasCorrected => {
                let left = left_out(n, &resampling)?.map(|group| {
                    finite(&mut [&values[..group.start], &values[group.end..]].concat())
                });
                let left = left.collect::<Result<Vec<_>, _>>()?;
                replicates.bias_corrected(&left, self.confidence)
            }
        };
        Ok(Support::Known(Estimate { value, interval }))
    }

    /// The percentile `percent` of `values` by `rule`, and its interval.
    ///
    /// It takes so many values that, were they independent, both ends of an interval could lie within the sample: 368 for a
    /// p99 at 95 %. Where they hang together it takes as many times more as [`Autocorrelation::time`] says of the series
    /// of which values lie above the percentile. [`PercentileRule::Hdr`] is taken as the rule that it rounds.
    ///
    /// The values are sorted once; a resample is then a count of how often each was drawn, and its percentile is found by
    /// adding counts from the nearer end.
    ///
    /// # Errors
    /// If a value is NaN or infinite, if no resamples are asked for, if `percent` is 0 or 100 (the least and the greatest value
    /// of a sample say nothing about what lies beyond them), or if a correction for bias is asked for and blocks are longer than
    /// half the run.
    pub fn percentile(
        &self,
        values: &[f64],
        percent: Percent,
        rule: PercentileRule,
    ) -> Result<Support<Estimate>, BootstrapError> {
        self.check(values)?;
        let least =
            least_for_percentile(percent, self.confidence).ok_or(BootstrapError::Extreme)?;
        let n = values.len() as u64;
        let ranked = Ranked::new(values);
        let found = rule.place(values.len(), percent).and_then(|place| ranked.original(place));
        let Some(value) = found.filter(|_| n >= least) else {
            return Ok(Support::NotSupported { needs: least, has: n });
        };
        let above = |&x: &f64| if x > value { 1.0 } else { 0.0 };
        let beyond: Vec<f64> = values.iter().map(above).collect();
        let inflation = Autocorrelation::of(&beyond).map_or(1.0, Autocorrelation::inflation);
        let needs = (least as f64 * inflation).ceil() as u64;
        if n < needs {
            return Ok(Support::NotSupported { needs, has: n });
        }
        let length = self.length.of(&beyond, self.kind);
        let resampling = Resampling::new(values.len(), self.kind, length);
        let drawn = ranked.resampled(&resampling, self, (percent, rule));
        let replicates = Replicates::new(value, drawn);
        let interval = match self.method {
            IntervalMethod::Percentile => replicates.between(self.confidence),
            IntervalMethod::BiasCorrected => {
                let groups = left_out(values.len(), &resampling)?;
                let left = ranked.without(groups, (percent, rule));
                replicates.bias_corrected(&left, self.confidence)
            }
        };
        Ok(Support::Known(Estimate { value, interval }))
    }

    fn check(&self, values: &[f64]) -> Result<(), BootstrapError> {
        if self.resamples == 0 {
            return Err(BootstrapError::NoResamples);
        }
        check_finite(values).map_err(|index| BootstrapError::NotFinite { index })
    }
}

/// What a jackknife of `n` values leaves out, one after another: two groups or more.
fn left_out(
    n: usize,
    resampling: &Resampling,
) -> Result<impl Iterator<Item = Range<usize>> + use<>, BootstrapError> {
    let length = resampling.whole_length();
    if 2 * length > n {
        return Err(BootstrapError::OneBlock { length, n });
    }
    Ok(without_groups(n, length, MOST_GROUPS))
}

/// Why there is no interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BootstrapError {
    /// A value is NaN or infinite.
    #[error("value {index} (from 0) is NaN or infinite: leave out what is not a number")]
    NotFinite {
        /// Its index, from 0.
        index: usize,
    },
    /// The statistic gave NaN or infinity.
    #[error("the statistic gave NaN or infinity: it must be a number for every resample")]
    Statistic,
    /// No resamples were asked for.
    #[error("0 resamples: an interval takes at least one, and 1000 are usual")]
    NoResamples,
    /// Blocks so long that a jackknife has but one to leave out.
    #[error(
        "blocks of {length} of {n} values: for the skew, blocks may be as long as half the run at most"
    )]
    OneBlock {
        /// How long blocks are.
        length: usize,
        /// How many values there are.
        n: usize,
    },
    /// Percentile 0 or 100 was asked for.
    #[error("percentile 0 or 100: the least and the greatest value have no interval")]
    Extreme,
}
