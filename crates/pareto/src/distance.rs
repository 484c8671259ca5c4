//! How far a frontier was pushed.

mod line;
mod measure;

use crate::resample::{Resampler, interval};
use crate::{FigureEstimate, ResamplingSpec, UncertainPoints};
use measure::{FigureAnswer, FrontierQuestion, MeasuredAnswers};

/// The fewest draws whose 2.5 % points mean something.
const FEWEST_DRAWS: u32 = 100;

/// The settings of a comparison of two frontiers, beside the hypervolume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrontierComparisonSpec {
    /// The worst figures that are of interest, in the order of the axes, such as no requests per second at the limit of latency:
    /// the hypervolumes are taken from there on. None takes the worst that both frontiers come down to, from where a frontier
    /// that is better everywhere leaves the other no volume, and the greatest push has no ratio.
    pub reference: Option<[f64; 2]>,
    /// How often figures are drawn within their intervals, at least 100 times, and from what seed.
    pub draws: ResamplingSpec,
}

impl FrontierComparisonSpec {
    /// With no reference of its own and 1,000 draws.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { reference: None, draws: ResamplingSpec::new(seed) }
    }
}

/// How far the second of two frontiers is beyond the first. Each figure has the interval that the points' intervals give it;
/// it is as narrow as the figure itself where those are.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FrontierComparison {
    /// The second frontier's hypervolume over the first's, both from `reference` on: 1.1 is 10 % more. Its interval begins at 0 or
    /// above.
    pub hypervolume_ratio: Result<FigureEstimate, NoComparison>,
    /// The reference that was asked for; or else, in each axis, the worst figure that both frontiers come down to: the better of
    /// their two worst. What one of them has beyond it, at loads where the other was not measured, so counts for neither.
    pub reference: [f64; 2],
    /// Gains in the second axis at equal figures in the first.
    pub at_equal_first: FrontierGains,
    /// Gains in the first axis at equal figures in the second.
    pub at_equal_second: FrontierGains,
}

/// How much better one figure is where the other is equal. A gain of 0.2 is 20 % more of what is to be maximized, or 20 % less
/// of what is to be minimized; a loss is negative.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FrontierGains {
    /// The least and the greatest figure of the axis of equals that both frontiers cover; none if they do not overlap.
    pub range: Option<[f64; 2]>,
    /// The gain of the second frontier's mean over the range from the first's.
    pub mean: Result<FigureEstimate, NoComparison>,
}

/// Why a figure is missing from a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoComparison {
    /// The frontiers have no range in common.
    #[error("the frontiers have no range in common; measure both at more loads")]
    NoCommonRange,
    /// A frontier has no point that is better than the reference in both axes; of a reference that was asked for, the first.
    #[error(
        "a frontier dominates no volume beyond the reference; give a worse reference, or measure more loads"
    )]
    NoVolume,
    /// The figure to compare with is 0, of which nothing is a share.
    #[error("the first frontier's figure is 0, so a gain over it cannot be given as a share")]
    OfNothing,
    /// A figure on a frontier is infinitely good.
    #[error("a frontier has a figure that is infinitely good; leave it out")]
    Unbounded,
}

/// Why two frontiers cannot be compared at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrontierCompareError {
    /// Frontiers are compared in two axes.
    #[error("two frontiers are compared in two axes, and there are {0}; choose two")]
    NotTwoAxes(usize),
    /// The points have different axes.
    #[error("the second frontier has other axes than the first; give both the same, in one order")]
    OtherAxes,
    /// There is nothing to compare with.
    #[error("the first frontier has no point that is finite; give at least one")]
    NothingFirst,
    /// There is nothing to hold against it.
    #[error("the second frontier has no point that is finite; give at least one")]
    NothingSecond,
    /// The reference is no place.
    #[error("the reference is infinite or not a number in an axis; give two finite figures")]
    Reference,
    /// Too few draws for an interval.
    #[error("{0} draws are too few for an interval; ask for at least {FEWEST_DRAWS}")]
    TooFewDraws(u32),
}

/// How far `second`'s frontier is beyond `first`'s, by hypervolume and at equal figures, over what both cover.
///
/// A frontier is read as a staircase: from each point on its figure holds until the next is as good.
///
/// A frontier may be pushed so far that it has nothing in common with the other: more requests per second at every latency
/// than the other at any. Then there are no gains at equal figures, and only a [reference](FrontierComparisonSpec::reference) makes the
/// hypervolumes comparable; their ratio depends on it.
///
/// What is dominated, or infinitely bad in an axis, plays no part. Where there is nothing to compare there is a reason and no
/// number.
///
/// For intervals, all figures are drawn anew as often as asked, each within its own interval and independently of the others,
/// and the comparison is made again; the interval is the middle 95 % of the answers, widened to hold the figure itself. A
/// draw is below the figure or above it with equal chance, and each side is half a normal distribution of which 95 % lie
/// within the interval: an interval is taken to be of 95 %. A draw that has no answer counts as infinitely bad at the lower
/// end and as infinitely good at the upper, so that an answer that hangs by a thread has an open interval. The frontier of
/// noisy figures lies a little beyond the true one; both frontiers share that, and it is not corrected.
///
/// ```
/// use fizeau_pareto::{Axis, FrontierComparisonSpec, FigureEstimate, UncertainPoints, compare_frontiers};
/// let points = |levels: &[[f64; 2]]| {
///     let axes = vec![Axis::maximize("rps"), Axis::minimize("p99_ms")];
///     let mut points = UncertainPoints::new(axes)?;
///     for [rps, ms] in levels {
///         points.push(&[FigureEstimate::exact(*rps)?, FigureEstimate::exact(*ms)?])?;
///     }
///     Ok::<_, Box<dyn std::error::Error>>(points)
/// };
/// let before = points(&[[4.0, 200.0], [6.0, 300.0], [7.0, 500.0]])?;
/// let after = points(&[[5.0, 200.0], [7.5, 300.0], [8.75, 500.0]])?;
/// let asked = FrontierComparisonSpec::new(7);
/// let pushed = compare_frontiers(&before, &after, &asked)?;
/// assert_eq!(pushed.at_equal_second.range, Some([200.0, 500.0]));
/// assert_eq!(pushed.at_equal_second.mean.map(|gain| gain.value()), Ok(0.25));
///
/// // Better everywhere, with nothing in common: from no requests at 600 ms on it has 22 times the volume.
/// let far = points(&[[60.0, 20.0], [90.0, 50.0]])?;
/// assert!(compare_frontiers(&before, &far, &asked)?.hypervolume_ratio.is_err());
/// let asked = FrontierComparisonSpec { reference: Some([0.0, 600.0]), ..asked };
/// let pushed = compare_frontiers(&before, &far, &asked)?;
/// assert_eq!(pushed.hypervolume_ratio.map(|ratio| ratio.value()), Ok(51_300.0 / 2_300.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the points have not the same two axes, one frontier has no finite point, the reference is not finite, or too few draws
/// are asked for.
pub fn compare_frontiers(
    first: &UncertainPoints,
    second: &UncertainPoints,
    asked: &FrontierComparisonSpec,
) -> Result<FrontierComparison, FrontierCompareError> {
    let question = FrontierQuestion::new(first, second, asked)?;
    let count = asked.draws.count.get();
    if count < FEWEST_DRAWS {
        return Err(FrontierCompareError::TooFewDraws(count));
    }
    let found = question.measure(&mut FigureEstimate::value);
    let mut drawn = Vec::new();
    if question.is_uncertain() {
        let mut resampler = Resampler::new(asked.draws.seed);
        let mut draw = || question.measure(&mut |figure| resampler.of(figure));
        drawn.extend((0..count).map(|_| draw()));
    }
    let answers = DrawnAnswers { found, drawn };
    Ok(FrontierComparison {
        hypervolume_ratio: answers.of(|measured| measured.ratio).map(not_negative),
        reference: [0, 1].map(|axis| question.figure(axis, answers.found.reference[axis])),
        at_equal_first: answers.gains(&question, 0),
        at_equal_second: answers.gains(&question, 1),
    })
}

/// A ratio of volumes, where a draw without one counts as the worst: that is no second volume at all.
fn not_negative(ratio: FigureEstimate) -> FigureEstimate {
    FigureEstimate::new(ratio.value(), ratio.low().max(0.0), ratio.high()).unwrap_or(ratio)
}

/// What was measured on the figures themselves, and on each draw of them.
struct DrawnAnswers {
    found: MeasuredAnswers,
    drawn: Vec<MeasuredAnswers>,
}

impl DrawnAnswers {
    /// The answer that `pick` takes, with its interval.
    fn of(
        &self,
        pick: impl Fn(&MeasuredAnswers) -> FigureAnswer,
    ) -> Result<FigureEstimate, NoComparison> {
        let value = pick(&self.found)?;
        let drawn: Vec<Option<f64>> = self.drawn.iter().map(|drawn| pick(drawn).ok()).collect();
        let [low, high] = interval(value, &drawn);
        FigureEstimate::new(value, low, high).map_err(|_| NoComparison::Unbounded)
    }

    fn gains(&self, question: &FrontierQuestion<'_>, axis: usize) -> FrontierGains {
        let range = self.found.gains[axis].range.map(|range| {
            let [a, b] = range.map(|cost| question.figure(axis, cost));
            [a.min(b), a.max(b)]
        });
        FrontierGains { range, mean: self.of(|measured| measured.gains[axis].mean) }
    }
}
