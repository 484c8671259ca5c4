//! Values of any kind, collected, sorted once, and summarised.

use fizeau_core::{Millis, Tokens};

use super::describe::{Dependence, Moments, describe};
use super::{Distribution, PercentileResolution};
use crate::sort::{ascending, key};

/// Values of equal weight.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    /// Takes `value` in if it is a latency.
    pub(crate) fn push(&mut self, value: Millis) {
        if is_latency(value) {
            self.0.push(value.get());
        }
    }

    /// Takes in all that `other` has.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// The summary of independent values.
    pub(crate) fn summary(self) -> Distribution {
        self.summarize(Dependence::Independent)
    }

    /// The summary of values that are not independent: no intervals.
    pub(crate) fn pooled_summary(self) -> Distribution {
        self.summarize(Dependence::Pooled)
    }

    /// The summary of values in the order of sending.
    pub(crate) fn series_summary(self) -> Distribution {
        let series = self.0.clone();
        self.summarize(Dependence::Series(&series))
    }

    fn summarize(mut self, dependence: Dependence<'_>) -> Distribution {
        ascending(&mut self.0, |&value| key(value));
        let moments = Moments::of(|| self.0.iter().map(|&value| (value, 1)));
        let at = |rank: u64| self.0.get(rank as usize).copied();
        describe(moments, dependence, PercentileResolution::Exact, at)
    }
}

impl FromIterator<Millis> for Sample {
    fn from_iter<I: IntoIterator<Item = Millis>>(values: I) -> Self {
        let mut sample = Self::default();
        for value in values {
            sample.push(value);
        }
        sample
    }
}

/// Values with whole weights, each standing for as many equal values.
#[derive(Debug, Default)]
pub(super) struct WeightedSample(Vec<(f64, u64)>);

impl WeightedSample {
    /// Takes `value` in if it is a latency and has a weight.
    pub(super) fn push(&mut self, value: Millis, weight: Tokens) {
        if is_latency(value) && weight > Tokens::ZERO {
            self.0.push((value.get(), weight.get()));
        }
    }

    /// The values in order, to be read off by rank.
    pub(super) fn ranked(mut self) -> (Moments, Ranked) {
        // Equal values by their weights: sums must not hang on the order in which they came.
        self.0.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let moments = Moments::of(|| self.0.iter().copied());
        (moments, Ranked::from_sorted(self.0))
    }

    /// The summary of the multiset, without intervals.
    pub(super) fn summary(self) -> Distribution {
        let (moments, ranked) = self.ranked();
        describe(moments, Dependence::Pooled, PercentileResolution::Exact, |rank| ranked.at(rank))
    }
}

/// Ascending values, each with the number of values up to and including its own.
#[derive(Debug)]
pub(super) struct Ranked(Vec<(f64, u64)>);

impl Ranked {
    /// From ascending values with their weights.
    pub(super) fn from_sorted(mut values: Vec<(f64, u64)>) -> Self {
        let mut upto = 0u64;
        for (_, weight) in &mut values {
            upto = upto.saturating_add(*weight);
            *weight = upto;
        }
        Self(values)
    }

    /// The value at a rank, from 0.
    pub(super) fn at(&self, rank: u64) -> Option<f64> {
        let index = self.0.partition_point(|&(_, upto)| upto <= rank);
        self.0.get(index).map(|&(value, _)| value)
    }
}

/// Finite and not negative.
fn is_latency(value: Millis) -> bool {
    (0.0..f64::INFINITY).contains(&value.get())
}
