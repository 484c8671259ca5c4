//! A step time from a roofline.

use std::num::NonZeroU32;
use std::sync::Arc;

use fizeau_core::{Nanos, Seconds, Watts};
use fizeau_roofline::{Drafter, PassSums, PassTime, PassWork, PowerDraw, PowerError, System};

use super::pieces::{Branch, Branches, StepPieces};
use super::{Overheads, StepError};
use crate::engine::{LinearStepTimes, StepLoad, StepTime};

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
    model: TimedModel,
    overheads: Overheads,
    drafting: Option<Drafting<TimedModel>>,
    power: Option<(PowerDraw, Watts)>,
    pieces: StepPieces,
}

/// A model whose passes are timed.
#[derive(Debug, Clone)]
struct TimedModel {
    system: Arc<System>,
    layers: u64,
}

/// What a pass takes of each resource, and the host for its layers and collectives.
struct PassParts {
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
    /// If an efficiency is not from 0.001 to 1.
    pub fn new(system: impl Into<Arc<System>>, overheads: Overheads) -> Result<Self, StepError> {
        overheads.check()?;
        let model = TimedModel::new(system.into());
        let pieces = StepPieces::new(&model.system);
        Ok(Self { model, overheads, drafting: None, power: None, pieces })
    }

    /// The same with drafts of `length` tokens by `drafter` in each step that verifies drafts ([`StepLoad::drafted_tokens`]). A
    /// drafting model reads prompts as well, and has the same efficiencies and times for layers and collectives; its pass comes
    /// after the model's own.
    #[must_use]
    pub fn with_drafter(self, drafter: Drafter, length: NonZeroU32) -> Self {
        let drafting = Drafting::new(drafter, length, |system| TimedModel::new(Arc::new(system)));
        Self { drafting, ..self }
    }

    /// The same where no device may draw more than `limit` on average over a step: one that needs more energy takes longer
    /// ([`PowerDraw::least_time`]). Arithmetic and memory draw what they draw at their peak for as long as the engine takes for
    /// them, so that one that reaches 70 % of the peak takes `1 / 0.7` of the energy: units that wait between operations are
    /// clocked and hold their data, and boards do run near their limit while they read prompts. An assumption, on the cautious
    /// side: a board that is limited lowers its voltage too, and then takes less for each operation.
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
        let pieces = StepPieces::new(self.system());
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
            let pass = |model: &TimedModel, sums: &PassSums| self.parts(model, sums).taken();
            drafting.time(sums, pass, |sums| self.parts(&self.model, sums).taken())
        });
        let draft = draft.unwrap_or_default();
        let sequences = (sums.decoding + sums.prompts) as u64;
        let of = &self.overheads;
        let host = parts.host + of.per_step + of.per_sequence * sequences;
        let power = Branch { silicon: parts.power + draft.power, ..Branch::default() };
        let after = |silicon: Seconds| Branch { silicon: silicon + draft.time, host, once: false };
        let [memory, mixed, other, arithmetic] = parts.ways().map(after);
        [memory, mixed, other, arithmetic, power]
    }

    /// One pass of `model`.
    fn parts(&self, model: &TimedModel, sums: &PassSums) -> PassParts {
        let pass = model.system.overlapped_sums(sums);
        let of = &self.overheads;
        let drawn = drawn(pass, of);
        let least = |(draw, limit): &(PowerDraw, Watts)| draw.least_time(&drawn, *limit).ok();
        PassParts {
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

/// The times for which a pass has each resource draw its power.
fn drawn(pass: PassTime, of: &Overheads) -> PassTime {
    let (memory, compute) = (1.0 / of.bandwidth_efficiency, 1.0 / of.compute_efficiency);
    let mut drawn = pass;
    drawn.weights = pass.weights * memory;
    drawn.cache = pass.cache * memory;
    drawn.activations = pass.activations * memory;
    drawn.matrices = pass.matrices * compute;
    drawn.attention = pass.attention * compute;
    drawn
}

impl TimedModel {
    fn new(system: Arc<System>) -> Self {
        let layers = system.model().layers.iter().map(|layers| layers.count).sum();
        Self { system, layers }
    }
}

impl PassParts {
    /// Matrices and attention, each limited by memory or by arithmetic: the longest of these is the time of the pass.
    fn ways(&self) -> [Seconds; 4] {
        let Self { weights, matrices, cache, attention, communication, .. } = *self;
        [weights + cache, matrices + cache, weights + attention, matrices + attention]
            .map(|way| way + communication)
    }

    /// All of it, as one after the other comes.
    fn taken(&self) -> CappedTime {
        let host = Seconds::new(self.host.as_secs_f64());
        let time = self.ways().into_iter().reduce(Seconds::max).unwrap_or_default();
        CappedTime { time: time + host, power: self.power }
    }
}

impl StepTime for RooflineStep {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        self.pieces.step_time(load, |sums| self.branches(sums))
    }

    fn pace(&self, load: &StepLoad) -> Option<LinearStepTimes> {
        self.pieces.pace(load, |sums| self.branches(sums))
    }

    fn work(&self, load: &StepLoad) -> PassWork {
        self.system().pass_work(&super::sums(load))
    }

    fn stages(&self) -> NonZeroU32 {
        NonZeroU32::new(self.system().deployment().pipeline()).unwrap_or(NonZeroU32::MIN)
    }
}

// What drafting adds to a step.

/// Drafting that takes time, by a share of a step or by passes of a model of the kind `M`.
#[derive(Debug, Clone)]
pub(super) struct Drafting<M> {
    by: DraftCost<M>,
    /// Tokens of a draft, each drafted after the one before it.
    levels: f64,
}

#[derive(Debug, Clone)]
enum DraftCost<M> {
    Share(f64),
    Model(M),
}

/// A time, and the least time that a limit of power allows it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CappedTime {
    pub(super) time: Seconds,
    pub(super) power: Seconds,
}

impl CappedTime {
    fn and(self, times: f64, other: Self) -> Self {
        Self { time: self.time + other.time * times, power: self.power + other.power * times }
    }
}

impl<M> Drafting<M> {
    /// None where it takes no time. `prepare` makes of a system what its passes are asked of.
    pub(super) fn new(
        drafter: Drafter,
        length: NonZeroU32,
        prepare: impl FnOnce(System) -> M,
    ) -> Option<Self> {
        let by = match drafter {
            Drafter::Share(share) => DraftCost::Share(share.max(0.0)),
            Drafter::Model(system) => DraftCost::Model(prepare(*system)),
            _ => return None,
        };
        Some(Self { by, levels: f64::from(length.get()) })
    }

    /// What drafting takes in a step with the batch `sums`: of a model a pass for each token of the drafts, and the prompts, which
    /// it reads as well. `pass` is what a pass of the drafting model takes, `plain` one of the model that is drafted for.
    pub(super) fn time(
        &self,
        sums: &PassSums,
        pass: impl Fn(&M, &PassSums) -> CappedTime,
        plain: impl Fn(&PassSums) -> CappedTime,
    ) -> CappedTime {
        let mut taken = CappedTime::default();
        let drafts = sums.drafted > 0.0;
        let decoding =
            PassSums { decoding: sums.decoding, context: sums.context, ..PassSums::default() };
        match &self.by {
            DraftCost::Share(share) if drafts => {
                taken = taken.and(share * self.levels, plain(&decoding))
            }
            DraftCost::Model(model) if drafts => {
                taken = taken.and(self.levels, pass(model, &decoding))
            }
            _ => {}
        }
        match &self.by {
            DraftCost::Model(model) if sums.prompts > 0.0 => {
                let (decoding, drafted, padding, context) = (0.0, 0.0, 0.0, 0.0);
                let prompts = PassSums { decoding, drafted, padding, context, ..*sums };
                taken.and(1.0, pass(model, &prompts))
            }
            _ => taken,
        }
    }
}
