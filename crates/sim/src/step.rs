//! How long a step takes on a roofline.

use std::sync::Arc;

use fizeau_core::Nanos;
use fizeau_roofline::{PassSums, System};

use crate::engine::{StepLoad, StepTime};

/// How far an engine stays behind the silicon's limit. The defaults are round figures of the order that
/// well-tuned engines reach, chosen and not fitted: they make a simulated engine visibly and explainably
/// slower than the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overheads {
    /// Share of the peak memory bandwidth that is reached, above 0 and at most 1. Default 0.85.
    pub bandwidth_efficiency: f64,
    /// Share of the peak dense arithmetic that is reached, above 0 and at most 1. Default 0.70.
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

/// The step time of a model on its devices:
///
/// `max(bytes / (e_b BW), FLOPs / (e_c F)) + communication + per_step + per_sequence * n + per_layer * L +
/// per_collective * m`
///
/// with bandwidth `BW` and arithmetic `F` of the devices, the efficiencies `e_b` and `e_c` and the times of
/// [`Overheads`], `n` the sequences of the step, `L` the model's layers and `m` the collectives of a step. Bytes, FLOPs
/// and communication are the parts of [`System::overlapped_sums`]: the weights
/// once, of experts those that the tokens are expected to choose; caches and states of every sequence; the arithmetic of
/// all layers for each token, of attention for each pair of tokens, and of the LM head for each sequence. None of them is
/// below that of [`fizeau_roofline::Bound`], so no engine on this step time beats that bound.
///
/// It is one replica's. With pipeline stages a step is a round in which each micro-batch passes all of them.
///
/// ```
/// use fizeau_core::{Bytes, Nanos, Tokens};
/// use fizeau_sim::{Overheads, RooflineStep, Scenario, StepLoad, StepTime};
///
/// let scenario = Scenario::llama_3_1_8b_h100()?;
/// let step = RooflineStep::new(scenario.system().clone(), Overheads::default())?;
/// let one_token = StepLoad { decode_sequences: 1, sampled_sequences: 1, ..StepLoad::default() };
/// // 15.009 GB over 85 % of 3.35 TB/s, 150 us and 2 us.
/// assert_eq!(step.step_time(&one_token).to_string(), "5.42 ms");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RooflineStep {
    system: Arc<System>,
    overheads: Overheads,
    /// The model's layers.
    layers: u64,
}

/// Why there is no step time.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "`{field}` is {value}: an efficiency must be above 0 and at most 1, for no engine beats the silicon"
)]
pub struct StepError {
    /// Which efficiency.
    pub field: &'static str,
    /// What it was.
    pub value: f64,
}

impl RooflineStep {
    /// The step time of `system`.
    ///
    /// # Errors
    /// If an efficiency is not above 0 and at most 1.
    pub fn new(system: impl Into<Arc<System>>, overheads: Overheads) -> Result<Self, StepError> {
        share("bandwidth_efficiency", overheads.bandwidth_efficiency)?;
        share("compute_efficiency", overheads.compute_efficiency)?;
        let system = system.into();
        let layers = system.model().layers().iter().map(|layers| layers.count).sum();
        Ok(Self { system, overheads, layers })
    }

    /// What it adds to the roofline.
    #[must_use]
    pub const fn overheads(&self) -> &Overheads {
        &self.overheads
    }

    /// What it is the step time of.
    #[must_use]
    pub fn system(&self) -> &System {
        &self.system
    }

    /// A micro-batch of the step.
    fn sums(&self, load: &StepLoad) -> PassSums {
        let stages = f64::from(self.system.deployment().pipeline());
        let decoding = load.decode_sequences as f64;
        let share = |whole: u64, ways: f64| whole as f64 / ways;
        let micro = stages.min(decoding.max(1.0));
        PassSums {
            decoding: decoding / micro,
            context: share(load.decode_context_tokens.get(), micro),
            prompts: share(load.prefill_sequences, stages),
            prompt_tokens: share(load.prefill_tokens.get(), stages),
            prompt_context: share(load.prefill_context_tokens.get(), stages),
            prompt_pairs: share(load.prefill_pairs, stages),
        }
    }
}

fn share(field: &'static str, value: f64) -> Result<f64, StepError> {
    if value > 0.0 && value <= 1.0 { Ok(value) } else { Err(StepError { field, value }) }
}

impl StepTime for RooflineStep {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        let pass = self.system.overlapped_sums(&self.sums(load));
        let of = &self.overheads;
        let memory = (pass.weights + pass.cache) * (1.0 / of.bandwidth_efficiency);
        let compute = pass.arithmetic() * (1.0 / of.compute_efficiency);
        let silicon = memory.max(compute) + pass.communication();
        // Beyond 584 years nothing is worth telling apart.
        let silicon = silicon.to_nanos().unwrap_or(Nanos::MAX);
        silicon
            + of.per_step
            + of.per_sequence * load.sequences()
            + of.per_layer * self.layers
            + of.per_collective * pass.collectives.round() as u64
    }
}
