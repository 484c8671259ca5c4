//! Trade-offs between figures: which points no other beats, and which of them to choose.
//!
//! [`frontier`] finds the non-dominated among points of any dimension, each figure to be maximized or
//! minimized; [`dominated_by`] names a point that beats a given one; [`operating_point`] chooses the best
//! candidate that keeps within limits, or the one that misses them least.
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
//! **Use this crate** for any table of figures; it knows nothing of benchmarks. **Do not use it** to fit or to
//! interpolate: it answers only with points that it was given.
//!
//! # Invariants
//!
//! - Pure and deterministic; depends on nothing but the standard library and an error derive.
//! - Answers are indices into what was given, so nothing is copied and ties stay visible.
//! - The order of the points decides only which of two equals is named, and the documentation says how.

mod estimate;
mod frontier;
mod knee;
mod operating;
mod points;
mod search;

pub use estimate::{Estimate, EstimateError};
pub use frontier::{Direction, FrontierError, dominated_by, frontier};
pub use knee::{Knee, KneeRule, knee};
pub use operating::{Candidate, Choice, Constraint, Relation, operating_point};
pub use points::{Axis, Points, PointsError};
pub use search::{
    Bearing, Evaluation, Found, Loads, Next, Search, SearchEnding, SearchSpec, SearchSpecError,
    Verdict, margin,
};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
