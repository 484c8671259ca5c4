//! What a figure is worth: percentiles by any rule, and how far they and means may be off.
//!
//! All of it works on plain numbers in any one unit, which the results have too, in the order in which the requests were sent.

mod autocorrelation;
mod batch;
mod blocks;
mod early;
mod random;
mod rank;
mod ranked;
mod resample;
mod select;
mod share;
mod support;

pub use autocorrelation::Autocorrelation;
pub(crate) use batch::needed_of_series;
pub use batch::{BatchMeans, BatchMeansError, mean_of_runs};
pub(crate) use blocks::block_length;
pub use early::{EarlyStoppingError, early_stopping_bound, early_stopping_needs};
pub use random::{RandomBits, ResampleSeed};
pub(crate) use rank::least_for_percentile;
pub use rank::{PercentileRule, weighted_percentile_of_sorted};
pub(crate) use ranked::Ranked;
pub(crate) use resample::Resampling;
pub use select::{PercentilesError, percentiles};
pub use share::{Percent, PercentError};
pub use support::SampleSupport;
