//! A frontier of two axes as a curve in the unit square.

use crate::frontier::nondominated;
use crate::{Axis, NoKnee, Points};

/// Less is better in both: the first figure rises from 0 to 1 while the second falls from 1 to 0. No two points are equal.
#[derive(Debug)]
pub(super) struct FrontierOutline {
    /// With the index of the first point of its kind.
    points: Vec<(usize, [f64; 2])>,
}

impl FrontierOutline {
    /// The frontier of `points`.
    pub(super) fn of(points: &Points) -> Result<Self, NoKnee> {
        let axes = points.axes();
        if axes.len() != 2 {
            return Err(NoKnee::NotTwoAxes { axes: axes.len() });
        }
        Self::of_costs(&points.costs(), axes)
    }

    /// The frontier of `costs`, point by point, of which less is better and there are two for each point.
    pub(super) fn of_costs(costs: &[f64], axes: &[Axis]) -> Result<Self, NoKnee> {
        let (costs, _) = costs.as_chunks::<2>();
        let on_frontier = nondominated(costs.as_flattened(), &[1.0, 1.0]).into_iter();
        let mut points: Vec<(usize, [f64; 2])> = on_frontier.map(|i| (i, costs[i])).collect();
        // Stable, so that the first of equal points stays.
        points.sort_by(|(_, a), (_, b)| a[0].total_cmp(&b[0]));
        points.dedup_by(|(_, a), (_, b)| a == b);
        let (Some((_, first)), Some((_, last))) = (points.first().copied(), points.last().copied())
        else {
            return Err(NoKnee::TooFew { points: 0 });
        };
        let lengths = [last[0] - first[0], first[1] - last[1]];
        if let Some((_, axis)) = lengths.iter().zip(axes).find(|(length, _)| !length.is_finite()) {
            return Err(NoKnee::Infinite { axis: axis.name().to_owned() });
        }
        if points.len() < 3 {
            return Err(NoKnee::TooFew { points: points.len() });
        }
        for (_, point) in &mut points {
            *point = [(point[0] - first[0]) / lengths[0], (point[1] - last[1]) / lengths[1]];
        }
        Ok(Self { points })
    }

    /// The index, among all points, of point `at` of the outline.
    pub(super) fn index(&self, at: usize) -> usize {
        self.points.get(at).map_or(at, |(index, _)| *index)
    }

    pub(super) fn points(&self) -> impl ExactSizeIterator<Item = [f64; 2]> {
        self.points.iter().map(|(_, point)| *point)
    }
}
