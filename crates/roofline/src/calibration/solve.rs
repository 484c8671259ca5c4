//! A small bounded least-squares solver: damped Gauss-Newton on the logarithms of a few constants.

/// What a measurement is to the solver: a prediction from the constants, with its derivatives.
pub(super) trait PredictedValue<const N: usize> {
    /// The prediction for `values` (above 0), and its derivatives by their logarithms.
    fn predict(&self, values: &[f64; N]) -> (f64, [f64; N]);
}

/// Measurements to fit, and what is known beforehand.
///
/// Minimises `sum_j w_j 2 (sqrt(1 + z_j^2) - 1) + sum_i ((ln v_i - ln p_i) / s_i)^2` with
/// `z_j = ln(predicted / measured) / scale`: squares near zero, absolute values far from it ("soft L1"), so that a
/// few wrong measurements do not decide; and a prior that speaks where measurements are silent.
pub(super) struct FitProblem<'a, R, const N: usize> {
    pub(super) rows: &'a [R],
    /// What was measured, above 0.
    pub(super) measured: &'a [f64],
    /// How much each measurement counts.
    pub(super) weights: &'a [f64],
    /// Logarithms.
    pub(super) prior: [f64; N],
    /// Standard deviations of the logarithms.
    pub(super) spread: [f64; N],
    /// Logarithms of the lowest and highest values.
    pub(super) range: ([f64; N], [f64; N]),
}

/// What fits best.
#[derive(Debug, Clone, Copy)]
pub(super) struct FitSolution<const N: usize> {
    pub(super) values: [f64; N],
    /// Standard deviations of the logarithms.
    pub(super) deviations: [f64; N],
}

/// Residuals below which a measurement is taken at its word, at first: 10 %.
const SCALE: f64 = 0.1;
/// How much wider a prior is that is hardly felt.
const LOOSE: f64 = 5.0;
/// Not less, however well all fits.
const LEAST_SCALE: f64 = 1e-4;

impl<R: PredictedValue<N>, const N: usize> FitProblem<'_, R, N> {
    /// Solves with the scale that the measurements have by themselves: that of the residuals which a hardly felt prior
    /// leaves. Measurements without noise then outweigh the prior.
    pub(super) fn solve(&self) -> FitSolution<N> {
        let loose = Self { spread: self.spread.map(|spread| LOOSE * spread), ..*self };
        let (mut scale, mut start) = (SCALE, self.prior);
        for _ in 0..40 {
            let found = loose.solve_at(scale, start);
            start = found.values.map(f64::ln);
            let mut residuals: Vec<f64> = self.residuals(&found.values).map(f64::abs).collect();
            let next = median(&mut residuals).clamp(LEAST_SCALE, scale);
            if next > 0.9 * scale {
                break;
            }
            scale = next;
        }
        self.solve_at(scale, self.prior)
    }

    fn residuals(&self, values: &[f64; N]) -> impl Iterator<Item = f64> {
        let values = *values;
        self.rows
            .iter()
            .zip(self.measured)
            .map(move |(row, measured)| (row.predict(&values).0 / measured).ln())
    }

    fn solve_at(&self, scale: f64, start: [f64; N]) -> FitSolution<N> {
        let (low, high) = &self.range;
        let mut logs = start;
        clamp(&mut logs, low, high);
        let mut cost = self.cost(&logs, scale);
        let mut damping = 1e-3;
        for _ in 0..200 {
            let (normal, gradient) = self.normal(&logs, scale);
            let free = std::array::from_fn(|i| {
                !((logs[i] <= low[i] && gradient[i] > 0.0)
                    || (logs[i] >= high[i] && gradient[i] < 0.0))
            });
            let mut improved = None;
            for _ in 0..12 {
                let mut next = step(&logs, &normal, &gradient, &free, damping);
                clamp(&mut next, low, high);
                let next_cost = self.cost(&next, scale);
                if next_cost < cost {
                    improved = Some((next, next_cost));
                    damping = (damping / 5.0).max(1e-9);
                    break;
                }
                damping *= 5.0;
            }
            let Some((next, next_cost)) = improved else { break };
            let gained = cost - next_cost;
            (logs, cost) = (next, next_cost);
            if gained < 1e-9 * (1.0 + cost) {
                break;
            }
        }
        let (normal, _) = self.normal(&logs, scale);
        FitSolution { values: logs.map(f64::exp), deviations: deviations(&normal) }
    }

    fn cost(&self, logs: &[f64; N], scale: f64) -> f64 {
        let values = logs.map(f64::exp);
        let fit: f64 = self
            .residuals(&values)
            .zip(self.weights)
            .map(|(residual, weight)| weight * 2.0 * ((residual / scale).hypot(1.0) - 1.0))
            .sum();
        let prior: f64 = (0..N).map(|i| ((logs[i] - self.prior[i]) / self.spread[i]).powi(2)).sum();
        fit + prior
    }

    /// The matrix and the gradient of the normal equations, each measurement weighted by how far off it is.
    fn normal(&self, logs: &[f64; N], scale: f64) -> ([[f64; N]; N], [f64; N]) {
        let values = logs.map(f64::exp);
        let mut normal = [[0.0; N]; N];
        let mut gradient = [0.0; N];
        for ((row, measured), weight) in self.rows.iter().zip(self.measured).zip(self.weights) {
            let (predicted, slopes) = row.predict(&values);
            let residual = (predicted / measured).ln();
            let weight = weight / ((residual / scale).hypot(1.0) * scale * scale);
            let slopes = slopes.map(|slope| slope / predicted);
            for i in 0..N {
                gradient[i] += weight * slopes[i] * residual;
                for j in 0..N {
                    normal[i][j] += weight * slopes[i] * slopes[j];
                }
            }
        }
        for i in 0..N {
            let precision = self.spread[i].powi(-2);
            normal[i][i] += precision;
            gradient[i] += precision * (logs[i] - self.prior[i]);
        }
        (normal, gradient)
    }
}

fn clamp<const N: usize>(logs: &mut [f64; N], low: &[f64; N], high: &[f64; N]) {
    for i in 0..N {
        logs[i] = logs[i].clamp(low[i], high[i]);
    }
}

/// One damped step along the free constants.
fn step<const N: usize>(
    logs: &[f64; N],
    normal: &[[f64; N]; N],
    gradient: &[f64; N],
    free: &[bool; N],
    damping: f64,
) -> [f64; N] {
    let both = |i: usize, j: usize| free[i] && free[j];
    let matrix: [[f64; N]; N] = std::array::from_fn(|i| {
        std::array::from_fn(|j| match i == j {
            true if free[i] => normal[i][i] * (1.0 + damping),
            true => 1.0,
            false if both(i, j) => normal[i][j],
            false => 0.0,
        })
    });
    let right: [f64; N] = std::array::from_fn(|i| if free[i] { -gradient[i] } else { 0.0 });
    let moves = solved(&factor(&matrix), &right);
    std::array::from_fn(|i| logs[i] + moves[i])
}

/// The lower factor of a symmetric positive definite matrix (Cholesky). The prior's precisions on the diagonal make
/// every matrix here one.
fn factor<const N: usize>(matrix: &[[f64; N]; N]) -> [[f64; N]; N] {
    let mut lower = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let rest = matrix[i][j] - known;
            lower[i][j] =
                if i == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / lower[j][j] };
        }
    }
    lower
}

/// Forward and backward through a factor.
fn solved<const N: usize>(lower: &[[f64; N]; N], right: &[f64; N]) -> [f64; N] {
    let mut x = *right;
    for i in 0..N {
        let known: f64 = (0..i).map(|k| lower[i][k] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i][i];
    }
    for i in (0..N).rev() {
        let known: f64 = (i + 1..N).map(|k| lower[k][i] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i][i];
    }
    x
}

/// Square roots of the inverse's diagonal.
fn deviations<const N: usize>(normal: &[[f64; N]; N]) -> [f64; N] {
    let lower = factor(normal);
    std::array::from_fn(|i| {
        let unit = std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 });
        solved(&lower, &unit)[i].max(0.0).sqrt()
    })
}

/// The median, 0 of nothing.
pub(super) fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

/// The quantile at `at`, between 0 and 1, linear between neighbours; 0 of nothing.
pub(super) fn quantile(values: &mut [f64], at: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let place = at.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    values[below] + (values[above] - values[below]) * (place - place.floor())
}

#[cfg(test)]
mod tests {
    use super::{FitProblem, PredictedValue, factor, quantile, solved};

    /// `a x + b`
    struct LinearTerm(f64);

    impl PredictedValue<2> for LinearTerm {
        fn predict(&self, [a, b]: &[f64; 2]) -> (f64, [f64; 2]) {
            (a * self.0 + b, [a * self.0, *b])
        }
    }

    fn fit(measured: &[f64], high: [f64; 2]) -> super::FitSolution<2> {
        let rows: Vec<LinearTerm> = (0..measured.len()).map(|x| LinearTerm(x as f64)).collect();
        let weights = vec![1.0; measured.len()];
        FitProblem {
            rows: &rows,
            measured,
            weights: &weights,
            prior: [0.0, 0.0],
            spread: [0.5, 0.5],
            range: ([1e-3_f64.ln(); 2], high.map(f64::ln)),
        }
        .solve()
    }

    fn is_near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-3
    }

    #[test]
    fn what_made_the_measurements_is_found() {
        let measured: Vec<f64> = (0..20).map(|x| 0.3 * f64::from(x) + 5.0).collect();
        let found = fit(&measured, [1e3, 1e3]);
        assert!(is_near(found.values[0], 0.3) && is_near(found.values[1], 5.0), "{found:?}");
        assert!(found.deviations.iter().all(|deviation| *deviation < 1e-3));
    }

    #[test]
    fn one_wrong_measurement_does_not_decide() {
        let mut measured: Vec<f64> = (0..20).map(|x| 0.3 * f64::from(x) + 5.0).collect();
        measured[7] *= 10.0;
        let found = fit(&measured, [1e3, 1e3]);
        assert!(is_near(found.values[0], 0.3) && is_near(found.values[1], 5.0), "{found:?}");
    }

    #[test]
    fn ranges_are_kept() {
        let measured: Vec<f64> = (0..20).map(|x| 0.3 * f64::from(x) + 5.0).collect();
        let found = fit(&measured, [0.2, 1e3]);
        assert!(is_near(found.values[0], 0.2), "{found:?}");
        assert!(found.values[1] > 5.0, "the other makes up for it: {found:?}");
    }

    #[test]
    fn without_measurements_the_prior_stands() {
        let found = fit(&[], [1e3, 1e3]);
        assert_eq!(found.values, [1.0, 1.0]);
        assert!(is_near(found.deviations[0], 0.5));
    }

    #[test]
    fn a_factor_solves() {
        let matrix = [[4.0, 2.0, 0.6], [2.0, 5.0, 1.0], [0.6, 1.0, 3.0]];
        let x = solved(&factor(&matrix), &[1.0, -2.0, 0.5]);
        for (row, right) in matrix.iter().zip([1.0, -2.0, 0.5]) {
            let left: f64 = row.iter().zip(x).map(|(m, x)| m * x).sum();
            assert!((left - right).abs() < 1e-12);
        }
    }

    #[test]
    fn quantiles_are_linear_between_neighbours() {
        assert_eq!(quantile(&mut [3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&mut [3.0, 1.0, 2.0], 0.75), 2.5);
        assert_eq!(quantile(&mut [], 0.5), 0.0);
    }
}
