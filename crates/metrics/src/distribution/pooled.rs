//! Samples of any size in bounded memory: exact while they are small, to within 0.05 % beyond.

use fizeau_core::{Millis, Nanos, Tokens};

use super::buckets::Buckets;
use super::column::Column;
use super::describe::{Dependence, Moments, describe, interpolate};
use super::sample::{Ranked, WeightedSample};
use super::{Distribution, Resolution};

/// A sample of gaps pooled from many requests, such as inter-token latencies: bounded in memory, however long the run.
///
/// Up to [`PooledSample::EXACT`] values (gaps; a weight costs nothing) it keeps every one and its figures are exact.
/// Beyond, it folds them into log-linear buckets: count, mean, least and greatest value stay exact, the standard
/// deviation is as exact as floating sums are, and each percentile is within 2^-11 of the exact one, under 0.05 %. The
/// [`Distribution`] says which it is: [`Resolution`].
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
pub struct PooledSample(State);

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

/// What is kept of values too many to keep: counts by bucket, and the sums behind mean and standard deviation.
#[derive(Debug, Clone)]
struct Folded {
    buckets: Buckets,
    /// Near the mean, so that the sums around it keep their digits.
    centre: f64,
    sums: Sums,
}

#[derive(Debug, Clone, Copy)]
struct Sums {
    n: u64,
    /// Of the gaps themselves, in nanoseconds: a gap that is shared counts once for all its tokens together.
    gaps: u128,
    least: f64,
    greatest: f64,
    /// Of the distances from the centre, and of their squares.
    around: f64,
    squares: f64,
}

impl PooledSample {
    /// How many gaps are kept one by one before they are folded: 2^20, a little over a million.
    pub const EXACT: usize = 1 << 20;

    /// Takes a gap in.
    pub fn push(&mut self, gap: Nanos) {
        match &mut self.0 {
            State::Exact(exact) => {
                exact.whole.push(gap);
                self.fold_if_full();
            }
            State::Folded(folded) => folded.add_all([(gap, 1)]),
        }
    }

    /// Takes in a gap that `tokens` tokens share: as many values, each an even part of it. None without tokens.
    pub fn push_shared(&mut self, gap: Nanos, tokens: Tokens) {
        match (&mut self.0, tokens.get()) {
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
    pub fn merge(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (State::Exact(ours), State::Exact(theirs)) => {
                ours.whole.append(theirs.whole);
                ours.shared.extend(theirs.shared);
                self.fold_if_full();
            }
            (State::Folded(ours), State::Exact(theirs)) => ours.add_all(theirs.values()),
            (State::Folded(ours), State::Folded(theirs)) => ours.merge(&theirs),
            (State::Exact(ours), State::Folded(mut theirs)) => {
                theirs.add_all(ours.values());
                self.0 = State::Folded(theirs);
            }
        }
    }

    /// How many values it has taken in; a shared gap counts once for each token.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.0 {
            State::Exact(exact) => exact.values().map(|(_, tokens)| tokens).sum(),
            State::Folded(folded) => folded.sums.n,
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
        let (moments, resolution, ranks) = self.ranks();
        describe(moments, Dependence::Pooled, resolution, |rank| ranks.at(rank))
    }

    /// Any percentiles (each from 0 to 100) by linear interpolation, as [`crate::percentile_of_sorted`] has it: whether
    /// the sample supports them is for the caller to say. None for one that is out of range, or if there are no values.
    #[must_use]
    pub fn percentiles(&self, percents: &[f64]) -> Vec<Option<Millis>> {
        let (moments, _, ranks) = self.ranks();
        let each = |&percent: &f64| {
            let in_range = (0.0..=100.0).contains(&percent);
            let found = interpolate(moments.n, percent / 100.0, |rank| ranks.at(rank));
            found.filter(|_| in_range).map(Millis::new)
        };
        percents.iter().map(each).collect()
    }

    fn ranks(&self) -> (Moments, Resolution, Ranks) {
        match &self.0 {
            State::Exact(exact) if exact.shared.is_empty() => {
                let sorted = exact.whole.sorted();
                (sorted.moments(), Resolution::Exact, Ranks::Whole(sorted))
            }
            State::Exact(exact) => {
                let (moments, ranked) = exact.weighted().ranked();
                (moments, Resolution::Exact, Ranks::Weighted(ranked))
            }
            State::Folded(folded) => {
                (folded.moments(), Resolution::Folded, Ranks::Weighted(folded.ranked()))
            }
        }
    }

    fn fold_if_full(&mut self) {
        if let State::Exact(exact) = &self.0
            && exact.whole.len() + exact.shared.len() > Self::EXACT
        {
            self.0 = State::Folded(Box::new(Folded::of(exact)));
        }
    }
}

impl Extend<Nanos> for PooledSample {
    /// Takes in gaps of one token each, as [`PooledSample::push`] does one.
    fn extend<I: IntoIterator<Item = Nanos>>(&mut self, gaps: I) {
        match &mut self.0 {
            State::Folded(folded) => folded.add_all(gaps.into_iter().map(|gap| (gap, 1))),
            State::Exact(_) => gaps.into_iter().for_each(|gap| self.push(gap)),
        }
    }
}

impl Default for PooledSample {
    fn default() -> Self {
        Self(State::Exact(Exact::default()))
    }
}

/// A sorted sample, to be read off by rank.
enum Ranks {
    Whole(Column),
    Weighted(Ranked),
}

impl Ranks {
    fn at(&self, rank: u64) -> Option<f64> {
        match self {
            Self::Whole(column) => column.at(rank),
            Self::Weighted(ranked) => ranked.at(rank),
        }
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

impl Folded {
    fn of(exact: &Exact) -> Self {
        let n: u64 = exact.values().map(|(_, tokens)| tokens).sum();
        let sum: u128 = exact.values().map(|(gap, _)| u128::from(gap.as_nanos())).sum();
        let mut folded = Self {
            buckets: Buckets::default(),
            centre: sum as f64 / 1e6 / n.max(1) as f64,
            sums: Sums {
                n: 0,
                gaps: 0,
                least: f64::INFINITY,
                greatest: 0.0,
                around: 0.0,
                squares: 0.0,
            },
        };
        folded.add_all(exact.values());
        folded
    }

    fn add_all(&mut self, gaps: impl IntoIterator<Item = (Nanos, u64)>) {
        // A copy, which stays in registers: this runs for each token of a run.
        let (centre, mut sums) = (self.centre, self.sums);
        for (gap, tokens) in gaps {
            let (value, weight) = (share(gap, tokens), tokens as f64);
            self.buckets.add(value, tokens);
            let off = value - centre;
            sums.n += tokens;
            sums.gaps += u128::from(gap.as_nanos());
            sums.least = sums.least.min(value);
            sums.greatest = sums.greatest.max(value);
            sums.around += weight * off;
            sums.squares += weight * off * off;
        }
        self.sums = sums;
    }

    /// The other's sums are around another centre, and are moved to ours.
    fn merge(&mut self, other: &Self) {
        self.buckets.merge(&other.buckets);
        let (ours, theirs) = (&mut self.sums, &other.sums);
        let (apart, n) = (other.centre - self.centre, theirs.n as f64);
        ours.n += theirs.n;
        ours.gaps += theirs.gaps;
        ours.least = ours.least.min(theirs.least);
        ours.greatest = ours.greatest.max(theirs.greatest);
        ours.squares += theirs.squares + 2.0 * apart * theirs.around + n * apart * apart;
        ours.around += theirs.around + n * apart;
    }

    fn moments(&self) -> Moments {
        let (sums, n) = (&self.sums, self.sums.n as f64);
        let variance = sums.squares / n - (sums.around / n).powi(2);
        Moments {
            n: sums.n,
            mean: Some(sums.gaps as f64 / 1e6 / n),
            std: Some(variance.max(0.0).sqrt()),
        }
    }

    fn ranked(&self) -> Ranked {
        let Sums { least, greatest, .. } = self.sums;
        let counts = self.buckets.counts();
        let counts = counts.map(|(value, n)| (value.clamp(least, greatest), n));
        let mut counts: Vec<(f64, u64)> = counts.collect();
        // The two ends are known exactly, each for at least one value.
        if let Some((_, count)) = counts.first_mut() {
            *count -= 1;
        }
        if let Some((_, count)) = counts.last_mut() {
            *count = count.saturating_sub(1);
        }
        counts.insert(0, (least, 1));
        counts.push((greatest, 1));
        Ranked::from_sorted(counts)
    }
}

/// What each of `tokens` tokens took of `gap`, in milliseconds.
fn share(gap: Nanos, tokens: u64) -> f64 {
    if tokens == 1 { gap.as_millis_f64() } else { gap.as_millis_f64() / tokens as f64 }
}
