//! What an evaluation says of the goals.

use super::spec::deviations;
use crate::{FigureEstimate, LimitRelation};

/// What was measured at one load.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The load.
    pub load: f64,
    /// The [margin](log_margin) of each goal, with its 95 % interval, always in the same order; none where the figure is missing, which
    /// meets nothing. An interval without ends is one that is not known.
    pub margins: Vec<Option<FigureEstimate>>,
    /// Whether the load could be borne at all.
    pub bearing: LoadOutcome,
}

impl Evaluation {
    /// On which side of the edge it lies, by itself and at such a confidence.
    #[must_use]
    pub fn side(&self, confidence: f64) -> EdgeSide {
        SeenEvaluation::of(self).side(deviations(confidence))
    }
}

/// Whether the server could carry a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadOutcome {
    /// As much was served as was asked, or nothing else was seen.
    Borne,
    /// More was asked than was served: the load is beyond the edge, however its short evaluation looks.
    Saturated {
        /// How much was served, in the unit of the load; none where that is not known.
        served: Option<f64>,
    },
}

/// How far a figure is within its limit, as the logarithm of how many times it fits: 0 on the limit, positive within, 0.69 at
/// half of an upper limit or twice a lower one. Over the logarithm of the load it is nearer to a straight line than the figure
/// itself, which may span decades.
///
/// Of an upper limit nothing is further within it than a millionth of it, as is a figure of 0, and a limit of 0 counts as a
/// millionth of the figure's unit. None of a figure or limit below 0, and of a lower limit unless both are above it.
///
/// ```
/// use fizeau_pareto::{FigureEstimate, LimitRelation, log_margin};
/// let latency = FigureEstimate::new(250.0, 200.0, 500.0)?;
/// let found = log_margin(latency, LimitRelation::AtMost, 500.0).unwrap();
/// assert_eq!((found.value(), found.low()), (2_f64.ln(), 0.0));
/// # Ok::<(), fizeau_pareto::FigureEstimateError>(())
/// ```
#[must_use]
pub fn log_margin(
    figure: FigureEstimate,
    relation: LimitRelation,
    limit: f64,
) -> Option<FigureEstimate> {
    let (value, limit) = match relation {
        LimitRelation::AtMost if figure.value() >= 0.0 && limit >= 0.0 => {
            let limit = limit.max(NEXT_TO_NONE);
            (figure.value().max(NEXT_TO_NONE * limit), limit)
        }
        LimitRelation::AtMost => return None,
        LimitRelation::AtLeast => (figure.value(), limit),
    };
    let is_positive = value > 0.0 && limit > 0.0 && limit.is_finite();
    if !is_positive {
        return None;
    }
    // The lower end of an interval may reach below 0.
    let within = |figure: f64| match relation {
        LimitRelation::AtMost => (limit / figure.max(0.0)).ln(),
        LimitRelation::AtLeast => (figure.max(0.0) / limit).ln(),
    };
    let (one, other, value) = (within(figure.low()), within(figure.high()), within(value));
    FigureEstimate::new(value, one.min(other).min(value), one.max(other)).ok()
}

/// What a figure of 0 counts as, of its limit; and a limit of 0, of its unit.
const NEXT_TO_NONE: f64 = 1e-6;

/// On which side of the edge a load lies, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgeSide {
    /// Within all goals, at the asked confidence.
    Good,
    /// Beyond a goal, at that confidence, or saturated.
    Bad,
    /// Too near to the edge for one evaluation.
    Undecided,
}

/// A margin with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GoalMargin {
    pub(super) value: f64,
    /// None where it is not known.
    pub(super) error: Option<f64>,
}

impl GoalMargin {
    fn of(estimate: FigureEstimate) -> Self {
        let error = (estimate.high() - estimate.low()) / (2.0 * Z95);
        let is_known = error.is_finite();
        Self { value: estimate.value(), error: is_known.then_some(error) }
    }

    /// The error to assume.
    pub(super) fn error(self) -> f64 {
        self.error.unwrap_or(UNKNOWN).max(LEAST)
    }

    /// How sure a straight line through it can be of it: the way to the edge is none, the less so the longer it is.
    pub(super) fn variance(self) -> f64 {
        self.error().powi(2) + (BEND * self.value).powi(2)
    }
}

/// An evaluation, as the search has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SeenEvaluation {
    pub(super) load: f64,
    /// The logarithm of the load.
    pub(super) at: f64,
    /// None where a figure is missing.
    pub(super) margins: Vec<Option<GoalMargin>>,
    pub(super) bearing: LoadOutcome,
}

impl SeenEvaluation {
    pub(super) fn of(evaluation: &Evaluation) -> Self {
        let of = |margin: &Option<FigureEstimate>| margin.map(GoalMargin::of);
        Self {
            load: evaluation.load,
            at: evaluation.load.ln(),
            margins: evaluation.margins.iter().map(of).collect(),
            bearing: evaluation.bearing,
        }
    }

    /// The margin of the goal that is worst off.
    pub(super) fn worst(&self) -> GoalMargin {
        let all = (0..self.margins.len()).filter_map(|goal| self.margin(goal));
        let worst = all.reduce(|worst, next| if next.value < worst.value { next } else { worst });
        worst.unwrap_or_else(|| self.beyond())
    }

    /// The margin of one goal. A missing figure is a miss; that of a saturated load is one, and says little of how far.
    pub(super) fn margin(&self, goal: usize) -> Option<GoalMargin> {
        let margin = *self.margins.get(goal)?;
        Some(match (margin, self.bearing) {
            (None, _) => MISS,
            (Some(margin), LoadOutcome::Borne) => margin,
            (Some(margin), LoadOutcome::Saturated { .. }) if margin.value < MISS.value => {
                GoalMargin { error: MISS.error, ..margin }
            }
            (Some(_), LoadOutcome::Saturated { .. }) => MISS,
        })
    }

    /// The margin of one goal as it was measured, saturated or not.
    pub(super) fn own(&self, goal: usize) -> Option<GoalMargin> {
        *self.margins.get(goal)?
    }

    /// Whether the goal that is worst off has an error of its own.
    pub(super) fn has_errors(&self) -> bool {
        self.worst().error.is_some()
    }

    /// Of no goals at all only saturation tells.
    const fn beyond(&self) -> GoalMargin {
        match self.bearing {
            LoadOutcome::Borne => GoalMargin { value: -MISS.value, error: MISS.error },
            LoadOutcome::Saturated { .. } => MISS,
        }
    }

    /// On which side it is, where a verdict takes so many standard errors.
    pub(super) fn side(&self, deviations: f64) -> EdgeSide {
        let is_missing = self.margins.iter().any(Option::is_none);
        if is_missing || matches!(self.bearing, LoadOutcome::Saturated { .. }) {
            return EdgeSide::Bad;
        }
        let sure = |margin: &GoalMargin| deviations * margin.error();
        let mut side = EdgeSide::Good;
        for margin in self.margins.iter().flatten() {
            if margin.value + sure(margin) < 0.0 {
                return EdgeSide::Bad;
            }
            if margin.value - sure(margin) < 0.0 {
                side = EdgeSide::Undecided;
            }
        }
        side
    }
}

/// The end of a 95 % interval, in standard errors.
const Z95: f64 = 1.959_964;
/// The error of a margin whose interval is not known: that of a p99 of some hundred requests, about.
const UNKNOWN: f64 = 0.1;
/// No figure of a run is known better than another run would bear out.
const LEAST: f64 = 0.003;
/// How much of a margin a straight line to the edge may be off by.
const BEND: f64 = 0.3;
/// A miss of which it is not known by how much.
const MISS: GoalMargin = GoalMargin { value: -0.25, error: Some(0.25) };
