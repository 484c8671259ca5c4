//! What a figure is worth: percentiles by any rule, and how far they and means may be off.
//!
//! All of it works on plain numbers in any one unit, which the results have too, in the order in which the requests were sent.

mod autocorrelation;
mod batch;
mod bootstrap;
mod early;
mod estimate;
mod random;
mod rank;
mod select;
mod share;

pub use autocorrelation::Autocorrelation;
pub use batch::{BatchMeans, BatchMeansError, mean_of_runs};
pub use bootstrap::{BlockKind, BlockLength, Bootstrap, BootstrapError, IntervalMethod};
pub(crate) use bootstrap::{Ranked, Resampling, least_for_percentile};
pub use early::{EarlyStoppingError, early_stopping_bound, early_stopping_needs};
pub use estimate::{Bounds, Estimate, Support};
pub use fizeau_core::{Confidence, ConfidenceError};
pub use random::{RandomBits, ResampleSeed};
pub use rank::{PercentileRule, weighted_percentile_of_sorted};
pub use select::{PercentilesError, percentiles};
pub use share::{Percent, PercentError};
