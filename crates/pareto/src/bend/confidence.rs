//! How sure a knee is: how many of the frontiers that could as well have been measured have the same.

use super::outline::Outline;
use crate::resample::Resampler;
use crate::{Draws, Estimate, NoKnee, UncertainPoints};

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
    let mut resampler = Resampler::new(draws.seed);
    let mut costs = Vec::with_capacity(points.estimates().len());
    let mut hits = 0_u32;
    for _ in 0..draws.count.get() {
        costs.clear();
        costs.extend(each().map(|(estimate, (_, sign))| resampler.of(estimate) * sign));
        hits += u32::from(wanted(Outline::of_costs(&costs, axes)));
    }
    Ok(f64::from(hits) / f64::from(draws.count.get()))
}
