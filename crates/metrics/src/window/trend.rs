//! Whether a signal grows: a slope test that knows of autocorrelation.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// How many batches a signal is cut into: few enough that each spans many requests, enough for a t distribution that is
/// close to its limit.
pub(super) const BATCHES: usize = 20;

/// A straight line through the means of consecutive batches of a signal.
///
/// Least squares; the standard error and the degrees of freedom take the residuals' lag-1 autocorrelation r into account by an
/// effective sample size n (1 - r) / (1 + r): B. D. Santer et al., "Statistical significance of trends and trend differences
/// in layer-average atmospheric temperature time series", J. Geophys. Res. 105 (2000), 7337-7356. A negative r counts as none.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SignalTrend {
    /// Change in a second, in the signal's unit.
    pub per_s: f64,
    /// Mean of the batches, in the signal's unit.
    pub mean: f64,
    /// Change over the time between the middles of the first and the last batch, as a share of the mean; zero where the mean
    /// is.
    pub share: f64,
    /// Number of batches.
    pub batches: u64,
    /// How many independent ones they are worth, from 3 up to their number.
    pub effective: f64,
    /// Probability, from 0 to 1, of a slope that is this far from zero in either direction where there is none.
    pub p: f64,
}

impl SignalTrend {
    /// Of batch means `(instant in seconds, mean)`; none of fewer than four, or all at one instant.
    pub(super) fn of(batches: &[(f64, f64)]) -> Option<Self> {
        let n = batches.len() as f64;
        if batches.len() < 4 {
            return None;
        }
        let mean_of = |part: fn(&(f64, f64)) -> f64| batches.iter().map(part).sum::<f64>() / n;
        let (mid, mean) = (mean_of(|b| b.0), mean_of(|b| b.1));
        let spread: f64 = batches.iter().map(|(at, _)| (at - mid).powi(2)).sum();
        let product: f64 = batches.iter().map(|(at, y)| (at - mid) * (y - mean)).sum();
        if spread <= 0.0 {
            return None;
        }
        let slope = product / spread;
        let off: Vec<f64> = batches.iter().map(|(at, y)| y - mean - slope * (at - mid)).collect();
        let squares: f64 = off.iter().map(|off| off * off).sum();
        let products: f64 = off.iter().zip(off.iter().skip(1)).map(|(a, b)| a * b).sum();
        let lag1 = if squares > 0.0 { (products / squares).max(0.0) } else { 0.0 };
        let effective = (n * (1.0 - lag1) / (1.0 + lag1)).max(3.0);
        let error = (squares / (effective - 2.0) / spread).sqrt();
        let length =
            batches.last().zip(batches.first()).map_or(0.0, |(last, first)| last.0 - first.0);
        Some(Self {
            per_s: slope,
            mean,
            share: if mean == 0.0 { 0.0 } else { slope * length / mean },
            batches: batches.len() as u64,
            effective,
            p: p_value(slope, error, effective - 2.0),
        })
    }

    /// The probability of a slope this steep or steeper where there is none.
    fn p_growth(&self) -> f64 {
        if self.per_s > 0.0 { self.p / 2.0 } else { 1.0 - self.p / 2.0 }
    }
}

/// Whether a signal grows, by two one-sided tests.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SignalGrowth {
    /// The line. Its slope test is the sharper one where what is around the line is noise.
    pub trend: SignalTrend,
    /// Probability, from 0 to 1, of steps from batch to batch that go up as much on the mean, if the signal wandered without a
    /// direction: the sharper test of an overloaded queue, which adds up all that ever came too early. Steps between averages
    /// of such a walk are correlated by 1/4 (H. Working, "Note on the correlation of first differences of averages in a random
    /// chain", Econometrica 28 (1960), 916-918), and their t statistic is made smaller by the square root of 3/2. Those of a
    /// signal that stays where it is pull each other back, so that for it the test errs on the safe side.
    pub p_steps: f64,
    /// Of growth by chance, from 0 to 1: the lesser of both times the eight tests that there are, two of each part of a level
    /// (Bonferroni). Of the parts that lie within the first one it is that of the steps alone: a short stretch of a queue that
    /// wanders is too often like a line.
    pub p: f64,
}

/// Which tests count in the joint probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tests {
    Both,
    Steps,
}

impl SignalGrowth {
    /// Of batch means as for [`SignalTrend::of`], where there are so many tests `in_all` of which any will do.
    pub(super) fn of(batches: &[(f64, f64)], tests: Tests, in_all: usize) -> Option<Self> {
        let trend = SignalTrend::of(batches)?;
        let steps = || batches.iter().zip(batches.iter().skip(1)).map(|(a, b)| b.1 - a.1);
        let n = batches.len() as f64 - 1.0;
        let mean = steps().sum::<f64>() / n;
        let variance = steps().map(|step| (step - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let two_sided = p_value(mean, (1.5 * variance / n).sqrt(), n - 1.0);
        let p_steps = if mean > 0.0 { two_sided / 2.0 } else { 1.0 - two_sided / 2.0 };
        let least = match tests {
            Tests::Both => p_steps.min(trend.p_growth()),
            Tests::Steps => p_steps,
        };
        Some(Self { trend, p_steps, p: (in_all as f64 * least).min(1.0) })
    }
}

/// Two-sided. Rounding leaves a residual where a line fits exactly; none at all and no slope is no evidence of one.
fn p_value(slope: f64, error: f64, freedom: f64) -> f64 {
    if slope == 0.0 {
        return 1.0;
    }
    let student = StudentsT::new(0.0, 1.0, freedom).ok();
    let ratio = (slope / error).abs();
    if !ratio.is_finite() {
        return 0.0;
    }
    student.map_or(1.0, |student| (2.0 * student.sf(ratio)).min(1.0))
}

/// Batch means of values `(instant in seconds, value)` in order: [`BATCHES`] batches as equal in size as can be, or one for each
/// value where there are fewer.
pub(super) fn batch_means(values: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let batches = BATCHES.min(values.len());
    let edge = |batch: usize| batch * values.len() / batches;
    let batch = |batch: usize| values.get(edge(batch)..edge(batch + 1)).unwrap_or_default();
    let mean = |part: &[(f64, f64)]| {
        let n = part.len() as f64;
        let (at, sum) = part.iter().fold((0.0, 0.0), |sum, v| (sum.0 + v.0, sum.1 + v.1));
        (at / n, sum / n)
    };
    (0..batches).map(|index| mean(batch(index))).collect()
}

#[cfg(test)]
mod tests {
    use super::{SignalGrowth, SignalTrend, Tests};

    /// Golden values: SciPy 1.17.1, `tests/goldens/make_trend_goldens.py`. In the first sample neighbouring residuals have
    /// opposite signs, so that all ten count and p is that of `scipy.stats.linregress`.
    #[test]
    fn slopes_and_p_values_are_those_of_scipy() {
        let zigzag = [3.1, 2.0, 5.2, 4.1, 6.9, 5.0, 8.2, 6.6, 9.4, 8.9];
        let waves = [4.0, 5.5, 6.5, 6.0, 5.0, 4.5, 5.5, 7.5, 8.5, 8.0, 6.5, 6.0];
        agrees(&zigzag, [0.7357575757575758, 10.0, 0.00044719110486526377]);
        agrees(&waves, [0.21853146853146854, 4.829457710332517, 0.325544110960092]);
    }

    fn agrees(values: &[f64], [slope, effective, p]: [f64; 3]) {
        let points: Vec<(f64, f64)> = (0..).map(f64::from).zip(values.iter().copied()).collect();
        let trend = SignalTrend::of(&points).unwrap();
        let close = |found: f64, right: f64| (found - right).abs() <= 1e-9 * right;
        let all = close(trend.per_s, slope) && close(trend.effective, effective);
        assert!(all && close(trend.p, p), "{trend:?}");
    }

    #[test]
    fn a_level_line_has_no_trend_and_an_exact_one_is_certain() {
        let line =
            |slope: f64| (0..20).map(f64::from).map(|t| (t, 7.0 + slope * t)).collect::<Vec<_>>();
        assert_eq!(SignalTrend::of(&line(0.0)).unwrap().p, 1.0);
        let rising = SignalTrend::of(&line(0.5)).unwrap();
        let growth = |slope| SignalGrowth::of(&line(slope), Tests::Both, 2).unwrap().p;
        assert!(growth(0.5) < 1e-6 && growth(-0.5) == 1.0 && growth(0.0) == 1.0);
        assert!((rising.per_s - 0.5).abs() < 1e-12);
        assert_eq!(SignalTrend::of(&line(0.5)[..3]), None);
    }

    /// By hand: steps 1, 2, 3, 2 have a mean of 2 and a variance of 2/3, so that t is 2 / sqrt(1.5 (2/3) / 4) = 4 with three
    /// degrees of freedom: 0.014004228005073076 of it lies above (SciPy 1.17.1, `scipy.stats.t.sf(4, 3)`).
    #[test]
    fn steps_are_those_of_a_hand_made_example() {
        let points: Vec<(f64, f64)> = (0..).map(f64::from).zip([0.0, 1.0, 3.0, 6.0, 8.0]).collect();
        let growth = SignalGrowth::of(&points, Tests::Both, 2).unwrap();
        assert!((growth.p_steps - 0.014004228005073076).abs() < 1e-12, "{growth:?}");
    }

    #[test]
    fn residuals_that_hang_together_count_for_less() {
        let slow = |n: i32| f64::from(n) + 6.0 * (f64::from(n) / 3.0).sin();
        let waves: Vec<(f64, f64)> = (0..20).map(|n| (f64::from(n), slow(n))).collect();
        let trend = SignalTrend::of(&waves).unwrap();
        assert!(trend.effective < 8.0, "{trend:?}");
    }
}
