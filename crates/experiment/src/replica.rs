//! Levels of a replica for a plan.

use fizeau_core::Tokens;
use fizeau_harness::Measure;
use fizeau_metrics::GoodputGoals;
use fizeau_record::{BurstsLevel, PlanLevel};
use fizeau_workload::{Lengths, PlanSpec, PromptContent};

use crate::{LevelSize, LevelSpec, SweepError, SweepRunner, SweepSpec};

/// Measures a level of a replica, such as a simulated one, whose requests are all alike, with so many `tokens` of prompt and of output;
/// none where nothing completed. For [`BurstAccount::simulated`](fizeau_record::BurstAccount::simulated).
///
/// # Errors
/// If a request cannot be expressed.
pub async fn replica_level<M: Measure>(
    with: M,
    of: BurstsLevel,
    tokens: [Tokens; 2],
    goals: &GoodputGoals,
) -> Result<Option<PlanLevel>, SweepError<M::Error>> {
    let [input, output] = tokens.map(Tokens::get);
    let (lengths, content) = (Lengths::fixed(input, output), PromptContent::Unread);
    let workload = PlanSpec { lengths, content, ..PlanSpec::new(of.requests.get())? };
    let goals = goals.clone();
    let spec = SweepSpec { spacing: of.spacing, goals, ..SweepSpec::new([], workload) };
    let size = LevelSize { requests: Some(of.requests), time: None, warmup: None };
    let ask = LevelSpec { load: of.load, visit: 0, size };
    let level = SweepRunner::new(with, &spec, None).level(ask, &mut ()).await?;
    Ok(level.and_then(|at| PlanLevel::simulated(of.load, &at.run.summary)))
}
