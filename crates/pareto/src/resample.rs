//! Figures drawn within their intervals.

use std::num::NonZeroU32;

use crate::FigureEstimate;

/// How many sets of figures to draw within their intervals, and from what seed: the same seed gives the same figures.
///
/// An interval is taken to hold the middle 95 % of where the true value lies: half of the draws lie below the figure and half
/// above, each side as half a normal distribution that has 2.5 % of all beyond the interval's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResamplingSpec {
    /// How many. A share of one half is right to within 0.03 for 1,000 of them, 19 times of 20.
    pub count: NonZeroU32,
    /// Where the generator starts. Any number will do.
    pub seed: u64,
}

impl ResamplingSpec {
    /// 1,000 draws.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        let count = match NonZeroU32::new(1_000) {
            Some(count) => count,
            None => NonZeroU32::MIN,
        };
        Self { count, seed }
    }
}

/// The point of the standard normal distribution below which 97.5 % lie.
pub(crate) const NORMAL_975: f64 = 1.959_963_984_540_054;

/// Draws figures as [`ResamplingSpec`] says. So the median of the draws is the figure, and their 2.5 % and 97.5 % points are the ends of
/// its interval, which need not lie evenly about it.
pub(crate) struct Resampler {
    generator: SplitMix64,
}

impl Resampler {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { generator: SplitMix64 { state: seed } }
    }

    /// A value that the figure may truly have.
    pub(crate) fn of(&mut self, estimate: &FigureEstimate) -> f64 {
        let value = estimate.value();
        let away = self.normal() / NORMAL_975;
        let side = if away < 0.0 { value - estimate.low() } else { estimate.high() - value };
        // An infinite side times nothing is not a number.
        if side == 0.0 || away == 0.0 { value } else { value + away * side }
    }

    /// Box and Muller (1958).
    fn normal(&mut self) -> f64 {
        // Greater than 0, for the logarithm.
        let radius = (-2.0 * (1.0 - self.generator.next()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.generator.next()).cos()
    }
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. A generator of its own, of ten lines, because
/// this crate depends on nothing.
struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// From 0 to before 1, in steps of 2^-53.
    fn next(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The middle 95 % of draws, those that gave no answer counting as the worst on either side, and widened to hold `value`.
///
/// With no draws at all it is `value` alone.
pub(crate) fn interval(value: f64, draws: &[Option<f64>]) -> [f64; 2] {
    let end = |unknown: f64, share: f64| {
        let mut figures: Vec<f64> = draws.iter().map(|draw| draw.unwrap_or(unknown)).collect();
        figures.sort_unstable_by(f64::total_cmp);
        let place = (share * figures.len().saturating_sub(1) as f64).round() as usize;
        figures.get(place).copied().unwrap_or(value)
    };
    [end(f64::NEG_INFINITY, 0.025).min(value), end(f64::INFINITY, 0.975).max(value)]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

    use super::{Resampler, SplitMix64, interval};
    use crate::FigureEstimate;

    #[test]
    fn the_median_is_the_figure_and_the_ends_hold_95_in_100() {
        let estimate = FigureEstimate::new(10.0, 8.0, 16.0).unwrap();
        let mut resampler = Resampler::new(1849);
        let mut drawn: Vec<f64> = (0..100_000).map(|_| resampler.of(&estimate)).collect();
        drawn.sort_unstable_by(f64::total_cmp);
        for (place, expected) in [(2_500, 8.0), (50_000, 10.0), (97_500, 16.0)] {
            assert!((drawn[place] - expected).abs() < 0.1, "{place}: {}", drawn[place]);
        }
    }

    #[test]
    fn what_is_exact_is_drawn_as_it_is() {
        let mut resampler = Resampler::new(1);
        let exact = FigureEstimate::exact(3.0).unwrap();
        assert!((0..100).all(|_| resampler.of(&exact) == 3.0));
        let open = FigureEstimate::new(3.0, 3.0, f64::INFINITY).unwrap();
        assert!(
            (0..100)
                .map(|_| resampler.of(&open))
                .all(|drawn| drawn == 3.0 || drawn == f64::INFINITY)
        );
    }

    #[test]
    fn draws_without_an_answer_widen_the_interval() {
        let draws: Vec<Option<f64>> = (0..100).map(|i| Some(f64::from(i))).collect();
        assert_eq!(interval(50.0, &draws), [2.0, 97.0]);
        assert_eq!(interval(-1.0, &draws), [-1.0, 97.0]);
        let mut some = draws;
        some[40..50].fill(None);
        assert_eq!(interval(50.0, &some), [f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!(interval(50.0, &[]), [50.0, 50.0]);
    }

    #[test]
    fn the_generator_is_the_published_one() {
        // The first outputs for the seed 1234567, as the authors' C code gives them.
        let mut generator = SplitMix64 { state: 1_234_567 };
        for output in [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973] {
            assert_eq!(generator.next(), (output >> 11) as f64 / (1_u64 << 53) as f64);
        }
    }
}
