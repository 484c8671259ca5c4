//! What came of a level that was measured by itself.

use fizeau_record::{LevelReport, SweepReport};

/// The outcome of a level.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MeasuredLevel {
    /// Its report.
    pub report: LevelReport,
    /// The same as a sweep of a single level has it: for its page.
    pub sweep: SweepReport,
}
