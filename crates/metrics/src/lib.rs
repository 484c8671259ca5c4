//! Tapes to metrics: TTFT, TPOT, ITL, ICL, E2EL, throughput, goodput, with honest statistics.
//!
//! Pure: tapes in, figures out. No clock, no I/O, no randomness.

mod distribution;
mod level;
mod slo;
mod validity;

pub use distribution::{Distribution, Interval, Quantile};
pub use level::{
    Goodput, Jitter, LevelSummary, MetricTable, RequestCounts, Throughput, TokenCounts, Window,
};
pub use slo::{Comparison, Goal, GoalOutcome, Metric, Slo, SloError, Statistic};
pub use validity::{ClientProof, Reason, Validity, Verdict};
