//! Where a straight line through margins near the edge crosses it.

use super::reading::GoalMargin;

/// Where the margin of a goal is 0, in the logarithm of the load, and the standard error of that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MarginCrossing {
    pub(super) at: f64,
    pub(super) error: f64,
}

/// The crossing of the line nearest to `points`, each the logarithm of a load and its margin, by squares weighted with what is
/// known of each; none unless it surely falls.
///
/// Where the points scatter more about the line than their errors say, errors are enlarged to match (R. T. Birge, "The
/// calculation of errors by the method of least squares", Physical Review 40, 1932).
pub(super) fn crossing(points: &[(f64, GoalMargin)]) -> Option<MarginCrossing> {
    let n = points.len() as f64;
    if points.len() < 2 {
        return None;
    }
    let weighed: Vec<(f64, f64, f64)> =
        points.iter().map(|(at, margin)| (*at, margin.value, 1.0 / margin.variance())).collect();
    let all: f64 = weighed.iter().map(|(_, _, weight)| weight).sum();
    let mean_at = weighed.iter().map(|(at, _, weight)| weight * at).sum::<f64>() / all;
    let mean = weighed.iter().map(|(_, value, weight)| weight * value).sum::<f64>() / all;
    let spread: f64 = weighed.iter().map(|(at, _, weight)| weight * (at - mean_at).powi(2)).sum();
    let product = |(at, value, weight): &(f64, f64, f64)| weight * (at - mean_at) * (value - mean);
    let product: f64 = weighed.iter().map(product).sum();
    let slope = product / spread;
    let off = |(at, value, weight): &(f64, f64, f64)| {
        weight * (value - mean - slope * (at - mean_at)).powi(2)
    };
    let squares: f64 = weighed.iter().map(off).sum();
    let excess = if points.len() > 2 { (squares / (n - 2.0)).max(1.0) } else { 1.0 };
    let falls = slope < -SURELY * (excess / spread).sqrt();
    if !(spread > 0.0 && falls) {
        return None;
    }
    let at = mean_at - mean / slope;
    // Few points tell little of how far they scatter.
    let excess = excess * (1.0 + 2.0 / n);
    // A slope that came out steep by chance would make it seem surer than it is: one standard error is taken off.
    let gentle = -slope - (excess / spread).sqrt();
    let variance = excess * (1.0 / all + (at - mean_at).powi(2) / spread) / gentle.powi(2);
    Some(MarginCrossing { at, error: variance.sqrt() })
}

/// How many standard errors off 0 a slope is, to be one.
const SURELY: f64 = 1.5;
