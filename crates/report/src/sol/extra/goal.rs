//! What a goal takes.

use fizeau_core::Tokens;
use fizeau_roofline::{DeploymentObjective, DeploymentQuery, ServingGoal};

use super::{SolExtra, SolSubject, by_each};

impl SolExtra {
    /// The largest batch and context of the system within `goal`, and the fewest devices, up to `most`, that meet it.
    #[must_use]
    pub fn goal(of: &SolSubject<'_>, goal: &ServingGoal, most: u64) -> Self {
        let SolSubject { system, load, batch } = *of;
        let mut aside = Self::new("goal", "To meet the goal".to_owned());
        if let Some(tpot) = goal.tpot {
            let found = by_each(|by| system.largest_batch(by, load, tpot));
            let batches = found.map(|found| found.map(|found| found.batch as f64));
            aside.maybe("largest_batch", "largest batch within the TPOT", batches);
        }
        let longest = Tokens::new(LONGEST);
        let found = by_each(|by| system.largest_context(by, batch, goal, longest));
        let contexts = found.map(|found| found.map(|found| found.context.get() as f64));
        aside.maybe("largest_context", "largest context with the batch", contexts);
        let found = by_each(|by| {
            let query = DeploymentQuery {
                serving: *system.serving(),
                aim: DeploymentObjective::Throughput,
                by,
                ..DeploymentQuery::new(system.model(), *load, *goal)
            };
            query.fewest_devices(system.device(), most)
        });
        let devices = |i: usize| {
            let found: Option<&fizeau_roofline::DeploymentRanking> = found.get(i)?.as_ref().ok();
            found.map(|found| found.best.deployment.devices() as f64)
        };
        aside.maybe("fewest_devices", "fewest devices", [devices(0), devices(1)]);
        match &found[1] {
            Ok(found) => {
                let best = &found.best;
                let figures = &best.figures;
                aside.word(
                    "deployment",
                    "parallelism, expected",
                    format!(
                        "{}, {:.0} at once, TPOT {:.2} ms, {:.2} requests/s",
                        best.deployment,
                        figures.batch,
                        figures.tpot.get() * 1e3,
                        figures.requests_per_s.get()
                    ),
                );
                if let Some(lacks) = &found.limited_by {
                    aside.word("one_less_lacks", "with one device less", lacks.to_string());
                }
                if let Some(other) = &found.runner_up {
                    aside.word("runner_up", "next best parallelism", other.deployment.to_string());
                }
            }
            Err(error) => aside.word("unmet", "as expected", error.to_string()),
        }
        aside
    }
}

/// The longest context that is tried.
const LONGEST: u64 = 1 << 20;
