//! Samples of any size in bounded memory: exact while they are small, to within 0.05 % beyond.

mod folded;
#[cfg(test)]
mod tests;

use fizeau_core::{Millis, Nanos, Tokens};

use super::column::{Column, SortedColumn};
use super::describe::{Dependence, Moments, describe, interpolate, values_needed};
use super::sample::{Ranked, WeightedSample};
use super::{Distribution, PercentileResolution, SentPercentiles};
use folded::{Folded, share};

/// A sample of gaps pooled from many requests, such as inter-token latencies: bounded in memory, however long the run.
///
/// Up to [`PooledSample::EXACT`] values (gaps; a weight costs nothing) it keeps every one and its figures are exact.
/// Beyond, it folds them into log-linear buckets: count, mean, least and greatest value stay exact, the standard
/// deviation is as exact as floating sums are, and each percentile is within 2^-11 of the exact one, under 0.05 %. The
/// [`Distribution`] says which it is: [`PercentileResolution`].
///
/// ```
/// use fizeau_core::{Millis, Nanos, Tokens};
/// use fizeau_metrics::PooledSample;
///
/// let mut sample = PooledSample::default();
/// sample.push(Nanos::from_millis(10));
/// sample.push_shared(Nanos::from_millis(30), Tokens::new(3)); // three tokens, 10 ms each
/// assert_eq!(sample.len(), 4);
/// assert_eq!(sample.summary().p50.value(), Some(Millis::new(10.0)));
/// ```
#[derive(Debug, Clone)]
pub struct PooledSample {
    state: State,
    /// How many are kept one by one.
    most: usize,
}

#[derive(Debug, Clone)]
enum State {
    Exact(Exact),
    Folded(Box<Folded>),
}

/// Every value: gaps of one token, and gaps that several share.
#[derive(Debug, Clone, Default)]
struct Exact {
    whole: Column,
    shared: Vec<(Nanos, u64)>,
}

impl PooledSample {
    /// How many gaps are kept one by one before they are folded: 2^20, a little over a million.
    pub const EXACT: usize = 1 << 20;

    /// Empty, to keep so many one by one instead of [`PooledSample::EXACT`].
    #[must_use]
    pub fn up_to(most: usize) -> Self {
        Self { state: State::Exact(Exact::default()), most }
    }

    /// Takes a gap in.
    pub fn push(&mut self, gap: Nanos) {
        match &mut self.state {
            State::Exact(exact) => {
                exact.whole.push(gap);
                self.fold_if_full();
            }
            State::Folded(folded) => folded.add_all([(gap, 1)]),
        }
    }

    /// Takes in a gap that `tokens` tokens share: as many values, each an even part of it. None without tokens.
    pub fn push_shared(&mut self, gap: Nanos, tokens: Tokens) {
        match (&mut self.state, tokens.get()) {
            (_, 0) => {}
            (_, 1) => self.push(gap),
            (State::Folded(folded), tokens) => folded.add_all([(gap, tokens)]),
            (State::Exact(exact), tokens) => {
                exact.shared.push((gap, tokens));
                self.fold_if_full();
            }
        }
    }

    /// Takes in all that `other` has, as if pushed here.
    pub(crate) fn merge(&mut self, other: Self) {
        match (&mut self.state, other.state) {
            (State::Exact(ours), State::Exact(theirs)) => {
                ours.whole.append(theirs.whole);
                ours.shared.extend(theirs.shared);
                self.fold_if_full();
            }
            (State::Folded(ours), State::Exact(theirs)) => ours.add_all(theirs.values()),
            (State::Folded(ours), State::Folded(theirs)) => ours.merge(&theirs),
            (State::Exact(ours), State::Folded(mut theirs)) => {
                theirs.add_all(ours.values());
                self.state = State::Folded(theirs);
            }
        }
    }

    /// How many values it has taken in; a shared gap counts once for each token.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.state {
            State::Exact(exact) => exact.values().map(|(_, tokens)| tokens).sum(),
            State::Folded(folded) => folded.len(),
        }
    }

    /// Whether it has taken in nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its figures, without intervals: gaps of one reply are not independent.
    #[must_use]
    pub fn summary(&self) -> Distribution {
        self.summary_with(&[]).0
    }

    /// Any percentiles (each from 0 to 100) by linear interpolation, as [`crate::percentile_of_sorted`] has it: whether
    /// the sample supports them is for the caller to say. None for one that is out of range, or if there are no values.
    #[must_use]
    pub fn percentiles(&self, percents: &[f64]) -> Vec<Option<Millis>> {
        let (moments, _, ranks) = self.ranks();
        ranks.percentiles(moments.n, percents)
    }

    /// As [`PooledSample::summary`] and [`PooledSample::percentiles`], for which the sample is put in order only once.
    #[must_use]
    pub fn summary_with(&self, percents: &[f64]) -> (Distribution, Vec<Option<Millis>>) {
        let (moments, resolution, ranks) = self.ranks();
        let percentiles = ranks.percentiles(moments.n, percents);
        let summary = describe(moments, Dependence::Pooled, resolution, |rank| ranks.at(rank));
        (summary, percentiles)
    }

    /// The percentiles of these and of `failed` more, each of which lies beyond all of these.
    pub(crate) fn over_sent(&self, failed: u64) -> SentPercentiles {
        let (moments, _, ranks) = self.ranks();
        let last = moments.n.saturating_sub(1) as f64;
        let percentile = |per_mille: u64| {
            let rank = (moments.n + failed).saturating_sub(1) as f64 * per_mille as f64 / 1000.0;
            let share = if last > 0.0 { (rank / last).min(1.0) } else { 0.0 };
            let is_supported = moments.n >= values_needed(per_mille);
            let found = ranks.percentiles(moments.n, &[100.0 * share]);
            found.into_iter().next().flatten().filter(|_| is_supported)
        };
        SentPercentiles {
            p50: percentile(500),
            p90: percentile(900),
            p95: percentile(950),
            p99: percentile(990),
            p999: percentile(999),
        }
    }

    /// How many bytes it holds.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        match &self.state {
            State::Exact(Exact { whole, shared }) => whole.bytes() + 16 * shared.len(),
            State::Folded(folded) => folded.bytes(),
        }
    }

    fn ranks(&self) -> (Moments, PercentileResolution, Ranks) {
        match &self.state {
            State::Exact(exact) if exact.shared.is_empty() => {
                let sorted = exact.whole.sorted();
                (sorted.moments(), PercentileResolution::Exact, Ranks::Whole(sorted))
            }
            State::Exact(exact) => {
                let (moments, ranked) = exact.weighted().ranked();
                (moments, PercentileResolution::Exact, Ranks::Weighted(ranked))
            }
            State::Folded(folded) => {
                (folded.moments(), PercentileResolution::Folded, Ranks::Weighted(folded.ranked()))
            }
        }
    }

    fn fold_if_full(&mut self) {
        if let State::Exact(exact) = &self.state
            && exact.whole.len() + exact.shared.len() > self.most
        {
            self.state = State::Folded(Box::new(Folded::of(exact)));
        }
    }
}

impl Extend<Nanos> for PooledSample {
    /// Takes in gaps of one token each, as [`PooledSample::push`] does one.
    fn extend<I: IntoIterator<Item = Nanos>>(&mut self, gaps: I) {
        match &mut self.state {
            State::Folded(folded) => folded.add_all(gaps.into_iter().map(|gap| (gap, 1))),
            State::Exact(_) => gaps.into_iter().for_each(|gap| self.push(gap)),
        }
    }
}

impl Default for PooledSample {
    fn default() -> Self {
        Self::up_to(Self::EXACT)
    }
}

/// A sorted sample, to be read off by rank.
enum Ranks {
    Whole(SortedColumn),
    Weighted(Ranked),
}

impl Ranks {
    fn at(&self, rank: u64) -> Option<f64> {
        match self {
            Self::Whole(column) => column.at(rank),
            Self::Weighted(ranked) => ranked.at(rank),
        }
    }

    /// Of `n` values.
    fn percentiles(&self, n: u64, percents: &[f64]) -> Vec<Option<Millis>> {
        let each = |&percent: &f64| {
            let in_range = (0.0..=100.0).contains(&percent);
            let found = interpolate(n, percent / 100.0, |rank| self.at(rank));
            found.filter(|_| in_range).map(Millis::new)
        };
        percents.iter().map(each).collect()
    }
}

impl Exact {
    fn values(&self) -> impl Iterator<Item = (Nanos, u64)> {
        self.whole.values().map(|gap| (gap, 1)).chain(self.shared.iter().copied())
    }

    fn weighted(&self) -> WeightedSample {
        let mut sample = WeightedSample::default();
        for (gap, tokens) in self.values() {
            sample.push(Millis::new(share(gap, tokens)), Tokens::new(tokens));
        }
        sample
    }
}
