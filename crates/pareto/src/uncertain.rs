//! Points whose figures are known only within intervals: one beats another only if it surely does.

use crate::frontier::{dominates, nondominated};
use crate::{Axis, FigureEstimate, Objective, Points, PointsError};

/// Points with named, directed axes whose figures are estimates.
///
/// ```
/// use fizeau_pareto::{Axis, FigureEstimate, UncertainPoints, FrontierMembership};
/// let mut points = UncertainPoints::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
/// points.push(&[FigureEstimate::new(7.0, 6.9, 7.1)?, FigureEstimate::new(480.0, 450.0, 520.0)?])?;
/// // Surely worse in both.
/// points.push(&[FigureEstimate::new(6.5, 6.4, 6.6)?, FigureEstimate::new(900.0, 850.0, 990.0)?])?;
/// // Worse in both, but the latency may be better for all that is known.
/// points.push(&[FigureEstimate::new(6.7, 6.6, 6.8)?, FigureEstimate::new(500.0, 460.0, 560.0)?])?;
/// assert_eq!(points.verdicts(), [FrontierMembership::OnFrontier, FrontierMembership::Dominated { by: 0 }, FrontierMembership::Undecided]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct UncertainPoints {
    values: Points,
    /// Point by point.
    estimates: Vec<FigureEstimate>,
}

/// Whether a point is known to be on the frontier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrontierMembership {
    /// By the figures themselves no point dominates it. Another may do so all the same if figures lie elsewhere in their
    /// intervals.
    OnFrontier,
    /// Another point dominates it wherever in their intervals the figures of both lie.
    Dominated {
        /// The first such point of those whose worst cases no other point's worst case dominates.
        by: usize,
    },
    /// By the figures themselves a point dominates it, but the intervals leave it open.
    Undecided,
}

impl UncertainPoints {
    /// No points yet, of these `axes`.
    ///
    /// # Errors
    /// If there is no axis, or two have one name.
    pub fn new(axes: Vec<Axis>) -> Result<Self, PointsError> {
        Ok(Self { values: Points::new(axes)?, estimates: Vec::new() })
    }

    /// Adds a point: an estimate for each axis, in the order of the axes.
    ///
    /// # Errors
    /// If there are too few or too many.
    pub fn push(&mut self, estimates: &[FigureEstimate]) -> Result<(), PointsError> {
        let values: Vec<f64> = estimates.iter().map(FigureEstimate::value).collect();
        self.values.push(&values)?;
        self.estimates.extend_from_slice(estimates);
        Ok(())
    }

    /// The figures without their intervals.
    #[must_use]
    pub const fn values(&self) -> &Points {
        &self.values
    }

    /// The estimates of point `index`; none beyond the last.
    #[must_use]
    pub fn point(&self, index: usize) -> Option<&[FigureEstimate]> {
        self.estimates.chunks_exact(self.values.axes().len()).nth(index)
    }

    /// How many points there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What is known of each point.
    ///
    /// A point surely dominates another if in every axis the worse end of its interval is at least as good as the better end
    /// of the other's, and better in one. So whatever the true figures are, as long as they lie within their intervals, it
    /// dominates. The rule asks much: where two points differ by less than their intervals in only one axis, it
    /// decides nothing. Of exact figures it is plain dominance, and nothing is undecided.
    #[must_use]
    pub fn verdicts(&self) -> Vec<FrontierMembership> {
        let axes = self.values.axes().len();
        let (best, worst) = (self.ends(|estimate| estimate.0), self.ends(|estimate| estimate.1));
        // What dominates in its worst case, or a point that dominates that one in its worst case, is among these.
        let rivals = nondominated(&worst, &vec![1.0; axes]);
        let worst: Vec<&[f64]> = worst.chunks_exact(axes).collect();
        let mut verdicts: Vec<FrontierMembership> = best
            .chunks_exact(axes)
            .map(|best| {
                let by = rivals.iter().copied().find(|&rival| dominates(worst[rival], best));
                by.map_or(FrontierMembership::Undecided, |by| FrontierMembership::Dominated { by })
            })
            .collect();
        for index in self.values.frontier() {
            verdicts[index] = FrontierMembership::OnFrontier;
        }
        verdicts
    }

    /// Of each figure an end of its interval, less is better: `end` gets the better one and the worse one.
    fn ends(&self, end: impl Fn((f64, f64)) -> f64) -> Vec<f64> {
        let axes = self.values.axes().iter().cycle();
        let ends = self.estimates.iter().zip(axes).map(|(estimate, axis)| match axis.direction() {
            Objective::Minimize => (estimate.low(), estimate.high()),
            Objective::Maximize => (-estimate.high(), -estimate.low()),
        });
        ends.map(end).collect()
    }

    pub(crate) fn estimates(&self) -> &[FigureEstimate] {
        &self.estimates
    }
}
