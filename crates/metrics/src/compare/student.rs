//! Tails and quantiles of the normal and of Student's distribution.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::checked_beta_reg;

/// P(Z > z) of a standard normal.
pub(super) fn normal_above(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// The value that a standard normal exceeds with probability `tail`, above 0 and at most 0.5.
pub(super) fn normal_quantile(tail: f64) -> f64 {
    // By halving: statrs' inverse is good to nine digits.
    last_where(0.0, 40.0, |z| normal_above(z) >= tail)
}

/// P(|T| > |t|) of Student's distribution with `df` degrees of freedom.
///
/// With y = t^2 / (df + t^2) it is I_{1-y}(df/2, 1/2) = 1 - I_y(1/2, df/2). Which of both keeps its digits
/// depends on the size of y: near 0, 1 - y has none left.
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
    let beyond = |t: f64| student_two_sided(t, df) / 2.0 >= tail;
    // Far tails of few degrees of freedom reach far: at 1 degree about 1 / tail.
    let mut far = 1.0;
    while far < 1e150 && beyond(far) {
        far *= 2.0;
    }
    last_where(0.0, far, beyond)
}

/// The end of the stretch from `low` on where `holds` does, if it holds at first and then no more; by
/// halving, down to neighbouring numbers.
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

/// Where `f`, which falls from above zero at `low` to below it at `high`, crosses it: to twelve digits of the range.
///
/// Halved until little is left of the range, since a tail is flat further out; from there by M. Dowell and P. Jarratt's
/// "modified regula falsi method" (BIT 11, 1971), which takes a fraction of what halving all the way would.
pub(super) fn falling_root(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    let close = (high - low).abs() * 1e-12;
    while high - low > 1.0 {
        let middle = low.midpoint(high);
        if f(middle) > 0.0 { low = middle } else { high = middle }
    }
    let (mut at_low, mut at_high) = (f(low), f(high));
    let mut kept_low = None;
    for _ in 0..100 {
        if high - low <= close || at_low <= 0.0 {
            break;
        }
        let middle = (high * at_low - low * at_high) / (at_low - at_high);
        let at_middle = f(middle);
        if at_middle > 0.0 {
            (low, at_low) = (middle, at_middle);
            // An end that stays twice in a row counts half, so that the other overshoots.
            at_high *= if kept_low == Some(false) { 0.5 } else { 1.0 };
            kept_low = Some(false);
        } else {
            (high, at_high) = (middle, at_middle);
            at_low *= if kept_low == Some(true) { 0.5 } else { 1.0 };
            kept_low = Some(true);
        }
        if at_middle.abs() <= f64::EPSILON {
            return middle;
        }
    }
    low.midpoint(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::noncentral;

    /// `tests/goldens/make_scipy_goldens.py` wrote down what SciPy says.
    fn goldens(of: &str) -> Vec<serde_json::Value> {
        let file = include_str!("../../tests/goldens/scipy_goldens.json");
        let all: serde_json::Value = serde_json::from_str(file).unwrap();
        all[of].as_array().unwrap().clone()
    }

    #[test]
    fn tails_of_students_distribution_are_scipys() {
        for case in goldens("tails") {
            let [t, df, golden] = ["t", "df", "p"].map(|name| case[name].as_f64().unwrap());
            let p = student_two_sided(t, df);
            assert!((p - golden).abs() <= 1e-9 * golden, "t {t}, df {df}: {p}, not {golden}");
        }
    }

    #[test]
    fn tails_of_the_noncentral_t_are_scipys() {
        for case in goldens("noncentral") {
            let [t, df, delta, golden] =
                ["t", "df", "delta", "above"].map(|name| case[name].as_f64().unwrap());
            let p = noncentral::above(t, df, delta);
            assert!((p - golden).abs() <= 1e-10, "t {t}, df {df}, {delta}: {p}, not {golden}");
        }
    }

    #[test]
    fn without_noncentrality_it_is_students_distribution() {
        for df in [1.0, 2.0, 4.0, 30.0, 1e4] {
            for t in [0.0, 0.5, 2.0, 6.0] {
                let half = student_two_sided(t, df) / 2.0;
                assert!((noncentral::above(t, df, 0.0) - half).abs() < 1e-10, "t {t}, df {df}");
            }
        }
    }

    #[test]
    fn quantiles_undo_tails() {
        for tail in [0.5, 0.3, 0.025, 0.0005, 1e-12] {
            assert!((normal_above(normal_quantile(tail)) - tail).abs() <= 1e-12 * tail, "{tail}");
            for df in [1.0, 4.0, 1e5] {
                let p = student_two_sided(student_quantile(tail, df), df) / 2.0;
                assert!((p - tail).abs() <= 1e-10 * tail, "{tail}, df {df}: {p}");
            }
        }
    }
}
