//! Goals on a level: `p99 ttft<500ms, p99 tpot<50ms, goodput>0.99`.

use fizeau_core::Millis;

use crate::LevelSummary;

/// A set of goals that a level must meet all of.
///
/// ```
/// let slo: fizeau_metrics::Slo = "p99 ttft<500ms, mean tpot<50ms".parse()?;
/// assert_eq!(slo.goals().len(), 2);
/// # Ok::<(), fizeau_metrics::SloError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Slo {
    goals: Vec<Goal>,
}

/// One goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Which statistic of the metric.
    pub statistic: Statistic,
    /// Which metric.
    pub metric: Metric,
    /// In which direction.
    pub comparison: Comparison,
    /// The limit, in the metric's unit: milliseconds for latencies, per second for rates, 0 to 1 for shares.
    pub limit: f64,
}

/// How a goal came out at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalOutcome {
    /// The goal.
    pub goal: Goal,
    /// What was measured; absent if the level does not have the figure or its sample cannot support it.
    pub measured: Option<f64>,
}
