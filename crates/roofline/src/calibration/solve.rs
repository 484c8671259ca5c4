//! A small robust least-squares solver for constants that groups of measurements share.

use super::constants::Constant;

/// What a measurement is to the solver: a prediction from the constants, with its derivatives.
pub(super) trait PredictedValue<const N: usize> {
    /// The prediction for `values` (above 0), and its derivatives by their logarithms.
    fn predict(&self, values: &[f64; N]) -> (f64, [f64; N]);
}

/// A measurement.
pub(super) struct FitRow<R> {
    pub(super) row: R,
    /// What was measured, above 0.
    pub(super) measured: f64,
    /// How much it counts.
    pub(super) weight: f64,
}

/// Measurements that have their constants in common: each the sum of the offsets of `sets`.
pub(super) struct FitCell<R> {
    pub(super) sets: Vec<usize>,
    pub(super) rows: Vec<FitRow<R>>,
}

/// Measurements to fit, and what is known beforehand.
///
/// The natural parameter of a constant is that of its prior and an offset for each set that a measurement belongs to: what all
/// have in common, its device, its engine, this engine on this device. Minimises the sum of `w_j rho(z_j)` over measurements
/// and of `rho(o / s)` over offsets, with `rho(z) = 2 (sqrt(1 + z^2) - 1)` and `z_j = ln(predicted / measured) / scale`:
/// squares near zero, absolute values far from it ("soft L1"). A few wrong measurements do not decide; an offset is shared
/// rather than repeated; and where one device differs greatly it does so by itself.
pub(super) struct FitProblem<'a, R, const N: usize> {
    pub(super) constants: [Constant; N],
    pub(super) cells: &'a [FitCell<R>],
    /// Standard deviations of the offsets of each set.
    pub(super) spreads: &'a [[f64; N]],
}

/// What fits best.
#[derive(Debug, Clone)]
pub(super) struct FitSolution<const N: usize> {
    constants: [Constant; N],
    /// Of each set, the first that of all.
    offsets: Vec<[f64; N]>,
    normal: SquareMatrix,
}

/// Residuals below which a measurement is taken at its word, at first: 6 %.
const SCALE: f64 = 0.06;
/// How much wider a prior is that is hardly felt.
const LOOSE: f64 = 5.0;
/// How far away of what is found near what is usual others begin, in natural parameters.
const FAR_STARTS: [f64; 4] = [-5.0, -2.5, 2.5, 5.0];
/// Not less, however well all fits.
const LEAST_SCALE: f64 = 1e-4;

impl<R: PredictedValue<N>, const N: usize> FitProblem<'_, R, N> {
    /// Solves with the scale that the measurements have by themselves, if that is much smaller than the usual one: that of the
    /// residuals which a hardly felt prior leaves. Measurements without noise then outweigh the prior.
    pub(super) fn solve(&self) -> FitSolution<N> {
        let loose: Vec<[f64; N]> =
            self.spreads.iter().map(|spreads| spreads.map(|spread| LOOSE * spread)).collect();
        let loose = FitProblem { spreads: &loose, ..*self };
        let nothing = vec![[0.0; N]; self.spreads.len()];
        let (mut scale, mut start) = (SCALE, nothing.clone());
        for _ in 0..30 {
            start = loose.solve_at(scale, start);
            let mut residuals = self.residuals(&start);
            let next = median(&mut residuals).clamp(LEAST_SCALE, scale);
            if next > 0.9 * scale {
                break;
            }
            scale = next;
        }
        let (scale, start) = if scale < 0.5 * SCALE { (scale, start) } else { (SCALE, nothing) };
        let offsets = self.solve_at(scale, start);
        let offsets = if self.is_of_one() { self.far(scale, &offsets) } else { offsets };
        let (normal, _) = self.normal(&offsets, scale);
        FitSolution { constants: self.constants, offsets, normal: normal.factor() }
    }

    fn values(&self, offsets: &[[f64; N]], cell: &FitCell<R>) -> [f64; N] {
        values(&self.constants, offsets, &cell.sets)
    }

    fn residuals(&self, offsets: &[[f64; N]]) -> Vec<f64> {
        let of = |cell: &FitCell<R>| {
            let values = self.values(offsets, cell);
            let each = |row: &FitRow<R>| (row.row.predict(&values).0 / row.measured).ln().abs();
            cell.rows.iter().map(each).collect::<Vec<f64>>()
        };
        self.cells.iter().flat_map(of).collect()
    }

    /// The best of `near` and of what is found from far away of it. Where a constant is near what is usual its part of a time may be too small to
    /// show, though with a value that is far from that it explains what all others cannot: caches are read at memory's speed on accelerators,
    /// and at a hundredth of it where a processor computes attention. No step from near leads there, so that one begins there.
    fn far(&self, scale: f64, near: &[[f64; N]]) -> Vec<[f64; N]> {
        let mut best = (self.cost(near, scale), near.to_vec());
        let widest = |i: usize| {
            let sets = self.spreads.iter().enumerate();
            sets.max_by(|(_, one), (_, other)| one[i].total_cmp(&other[i])).map(|(set, _)| set)
        };
        for i in 0..N {
            let Some(set) = widest(i) else { continue };
            for away in FAR_STARTS {
                let mut start = near.to_vec();
                start[set][i] += away;
                let found = self.solve_at(scale, start);
                let cost = self.cost(&found, scale);
                if cost < best.0 {
                    best = (cost, found);
                }
            }
        }
        best.1
    }

    fn solve_at(&self, scale: f64, start: Vec<[f64; N]>) -> Vec<[f64; N]> {
        let mut offsets = start;
        let mut cost = self.cost(&offsets, scale);
        let mut damping = 1e-3;
        for _ in 0..80 {
            let (normal, gradient) = self.normal(&offsets, scale);
            let mut improved = None;
            for _ in 0..8 {
                let moves = normal.damped(damping).factor().solved(&gradient);
                let next: Vec<[f64; N]> = (0..offsets.len())
                    .map(|set| std::array::from_fn(|i| offsets[set][i] - moves[set * N + i]))
                    .collect();
                let next_cost = self.cost(&next, scale);
                if next_cost < cost {
                    improved = Some((next, next_cost));
                    damping = (damping / 6.0).max(1e-9);
                    break;
                }
                damping *= 6.0;
            }
            let Some((next, next_cost)) = improved else { break };
            let gained = cost - next_cost;
            (offsets, cost) = (next, next_cost);
            if gained < 1e-7 * (1.0 + cost) {
                break;
            }
        }
        offsets
    }

    fn cost(&self, offsets: &[[f64; N]], scale: f64) -> f64 {
        let mut cost = 0.0;
        for cell in self.cells {
            let values = self.values(offsets, cell);
            for FitRow { row, measured, weight } in &cell.rows {
                let residual = (row.predict(&values).0 / measured).ln();
                cost += weight * 2.0 * ((residual / scale).hypot(1.0) - 1.0);
            }
        }
        for (offsets, spreads) in offsets.iter().zip(self.spreads) {
            for (offset, spread) in offsets.iter().zip(spreads) {
                cost += self.prior_cost(offset / spread);
            }
        }
        cost
    }

    /// What an offset costs that is so many spreads long.
    fn prior_cost(&self, z: f64) -> f64 {
        if self.is_of_one() { 2.0 * (z * z / 2.0).ln_1p() } else { 2.0 * (z.hypot(1.0) - 1.0) }
    }

    /// How much its square counts.
    fn prior_weight(&self, z: f64) -> f64 {
        if self.is_of_one() { 1.0 / (1.0 + z * z / 2.0) } else { 1.0 / z.hypot(1.0) }
    }

    /// Whether all is of one engine on one device. It may be of another kind than those that the spreads are of.
    const fn is_of_one(&self) -> bool {
        self.cells.len() == 1
    }

    /// The matrix and the gradient of the normal equations, each measurement and each offset weighted by how far off it is.
    fn normal(&self, offsets: &[[f64; N]], scale: f64) -> (SquareMatrix, Vec<f64>) {
        let mut normal = SquareMatrix::zero(offsets.len() * N);
        let mut gradient = vec![0.0; offsets.len() * N];
        for cell in self.cells {
            let (own, slope) = self.normal_of(cell, offsets, scale);
            for set in &cell.sets {
                for i in 0..N {
                    gradient[set * N + i] += slope[i];
                    for other in &cell.sets {
                        let row = normal.row_mut(set * N + i);
                        for (at, value) in row[other * N..].iter_mut().zip(&own[i]) {
                            *at += value;
                        }
                    }
                }
            }
        }
        for (set, (offsets, spreads)) in offsets.iter().zip(self.spreads).enumerate() {
            for i in 0..N {
                let precision = spreads[i].powi(-2) * self.prior_weight(offsets[i] / spreads[i]);
                normal.row_mut(set * N + i)[set * N + i] += precision;
                gradient[set * N + i] += precision * offsets[i];
            }
        }
        (normal, gradient)
    }

    /// What the measurements of a cell add for the sum of its offsets.
    fn normal_of(
        &self,
        cell: &FitCell<R>,
        offsets: &[[f64; N]],
        scale: f64,
    ) -> ([[f64; N]; N], [f64; N]) {
        let values = self.values(offsets, cell);
        let chain: [f64; N] = std::array::from_fn(|i| self.constants[i].slope(values[i]));
        let (mut normal, mut gradient) = ([[0.0; N]; N], [0.0; N]);
        for FitRow { row, measured, weight } in &cell.rows {
            let (predicted, slopes) = row.predict(&values);
            let residual = (predicted / measured).ln();
            let weight = weight / ((residual / scale).hypot(1.0) * scale * scale);
            let slopes: [f64; N] = std::array::from_fn(|i| slopes[i] * chain[i] / predicted);
            for i in 0..N {
                gradient[i] += weight * slopes[i] * residual;
                for j in 0..N {
                    normal[i][j] += weight * slopes[i] * slopes[j];
                }
            }
        }
        (normal, gradient)
    }
}

fn values<const N: usize>(
    constants: &[Constant; N],
    offsets: &[[f64; N]],
    sets: &[usize],
) -> [f64; N] {
    std::array::from_fn(|i| {
        let start = constants[i].natural(constants[i].prior().value);
        constants[i].of_natural(start + sets.iter().map(|set| offsets[*set][i]).sum::<f64>())
    })
}

impl<const N: usize> FitSolution<N> {
    /// The constants of those that belong to `sets`.
    pub(super) fn values(&self, sets: &[usize]) -> [f64; N] {
        values(&self.constants, &self.offsets, sets)
    }

    /// Standard deviations of their natural parameters.
    pub(super) fn deviations(&self, sets: &[usize]) -> [f64; N] {
        std::array::from_fn(|i| {
            let mut unit = vec![0.0; self.offsets.len() * N];
            for set in sets {
                unit[set * N + i] = 1.0;
            }
            let solved = self.normal.solved(&unit);
            sets.iter().map(|set| solved[set * N + i]).sum::<f64>().max(0.0).sqrt()
        })
    }
}

/// A square matrix, row by row.
#[derive(Debug, Clone)]
struct SquareMatrix {
    size: usize,
    cells: Vec<f64>,
}

impl SquareMatrix {
    fn zero(size: usize) -> Self {
        Self { size, cells: vec![0.0; size * size] }
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.cells[at * self.size..(at + 1) * self.size]
    }

    fn row_mut(&mut self, at: usize) -> &mut [f64] {
        &mut self.cells[at * self.size..(at + 1) * self.size]
    }

    /// With a larger diagonal, for a shorter step.
    fn damped(&self, damping: f64) -> Self {
        let mut damped = self.clone();
        for at in 0..self.size {
            damped.row_mut(at)[at] *= 1.0 + damping;
        }
        damped
    }

    /// The lower factor of a symmetric positive definite matrix (Cholesky). The prior's precisions on the diagonal make
    /// every matrix here one.
    fn factor(mut self) -> Self {
        for i in 0..self.size {
            for j in 0..=i {
                let (above, rest) = self.cells.split_at_mut(i * self.size);
                let row = &mut rest[..self.size];
                row[j] = if i == j {
                    (row[j] - product(&row[..j], &row[..j])).max(f64::MIN_POSITIVE).sqrt()
                } else {
                    let other = &above[j * self.size..][..=j];
                    (row[j] - product(&row[..j], &other[..j])) / other[j]
                };
            }
        }
        self
    }

    /// Forward and backward through a factor.
    fn solved(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        for i in 0..self.size {
            let row = self.row(i);
            x[i] = (x[i] - product(&row[..i], &x[..i])) / row[i];
        }
        for i in (0..self.size).rev() {
            x[i] /= self.row(i)[i];
            let found = x[i];
            for (x, a) in x[..i].iter_mut().zip(self.row(i)) {
                *x -= a * found;
            }
        }
        x
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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
    use super::super::constants::Constant;
    use super::{FitCell, FitProblem, FitRow, PredictedValue, SquareMatrix, quantile};

    /// `a x + b`
    struct LinearTerm(f64);

    impl PredictedValue<2> for LinearTerm {
        fn predict(&self, [a, b]: &[f64; 2]) -> (f64, [f64; 2]) {
            (a * self.0 + b, [a * self.0, *b])
        }
    }

    const PAIR: [Constant; 2] = [Constant::PerStep, Constant::PerSequence];

    /// Of each set of measurements, what is found; all have the first set in common.
    fn fit(measured: &[Vec<f64>], spread: f64) -> Vec<[f64; 2]> {
        let row = |(x, measured): (usize, &f64)| FitRow {
            row: LinearTerm(x as f64),
            measured: *measured,
            weight: 1.0,
        };
        let cells: Vec<_> = (measured.iter().enumerate())
            .map(|(cell, measured)| FitCell {
                sets: vec![0, cell + 1],
                rows: measured.iter().enumerate().map(row).collect(),
            })
            .collect();
        let spreads = vec![[spread; 2]; measured.len() + 1];
        let problem = FitProblem { constants: PAIR, cells: &cells, spreads: &spreads };
        let solution = problem.solve();
        cells.iter().map(|cell| solution.values(&cell.sets)).collect()
    }

    fn line(a: f64, b: f64) -> Vec<f64> {
        (0..20).map(|x| a * f64::from(x) + b).collect()
    }

    fn is_near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 2e-3
    }

    #[test]
    fn what_made_the_measurements_is_found_in_each_group() {
        let found = fit(&[line(3e-4, 5e-3), line(6e-4, 1e-3)], 0.5);
        for ([a, b], (slope, start)) in found.into_iter().zip([(3e-4, 5e-3), (6e-4, 1e-3)]) {
            assert!(is_near(a, slope) && is_near(b, start), "{a} {b}");
        }
    }

    #[test]
    fn one_wrong_measurement_does_not_decide() {
        let mut measured = line(3e-4, 5e-3);
        measured[7] *= 10.0;
        let [a, b] = fit(&[measured], 0.5)[0];
        assert!(is_near(a, 3e-4) && is_near(b, 5e-3), "{a} {b}");
    }

    #[test]
    fn a_group_without_measurements_has_what_the_others_have() {
        let found = fit(&[line(3e-4, 5e-3), line(3e-4, 5e-3), Vec::new()], 0.5);
        assert!((found[2][0] / 3e-4).ln().abs() < 0.7, "{found:?}");
        let prior = fit(&[Vec::new()], 0.5)[0];
        for (found, constant) in prior.into_iter().zip(PAIR) {
            assert!(is_near(found, constant.prior().value), "{constant}");
        }
    }

    /// `x / a + b`
    struct RateTerm(f64);

    impl PredictedValue<2> for RateTerm {
        fn predict(&self, [a, b]: &[f64; 2]) -> (f64, [f64; 2]) {
            (self.0 / a + b, [-self.0 / a, *b])
        }
    }

    #[test]
    fn a_constant_far_from_what_is_usual_is_found_where_it_alone_explains() {
        let constants = [Constant::CacheBandwidth, Constant::PerStep];
        let hidden = [0.01, 1e-3];
        let rows = (0..40).map(|x| {
            let row = RateTerm(f64::from(x) * 1e-6);
            let measured = row.predict(&hidden).0;
            FitRow { row, measured, weight: 1.0 }
        });
        let cells = [FitCell { sets: vec![0, 1], rows: rows.collect() }];
        let spreads = [[0.15, 0.3], [0.5, 0.9]];
        let problem = FitProblem { constants, cells: &cells, spreads: &spreads };
        let [rate, step] = problem.solve().values(&[0, 1]);
        assert!((rate / 0.01 - 1.0).abs() < 0.05, "{rate}");
        assert!((step / 1e-3 - 1.0).abs() < 0.05, "{step}");
    }

    #[test]
    fn a_factor_solves() {
        let cells = vec![4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let matrix = SquareMatrix { size: 3, cells };
        let x = matrix.clone().factor().solved(&[1.0, -2.0, 0.5]);
        for (at, right) in [1.0, -2.0, 0.5].into_iter().enumerate() {
            let left: f64 = matrix.row(at).iter().zip(&x).map(|(m, x)| m * x).sum();
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
