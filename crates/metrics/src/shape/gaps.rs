//! Gaps between tokens, and times to first token, by size, small enough that each bin of a timeline has its own.

use fizeau_core::{Millis, Nanos, Tokens};

/// Gaps below 2^10 ns, a microsecond, are not told apart, nor those of 2^40 ns, eighteen minutes, and more.
const LEAST: u32 = 10;
const MOST: u32 = 40;

/// Each doubling is cut into 2^4 parts of equal length: the middle of one is within 3.2 % of all in it.
const PARTS: u32 = 4;

/// The first is for what is shorter than all.
const BUCKETS: usize = 1 + ((MOST - LEAST) << PARTS) as usize;

/// How many tokens came after gaps of which size.
#[derive(Debug, Clone, Default)]
pub(super) struct GapCounts {
    /// Empty until there is one.
    counts: Vec<u32>,
    total: u64,
    /// The shortest and the longest.
    ends: Option<(Nanos, Nanos)>,
}

impl GapCounts {
    pub(super) fn add(&mut self, gap: Nanos, tokens: Tokens) {
        if self.counts.is_empty() {
            self.counts.resize(BUCKETS, 0);
        }
        if let Some(count) = self.counts.get_mut(bucket(gap.as_nanos())) {
            *count = count.saturating_add(u32::try_from(tokens.get()).unwrap_or(u32::MAX));
        }
        self.total = self.total.saturating_add(tokens.get());
        self.reach(gap, gap);
    }

    pub(super) fn merge(&mut self, other: Self) {
        if self.counts.is_empty() {
            self.counts = other.counts;
        } else {
            let both = self.counts.iter_mut().zip(other.counts);
            both.for_each(|(count, more)| *count = count.saturating_add(more));
        }
        self.total = self.total.saturating_add(other.total);
        other.ends.into_iter().for_each(|(shortest, longest)| self.reach(shortest, longest));
    }

    fn reach(&mut self, shortest: Nanos, longest: Nanos) {
        let (least, most) = self.ends.unwrap_or((shortest, longest));
        self.ends = Some((least.min(shortest), most.max(longest)));
    }

    pub(super) fn longest(&self) -> Option<Millis> {
        self.ends.map(|(_, longest)| longest.to_millis())
    }

    /// The gap that so many of a hundred do not exceed, within 3.2 % and within what there is; above the median none where fewer than one
    /// is expected beyond it.
    pub(super) fn percentile(&self, percent: u64) -> Option<Millis> {
        let (shortest, longest) = self.ends?;
        if percent > 50 && self.total.saturating_mul(100 - percent.min(100)) < 100 {
            return None;
        }
        let rank = self.total.saturating_mul(percent).div_ceil(100).max(1);
        let mut below = 0_u64;
        let found = self.counts.iter().position(|&count| {
            below = below.saturating_add(count.into());
            below >= rank
        });
        let gap = found.map_or(longest, |bucket| Nanos::from_nanos(middle(bucket)));
        Some(gap.clamp(shortest, longest).to_millis())
    }
}

/// The bucket of a gap: its highest bit, and the [`PARTS`] bits after it.
fn bucket(nanos: u64) -> usize {
    let nanos = nanos.min((1 << MOST) - 1);
    let Some(bit) = nanos.checked_ilog2().filter(|bit| *bit >= LEAST) else { return 0 };
    let part = (nanos >> (bit - PARTS)) - (1 << PARTS);
    1 + ((bit - LEAST) << PARTS) as usize + part as usize
}

/// The middle of a bucket; zero for gaps too short to tell.
const fn middle(bucket: usize) -> u64 {
    let Some(index) = bucket.checked_sub(1) else { return 0 };
    let (octave, part) = ((index >> PARTS) as u32 + LEAST, (index % (1 << PARTS)) as u64);
    let width = 1_u64 << (octave - PARTS);
    ((1 << PARTS) + part) * width + width / 2
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, GapCounts, bucket, middle};
    use fizeau_core::{Millis, Nanos, Tokens};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::testing::cases(256))]
        #[test]
        fn a_bucket_is_known_by_its_middle(nanos in 0_u64..1 << 40) {
            let found = middle(bucket(nanos));
            prop_assert!(bucket(nanos) < BUCKETS);
            prop_assert!(found.abs_diff(nanos) as f64 <= (nanos as f64 * 0.032).max(1024.0), "{nanos} {found}");
        }

        #[test]
        fn no_gap_is_out_of_range(nanos: u64) {
            prop_assert!(bucket(nanos) < BUCKETS);
        }
    }

    #[test]
    fn a_median_is_never_beyond_what_there_is() {
        let mut gaps = GapCounts::default();
        gaps.add(Nanos::from_micros(5_433), Tokens::new(7));
        assert_eq!(gaps.percentile(50), Some(Millis::new(5.433)));
        assert_eq!(gaps.percentile(50), gaps.longest());
    }

    #[test]
    fn percentiles_are_withheld_like_any() {
        let mut gaps = GapCounts::default();
        assert_eq!(gaps.percentile(50), None);
        gaps.add(Nanos::from_millis(10), Tokens::new(99));
        assert!(gaps.percentile(50).is_some_and(|p50| (p50.get() / 10.0 - 1.0).abs() < 0.04));
        assert_eq!(gaps.percentile(99), None);
        gaps.add(Nanos::from_millis(300), Tokens::new(2));
        assert!(gaps.percentile(99).is_some_and(|p99| (p99.get() / 300.0 - 1.0).abs() < 0.04));
        assert_eq!(gaps.longest().map(Millis::get), Some(300.0));
    }
}
