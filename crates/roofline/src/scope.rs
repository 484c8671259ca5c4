//! What of an analysis is meant: requests or a step, with as many sequences as fit or with exactly so many.

use std::num::NonZeroU64;

use fizeau_core::PerSec;

use crate::system::System;
use crate::{
    CurveEnd, CurveStride, Figures, LoadAnalysis, LoadAnalysisError, PhaseSchedule, UniformLoad,
};

/// What of an analysis is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolScope {
    /// Whole requests.
    Requests,
    /// A decode step of the running sequences at the context that follows the prompt. What is of requests is left out.
    Step,
}

impl SolScope {
    /// What `system` makes of `load` with as many of its sequences running as fit, or with exactly `batch`.
    ///
    /// # Errors
    /// If the model, or one request beside it, does not fit.
    pub fn answer(
        self,
        system: &System,
        load: &UniformLoad,
        batch: Option<u64>,
    ) -> Result<LoadAnalysis, LoadAnalysisError> {
        let answer = match batch {
            Some(batch) if batch as f64 > system.max_batch(load) => crowded(system, load, batch)?,
            _ => system.answer(load)?,
        };
        Ok(if self == Self::Step { step_alone(system, load, answer) } else { answer })
    }

    /// What an answer for `batch` sequences assumes where no more of them can run at once than fit, in a sentence.
    #[must_use]
    pub fn beyond_room(system: &System, load: &UniformLoad, batch: u64) -> String {
        let fitting = system.max_batch(load);
        match system.batch_curve(load, CurveStride::Doubling).end() {
            CurveEnd::MaxSequences => format!(
                "no more than {fitting:.0} sequences may run at once; the figures assume that {batch} may"
            ),
            _ => format!(
                "{batch} sequences do not fit into memory, which has room for {fitting:.0}; the figures assume that they fit"
            ),
        }
    }
}

/// The answer for more sequences than fit.
fn crowded(
    system: &System,
    load: &UniformLoad,
    batch: u64,
) -> Result<LoadAnalysis, LoadAnalysisError> {
    let fitting = NonZeroU64::new(system.max_batch(load) as u64).unwrap_or(NonZeroU64::MIN);
    let mut answer = system.answer(&UniformLoad { concurrency: fitting, ..*load })?;
    let running = batch as f64;
    answer.running_batch = running;
    answer.memory = system.memory_use(load, running);
    answer.bound = system.bound_at(load, running, PhaseSchedule::Overlapped);
    answer.expected = system.expected_at(load, running, PhaseSchedule::Mixed);
    answer.limited_by.decode = system.expected_decode(load, running).binding.limit();
    let even = system.evenly_routed_figures(load, Some(running));
    Ok(answer.evenly_routed(even, system.routing()))
}

/// Makes `answer` one for decode steps that no prompt comes between.
fn step_alone(system: &System, load: &UniformLoad, mut answer: LoadAnalysis) -> LoadAnalysis {
    let running = answer.running_batch;
    answer.expected = system.expected_at(load, running, PhaseSchedule::Overlapped);
    let of_steps = |figures: Figures| {
        let output_tokens_per_s = PerSec::new(running / figures.step.get());
        Figures { tpot: Some(figures.step), output_tokens_per_s, ..figures }
    };
    (answer.bound, answer.expected) = (of_steps(answer.bound), of_steps(answer.expected));
    let even = system.evenly_routed_figures(load, Some(running)).map(of_steps);
    answer.evenly_routed(even, system.routing())
}
