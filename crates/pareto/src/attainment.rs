//! What repeated runs reach, and how many of them do.

use crate::hypervolume::lowest_first;
use crate::{Axis, Points, PointsError};

/// Why runs have no attainment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AttainmentError {
    /// There is no run.
    #[error("there is no run; give at least one")]
    NoRuns,
    /// A run has other axes than the first.
    #[error("run {0} (from 0) has other axes than run 0; give all the same axes in one order")]
    OtherAxes(usize),
    /// A surface is made of two axes.
    #[error("an attainment surface has two axes, and the runs have {0}; leave some out")]
    NotTwoAxes(usize),
    /// The share is out of range.
    #[error("a share of {0} of the runs; give more than 0 and at most 1")]
    Share(f64),
    /// The point is none of the runs' axes.
    #[error("the point asked about: {0}")]
    Point(#[source] PointsError),
}

/// The frontier of what at least `share` of the `runs` attain, in two axes: the corners of the `k`-of-`n` attainment
/// surface, `k` being the least whole number that is at least `share` of `n`.
///
/// A run attains a pair of figures if one of its points is at least as good in both. Half of the runs give the median
/// surface, all of them the worst; a share of `1 / n`, or less, the best. The surface of several runs has corners that
/// no single run has as a point. Exact (after Fonseca, Guerreiro, Lopez-Ibanez and Paquete 2011, "On the Computation of the
/// Empirical Attainment Function"), in one sweep: `O(m (log m + n))` for `m` points.
///
/// The corners come from the least to the greatest cost in the first axis. There is none if fewer than `k` runs have
/// points. A point that is infinitely bad in the second axis attains nothing.
///
/// ```
/// use fizeau_pareto::{Axis, Points, attainment_surface};
/// let run = |levels: &[[f64; 2]]| {
///     let mut run = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
///     levels.iter().try_for_each(|level| run.push(level))?;
///     Ok::<_, fizeau_pareto::PointsError>(run)
/// };
/// let runs = [run(&[[4.0, 210.0], [7.0, 480.0]])?, run(&[[4.1, 230.0], [6.8, 450.0]])?];
/// let both = attainment_surface(&runs, 1.0)?;
/// assert_eq!([both.point(0), both.point(1)], [Some(&[6.8, 480.0][..]), Some(&[4.0, 230.0][..])]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no run, `share` is not within 0 and 1, or the runs have not all the same two axes.
pub fn attainment_surface(runs: &[Points], share: f64) -> Result<Points, AttainmentError> {
    let axes = same_axes(runs)?;
    if axes.len() != 2 {
        return Err(AttainmentError::NotTwoAxes(axes.len()));
    }
    if !(share > 0.0 && share <= 1.0) {
        return Err(AttainmentError::Share(share));
    }
    // 0.7 of 10 runs are 7, though the product is rounded up.
    let asked = share * runs.len() as f64;
    let least = (asked - asked * 4.0 * f64::EPSILON).ceil() as usize;
    Ok(surface(runs, axes, least.clamp(1, runs.len())))
}

/// What at least `least` runs attain.
fn surface(runs: &[Points], axes: &[Axis], least: usize) -> Points {
    let mut costs: Vec<[f64; 2]> = Vec::new();
    let mut owners = Vec::new();
    for (run, points) in runs.iter().enumerate() {
        costs.extend_from_slice(points.costs().as_chunks().0);
        owners.resize(costs.len(), run);
    }
    // The least second cost of each run so far, and that of the k-th best run.
    let mut lows = vec![f64::INFINITY; runs.len()];
    let mut height = f64::INFINITY;
    let mut corners = Vec::new();
    let order = lowest_first(&costs, 0);
    for equal in order.chunk_by(|a, b| costs[*a][0] == costs[*b][0]) {
        for &point in equal {
            let low = &mut lows[owners[point]];
            *low = low.min(costs[point][1]);
        }
        let mut ranked = lows.clone();
        let (_, &mut reached, _) = ranked.select_nth_unstable_by(least - 1, f64::total_cmp);
        if reached < height {
            height = reached;
            corners.extend([costs[equal[0]][0], reached]);
        }
    }
    let signs = axes.iter().map(|axis| axis.direction().sign());
    // Adding 0 makes -0 of a cost 0 again.
    let figures = corners.into_iter().zip(signs.cycle()).map(|(cost, sign)| cost * sign + 0.0);
    Points::from_figures(axes.to_vec(), figures.collect())
}

/// The share of `runs` that attain `point`: that have a point which is at least as good in every axis. From 0 to 1; in
/// any number of axes. It is the empirical attainment function (Grunert da Fonseca, Fonseca and Hall 2001).
///
/// ```
/// use fizeau_pareto::{Axis, Points, attained_share};
/// let mut runs = Vec::new();
/// for rps in [6.8, 7.0, 7.1] {
///     let mut run = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
///     run.push(&[rps, 480.0])?;
///     runs.push(run);
/// }
/// assert_eq!(attained_share(&runs, &[7.0, 500.0])?, 2.0 / 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no run, the runs have not all the same axes, or `point` has not one number for each.
pub fn attained_share(runs: &[Points], point: &[f64]) -> Result<f64, AttainmentError> {
    let axes = same_axes(runs)?;
    let mut asked = Points::from_figures(axes.to_vec(), Vec::new());
    asked.push(point).map_err(AttainmentError::Point)?;
    let asked = asked.costs();
    let as_good = |row: &[f64]| row.iter().zip(&asked).all(|(cost, asked)| cost <= asked);
    let attains = |run: &&Points| run.costs().chunks_exact(axes.len()).any(as_good);
    Ok(runs.iter().filter(attains).count() as f64 / runs.len() as f64)
}

/// The axes that all runs have.
fn same_axes(runs: &[Points]) -> Result<&[Axis], AttainmentError> {
    let axes = runs.first().ok_or(AttainmentError::NoRuns)?.axes();
    match runs.iter().position(|run| run.axes() != axes) {
        Some(run) => Err(AttainmentError::OtherAxes(run)),
        None => Ok(axes),
    }
}
