//! What tools mean by a percentile.

use fizeau_core::Confidence;

use super::Percent;

/// How a percentile is read off a sorted sample of `n` values.
///
/// Tools differ. With four values 10, 20, 30 and 40 their medians are 25 ([`Linear`](Self::Linear)), 20
/// ([`NearestRank`](Self::NearestRank)) and 30 ([`FloorIndex`](Self::FloorIndex)):
///
/// ```
/// use fizeau_metrics::{Percent, PercentileRule};
/// let sorted = [10.0, 20.0, 30.0, 40.0];
/// let median = |rule: PercentileRule| rule.of_sorted(&sorted, Percent::P50);
/// assert_eq!(median(PercentileRule::Linear), Some(25.0));
/// assert_eq!(median(PercentileRule::NearestRank), Some(20.0));
/// assert_eq!(median(PercentileRule::FloorIndex), Some(30.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PercentileRule {
    /// Between the two values around rank `(n - 1) p`, counted from 0: definition 7 of R. J. Hyndman and Y. Fan, "Sample
    /// quantiles in statistical packages" (The American Statistician 50, 1996), and numpy's default. Fizeau's own, and that
    /// of vLLM, SGLang and inference-perf.
    #[default]
    Linear,
    /// The value at rank `ceil(n p)`, counted from 1: the least value that a share of at least `p` does not exceed.
    /// Hyndman and Fan's definition 1, and numpy's `inverted_cdf` but for the rounding of `n p`.
    NearestRank,
    /// The value at the whole rank nearest to `(n - 1) p`, counted from 0, halves going to the even one: numpy's `nearest`,
    /// which AIPerf uses for its adjusted figures.
    NearestIndex,
    /// The value at rank `floor(n p)`, counted from 0, and the greatest where there is none: oha's, an older EvalScope's, and
    /// MLPerf LoadGen's `sorted[floor(n p)]`. It is one rank high where `n p` is whole.
    FloorIndex,
    /// The least value whose cumulated weight reaches the share `p` of all weight, without interpolation: GuideLLM's. With
    /// equal weights it is [`NearestRank`](Self::NearestRank); [`weighted_percentile_of_sorted`] takes weights, and rounds as
    /// GuideLLM does.
    WeightedCdf,
    /// [`NearestRank`](Self::NearestRank) on values that an HDR histogram of three significant digits has counted, as wrk2
    /// has it: each value stands for its bucket, and the greatest number of that bucket is given. Values count in whole
    /// units, fractions dropped and negative ones taken as 0, so the unit matters: wrk2's is the microsecond.
    Hdr,
}

impl PercentileRule {
    /// The rule with this [`PercentileRule::key`].
    ///
    /// ```
    /// use fizeau_metrics::PercentileRule;
    /// assert_eq!(PercentileRule::from_key("hdr"), Some(PercentileRule::Hdr));
    /// assert_eq!(PercentileRule::from_key("median"), None);
    /// ```
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.key() == key)
    }

    /// The percentile `percent` of ascending values; none if there are none.
    ///
    /// This is the plain rule. Whether the sample supports the percentile is for the caller to say.
    #[must_use]
    pub fn of_sorted(self, sorted: &[f64], percent: Percent) -> Option<f64> {
        self.of_ranks(sorted.len(), percent, |rank| sorted.get(rank).copied())
    }

    /// The same of `n` sorted values, of which `at` gives the one of a rank from 0.
    #[must_use]
    pub fn of_ranks(
        self,
        n: usize,
        percent: Percent,
        at: impl Fn(usize) -> Option<f64>,
    ) -> Option<f64> {
        let place = self.place(n, percent)?;
        Some(place.value(at(place.below)?, at(place.above)?))
    }

    /// Where the percentile lies in a sorted sample of `n` values; nowhere in an empty one.
    pub(crate) fn place(self, n: usize, percent: Percent) -> Option<RankPair> {
        let last = n.checked_sub(1)?;
        let at = |rank: f64| (rank.max(0.0) as usize).min(last);
        // Multiplied first: n * 99 / 100 is right where n * 0.99 may be off by one in the last place.
        let reached = n as f64 * percent.get() / 100.0;
        let whole = |index| RankPair { below: index, above: index, share: 0.0, hdr: None };
        Some(match self {
            Self::Linear => {
                let rank = last as f64 * percent.share();
                let below = at(rank.floor());
                RankPair {
                    above: (below + 1).min(last),
                    share: rank - rank.floor(),
                    ..whole(below)
                }
            }
            Self::NearestRank | Self::WeightedCdf => whole(at(reached.ceil() - 1.0)),
            Self::NearestIndex => whole(at((last as f64 * percent.share()).round_ties_even())),
            Self::FloorIndex => whole(at(reached.floor())),
            Self::Hdr => {
                let edge =
                    if percent.get() > 0.0 { BucketEdge::Highest } else { BucketEdge::Lowest };
                RankPair { hdr: Some(edge), ..whole(at(reached.ceil() - 1.0)) }
            }
        })
    }
}

fizeau_core::words! {
    /// The word for it on a command line: `linear`, `nearest-rank`.
    pub PercentileRule::key, all {
        Linear = "linear", NearestRank = "nearest-rank", NearestIndex = "nearest-index",
        FloorIndex = "floor-index", WeightedCdf = "weighted-cdf", Hdr = "hdr",
    }
}

/// Two ranks, counted from 0, and how the values there make a percentile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankPair {
    pub(crate) below: usize,
    pub(crate) above: usize,
    share: f64,
    hdr: Option<BucketEdge>,
}

/// Which end of an HDR bucket is given: the lowest for percentile 0, as HdrHistogram does.
#[derive(Debug, Clone, Copy)]
enum BucketEdge {
    Lowest,
    Highest,
}

impl RankPair {
    /// The percentile, from the values at the two ranks.
    pub(crate) fn value(self, low: f64, high: f64) -> f64 {
        if let Some(edge) = self.hdr {
            return bucket_edge(low, edge);
        }
        // In numpy's order of operations, so that the results agree to the last bit.
        let (share, step) = (self.share, high - low);
        // Only between values at both ends of the range of a float.
        if !step.is_finite() {
            return low * (1.0 - share) + high * share;
        }
        if share < 0.5 { low + step * share } else { high - step * (1.0 - share) }
    }
}

/// Buckets in the first range of an HDR histogram of three digits, each one unit wide: the power of two that is at least
/// 2 * 10^3. From there on buckets are twice as wide after each doubling (G. Tene, HdrHistogram).
const HDR_FIRST: u64 = 2048;

fn bucket_edge(value: f64, edge: BucketEdge) -> f64 {
    let counted = value.max(0.0) as u64;
    let shift = (u64::BITS - counted.leading_zeros()).saturating_sub(HDR_FIRST.ilog2());
    let lowest = counted >> shift << shift;
    match edge {
        BucketEdge::Lowest => lowest as f64,
        BucketEdge::Highest => (lowest | ((1u64 << shift) - 1)) as f64,
    }
}

/// The percentile `percent` of weighted values in ascending order: the least value whose cumulated weight reaches that
/// share of all weight ([`PercentileRule::WeightedCdf`]); none where there is no weight.
///
/// Shares are cumulated in floating point, one value after another, as GuideLLM does (`numpy.cumsum`), so that the results
/// agree: where a share is met exactly, rounding may leave the sum just below it, and the next value is given.
///
/// ```
/// use fizeau_metrics::{Percent, weighted_percentile_of_sorted};
/// let gaps = [(5.0, 90), (20.0, 10)]; // milliseconds, and how many tokens waited so long
/// assert_eq!(weighted_percentile_of_sorted(&gaps, Percent::P90), Some(5.0));
/// assert_eq!(weighted_percentile_of_sorted(&gaps, Percent::P95), Some(20.0));
/// ```
#[must_use]
pub fn weighted_percentile_of_sorted(sorted: &[(f64, u64)], percent: Percent) -> Option<f64> {
    let sum = |part: &[(f64, u64)]| -> u128 { part.iter().map(|&(_, own)| u128::from(own)).sum() };
    let total = sum(sorted) as f64;
    // 99.9 / 100 is a digit off the 0.999 that is meant.
    let wanted = percent.get() * 10.0 / 1000.0;
    let (mut reached, mut found) = (0.0, None);
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        let weight = sum(same);
        if weight == 0 {
            continue;
        }
        reached += weight as f64 / total;
        found = same.first().map(|(value, _)| *value);
        if reached >= wanted {
            break;
        }
    }
    found
}

/// How many independent values it takes until both ends of a percentile's interval can lie within the sample: the greatest
/// is then below the percentile, or the least above it, in no more than the share outside on each side. None for the
/// percentiles 0 and 100.
pub(crate) fn least_for_percentile(percent: Percent, confidence: Confidence) -> Option<u64> {
    let longer = percent.share().max(1.0 - percent.share());
    (longer < 1.0).then(|| (confidence.tail().ln() / longer.ln()).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.99^367 = 0.02501 and 0.99^368 = 0.02476; 0.5^5 = 0.031 and 0.5^6 = 0.016.
    #[test]
    fn as_many_values_as_order_statistics_take() {
        let least = |percent| least_for_percentile(percent, Confidence::P95);
        assert_eq!(least(Percent::P99), Some(368));
        assert_eq!(least(Percent::P50), Some(6));
        assert_eq!(least(Percent::new(1.0).unwrap()), Some(368));
        assert_eq!(least(Percent::new(100.0).unwrap()), None);
        assert_eq!(least(Percent::new(0.0).unwrap()), None);
    }
}
