//! What a goal takes.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{DeploymentRanking, DeploymentSearchError, ServingGoal, UniformLoad};

use super::{SolExtra, SolSubject, by_each};

impl SolExtra {
    /// The largest batch and context of the system within `goal`, whatever its load has at once, and the fewest devices, up to
    /// `most`, that meet it with the load, of which `asked` requests are to be in flight or as many as the goal takes
    /// ([`ServingGoal::in_flight`]).
    #[must_use]
    pub fn goal(
        of: &SolSubject<'_>,
        goal: &ServingGoal,
        asked: Option<NonZeroU64>,
        most: u64,
    ) -> Self {
        let SolSubject { system, load, batch } = *of;
        let load = &UniformLoad { concurrency: goal.in_flight(asked), ..*load };
        let wanted = goal.in_flight(Some(NonZeroU64::MIN)).get() as f64;
        let mut aside = Self::new("goal", "To meet the goal".to_owned());
        if let Some(tpot) = goal.tpot() {
            let any = UniformLoad { concurrency: NonZeroU64::MAX, ..*load };
            let found = by_each(|by| system.largest_batch(by, &any, tpot));
            let batches = found.map(|found| found.map(|found| found.batch as f64));
            aside.maybe("largest_batch", "largest batch within the TPOT", batches);
        }
        let longest = Tokens::new(LONGEST);
        let found =
            by_each(|by| system.largest_context(by, load, batch.max(wanted), goal, longest));
        let contexts = found.map(|found| found.map(|found| found.context.get() as f64));
        aside.maybe("largest_context", "largest context with the batch", contexts);
        let found = by_each(|by| system.fewest_devices_for(by, load, goal, most));
        let devices = found
            .each_ref()
            .map(|found| found.as_ref().ok().map(|found| found.best.deployment.devices() as f64));
        aside.maybe("fewest_devices", "fewest devices", devices);
        let [_, expected] = &found;
        aside.say_devices(load, expected.as_ref());
        aside.say_conditions(of, goal, (load.concurrency, asked));
        aside
    }

    /// How the fewest devices lie, and what is just not enough; or why nothing is.
    fn say_devices(
        &mut self,
        load: &UniformLoad,
        expected: Result<&DeploymentRanking, &DeploymentSearchError>,
    ) {
        let found = match expected {
            Ok(found) => found,
            Err(error) => {
                self.is_missed = true;
                return self.word("unmet", "as expected", error.to_string());
            }
        };
        let figures = &found.best.figures;
        let tpot = figures.tpot.map(|tpot| format!("{:.2} ms", tpot.get() * 1e3));
        let deployment = format!(
            "{}, {:.0}{} at once, TPOT {}, {:.2} requests/s",
            found.best.deployment,
            figures.batch,
            of_more(load, figures.batch),
            tpot.as_deref().unwrap_or("none"),
            figures.requests_per_s.get()
        );
        self.word("deployment", "parallelism, expected", deployment);
        if let Some(lacks) = &found.limited_by {
            self.word("one_less_lacks", "with one device fewer", lacks.to_string());
        }
        if let Some(other) = &found.runner_up {
            self.word("runner_up", "next best parallelism", other.deployment.to_string());
        }
    }

    /// How many requests are in flight where nobody `asked` for so many, and that the model ends before the goal.
    fn say_conditions(
        &mut self,
        of: &SolSubject<'_>,
        goal: &ServingGoal,
        (in_flight, asked): (NonZeroU64, Option<NonZeroU64>),
    ) {
        match in_flight {
            NonZeroU64::MAX => {
                self.note("Nothing was said of requests in flight: as many as run at once.");
            }
            count if asked != Some(count) && count > NonZeroU64::MIN => {
                self.note(format!("With {count} requests in flight, as the goal has it."));
            }
            _ => {}
        }
        if let Some((context, most)) = goal.context().zip(of.system.model().max_context)
            && context > most
        {
            self.note(format!(
                "The model's context ends at {most} tokens, before the goal's {context}."
            ));
        }
    }
}

/// Of how many requests `batch` run, where others wait.
fn of_more(load: &UniformLoad, batch: f64) -> String {
    match load.concurrency {
        NonZeroU64::MAX => String::new(),
        requests if batch < requests.get() as f64 => format!(" of {requests}"),
        _ => String::new(),
    }
}

/// The longest context that is tried.
const LONGEST: u64 = 1 << 20;
