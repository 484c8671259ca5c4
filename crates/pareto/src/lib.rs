//! Trade-offs between figures: which points no other beats, and which of them to choose.
//!
//! [`frontier`] finds the non-dominated among points of any dimension, each figure to be maximized or
//! minimized; [`dominated_by`] names a point that beats a given one; [`operating_point`] chooses the best
//! candidate that keeps within limits, or the one that misses them least; [`edge`] finds the highest load within limits,
//! between those that were tested ([`isotonic`] makes a response go one way before); [`back_off`] stays below a level that is
//! allowed and not worth it, and [`Preference`] says what is put first.
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
//! **Use this crate** for any table of figures; it knows nothing of benchmarks. **Do not use it** to fit a
//! law: where it goes between points, it takes straight lines between neighbours, and never beyond the last.
//!
//! # Invariants
//!
//! - Pure and deterministic; depends on nothing but the standard library and an error derive.
//! - Answers name what was given by its index, so nothing is copied and ties stay visible.
//! - The order of the points decides only which of two equals is named, and the documentation says how.

mod backoff;
mod bend;
mod contribution;
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
mod search;
mod uncertain;

pub use backoff::{StepRule, StepRuleError, back_off};
pub use bend::{Draws, FrontierKnee, KneeMethod, NoKnee};
pub use edge::{Break, Crossing, Edge, EdgeError, Limit, Miss, Reached, Tested, edge};
pub use epsilon::{Epsilon, EpsilonError};
pub use estimate::{Estimate, EstimateError};
pub use frontier::{Direction, FrontierError, dominated_by, frontier};
pub use hypervolume::HypervolumeError;
pub use isotonic::{Departure, IsotonicError, Trend, departure, isotonic};
pub use knee::{Knee, KneeRule, knee};
pub use operating::{Candidate, Choice, Constraint, Relation, operating_point};
pub use points::{Axis, Points, PointsError};
pub use preference::Preference;
pub use search::{
    Bearing, Evaluation, Found, Loads, Next, Search, SearchEnding, SearchSpec, SearchSpecError,
    Standing, log_margin,
};
pub use uncertain::{UncertainPoints, Verdict};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
