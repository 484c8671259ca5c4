//! Trade-offs between figures: which points no other beats, and which of them to choose.
//!
//! [`frontier`] finds the non-dominated among points of any dimension, each figure to be maximized or
//! minimized; [`dominated_by`] names a point that beats a given one; [`operating_point`] chooses the best
//! candidate that keeps within limits, or the one that misses them least; [`edge`] finds the highest load within limits,
//! between those that were tested ([`isotonic`] makes a response go one way before); [`back_off`] stays below a level that is
//! allowed and not worth it, and [`Preference`] says what is put first. Where loads are still to be tested, a [`Search`] says which
//! one next.
//!
//! ```
//! use fizeau_pareto::{Direction, dominated_by, frontier};
//! // Requests per second, and the 99th percentile of latency in milliseconds.
//! let levels = [[1.0, 210.0], [4.0, 260.0], [7.0, 480.0], [6.5, 900.0]];
//! let directions = [Direction::Maximize, Direction::Minimize];
//! assert_eq!(frontier(&levels, &directions)?, [0, 1, 2]);
//! assert_eq!(dominated_by(&levels, &directions, 3), Some(2));
//! # Ok::<(), fizeau_pareto::FrontierError>(())
//! ```
//!
//! [`Points`] of any number of named axes have a [hypervolume](Points::hypervolume), to which each point makes a
//! [contribution](Points::contributions), and in two axes a [curve](Points::curve) that can be asked between its points.
//! Over repeated runs, [`attainment_surface`] says what enough of them reach; [`compare_frontiers`] says how far one frontier is
//! beyond another.
//!
//! **Use this crate** for any table of figures; it knows nothing of benchmarks. **Do not use it** to fit: between points it
//! says at most what their neighbours support, and beyond them nothing.
//!
//! # Invariants
//!
//! - Pure and deterministic; depends on nothing but the standard library and an error derive.
//! - Answers name what was given by its index, so nothing is copied and ties stay visible.
//! - The order of the points decides only which of two equals is named, and the documentation says how.

mod attainment;
mod backoff;
mod bend;
mod capacity;
mod contribution;
mod curve;
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
mod preference;
mod resample;
mod search;
mod uncertain;
pub use attainment::{AttainmentError, attained_share, attainment_surface};
pub use backoff::{StepRule, StepRuleError, back_off};
pub use bend::{FrontierKnee, KneeMethod, NoKnee};
pub use capacity::{CapacityError, Demand, Fleet, Fleets};
pub use curve::{CurveError, FrontierCurve, Reading};
pub use distance::{CompareError, Compared, Comparison, Gains, NoComparison, compare_frontiers};
pub use edge::{
    Break, Crossing, Edge, EdgeError, Limit, Miss, Reached, Tested, edge, throughput_at,
};
pub use epsilon::{Epsilon, EpsilonError};
pub use estimate::{Estimate, EstimateError};
pub use frontier::{Direction, FrontierError, dominated_by, frontier};
pub use hypervolume::HypervolumeError;
pub use isotonic::{Departure, IsotonicError, Trend, departure, isotonic};
pub use knee::{Knee, KneeRule, knee};
pub use operating::{Candidate, Choice, Constraint, Relation, operating_point};
pub use points::{Axis, Points, PointsError};
pub use preference::Preference;
pub use resample::Draws;
pub use search::{
    Bearing, Evaluation, Found, Loads, Next, Search, SearchEnding, SearchSpec, SearchSpecError,
    Standing, log_margin,
};
pub use uncertain::{UncertainPoints, Verdict};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
