//! The noncentral t distribution, which a t statistic has where there is a difference.

use super::student::{last_where, normal_above};

/// P(T > t) of the noncentral t with `df` degrees of freedom and the noncentrality `delta`.
///
/// T is (Z + delta) / S with Z normal and S the root of a chi-squared over its degrees of freedom, so that it
/// is the mean of P(Z > t S - delta) over S. That mean is taken by the trapezoid rule in u = ln S, whose
/// error falls exponentially for a smooth integrand that vanishes at both ends; S then needs no norm either.
/// Within 1e-10 of SciPy's `nct.sf`.
pub(super) fn above(t: f64, df: f64, delta: f64) -> f64 {
    // The logarithm of S's density in u, greatest at u = 0, where it is zero.
    let log_density = |u: f64| df * (u - ((2.0 * u).exp() - 1.0) / 2.0);
    let (low, high) = support(df, log_density);
    // Half of the narrowest feature: the density is 1/sqrt(2 df) wide, the step from 0 to 1 about 1/delta.
    let step = 0.5 / ((2.0 * df).sqrt() + delta.abs() + 3.0);
    // Only absurd tails need more, and are then less exact.
    let steps = ((high - low) / step).ceil().min(262_144.0) as u32;
    let (mut sum, mut norm) = (0.0, 0.0);
    for i in 0..=steps {
        let u = low + (high - low) * f64::from(i) / f64::from(steps);
        let density = log_density(u).exp();
        sum += density * normal_above(t * u.exp() - delta);
        norm += density;
    }
    sum / norm
}

/// Where the density is above e^-35 of its greatest value.
fn support(df: f64, log_density: impl Fn(f64) -> f64) -> (f64, f64) {
    let inside = |u: f64| log_density(u) > -35.0;
    let low = -last_where(0.0, 50.0 / df + 10.0, |u| inside(-u));
    (low, last_where(0.0, 10.0, inside))
}
