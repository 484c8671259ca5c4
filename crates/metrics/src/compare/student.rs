//! Tails and quantiles of the normal and of Student's distribution.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::checked_beta_reg;

/// P(Z > z) of a standard normal.
pub(super) fn normal_above(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// The value that a standard normal exceeds with probability `tail`, above 0 and at most 0.5.
pub(super) fn normal_quantile(tail: f64) -> f64 {
    -Normal::standard().inverse_cdf(tail)
}

/// P(|T| > |t|) of Student's distribution with `df` degrees of freedom.
///
/// With y = t^2 / (df + t^2) it is I_{1-y}(df/2, 1/2) = 1 - I_y(1/2, df/2). Which of both keeps its digits depends on the
/// size of y: near 0, 1 - y has none left.
pub(super) fn student_two_sided(t: f64, df: f64) -> f64 {
    let square = t * t;
    let y = square / (df + square);
    let p = if y < 1.5 / (df / 2.0 + 2.5) {
        checked_beta_reg(0.5, df / 2.0, y).map(|inside| 1.0 - inside)
    } else {
        checked_beta_reg(df / 2.0, 0.5, df / (df + square))
    };
    p.map_or(f64::NAN, |p| p.clamp(0.0, 1.0))
}

/// The value that Student's distribution exceeds with probability `tail`, above 0 and at most 0.5.
pub(super) fn student_quantile(tail: f64, df: f64) -> f64 {
    // Far tails of few degrees of freedom reach far: at 1 degree about 1 / tail.
    let far = (2.0 + 1.0 / tail).powi(2);
    last_where(0.0, far, |t| student_two_sided(t, df) / 2.0 >= tail)
}

/// The end of the stretch from `low` on where `holds` does, if it holds at first and then no more; by halving, down to
/// neighbouring numbers.
pub(super) fn last_where(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}
