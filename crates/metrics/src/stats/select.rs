//! Percentiles without sorting: count by leading bits, then look into the few buckets that matter.

use thiserror::Error;

use super::rank::RankPair;
use super::{Percent, PercentileRule};
use crate::sort::{key, sort_numbers};

/// Up to here sorting a copy is as fast.
const SMALL: usize = 1 << 14;
/// Buckets to count in.
const BUCKET_BITS: u32 = 16;

/// The percentiles `wanted` of values in any order, each exact by `rule`, in the order asked for.
///
/// It reads the values three times and sorts none but those near the percentiles: linear time, and memory for a copy of
/// the values that share a bucket with one.
///
/// ```
/// use fizeau_metrics::{Percent, PercentileRule, percentiles};
/// let latencies = [30.0, 10.0, 40.0, 20.0, 50.0];
/// let found = percentiles(&latencies, &[Percent::P50, Percent::P90], PercentileRule::Linear)?;
/// assert_eq!(found, [30.0, 46.0]);
/// # Ok::<(), fizeau_metrics::PercentilesError>(())
/// ```
///
/// # Errors
/// If there are no values, or one of them is NaN or infinite.
pub fn percentiles(
    values: &[f64],
    wanted: &[Percent],
    rule: PercentileRule,
) -> Result<Vec<f64>, PercentilesError> {
    check_finite(values).map_err(|index| PercentilesError::NotFinite { index })?;
    let places = wanted.iter().map(|&percent| rule.place(values.len(), percent));
    let places: Vec<RankPair> = places.collect::<Option<_>>().ok_or(PercentilesError::Empty)?;
    let mut ranks: Vec<usize> = places.iter().flat_map(|p| [p.below, p.above]).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let found = at_ranks(values, &ranks);
    let at = |rank| found.get(ranks.partition_point(|&r| r < rank)).copied();
    let read = |place: RankPair| Some(place.value(at(place.below)?, at(place.above)?));
    places.into_iter().map(read).collect::<Option<_>>().ok_or(PercentilesError::Empty)
}

/// Why there are no percentiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PercentilesError {
    /// There are no values.
    #[error("no values: a percentile needs at least one")]
    Empty,
    /// A value is NaN or infinite.
    #[error("value {index} (from 0) is NaN or infinite: leave out what is not a number")]
    NotFinite {
        /// Its index, from 0.
        index: usize,
    },
}

/// The index of the first value that is NaN or infinite, as an error.
pub(super) fn check_finite(values: &[f64]) -> Result<(), usize> {
    // Without an early exit it is done many at a time; the place is looked for only where there is one.
    if values.iter().fold(true, |all, value| all & value.is_finite()) {
        return Ok(());
    }
    values.iter().position(|value| !value.is_finite()).map_or(Ok(()), Err)
}

/// The values at `ranks`, which ascend and count from 0, of finite values in any order.
pub(super) fn at_ranks(values: &[f64], ranks: &[usize]) -> Vec<f64> {
    if values.len() <= SMALL { by_sorting(values, ranks) } else { by_counting(values, ranks) }
}

fn by_sorting(values: &[f64], ranks: &[usize]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sort_numbers(&mut sorted);
    ranks.iter().filter_map(|&rank| sorted.get(rank).copied()).collect()
}

fn by_counting(values: &[f64], ranks: &[usize]) -> Vec<f64> {
    let buckets = Buckets::spanning(values);
    let mut counts = vec![0usize; 1 << BUCKET_BITS];
    for &value in values {
        counts[buckets.of(value)] += 1;
    }
    let mut groups = groups(&counts, ranks);
    // Bucket to its group, from 1; 0 for the many buckets without one. At most two ranks a percentile.
    let mut group_of = vec![0u32; 1 << BUCKET_BITS];
    for (group, number) in groups.iter().zip(1..) {
        group_of[group.bucket] = number;
    }
    for &value in values {
        let number = group_of[buckets.of(value)] as usize;
        if let Some(group) = number.checked_sub(1).and_then(|at| groups.get_mut(at)) {
            group.values.push(value);
        }
    }
    groups.iter_mut().flat_map(BucketValues::select).collect()
}

/// Equal steps in the order of floats.
struct Buckets {
    least: u64,
    shift: u32,
}

impl Buckets {
    /// The least and the greatest are kept in lanes of their own, so that no comparison waits for the one before it.
    fn spanning(values: &[f64]) -> Self {
        let mut lanes = [(f64::INFINITY, f64::NEG_INFINITY); 8];
        for chunk in values.chunks(lanes.len()) {
            for ((least, greatest), &value) in lanes.iter_mut().zip(chunk) {
                *least = if value < *least { value } else { *least };
                *greatest = if value > *greatest { value } else { *greatest };
            }
        }
        let least = lanes.iter().fold(f64::INFINITY, |least, lane| least.min(lane.0));
        let greatest = lanes.iter().fold(f64::NEG_INFINITY, |greatest, lane| greatest.max(lane.1));
        // The two zeros are one number to a comparison, and two in the order of keys.
        let least = key(if least == 0.0 { -0.0 } else { least });
        let greatest = key(if greatest == 0.0 { 0.0 } else { greatest });
        let bits = u64::BITS - greatest.saturating_sub(least).leading_zeros();
        Self { least, shift: bits.saturating_sub(BUCKET_BITS) }
    }

    /// Below 2^16 for every value of the span.
    fn of(&self, value: f64) -> usize {
        ((key(value) - self.least) >> self.shift) as usize
    }
}

/// One bucket that ranks lie in, and its values.
struct BucketValues {
    bucket: usize,
    /// The ranks, ascending, counted from the bucket's own least value.
    ranks: Vec<usize>,
    values: Vec<f64>,
}

/// The buckets that `ranks` lie in, in order.
fn groups(counts: &[usize], ranks: &[usize]) -> Vec<BucketValues> {
    let mut groups: Vec<BucketValues> = Vec::new();
    let mut ranks = ranks.iter().copied().peekable();
    let mut before = 0;
    for (bucket, &count) in counts.iter().enumerate() {
        let mut inside = Vec::new();
        while let Some(rank) = ranks.next_if(|&rank| rank < before + count) {
            inside.push(rank - before);
        }
        if !inside.is_empty() {
            groups.push(BucketValues { bucket, ranks: inside, values: Vec::with_capacity(count) });
        }
        before += count;
    }
    groups
}

impl BucketValues {
    /// The values at the ranks.
    fn select(&mut self) -> Vec<f64> {
        let mut rest = self.values.as_mut_slice();
        let mut start = 0;
        let mut found = Vec::with_capacity(self.ranks.len());
        for &rank in &self.ranks {
            if rank < start + rest.len() {
                let (_, &mut value, above) =
                    rest.select_nth_unstable_by(rank - start, f64::total_cmp);
                found.push(value);
                rest = above;
                start = rank + 1;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_zeros_are_within_the_span() {
        for (first, then) in [(0.0, -0.0), (-0.0, 0.0)] {
            let mut values = vec![first; SMALL];
            values.extend([then; SMALL]);
            let ranks = [0, SMALL - 1, SMALL, 2 * SMALL - 1];
            let found = by_counting(&values, &ranks).into_iter().map(f64::to_bits);
            let sorted = by_sorting(&values, &ranks).into_iter().map(f64::to_bits);
            assert_eq!(found.collect::<Vec<_>>(), sorted.collect::<Vec<_>>());
        }
    }
}
