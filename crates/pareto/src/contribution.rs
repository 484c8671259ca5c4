//! What each point of a set adds to its hypervolume.

mod three;

use crate::Points;
use crate::frontier::lexicographic;
use crate::hypervolume::{
    HypervolumeError, Inside, Row, corners, exclusive, finite, maxima, padded,
};

impl Points {
    /// What each point alone adds to the [hypervolume](Points::hypervolume) of the frontier beyond `reference`, in
    /// the order of the points.
    ///
    /// It is what the frontier would lose without that point. A dominated point adds nothing, and takes nothing
    /// from those that dominate it either, so that adding it changes no figure. Of points that are equal each
    /// adds nothing, for the others remain. What is not strictly better than `reference` in every axis adds
    /// nothing.
    ///
    /// Takes `O(n log n)` for up to three axes (after Emmerich and Fonseca 2011, "Computing Hypervolume
    /// Contributions in Low Dimensions: Asymptotically Optimal Algorithm and Complexity Results"), and for more a
    /// hypervolume for each point of what the others leave of its box (While, Bradstreet and Barone 2012). The
    /// rounding error is relative to the box between the point and the reference, not to the contribution.
    ///
    /// ```
    /// use fizeau_pareto::{Axis, Points};
    /// let mut levels = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
    /// for level in [[4.0, 200.0], [7.0, 500.0], [6.0, 900.0]] {
    ///     levels.push(&level)?;
    /// }
    /// // 4 rps over the 300 ms that only the first keeps to, 3 rps over 500 ms.
    /// assert_eq!(levels.contributions(&[0.0, 1_000.0])?, [1_200.0, 1_500.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where [`Points::hypervolume`] gives one.
    pub fn contributions(&self, reference: &[f64]) -> Result<Vec<f64>, HypervolumeError> {
        let inside = Inside::of(self, reference)?;
        let alone = match *inside.reference {
            [worst] => one(&inside.rows, worst),
            [a, b] => two(inside.rows.as_chunks().0, [a, b]),
            [a, b, c] => three::contributions(inside.rows.as_chunks().0, [a, b, c]),
            _ => many(&inside.rows, &inside.reference),
        };
        let mut contributions = vec![0.0; self.len()];
        for (index, alone) in inside.indices.into_iter().zip(alone) {
            contributions[index] = finite(alone)?;
        }
        Ok(contributions)
    }
}

/// On a line only the best counts, and that from the reference on: the rest is dominated.
fn one(costs: &[f64], worst: f64) -> Vec<f64> {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let single = costs.iter().filter(|&&cost| cost == least).count() == 1;
    let alone = |&cost: &f64| if single && cost == least { worst - cost } else { 0.0 };
    costs.iter().map(alone).collect()
}

/// A corner alone covers the rectangle between itself and its neighbours.
fn two(points: &[[f64; 2]], reference: [f64; 2]) -> Vec<f64> {
    let mut contributions = vec![0.0; points.len()];
    let corners = corners(points);
    let mut height = reference[1];
    for (place, &corner) in corners.iter().enumerate() {
        let [x, y] = points[corner];
        let right = corners.get(place + 1).map_or(reference[0], |&next| points[next][0]);
        contributions[corner] = (right - x) * (height - y);
        height = y;
    }
    // The corner stands for its copies, the others of which have 0 already.
    for (i, point) in points.iter().enumerate() {
        let place = corners.partition_point(|&corner| points[corner][0] < point[0]);
        match corners.get(place) {
            Some(&corner) if corner != i && points[corner] == *point => contributions[corner] = 0.0,
            _ => {}
        }
    }
    contributions
}

/// For each point of the frontier, its box less what the others cover of it.
fn many(rows: &[f64], reference: &[f64]) -> Vec<f64> {
    let rows: Vec<Row> = rows.chunks_exact(reference.len()).map(padded).collect();
    let mut frontier = rows.clone();
    maxima(&mut frontier);
    frontier.sort_unstable_by(|a, b| lexicographic(a, b));
    let mut times = vec![0_usize; frontier.len()];
    let place = |row: &Row| frontier.binary_search_by(|other| lexicographic(other, row)).ok();
    let places: Vec<Option<usize>> = rows.iter().map(place).collect();
    places.iter().flatten().for_each(|&place| times[place] += 1);
    let alone = |place: usize| {
        if times[place] > 1 {
            return 0.0;
        }
        let others = frontier[..place].iter().chain(&frontier[place + 1..]);
        exclusive(others, &frontier[place], reference)
    };
    places.into_iter().map(|place| place.map_or(0.0, alone)).collect()
}
