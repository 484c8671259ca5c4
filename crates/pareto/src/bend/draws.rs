//! Frontiers that could as well have been measured, drawn within intervals.

use std::num::NonZeroU32;

use super::outline::Outline;
use crate::{Estimate, NoKnee, UncertainPoints};

/// How many frontiers to draw, and from what seed: the same seed gives the same frontiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Draws {
    /// How many. A confidence of one half is right to within 0.03 for 1,000 of them, 19 times of 20.
    pub count: NonZeroU32,
    /// Where the generator starts. Any number will do.
    pub seed: u64,
}

impl Draws {
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

/// The share of drawn outlines that are as `wanted`.
pub(super) fn share(
    points: &UncertainPoints,
    draws: Draws,
    wanted: impl Fn(Result<Outline, NoKnee>) -> bool,
) -> Result<f64, NoKnee> {
    let axes = points.values().axes();
    let signs = points.values().signs();
    let each = || points.estimates().iter().zip(axes.iter().zip(&signs).cycle());
    let endless = |estimate: &Estimate| !(estimate.high() - estimate.low()).is_finite();
    if let Some((_, (axis, _))) = each().find(|(estimate, _)| endless(estimate)) {
        return Err(NoKnee::Infinite { axis: axis.name().to_owned() });
    }
    let mut generator = SplitMix64 { state: draws.seed };
    let mut costs = Vec::with_capacity(points.estimates().len());
    let mut hits = 0_u32;
    for _ in 0..draws.count.get() {
        costs.clear();
        costs.extend(
            each().map(|(estimate, (_, sign))| triangular(estimate, generator.next()) * sign),
        );
        hits += u32::from(wanted(Outline::of_costs(&costs, axes)));
    }
    Ok(f64::from(hits) / f64::from(draws.count.get()))
}

/// The quantile `share`, from 0 to 1, of the triangular distribution on the estimate's interval with its peak at the figure.
fn triangular(estimate: &Estimate, share: f64) -> f64 {
    let (low, peak, high) = (estimate.low(), estimate.value(), estimate.high());
    let (width, left) = (high - low, peak - low);
    if width == 0.0 {
        return peak;
    }
    let drawn = if share * width < left {
        low + (share * width * left).sqrt()
    } else {
        high - ((1.0 - share) * width * (high - peak)).sqrt()
    };
    drawn.clamp(low, high)
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_triangle() {
        let estimate = Estimate::new(1.0, 0.0, 4.0).unwrap();
        // Its height is 1/2 at the peak, so a quarter lies left of it; right of 2, where it is 1/3 high, lies a third.
        assert_eq!(triangular(&estimate, 0.0), 0.0);
        assert_eq!(triangular(&estimate, 0.25), 1.0);
        assert!((triangular(&estimate, 1.0 - 1.0 / 3.0) - 2.0).abs() < 1e-12);
        assert_eq!(triangular(&estimate, 1.0), 4.0);
        assert_eq!(triangular(&Estimate::exact(7.0).unwrap(), 0.3), 7.0);
    }

    #[test]
    fn the_generator_is_the_published_one() {
        // The first outputs for the seed 1234567, as the authors' C code gives them.
        let mut generator = SplitMix64 { state: 1_234_567 };
        let expected = [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973];
        for output in expected {
            assert_eq!(generator.next(), (output >> 11) as f64 / (1_u64 << 53) as f64);
        }
    }
}
