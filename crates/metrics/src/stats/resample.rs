//! Which requests a resample is made of.

use std::ops::Range;

use super::RandomBits;

/// How runs of `n` values are drawn again: in blocks of random, geometric lengths from anywhere, the end of the run joined to
/// its beginning (D. N. Politis and J. P. Romano, "The stationary bootstrap", JASA 89, 1994). Every value is drawn as often as
/// any other, and neighbours stay together: requests in flight together meet the same batches and queues.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resampling {
    n: usize,
    /// The mean of the blocks' lengths.
    length: f64,
}

impl Resampling {
    /// Of `n` values, in blocks of `length` on average, which is at least 1 and at most `n`.
    pub(crate) fn new(n: usize, length: f64) -> Self {
        Self { n, length: length.clamp(1.0, n.max(1) as f64) }
    }

    /// Gives `each` the index ranges, all within the sample, whose values in turn are one resample: `n` values.
    pub(crate) fn draw(&self, bits: &mut RandomBits, mut each: impl FnMut(Range<usize>)) {
        let mut left = self.n;
        while left > 0 {
            let start = bits.below(self.n as u64) as usize;
            let length = self.geometric(bits).min(left);
            left -= length;
            let end = (start + length).min(self.n);
            each(start..end);
            // Past the end a block goes on at the beginning; it is never longer than the sample.
            if length > end - start {
                each(0..length - (end - start));
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
        for length in [1.0, 7.3, 1e9] {
            let resampling = Resampling::new(50, length);
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
        let blocks = lengths(&Resampling::new(n, 10.0), rounds);
        // 40,000 blocks of 10 with a deviation of 9.5 each, some in two parts at the end of the sample (1 %).
        let mean = (n * rounds) as f64 / blocks.len() as f64;
        assert!((mean - 9.9).abs() < 0.25, "{mean}");
        let first_half: usize =
            blocks.iter().flat_map(Clone::clone).filter(|&index| index < n / 2).count();
        let share = first_half as f64 / (n * rounds) as f64;
        assert!((share - 0.5).abs() < 0.02, "{share}");
    }
}
