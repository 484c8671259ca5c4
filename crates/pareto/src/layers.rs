//! The front of each point: the first is the frontier, the second the frontier of what is left, and so on.

use crate::Points;
use crate::frontier::{Stairs, lexicographic, no_worse};

impl Points {
    /// The layer of each point, from 1: the points of layer 1 are the frontier, those of layer 2 the frontier without layer
    /// 1, and so on. Equal points share a layer.
    ///
    /// Each point is put in the first layer that has nothing that dominates it, found by bisection (efficient non-dominated
    /// sort: Zhang, Tian, Cheng and Jin 2015). Takes `O(n log n)` for up to two axes and `O(n log^2 n)` for three; for more,
    /// each look at a layer goes through its points, `O(n^2)` comparisons at the worst.
    ///
    /// ```
    /// use fizeau_pareto::{Axis, Points};
    /// let mut points = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
    /// for point in [[1.0, 210.0], [7.0, 480.0], [6.5, 900.0], [6.0, 950.0]] {
    ///     points.push(&point)?;
    /// }
    /// assert_eq!(points.layers(), [1, 1, 2, 3]);
    /// # Ok::<(), fizeau_pareto::PointsError>(())
    /// ```
    #[must_use]
    pub fn layers(&self) -> Vec<usize> {
        let costs = self.costs();
        let costs: Vec<&[f64]> = costs.chunks_exact(self.axes().len()).collect();
        match self.axes().len() {
            2 => assigned::<Least>(&costs),
            3 => assigned::<Stairs>(&costs),
            _ => assigned::<Vec<&[f64]>>(&costs),
        }
    }
}

/// What must be known of a layer to tell whether it dominates a point that comes after all its own in lexicographic order.
trait Layer<'a>: Default {
    /// Whether one of its points dominates `cost`, which is equal to none.
    fn beats(&self, cost: &[f64]) -> bool;
    fn add(&mut self, cost: &'a [f64]);
}

fn assigned<'a, L: Layer<'a>>(costs: &[&'a [f64]]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_unstable_by(|&a, &b| lexicographic(costs[a], costs[b]));
    let mut layers: Vec<L> = Vec::new();
    let mut assigned = vec![0; costs.len()];
    for equal in order.chunk_by(|&a, &b| costs[a] == costs[b]) {
        let cost = costs[equal[0]];
        // What a layer has that dominates the point is itself dominated by each layer before.
        let at = layers.partition_point(|layer| layer.beats(cost));
        if at == layers.len() {
            layers.push(L::default());
        }
        layers[at].add(cost);
        for &point in equal {
            assigned[point] = at + 1;
        }
    }
    assigned
}

/// Of two figures the least second so far: it is the latest, as the first figure rises.
#[derive(Debug, Default)]
struct Least(f64);

impl Layer<'_> for Least {
    fn beats(&self, cost: &[f64]) -> bool {
        cost.get(1).is_some_and(|second| self.0 <= *second)
    }

    fn add(&mut self, cost: &[f64]) {
        self.0 = cost.get(1).copied().unwrap_or(self.0);
    }
}

impl Layer<'_> for Stairs {
    fn beats(&self, cost: &[f64]) -> bool {
        matches!(cost, [_, x, y] if self.cover(*x, *y))
    }

    fn add(&mut self, cost: &[f64]) {
        if let [_, x, y] = cost {
            Self::add(self, *x, *y);
        }
    }
}

impl<'a> Layer<'a> for Vec<&'a [f64]> {
    fn beats(&self, cost: &[f64]) -> bool {
        // The latest is the nearest in the first figure, and so the most likely.
        self.iter().rev().any(|rival| no_worse(rival, cost))
    }

    fn add(&mut self, cost: &'a [f64]) {
        self.push(cost);
    }
}
