//! How far an engine stays behind the silicon's limit.

use fizeau_core::Nanos;

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
    pub(super) fn check(&self) -> Result<(), StepError> {
        share("bandwidth_efficiency", self.bandwidth_efficiency)?;
        share("compute_efficiency", self.compute_efficiency)
    }
}

/// Why there is no step time.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "`{field}` is {value:?}: an efficiency must be from 0.001 to 1, for no engine beats the silicon or stays a thousandfold behind"
)]
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
