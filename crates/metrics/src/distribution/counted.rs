//! Lengths in tokens, summarised: many requests, few lengths.

use std::collections::BTreeMap;

use fizeau_core::Tokens;

use super::describe::{interpolate, values_needed};
use super::sample::Ranked;

/// The summary of lengths in tokens, one a request. Exact; a percentile is withheld where the sample is too small to
/// support it, by the rule of [`Distribution`](crate::Distribution), at the lower end likewise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TokenDistribution {
    /// How many requests.
    pub n: u64,
    /// The mean, in tokens.
    pub mean: Option<f64>,
    /// The shortest.
    pub min: Option<Tokens>,
    /// The 10th percentile, in tokens, by linear interpolation as all others.
    pub p10: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The longest.
    pub max: Option<Tokens>,
}

impl TokenDistribution {
    /// The length that all requests have; none where they differ, or there are none.
    #[must_use]
    pub fn always(&self) -> Option<Tokens> {
        self.min.filter(|_| self.min == self.max)
    }
}

/// How often each length came. A level has far fewer lengths than requests, so each is kept once, with its count.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenCensus(BTreeMap<u64, u64>);

impl TokenCensus {
    pub(crate) fn push(&mut self, length: Tokens) {
        *self.0.entry(length.get()).or_default() += 1;
    }

    /// Takes in all that `other` has.
    pub(crate) fn merge(&mut self, other: Self) {
        for (length, count) in other.0 {
            *self.0.entry(length).or_default() += count;
        }
    }

    pub(crate) fn summary(&self) -> TokenDistribution {
        let ends = self.0.first_key_value().zip(self.0.last_key_value());
        let Some(((&min, _), (&max, _))) = ends else {
            return TokenDistribution::default();
        };
        let n: u64 = self.0.values().sum();
        let sum: f64 = self.0.iter().map(|(&length, &count)| length as f64 * count as f64).sum();
        let counts = self.0.iter().map(|(&length, &count)| (length as f64, count));
        let ranked = Ranked::from_sorted(counts.collect());
        let percentile = |q: f64, per_mille: u64| {
            let supported = n >= values_needed(per_mille);
            interpolate(n, q, |rank| ranked.at(rank)).filter(|_| supported)
        };
        TokenDistribution {
            n,
            mean: Some(sum / n as f64),
            min: Some(Tokens::new(min)),
            p10: percentile(0.1, 900),
            p50: percentile(0.5, 500),
            p90: percentile(0.9, 900),
            p99: percentile(0.99, 990),
            max: Some(Tokens::new(max)),
        }
    }
}
