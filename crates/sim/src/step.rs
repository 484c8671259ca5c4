//! How long a step takes on a roofline.

use fizeau_core::{Nanos, Seconds};
use fizeau_roofline::{Device, Model};

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
}

impl Default for Overheads {
    fn default() -> Self {
        Self {
            bandwidth_efficiency: 0.85,
            compute_efficiency: 0.70,
            per_step: Nanos::from_micros(150),
            per_sequence: Nanos::from_micros(2),
        }
    }
}

/// The step time of a model on a device:
///
/// `max(bytes / (e_b BW), FLOPs / (e_c F)) + per_step + per_sequence * n`
///
/// with bandwidth `BW` and arithmetic `F` of the device, the efficiencies `e_b` and `e_c` and the two times
/// of [`Overheads`], and `n` the sequences of the step. The bytes are the weights, once, and the key-value
/// cache of every context in the step; the FLOPs are those of all layers for each token, of attention for
/// each pair of tokens, and of the LM head for each sequence that is sampled. These are the totals of
/// [`fizeau_roofline::Bound`], so no engine on this step time beats that bound.
///
/// ```
/// use fizeau_core::{Bytes, Nanos, Tokens};
/// use fizeau_roofline::{Device, Model};
/// use fizeau_sim::{Overheads, RooflineStep, Scenario, StepLoad, StepTime};
///
/// let scenario = Scenario::llama_3_1_8b_h100()?;
/// let step = RooflineStep::new(scenario.model(), scenario.device(), Overheads::default())?;
/// let one_token = StepLoad { decode_sequences: 1, sampled_sequences: 1, ..StepLoad::default() };
/// // 15.009 GB over 85 % of 3.35 TB/s, 150 us and 2 us.
/// assert_eq!(step.step_time(&one_token).to_string(), "5.42 ms");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RooflineStep {
    /// Reading all weights.
    weights: Seconds,
    /// Reading the cache of one token.
    cached_token: Seconds,
    /// The layers' arithmetic for one token.
    token: Seconds,
    /// Attention's for one pair of tokens.
    pair: Seconds,
    /// The LM head's for one sequence.
    head: Seconds,
    overheads: Overheads,
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
    /// The step time of `model` on one `device`.
    ///
    /// # Errors
    /// If an efficiency is not above 0 and at most 1.
    pub fn new(model: &Model, device: &Device, overheads: Overheads) -> Result<Self, StepError> {
        let bandwidth = share("bandwidth_efficiency", overheads.bandwidth_efficiency)?;
        let compute = share("compute_efficiency", overheads.compute_efficiency)?;
        let bandwidth = device.memory_bandwidth() * bandwidth;
        let compute = device.compute_rate(model) * compute;
        Ok(Self {
            weights: model.streamed_weight_bytes() / bandwidth,
            cached_token: model.kv_bytes_per_token() / bandwidth,
            token: model.linear_flops_per_token() / compute,
            pair: model.attention_flops_per_pair() / compute,
            head: model.head_flops_per_token() / compute,
            overheads,
        })
    }

    /// What it adds to the roofline.
    #[must_use]
    pub const fn overheads(&self) -> &Overheads {
        &self.overheads
    }
}

fn share(field: &'static str, value: f64) -> Result<f64, StepError> {
    if value > 0.0 && value <= 1.0 { Ok(value) } else { Err(StepError { field, value }) }
}

impl StepTime for RooflineStep {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        let contexts = load.decode_context_tokens + load.prefill_context_tokens;
        let memory = self.weights + self.cached_token * contexts.get() as f64;
        let tokens = load.decode_sequences as f64 + load.prefill_tokens.get() as f64;
        // A decoded token attends to its whole context.
        let pairs = load.decode_context_tokens.get() as f64 + load.prefill_pairs as f64;
        let compute =
            self.token * tokens + self.pair * pairs + self.head * load.sampled_sequences as f64;
        // Beyond 584 years nothing is worth telling apart.
        let roofline = memory.max(compute).to_nanos().unwrap_or(Nanos::MAX);
        roofline + self.overheads.per_step + self.overheads.per_sequence * load.sequences()
    }
}
