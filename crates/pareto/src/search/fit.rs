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

#[cfg(test)]
mod tests {
    use super::{GoalMargin, crossing};

    /// Margins that fall by 1/2 a step, each known to 0.1 and bent by 0.3 of itself.
    fn falling(from: i32, to: i32) -> Vec<(f64, GoalMargin)> {
        let point = |at: i32| {
            let at = f64::from(at);
            (at, GoalMargin { value: -0.5 * at, error: Some(0.1) })
        };
        (from..=to).filter(|at| at % 2 != 0).map(point).collect()
    }

    /// By hand: two points at -1 and 1 weigh w = 1 / (0.1² + 0.15²) each, the line through them falls by 1/2, and two points enlarge
    /// variances by 1 + 2/2: the error is sqrt(2 / 2w) / (1/2 - sqrt(2 / 2w)).
    #[test]
    fn the_error_of_a_crossing_is_that_of_a_weighted_line() {
        let found = crossing(&falling(-1, 1)).unwrap();
        let off = 0.0325_f64.sqrt();
        assert!(found.at.abs() < 1e-12);
        assert!((found.error - off / (0.5 - off)).abs() < 1e-12, "{found:?}");
        // Four at -3, -1, 1 and 3: those further off weigh v = 1 / (0.1² + 0.45²), and variances grow by 1 + 2/4.
        let found = crossing(&falling(-3, 3)).unwrap();
        let (w, v) = (1.0 / 0.0325_f64, 1.0 / 0.2125_f64);
        let gentle = 0.5 - (1.5 / (2.0 * w + 18.0 * v)).sqrt();
        let error = (1.5 / (2.0 * w + 2.0 * v)).sqrt() / gentle;
        assert!((found.error - error).abs() < 1e-12, "{found:?}, not {error}");
    }

    #[test]
    fn one_load_or_a_slope_that_may_be_none_crosses_nowhere() {
        let at = |at, value, error| (at, GoalMargin { value, error: Some(error) });
        assert_eq!(crossing(&[at(1.0, 0.1, 0.01)]), None);
        assert_eq!(crossing(&[at(1.0, 0.1, 0.01), at(1.0, -0.1, 0.01)]), None, "one load twice");
        assert_eq!(crossing(&[at(0.0, 0.1, 0.4), at(1.0, -0.1, 0.4)]), None, "within the errors");
        assert_eq!(crossing(&[at(0.0, -0.1, 0.01), at(1.0, 0.1, 0.01)]), None, "it rises");
    }
}
