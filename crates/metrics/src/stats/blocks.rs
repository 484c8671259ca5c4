//! How long blocks of a resample ought to be.

use super::autocorrelation::{autocovariance, centred};

/// The mean length of the blocks of a stationary bootstrap of `series`, in values and at least 1; not whole. It makes the
/// bootstrap's variance of the mean the most accurate: D. N. Politis and H. White, "Automatic block-length selection for the
/// dependent bootstrap" (Econometric Reviews 23, 2004), as corrected by A. Patton, D. N. Politis and H. White (28, 2009).
///
/// Autocovariances are weighed by a flat-top window (1 up to half of `m` lags, then falling to 0), where `m` is twice the
/// lag after which a run of correlations is within `2 sqrt(log10(n) / n)` of zero. Then the length is `(2 g^2 / d)^(1/3)
/// n^(1/3)`, `g` the sum of |lag| times autocovariance over both sides, and `d` twice the square of the
/// plain sum. Details of the search and the bound are as in Patton's code and the Python package arch.
pub(crate) fn block_length(series: &[f64]) -> f64 {
    let n = series.len() as f64;
    let centred = centred(series);
    let variance = autocovariance(&centred, 0);
    if centred.len() < 4 || variance <= 0.0 {
        return 1.0;
    }
    let lags = window(&centred);
    let (mut g, mut spectrum) = (0.0, variance);
    for lag in 1..=lags {
        let position = lag as f64 / lags as f64;
        let weight = if position <= 0.5 { 1.0 } else { 2.0 * (1.0 - position) };
        let covariance = autocovariance(&centred, lag);
        g += 2.0 * weight * lag as f64 * covariance;
        spectrum += 2.0 * weight * covariance;
    }
    let d = 2.0 * spectrum * spectrum;
    let longest = (3.0 * n.sqrt()).min(n / 3.0).ceil();
    let length = (2.0 * g * g / d).cbrt() * n.cbrt();
    if length.is_finite() { length.min(longest) } else { longest }.max(1.0)
}

/// How many lags the window spans.
fn window(centred: &[f64]) -> usize {
    let n = centred.len() as f64;
    let run = (n.log10() as usize).max(5);
    let most = (n.sqrt().ceil() as usize + run).min(centred.len() - 1);
    let small = 2.0 * (n.log10() / n).sqrt();
    let square = |index: usize| centred.get(index).map_or(0.0, |x| x * x);
    // What is left of the squares without the first and without the last `lag + 1` values: one value less than overlap at
    // that lag, as in the code named above.
    let mut late: f64 = centred.iter().map(|x| x * x).sum();
    let mut early = late;
    let mut quiet = 0;
    // Lag 0 counts into a run as well as any other, though its correlation is 1.
    for lag in 0..most {
        late -= square(lag);
        early -= square(centred.len() - 1 - lag);
        let correlation = (autocovariance(centred, lag) * n).abs() / (late * early).sqrt();
        quiet = if correlation < small { quiet + 1 } else { 0 };
        if quiet == run {
            return (2 * (lag + 1 - run).max(1)).min(most);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden values: arch 8.0.0, `optimal_block_length`; see `tests/goldens/make_uncertainty_goldens.py`.
    #[test]
    fn lengths_are_those_of_arch() {
        let text = include_str!("../../tests/goldens/uncertainty_goldens.json");
        let goldens: serde_json::Value = serde_json::from_str(text).unwrap();
        for (name, golden) in goldens["series"].as_object().unwrap() {
            let values = golden["values"].as_array().unwrap().iter();
            let values: Vec<f64> = values.map(|value| value.as_f64().unwrap()).collect();
            let expected = golden["block_lengths"]["Stationary"].as_f64().unwrap();
            let found = block_length(&values);
            assert!((found / expected - 1.0).abs() < 1e-9, "{name}: {found}");
        }
    }

    #[test]
    fn a_length_is_at_least_one() {
        for short in [&[][..], &[1.0], &[1.0, 2.0], &[3.0; 50]] {
            assert_eq!(block_length(short), 1.0);
        }
    }
}
