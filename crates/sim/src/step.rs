//! How long a step takes.

mod calibrated;
mod pieces;
mod roofline;

use std::num::NonZeroU32;

use fizeau_core::Nanos;
use fizeau_roofline::{PassSums, PassWork};

pub use calibrated::CalibratedStep;
pub use roofline::RooflineStep;

use crate::engine::{LinearStepTimes, StepLoad, StepTime};

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

    fn pace(&self, load: &StepLoad) -> Option<LinearStepTimes> {
        match self {
            Self::Roofline(step) => step.pace(load),
            Self::Calibrated(step) => step.pace(load),
            Self::Fixed(step) => step.pace(load),
        }
    }

    fn work(&self, load: &StepLoad) -> PassWork {
        match self {
            Self::Roofline(step) => step.work(load),
            Self::Calibrated(step) => step.work(load),
            Self::Fixed(step) => step.work(load),
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
        spread: None,
    }
}

// A step time that is made up.

/// A step takes so long, and so much more for each sequence and each token of a prompt, whatever the contexts: for tests, and
/// for queues of which theory knows the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FixedStep {
    /// For the step.
    pub per_step: Nanos,
    /// For each sequence that decodes.
    pub per_sequence: Nanos,
    /// For each token of a prompt.
    pub per_prompt_token: Nanos,
}

impl StepTime for FixedStep {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        self.per_step
            + self.per_sequence * load.decode_sequences
            + self.per_prompt_token * load.prefill_tokens.get()
    }

    fn pace(&self, load: &StepLoad) -> Option<LinearStepTimes> {
        let only_decodes = load.prefill_sequences == 0 && load.drafted_tokens == 0;
        let first = u128::from(self.step_time(load).as_nanos()) << 32;
        only_decodes.then_some(LinearStepTimes { steps: u64::MAX, first, growth: 0 })
    }
}

// How far an engine stays behind the silicon's limit.

/// How far an engine stays behind the silicon's limit. The defaults are round figures of the order that
/// well-tuned engines reach, chosen and not fitted: they make a simulated engine visibly and explainably
/// slower than the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overheads {
    /// Share of the peak memory bandwidth that is reached, from 0.001 to 1. Default 0.85.
    pub bandwidth_efficiency: f64,
    /// Share of the peak dense arithmetic that is reached, from 0.001 to 1. Default 0.70.
    pub compute_efficiency: f64,
    /// Time that each step takes besides: scheduling, launching, sampling. Default 150 us.
    pub per_step: Nanos,
    /// Time that each sequence adds to a step: its bookkeeping on the host. Default 2 us.
    pub per_sequence: Nanos,
    /// Time that each layer adds to a step: launching its kernels. Default 0: it is in the time of the step.
    pub per_layer: Nanos,
    /// Time that each collective adds to a step beyond its bytes and hops. Default 0.
    pub per_collective: Nanos,
}

impl Default for Overheads {
    fn default() -> Self {
        Self {
            bandwidth_efficiency: 0.85,
            compute_efficiency: 0.70,
            per_step: Nanos::from_micros(150),
            per_sequence: Nanos::from_micros(2),
            per_layer: Nanos::ZERO,
            per_collective: Nanos::ZERO,
        }
    }
}

impl Overheads {
    fn check(&self) -> Result<(), StepError> {
        share("bandwidth_efficiency", self.bandwidth_efficiency)?;
        share("compute_efficiency", self.compute_efficiency)
    }
}

/// Why there is no step time.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("`{field}` is {value:?}: an efficiency must be from 0.001 to 1")]
#[non_exhaustive]
pub struct StepError {
    /// Which efficiency.
    pub field: &'static str,
    /// What it was.
    pub value: f64,
}

/// Less is a slip, and times of centuries help nobody.
const LEAST_SHARE: f64 = 0.001;

fn share(field: &'static str, value: f64) -> Result<(), StepError> {
    if (LEAST_SHARE..=1.0).contains(&value) { Ok(()) } else { Err(StepError { field, value }) }
}
