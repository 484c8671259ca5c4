//! Trade-offs between figures: which points no other beats, and which of them to choose.
//!
//! | wanted | call |
//! |---|---|
//! | the points that no other beats | [`frontier`] of arrays, [`Points::frontier`] of named axes known when the program runs |
//! | all that may be asked of the rows of a table | [`FrontierQuery`], [`RowPoints`] |
//! | a point that beats a given one | [`dominated_by`] |
//! | the frontier, the frontier of what is left, and so on | [`Points::layers`] |
//! | few points that stand for a frontier, to within an epsilon | [`Points::epsilon_frontier`] |
//! | what is dominated for sure, of points with intervals | [`UncertainPoints::verdicts`] |
//! | where a frontier bends | [`Points::knee`] by a [`KneeMethod`], [`UncertainPoints::knee`] with a confidence |
//! | where more load stops paying, of levels in order of load | [`knee`] |
//! | how much of the space of figures is reached | [`Points::hypervolume`] |
//! | how far a frontier was pushed | [`compare_frontiers`] |
//! | the best candidate within limits, or the one that misses them least | [`operating_point`], [`Points::operating_point`] of a table; what is put first: [`Preference`] |
//! | to stay below a level that is allowed and not worth it | [`back_off`] |
//! | the highest load within limits, between those that were tested | [`edge`], over a response made to go one way: [`isotonic`] |
//! | which load to test next | [`Search`] |
//! | how many alike carry a demand | [`Demand`] |
//!
//! ```
//! use fizeau_pareto::{Objective, dominated_by, frontier};
//! // Requests per second, and the 99th percentile of latency in milliseconds.
//! let levels = [[1.0, 210.0], [4.0, 260.0], [7.0, 480.0], [6.5, 900.0]];
//! let directions = [Objective::Maximize, Objective::Minimize];
//! assert_eq!(frontier(&levels, &directions)?, [0, 1, 2]);
//! assert_eq!(dominated_by(&levels, &directions, 3), Some(2));
//! # Ok::<(), fizeau_pareto::FrontierError>(())
//! ```
//!
//! **Use this crate** for any table of figures; it knows nothing of benchmarks. **Do not use it** to fit: between points it
//! says at most what their neighbours support, and beyond them nothing.
//!
//! # Invariants
//!
//! - Pure and deterministic; depends on nothing but the standard library and an error derive.
//! - Answers name what was given by its index, so nothing is copied and ties stay visible.
//! - The order of the points decides only which of two equals is named, and the documentation says how.
//! - Chance, where intervals are drawn from, follows a seed that the caller gives ([`ResamplingSpec`]).
//!
#![doc = include_str!("../place.md")]

mod answer;
mod bend;
mod capacity;
mod direction;
mod distance;
mod edge;
mod epsilon;
mod estimate;
mod frontier;
mod hypervolume;
mod isotonic;
mod knee;
mod layers;
mod operating;
mod points;
mod query;
mod resample;
mod rows;
mod search;
mod uncertain;

pub use answer::FrontierAnswer;
pub use bend::{FrontierKnee, KneeMethod, NoKnee};
pub use capacity::{CapacityError, Demand, Fleet, Fleets};
pub use direction::{Objective, Preference};
pub use distance::{
    FrontierCompareError, FrontierComparison, FrontierComparisonSpec, FrontierGains, NoComparison,
    compare_frontiers,
};
pub use edge::{
    EdgeBeyond, EdgeCrossing, EdgeError, FigureLimit, LimitBreak, LoadEdge, NearestMiss,
    TestedLoad, edge, throughput_at,
};
pub use epsilon::{Epsilon, EpsilonError};
pub use estimate::{FigureEstimate, FigureEstimateError};
pub use frontier::{FrontierError, dominated_by, frontier};
pub use hypervolume::HypervolumeError;
pub use isotonic::{IsotonicError, MonotoneDeparture, ResponseTrend, departure, isotonic};
pub use knee::{Knee, StepRule, StepRuleError, back_off, knee};
pub use operating::{
    AxisLimit, Constraint, LimitRelation, OperatingCandidate, OperatingChoice, UnknownAxis,
    operating_point,
};
pub use points::{Axis, Points, PointsError};
pub use query::{FrontierQuery, QueryError};
pub use resample::ResamplingSpec;
pub use rows::{RowError, RowPoints};
pub use search::{
    EdgeSide, Evaluation, LoadOutcome, Loads, NextLoad, Search, SearchEnding, SearchResult,
    SearchSpec, SearchSpecError, log_margin,
};
pub use uncertain::{FrontierMembership, UncertainPoints};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
