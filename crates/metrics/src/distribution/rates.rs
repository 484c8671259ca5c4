//! Rates, one a request, whose slow tail lies at the low end.

use fizeau_core::{Millis, Nanos, PerSec};

use super::PooledSample;
use super::describe::{Moments, interpolate, values_needed};
use crate::Statistic;
use crate::sort::{ascending, key};

/// The summary of rates, one a request, such as the pace at which each user reads. The more the better, so the slow tail is
/// p10, p5 and p1.
///
/// Exact up to [`LevelTally::EXACT`](crate::LevelTally::EXACT) requests, and percentiles within 2^-11 beyond, with linear
/// interpolation; a percentile is withheld where the sample is too small to support it, by the rule of
/// [`Distribution`](crate::Distribution), at the lower end likewise: p10 needs 10 values, p5 20, p1 100.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RateDistribution {
    /// How many requests.
    pub n: u64,
    /// The mean of their rates: not the rate of all together.
    pub mean: Option<PerSec>,
    /// The standard deviation (population form).
    pub std: Option<PerSec>,
    /// The slowest.
    pub min: Option<PerSec>,
    /// The rate that 99 in 100 reach.
    pub p1: Option<PerSec>,
    /// The rate that 19 in 20 reach.
    pub p5: Option<PerSec>,
    /// The rate that 9 in 10 reach.
    pub p10: Option<PerSec>,
    /// The median.
    pub p50: Option<PerSec>,
    /// The rate that 1 in 10 reaches.
    pub p90: Option<PerSec>,
    /// The fastest.
    pub max: Option<PerSec>,
}

impl RateDistribution {
    fn of_folded(folded: &PooledSample) -> Self {
        let (all, percents) = folded.summary_with(&[1.0, 5.0, 10.0, 50.0, 90.0]);
        let rate = |figure: Option<Millis>| figure.map(|figure| PerSec::new(figure.get()));
        let percentile = |index: usize, mirrored: u64| {
            let found = percents.get(index).copied().flatten();
            rate(found.filter(|_| all.n >= values_needed(mirrored)))
        };
        Self {
            n: all.n,
            mean: rate(all.mean),
            std: rate(all.std),
            min: rate(all.min),
            p1: percentile(0, 990),
            p5: percentile(1, 950),
            p10: percentile(2, 900),
            p50: percentile(3, 500),
            p90: percentile(4, 900),
            max: rate(all.max),
        }
    }

    /// One statistic; none if the sample is empty or cannot support it, and for those of the other tail, which it does not have.
    pub(crate) const fn statistic(&self, statistic: Statistic) -> Option<PerSec> {
        match statistic {
            Statistic::Mean => self.mean,
            Statistic::P50 => self.p50,
            Statistic::P90 => self.p90,
            Statistic::Max => self.max,
            _ => None,
        }
    }
}

/// The rates behind a [`RateDistribution`].
#[derive(Debug, Clone)]
pub(crate) struct RateSample {
    kept: Vec<f64>,
    /// The most that are kept.
    most: usize,
    /// All of them, once they were more.
    folded: Option<PooledSample>,
}

impl RateSample {
    /// Empty, to keep so many one by one.
    pub(crate) const fn up_to(most: usize) -> Self {
        Self { kept: Vec::new(), most, folded: None }
    }

    /// How many bytes it holds.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        8 * self.kept.capacity() + self.folded.as_ref().map_or(0, PooledSample::bytes)
    }

    /// Takes `rate` in, if there is one.
    pub(crate) fn note(&mut self, rate: Option<PerSec>) {
        let rate = rate.map(PerSec::get).filter(|rate| (0.0..f64::INFINITY).contains(rate));
        self.kept.extend(rate);
        self.fold();
    }

    /// Takes in all that `other` has.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.kept.append(&mut other.kept);
        match (&mut self.folded, other.folded) {
            (Some(ours), Some(theirs)) => ours.merge(theirs),
            (None, Some(theirs)) => self.folded = Some(theirs),
            (_, None) => {}
        }
        self.fold();
    }

    /// Puts what is kept to the rest where there is any, or as soon as it is too much: as lengths of time, of which a nanosecond
    /// stands for a millionth of a unit.
    fn fold(&mut self) {
        if self.folded.is_some() || self.kept.len() > self.most {
            let folded = self.folded.get_or_insert_with(|| PooledSample::up_to(self.most));
            let nanos = |rate: f64| Nanos::from_nanos((rate * 1e6).round() as u64);
            folded.extend(self.kept.drain(..).map(nanos));
        }
    }

    pub(crate) fn summary(&self) -> RateDistribution {
        if let Some(folded) = &self.folded {
            return RateDistribution::of_folded(folded);
        }
        let mut sorted = self.kept.clone();
        ascending(&mut sorted, |&rate| key(rate));
        let moments = Moments::of(|| sorted.iter().map(|&rate| (rate, 1)));
        let at = |rank: u64| sorted.get(rank as usize).copied();
        let percentile = |q: f64, mirrored: u64| {
            let supported = moments.n >= values_needed(mirrored);
            interpolate(moments.n, q, at).filter(|_| supported).map(PerSec::new)
        };
        RateDistribution {
            n: moments.n,
            mean: moments.mean.map(PerSec::new),
            std: moments.std.map(PerSec::new),
            min: at(0).map(PerSec::new),
            p1: percentile(0.01, 990),
            p5: percentile(0.05, 950),
            p10: percentile(0.1, 900),
            p50: percentile(0.5, 500),
            p90: percentile(0.9, 900),
            max: sorted.last().copied().map(PerSec::new),
        }
    }
}
