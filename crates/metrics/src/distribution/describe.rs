//! From a sorted sample to its figures, read off by rank.

use fizeau_core::{Interval, Millis};

use super::interval::{enclosing_ranks, enclosing_ranks_of_series};
use super::ordered::{inflation_above, mean_of_series, needed};
use super::{Distribution, PercentileResolution, Quantile};
use crate::SampleSupport;
use crate::stats::needed_of_series;

/// The percentile `percent` (from 0 to 100) of values sorted in ascending order, by linear interpolation as
/// numpy's default has it; none if there are no values or `percent` is out of range.
///
/// This is the plain formula: whether the sample can support the percentile is for the caller to say.
/// [`Distribution`] says it for the usual ones.
///
/// ```
/// use fizeau_core::Millis;
/// let sorted = [1.0, 2.0, 4.0].map(Millis::new);
/// assert_eq!(fizeau_metrics::percentile_of_sorted(&sorted, 75.0), Some(Millis::new(3.0)));
/// ```
#[must_use]
pub fn percentile_of_sorted(sorted: &[Millis], percent: f64) -> Option<Millis> {
    if !(0.0..=100.0).contains(&percent) {
        return None;
    }
    let at = |rank: u64| sorted.get(rank as usize).map(|value| value.get());
    interpolate(sorted.len() as u64, percent / 100.0, at).map(Millis::new)
}

/// Whether the values of a sample are independent of each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Dependence<'a> {
    Independent,
    /// They are correlated in an unknown way.
    Pooled,
    /// They are correlated as this series does, which has them in the order of sending.
    Series(&'a [f64]),
}

/// Count, mean and standard deviation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    pub(super) n: u64,
    pub(super) mean: Option<f64>,
    pub(super) std: Option<f64>,
}

impl Moments {
    /// Two passes, since the one-pass formula loses its digits where the spread is small against the mean.
    pub(super) fn of<I: Iterator<Item = (f64, u64)>>(values: impl Fn() -> I) -> Self {
        let n = values().fold(0u64, |n, (_, weight)| n.saturating_add(weight));
        if n == 0 {
            return Self { n, mean: None, std: None };
        }
        let sum: f64 = values().map(|(value, weight)| value * weight as f64).sum();
        let mean = sum / n as f64;
        let square = |(value, weight): (f64, u64)| (value - mean).powi(2) * weight as f64;
        let std = (values().map(square).sum::<f64>() / n as f64).sqrt();
        Self {
            n,
            // Only values near the end of the range of a float can make these infinite.
            mean: Some(mean).filter(|mean| mean.is_finite()),
            std: Some(std).filter(|std| std.is_finite()),
        }
    }
}

/// Everything about a sorted sample, whose value at a rank (from 0) is `at(rank)`.
pub(super) fn describe(
    moments: Moments,
    dependence: Dependence<'_>,
    resolution: PercentileResolution,
    at: impl Fn(u64) -> Option<f64>,
) -> Distribution {
    let n = moments.n;
    // A handful of values beyond a percentile say little of how far they are correlated, and least where they happen to be
    // apart: the further out, the greatest of the times so far counts.
    let mut inflation = 1.0;
    let mut percentile = |per_mille| quantile(n, per_mille, dependence, &mut inflation, &at);
    let (mean_interval, effective_n) = match dependence {
        Dependence::Series(values) if n > 0 => mean_of_series(values),
        Dependence::Pooled if n > 0 => (Some(SampleSupport::CorrelationUnknown), None),
        Dependence::Series(_) | Dependence::Independent | Dependence::Pooled => (None, None),
    };
    Distribution {
        n,
        mean_interval,
        effective_n,
        early_stopping: None,
        over_sent: None,
        mean: moments.mean.map(Millis::new),
        std: moments.std.map(Millis::new),
        min: at(0).map(Millis::new),
        p50: percentile(500),
        p90: percentile(900),
        p95: percentile(950),
        p99: percentile(990),
        p999: percentile(999),
        max: n.checked_sub(1).and_then(&at).map(Millis::new),
        resolution,
    }
}

/// A percentile with its interval. `inflation` is that of the percentiles below, and is raised to that of this one.
fn quantile(
    n: u64,
    per_mille: u64,
    dependence: Dependence<'_>,
    inflation: &mut f64,
    at: impl Fn(u64) -> Option<f64>,
) -> Quantile {
    let needs = values_needed(per_mille);
    if (1..needs).contains(&n) {
        return Quantile::Withheld { needs };
    }
    let q = per_mille as f64 / 1000.0;
    let Some(value) = interpolate(n, q, &at).map(Millis::new) else {
        return Quantile::Absent;
    };
    let (ranks, least) = match dependence {
        Dependence::Pooled => {
            let interval = Some(SampleSupport::CorrelationUnknown);
            return Quantile::Known { value, interval };
        }
        Dependence::Independent => (enclosing_ranks(n, q), needed(q, 1.0)),
        Dependence::Series(values) => {
            *inflation = inflation.max(inflation_above(values, value.get()));
            let least = needed_of_series(*inflation);
            let ranks = (n >= least).then(|| enclosing_ranks_of_series(n, q, *inflation)).flatten();
            (ranks, least.max(needed(q, *inflation)))
        }
    };
    let ends = ranks
        .and_then(|(low, high)| Some(Interval::p95(Millis::new(at(low)?), Millis::new(at(high)?))));
    let none = SampleSupport::NotSupported { needs: least.max(n + 1), has: n };
    Quantile::Known { value, interval: Some(ends.map_or(none, SampleSupport::Known)) }
}

/// How many values it takes to expect at least one beyond the percentile: n (1 - p) >= 1. The median is the
/// middle of the sample and needs but one.
pub(super) const fn values_needed(per_mille: u64) -> u64 {
    if per_mille <= 500 {
        return 1;
    }
    1000u64.div_ceil(1000 - per_mille)
}

/// Linear interpolation between the two values around rank (n - 1) q: definition 7 of R. J. Hyndman and Y.
/// Fan, "Sample Quantiles in Statistical Packages" (1996), in numpy's order of operations so that the results
/// agree to the last bit.
pub(super) fn interpolate(n: u64, q: f64, at: impl Fn(u64) -> Option<f64>) -> Option<f64> {
    let rank = n.checked_sub(1)? as f64 * q;
    let below = rank.floor();
    let share = rank - below;
    let low = at(below as u64)?;
    // The greatest rank has no neighbour above, and its share is zero.
    let high = at(below as u64 + 1).unwrap_or(low);
    Some(if share < 0.5 { low + (high - low) * share } else { high - (high - low) * (1.0 - share) })
}
