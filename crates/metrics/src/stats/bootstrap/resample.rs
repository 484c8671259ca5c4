//! Which requests a resample is made of.

use std::ops::Range;

use super::BlockKind;
use crate::stats::RandomBits;

/// How runs of `n` values are drawn again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resampling {
    n: usize,
    kind: BlockKind,
    /// Of stationary blocks the mean.
    length: f64,
}

impl Resampling {
    /// Of `n` values, in blocks of `length`, which is at least 1 and at most `n`.
    pub(crate) fn new(n: usize, kind: BlockKind, length: f64) -> Self {
        Self { n, kind, length: length.clamp(1.0, n.max(1) as f64) }
    }

    /// The length to the nearest whole value.
    pub(super) fn whole_length(&self) -> usize {
        self.length.round() as usize
    }

    /// Gives `each` the index ranges, all within the sample, whose values in turn are one resample: `n` values.
    pub(crate) fn draw(&self, bits: &mut RandomBits, mut each: impl FnMut(Range<usize>)) {
        let mut left = self.n;
        while left > 0 {
            let (start, length) = self.block(bits);
            let length = length.min(left);
            left -= length;
            let end = (start + length).min(self.n);
            each(start..end);
            // Past the end a stationary block goes on at the beginning; it is never longer than the sample.
            if length > end - start {
                each(0..length - (end - start));
            }
        }
    }

    /// Where a block begins, and how long it would be.
    fn block(&self, bits: &mut RandomBits) -> (usize, usize) {
        match self.kind {
            BlockKind::Stationary => (bits.below(self.n as u64) as usize, self.geometric(bits)),
            BlockKind::Moving => {
                let length = self.whole_length();
                (bits.below((self.n - length + 1) as u64) as usize, length)
            }
        }
    }

    /// 1 and up, with the mean of the length.
    fn geometric(&self, bits: &mut RandomBits) -> usize {
        if self.length <= 1.0 {
            return 1;
        }
        let ends = libm::log1p(-1.0 / self.length);
        // Beyond usize it is cut there, and then to the sample.
        1 + (libm::log(bits.above_zero()) / ends) as usize
    }
}

/// Groups of successive indices that a jackknife leaves out in turn: `length` each, or longer where there would be more than
/// `most`; what does not fill a group joins the last one.
pub(super) fn without_groups(
    n: usize,
    length: usize,
    most: usize,
) -> impl Iterator<Item = Range<usize>> {
    let length = length.max(n.div_ceil(most)).max(1);
    let groups = n / length;
    (0..groups).map(move |k| k * length..if k + 1 == groups { n } else { (k + 1) * length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::ResampleSeed;

    fn lengths(resampling: &Resampling, rounds: usize) -> Vec<Range<usize>> {
        let mut bits = RandomBits::new(ResampleSeed(3));
        let mut blocks = Vec::new();
        for _ in 0..rounds {
            resampling.draw(&mut bits, |block| blocks.push(block));
        }
        blocks
    }

    #[test]
    fn a_resample_has_as_many_values_as_the_sample() {
        for (kind, length) in [
            (BlockKind::Stationary, 1.0),
            (BlockKind::Stationary, 7.3),
            (BlockKind::Stationary, 1e9),
            (BlockKind::Moving, 1.0),
            (BlockKind::Moving, 7.0),
            (BlockKind::Moving, 1e9),
        ] {
            let resampling = Resampling::new(50, kind, length);
            for _ in 0..3 {
                let blocks = lengths(&resampling, 1);
                assert_eq!(blocks.iter().map(ExactSizeIterator::len).sum::<usize>(), 50);
                assert!(blocks.iter().all(|block| block.end <= 50));
            }
        }
    }

    #[test]
    fn stationary_blocks_have_the_mean_length_and_draw_all_values_alike() {
        let (n, rounds) = (1_000, 400);
        let blocks = lengths(&Resampling::new(n, BlockKind::Stationary, 10.0), rounds);
        // 40,000 blocks of 10 with a deviation of 9.5 each, some in two parts at the end of the sample (1 %).
        let mean = (n * rounds) as f64 / blocks.len() as f64;
        assert!((mean - 9.9).abs() < 0.25, "{mean}");
        let first_half: usize =
            blocks.iter().flat_map(Clone::clone).filter(|&index| index < n / 2).count();
        let share = first_half as f64 / (n * rounds) as f64;
        assert!((share - 0.5).abs() < 0.02, "{share}");
    }

    #[test]
    fn groups_cover_the_sample_once() {
        for (n, length, most) in [(10, 1, 100), (10, 3, 100), (10, 1, 4), (3, 5, 10), (0, 1, 10)] {
            let all: Vec<usize> = without_groups(n, length, most).flatten().collect();
            let expected: Vec<usize> = if n < length { Vec::new() } else { (0..n).collect() };
            assert_eq!(all, expected, "{n} {length} {most}");
            assert!(without_groups(n, length, most).count() <= most);
        }
    }
}
