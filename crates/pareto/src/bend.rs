//! Where a frontier of two axes bends: up to there much of one figure is gained for little of the other.

mod curvature;
mod kneedle;
mod outline;

use crate::resample::Resampler;
use crate::{FigureEstimate, Points, ResamplingSpec, UncertainPoints};
use outline::FrontierOutline;

/// How to find the knee of a frontier of two axes. Both look at the frontier with each axis scaled to run from 0, its best, to
/// 1, its worst on the frontier, and find only where it bulges towards the best of both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KneeMethod {
    /// Kneedle (Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a haystack", 2011): the point furthest below
    /// the line between both ends of the frontier, where the distance falls enough after it to tell the knee from noise.
    ///
    /// The points are taken as they are, without the spline that the paper draws through noisy ones. It goes along the first
    /// axis from its best; of several knees it takes the one with the greatest distance, of equal distances the
    /// first.
    Kneedle {
        /// How far the distance must fall to confirm a knee, in mean steps between neighbours: the paper's `S`, there 1. With 0
        /// any fall does. A finite number from 0 up.
        sensitivity: f64,
    },
    /// The point at which the circle through it and its two neighbours on the frontier is smallest: the greatest Menger
    /// curvature, four times the triangle's area by the product of its sides. Of equal ones the first along the first axis from its
    /// best. It sees neighbours alone: noise between points that lie close together bends it easily.
    Curvature,
}

impl KneeMethod {
    /// Kneedle with the paper's sensitivity of 1.
    pub const KNEEDLE: Self = Self::Kneedle { sensitivity: 1.0 };
}

/// The knee of a frontier.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FrontierKnee {
    /// The index of the point; of equal points the first.
    pub index: usize,
    /// How pronounced it is, in scaled units: for Kneedle how far below the line, `1 - x - y`, above 0 and less than 1; for
    /// curvature one by the circle's radius.
    pub strength: f64,
    /// The share of frontiers drawn within the intervals, from 0 to 1, that have their knee at the same point; none where
    /// points carry no intervals.
    pub confidence: Option<f64>,
}

/// Why a frontier has no knee.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoKnee {
    /// Only two figures can be drawn as a curve.
    #[error("a knee needs two axes, and there are {axes}; choose two")]
    NotTwoAxes {
        /// How many axes there are.
        axes: usize,
    },
    /// Two points have no bend.
    #[error("a knee needs three different points, and the frontier has {points}; measure more")]
    TooFew {
        /// How many different points the frontier has.
        points: usize,
    },
    /// An axis cannot be scaled.
    #[error(
        "`{axis}` is infinite at a point of the frontier, so the axis cannot be scaled; leave that point out"
    )]
    Infinite {
        /// The axis.
        axis: String,
    },
    /// The frontier is straight, or bulges away from the best of both axes.
    #[error("the frontier bends nowhere towards the better of both axes, so no point is a knee")]
    NoBend,
    /// Kneedle's threshold was not reached.
    #[error("no bend of the frontier is clear enough at a sensitivity of {sensitivity}; lower it")]
    TooGentle {
        /// The sensitivity.
        sensitivity: f64,
    },
    /// The sensitivity is no number of steps.
    #[error("the sensitivity is {sensitivity}; give a finite number from 0 up")]
    BadSensitivity {
        /// The sensitivity.
        sensitivity: f64,
    },
}

impl Points {
    /// The knee of the frontier of these points, which have two axes. Points off the frontier play no part.
    ///
    /// For the level of load after which more does not pay, [`crate::knee`] has a rule of its own.
    ///
    /// ```
    /// use fizeau_pareto::{Axis, KneeMethod, Points};
    /// let mut points = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
    /// for point in [[1.0, 210.0], [4.0, 230.0], [7.0, 250.0], [9.0, 300.0], [9.5, 800.0], [9.7, 1_600.0]] {
    ///     points.push(&point)?;
    /// }
    /// assert_eq!(points.knee(KneeMethod::KNEEDLE)?.index, 3);
    /// assert_eq!(points.knee(KneeMethod::Curvature)?.index, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is none; the error says why.
    pub fn knee(&self, method: KneeMethod) -> Result<FrontierKnee, NoKnee> {
        bend(&FrontierOutline::of(self)?, method)
    }
}

impl UncertainPoints {
    /// The knee of the frontier of the figures themselves, with a confidence.
    ///
    /// For that, each figure of each point is drawn anew within its interval, independently, as [`ResamplingSpec`] says. The confidence is
    /// the share of draws whose frontier has its knee at the same point; a draw without a knee counts against it.
    ///
    /// ```
    /// use fizeau_pareto::{Axis, ResamplingSpec, FigureEstimate, KneeMethod, UncertainPoints};
    /// let mut points = UncertainPoints::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
    /// for (rps, ms) in [(1.0, 210.0), (4.0, 230.0), (7.0, 250.0), (9.0, 300.0), (9.5, 800.0)] {
    ///     points.push(&[FigureEstimate::exact(rps)?, FigureEstimate::new(ms, ms * 0.95, ms * 1.05)?])?;
    /// }
    /// let knee = points.knee(KneeMethod::Curvature, ResamplingSpec::new(7))?;
    /// assert_eq!((knee.index, knee.confidence), (3, Some(1.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Points::knee`], or if an interval has no end.
    pub fn knee(&self, method: KneeMethod, draws: ResamplingSpec) -> Result<FrontierKnee, NoKnee> {
        let knee = self.values().knee(method)?;
        let same = |points: Result<FrontierOutline, NoKnee>| {
            points
                .and_then(|outline| bend(&outline, method))
                .is_ok_and(|drawn| drawn.index == knee.index)
        };
        let confidence = share(self, draws, same)?;
        Ok(FrontierKnee { confidence: Some(confidence), ..knee })
    }
}

/// The share of drawn outlines that are as `wanted`.
fn share(
    points: &UncertainPoints,
    draws: ResamplingSpec,
    wanted: impl Fn(Result<FrontierOutline, NoKnee>) -> bool,
) -> Result<f64, NoKnee> {
    let axes = points.values().axes();
    let signs = points.values().signs();
    let each = || points.estimates().iter().zip(axes.iter().zip(&signs).cycle());
    let endless = |estimate: &FigureEstimate| !(estimate.high() - estimate.low()).is_finite();
    if let Some((_, (axis, _))) = each().find(|(estimate, _)| endless(estimate)) {
        return Err(NoKnee::Infinite { axis: axis.name().to_owned() });
    }
    let mut resampler = Resampler::new(draws.seed);
    let mut costs = Vec::with_capacity(points.estimates().len());
    let mut hits = 0_u32;
    for _ in 0..draws.count.get() {
        costs.clear();
        costs.extend(each().map(|(estimate, (_, sign))| resampler.of(estimate) * sign));
        hits += u32::from(wanted(FrontierOutline::of_costs(&costs, axes)));
    }
    Ok(f64::from(hits) / f64::from(draws.count.get()))
}

fn bend(outline: &FrontierOutline, method: KneeMethod) -> Result<FrontierKnee, NoKnee> {
    let (at, strength) = match method {
        KneeMethod::Kneedle { sensitivity } => kneedle::find(outline, sensitivity)?,
        KneeMethod::Curvature => curvature::find(outline)?,
    };
    Ok(FrontierKnee { index: outline.index(at), strength, confidence: None })
}
