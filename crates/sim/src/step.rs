//! How long a step takes.

mod calibrated;
mod drafting;
mod fixed;
mod overheads;
mod pieces;
mod roofline;

pub use calibrated::CalibratedStep;
pub use fixed::FixedStep;
pub use overheads::{Overheads, StepError};
pub use roofline::RooflineStep;

use std::num::NonZeroU32;

use fizeau_core::Nanos;
use fizeau_roofline::PassSums;

use crate::engine::{Pace, StepLoad, StepTime};

/// Any of the step times that come with this crate, for whoever chooses at run time.
///
/// ```
/// use fizeau_core::Nanos;
/// use fizeau_sim::{FixedStep, StepLoad, StepModel, StepTime};
/// let step = StepModel::from(FixedStep { per_step: Nanos::from_millis(10), ..FixedStep::default() });
/// assert_eq!(step.step_time(&StepLoad::default()), Nanos::from_millis(10));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum StepModel {
    /// Of a roofline and overheads.
    Roofline(RooflineStep),
    /// Of constants that were fitted on measurements.
    Calibrated(CalibratedStep),
    /// So long for each step, sequence and token of a prompt.
    Fixed(FixedStep),
}

impl StepTime for StepModel {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        match self {
            Self::Roofline(step) => step.step_time(load),
            Self::Calibrated(step) => step.step_time(load),
            Self::Fixed(step) => step.step_time(load),
        }
    }

    fn pace(&self, load: &StepLoad) -> Option<Pace> {
        match self {
            Self::Roofline(step) => step.pace(load),
            Self::Calibrated(step) => step.pace(load),
            Self::Fixed(step) => step.pace(load),
        }
    }

    fn stages(&self) -> NonZeroU32 {
        match self {
            Self::Roofline(step) => step.stages(),
            Self::Calibrated(step) => step.stages(),
            Self::Fixed(step) => step.stages(),
        }
    }
}

impl From<RooflineStep> for StepModel {
    fn from(step: RooflineStep) -> Self {
        Self::Roofline(step)
    }
}

impl From<CalibratedStep> for StepModel {
    fn from(step: CalibratedStep) -> Self {
        Self::Calibrated(step)
    }
}

impl From<FixedStep> for StepModel {
    fn from(step: FixedStep) -> Self {
        Self::Fixed(step)
    }
}

/// A step's batch as the roofline takes it. Drafts are cached before they are verified, so their tokens count to the contexts.
const fn sums(load: &StepLoad) -> PassSums {
    let context = load.decode_context_tokens.get().saturating_add(load.drafted_tokens);
    PassSums {
        decoding: load.decode_sequences as f64,
        drafted: load.drafted_tokens as f64,
        padding: load.padded_tokens as f64,
        context: context as f64,
        prompts: load.prefill_sequences as f64,
        prompt_tokens: load.prefill_tokens.get() as f64,
        prompt_context: load.prefill_context_tokens.get() as f64,
        prompt_pairs: load.prefill_pairs as f64,
    }
}
