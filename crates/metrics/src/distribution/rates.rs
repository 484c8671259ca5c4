//! Rates, one a request, whose slow tail lies at the low end.

use fizeau_core::PerSec;

use super::describe::{Moments, interpolate, values_needed};
use crate::Statistic;
use crate::sort::{ascending, key};

/// The summary of rates, one a request, such as the pace at which each user reads. The more the better, so the slow tail is
/// p10, p5 and p1.
///
/// Exact, with linear interpolation; a percentile is withheld where the sample is too small to support it, by the rule of
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

/// The rates behind a [`RateDistribution`], all of them kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct RateSample(Vec<f64>);

impl RateSample {
    /// Takes `rate` in, if there is one.
    pub(crate) fn note(&mut self, rate: Option<PerSec>) {
        self.0.extend(rate.map(PerSec::get).filter(|rate| (0.0..f64::INFINITY).contains(rate)));
    }

    /// Takes in all that `other` has.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub(crate) fn summary(&self) -> RateDistribution {
        let mut sorted = self.0.clone();
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
