//! A step time from a roofline.

use std::num::NonZeroU32;
use std::sync::Arc;

use fizeau_core::{Nanos, Seconds, Watts};
use fizeau_roofline::{Drafter, PassSums, PassTime, PowerDraw, PowerError, System};

use super::drafting::{Drafting, Taken};
use super::pieces::{Branch, Branches, Pieces};
use super::{Overheads, StepError};
use crate::engine::{Pace, StepLoad, StepTime};

/// The step time of a model on its devices:
///
/// `max(W / (e_b BW), M / (e_c F)) + max(C / (e_b BW), A / (e_c F)) + communication + per_step + per_sequence * n +
/// per_layer * L + per_collective * m`
///
/// with bandwidth `BW` and arithmetic `F` of the devices, the efficiencies `e_b` and `e_c` and the times of
/// [`Overheads`], `n` the sequences of the step, `L` the model's layers and `m` the collectives of a step. Matrices (bytes of
/// weights `W`, FLOPs `M`) and attention (bytes of caches `C`, FLOPs `A`) are kernels of their own, one after the other; each
/// takes the longer of its memory and its arithmetic. Bytes, FLOPs and communication are the parts of
/// [`System::overlapped_sums`]: the weights once, of experts those that the tokens are expected to choose; caches and states of every sequence; the arithmetic of
/// all layers for each token, of attention for each pair of tokens, and of the LM head for each sequence. None of them is
/// below that of [`fizeau_roofline::Bound`], so no engine on this step time beats that bound. Drafted tokens are further tokens
/// of a sequence, whose cache is read once for them; padding is tokens without a cache. Times are rounded up to the nanosecond.
///
/// It is one replica's. With pipeline stages a step is that of one micro-batch through all of them.
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
/// // Each further step reads one token of cache more: 131,072 bytes.
/// let pace = step.pace(&one_token).ok_or("no closed form")?;
/// let longer = pace.at(1_000).as_secs_f64() - pace.at(0).as_secs_f64();
/// assert_eq!(format!("{:.2} ns", longer / 1_000.0 * 1e9), "46.03 ns");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RooflineStep {
    model: Passing,
    overheads: Overheads,
    drafting: Option<Drafting<Passing>>,
    power: Option<(PowerDraw, Watts)>,
    pieces: Pieces,
}

/// A model whose passes are timed.
#[derive(Debug, Clone)]
struct Passing {
    system: Arc<System>,
    layers: u64,
}

/// What a pass takes of each resource, and the host for its layers and collectives.
struct Parts {
    weights: Seconds,
    matrices: Seconds,
    cache: Seconds,
    attention: Seconds,
    communication: Seconds,
    power: Seconds,
    host: Nanos,
}

impl RooflineStep {
    /// The step time of `system`.
    ///
    /// # Errors
    /// If an efficiency is not above 0 and at most 1.
    pub fn new(system: impl Into<Arc<System>>, overheads: Overheads) -> Result<Self, StepError> {
        overheads.check()?;
        let model = Passing::new(system.into());
        let pieces = Pieces::new(&model.system);
        Ok(Self { model, overheads, drafting: None, power: None, pieces })
    }

    /// The same with drafts of `length` tokens by `drafter` in each step that verifies drafts ([`StepLoad::drafted_tokens`]). A
    /// drafting model reads prompts as well, and has the same efficiencies and times for layers and collectives; its pass comes
    /// after the model's own.
    #[must_use]
    pub fn with_drafter(self, drafter: Drafter, length: NonZeroU32) -> Self {
        let drafting = Drafting::new(drafter, length, |system| Passing::new(Arc::new(system)));
        Self { drafting, ..self }
    }

    /// The same where no device may draw more than `limit` on average over a step: one that needs more energy takes longer
    /// ([`PowerDraw::least_time`]).
    ///
    /// ```
    /// use fizeau_roofline::PowerDraw;
    /// use fizeau_sim::{Overheads, RooflineStep, Scenario, StepLoad, StepTime};
    ///
    /// let scenario = Scenario::llama_3_1_8b_h100()?;
    /// let step = RooflineStep::new(scenario.system().clone(), Overheads::default())?;
    /// let draw = PowerDraw::estimate(scenario.device())?;
    /// let limited = step.clone().with_power_limit(draw, scenario.device().tdp().ok_or("unknown")? * 0.5)?;
    /// let tokens = 8_192;
    /// let prompt = StepLoad {
    ///     prefill_sequences: 1,
    ///     prefill_tokens: fizeau_core::Tokens::new(tokens),
    ///     prefill_context_tokens: fizeau_core::Tokens::new(tokens),
    ///     prefill_pairs: tokens * (tokens + 1) / 2,
    ///     sampled_sequences: 1,
    ///     ..StepLoad::default()
    /// };
    /// assert!(limited.step_time(&prompt) > step.step_time(&prompt));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the limit is no more than what a device draws whatever it does.
    pub fn with_power_limit(self, draw: PowerDraw, limit: Watts) -> Result<Self, PowerError> {
        draw.least_time(&PassTime::default(), limit)?;
        let pieces = Pieces::new(self.system());
        Ok(Self { power: Some((draw, limit)), pieces, ..self })
    }

    /// What it adds to the roofline.
    #[must_use]
    pub const fn overheads(&self) -> &Overheads {
        &self.overheads
    }

    /// What it is the step time of.
    #[must_use]
    pub fn system(&self) -> &System {
        &self.model.system
    }

    fn branches(&self, sums: &PassSums) -> Branches {
        let parts = self.parts(&self.model, sums);
        let draft = self.drafting.as_ref().map(|drafting| {
            let pass = |model: &Passing, sums: &PassSums| self.parts(model, sums).taken();
            drafting.time(sums, pass, |sums| self.parts(&self.model, sums).taken())
        });
        let draft = draft.unwrap_or_default();
        let sequences = (sums.decoding + sums.prompts) as u64;
        let of = &self.overheads;
        let host = parts.host + of.per_step + of.per_sequence * sequences;
        let power = Branch { silicon: parts.power + draft.power, host: Nanos::ZERO };
        let after = |silicon: Seconds| Branch { silicon: silicon + draft.time, host };
        let [memory, mixed, other, arithmetic] = parts.ways().map(after);
        [memory, mixed, other, arithmetic, power]
    }

    /// One pass of `model`.
    fn parts(&self, model: &Passing, sums: &PassSums) -> Parts {
        let pass = model.system.overlapped_sums(sums);
        let of = &self.overheads;
        let least = |(draw, limit): &(PowerDraw, Watts)| draw.least_time(&pass, *limit).ok();
        Parts {
            weights: pass.weights * (1.0 / of.bandwidth_efficiency),
            matrices: pass.matrices * (1.0 / of.compute_efficiency),
            cache: pass.cache * (1.0 / of.bandwidth_efficiency),
            attention: pass.attention * (1.0 / of.compute_efficiency),
            communication: pass.communication(),
            power: self.power.as_ref().and_then(least).unwrap_or_default(),
            host: of.per_layer * model.layers + of.per_collective * pass.collectives.round() as u64,
        }
    }
}

impl Passing {
    fn new(system: Arc<System>) -> Self {
        let layers = system.model().layers().iter().map(|layers| layers.count).sum();
        Self { system, layers }
    }
}

impl Parts {
    /// Matrices and attention, each limited by memory or by arithmetic: the longest of these is the time of the pass.
    fn ways(&self) -> [Seconds; 4] {
        let Self { weights, matrices, cache, attention, communication, .. } = *self;
        [weights + cache, matrices + cache, weights + attention, matrices + attention]
            .map(|way| way + communication)
    }

    /// All of it, as one after the other comes.
    fn taken(&self) -> Taken {
        let host = Seconds::new(self.host.as_secs_f64());
        let time = self.ways().into_iter().reduce(Seconds::max).unwrap_or_default();
        Taken { time: time + host, power: self.power }
    }
}

impl StepTime for RooflineStep {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        self.pieces.step_time(load, |sums| self.branches(sums))
    }

    fn pace(&self, load: &StepLoad) -> Option<Pace> {
        self.pieces.pace(load, |sums| self.branches(sums))
    }

    fn stages(&self) -> NonZeroU32 {
        NonZeroU32::new(self.system().deployment().pipeline()).unwrap_or(NonZeroU32::MIN)
    }
}
