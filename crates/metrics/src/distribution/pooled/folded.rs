//! Values too many to keep: counts by bucket, and exact sums.

use fizeau_core::Nanos;

use super::Exact;
use crate::distribution::buckets::Buckets;
use crate::distribution::describe::Moments;
use crate::distribution::sample::Ranked;

/// What is kept of values too many to keep: counts by bucket, and the sums behind mean and standard deviation.
#[derive(Debug, Clone)]
pub(super) struct Folded {
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

impl Folded {
    /// The values of `exact`, folded.
    pub(super) fn of(exact: &Exact) -> Self {
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

    /// Takes gaps in, each with the number of tokens that share it.
    pub(super) fn add_all(&mut self, gaps: impl IntoIterator<Item = (Nanos, u64)>) {
        // A copy, which stays in registers: this runs for each token of a run.
        let (centre, mut sums) = (self.centre, self.sums);
        for (gap, tokens) in gaps {
            let (value, weight) = (share(gap, tokens), tokens as f64);
            self.buckets.add(value, tokens);
            let off = value - centre;
            sums.n += tokens;
            sums.gaps += u128::from(gap.as_nanos());
            // No value is NaN, and a comparison is cheaper than a minimum that minds it.
            if value < sums.least {
                sums.least = value;
            }
            if value > sums.greatest {
                sums.greatest = value;
            }
            sums.around += weight * off;
            sums.squares += weight * off * off;
        }
        self.sums = sums;
    }

    /// Takes in all that `other` has. Its sums are around another centre, and are moved to ours.
    pub(super) fn merge(&mut self, other: &Self) {
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

    /// How many bytes it holds.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.buckets.bytes()
    }

    /// How many values it has taken in.
    pub(super) const fn len(&self) -> u64 {
        self.sums.n
    }

    pub(super) fn moments(&self) -> Moments {
        let (sums, n) = (&self.sums, self.sums.n as f64);
        let variance = sums.squares / n - (sums.around / n).powi(2);
        Moments {
            n: sums.n,
            mean: Some(sums.gaps as f64 / 1e6 / n),
            std: Some(variance.max(0.0).sqrt()),
        }
    }

    pub(super) fn ranked(&self) -> Ranked {
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
pub(super) fn share(gap: Nanos, tokens: u64) -> f64 {
    if tokens == 1 { gap.as_millis_f64() } else { gap.as_millis_f64() / tokens as f64 }
}
