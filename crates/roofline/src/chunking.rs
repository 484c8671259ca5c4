//! Chunked prefill: prompts are read a chunk at a time, in the passes that decode.

use fizeau_core::{Seconds, Tokens};

use crate::estimate_kind::EstimateKind;
use crate::span::ContextSpan;
use crate::system::System;
use crate::{Figures, Pass, UniformLoad};

/// What a load comes to where each pass carries at most a budget of tokens: those that decode, and in what they leave,
/// chunks of prompts (Sarathi-Serve, arXiv 2403.02310).
///
/// A pass with a chunk reads the weights once for both, so that the chunk's arithmetic goes on under the traffic of
/// decode: the larger the budget, the fewer the passes of a prompt and the longer each of them.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ChunkedLoad {
    /// Tokens of a pass at most, in each attention group.
    pub budget: Tokens,
    /// Of them, prompts', on average over the passes that carry any.
    pub chunk: f64,
    /// Passes that a prompt takes.
    pub passes: f64,
    /// The share of all passes that carry a chunk.
    pub share: f64,
    /// A pass that carries none.
    pub plain: Seconds,
    /// A pass that carries one, on average: the time per token of the others while a prompt is read.
    pub mixed: Seconds,
    /// The longest pass: a whole chunk at the end of the prompt, or as many short prompts as come in.
    pub longest: Seconds,
    /// The figures of the load. Its batch is smaller than asked where the budget cannot bring prompts in as fast as
    /// so many sequences end.
    pub figures: Figures,
    /// Requests per second over those with whole prompts and decode steps in turns.
    pub gain: f64,
}

impl System {
    /// The figures of `load` with `batch` sequences running, prompts read in chunks within `budget` tokens a pass. None
    /// where the budget leaves no room beside the sequences that decode; TTFT is that of a prompt that waits for no
    /// other.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Deployment, Device, KnownModel, UniformLoad, EstimateKind, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(32).ok_or("zero")?);
    /// let at = |budget| system.chunked(EstimateKind::Expected, &load, 32.0, Tokens::new(budget));
    /// let (small, large) = (at(512).ok_or("too small")?, at(4096).ok_or("too small")?);
    /// assert_eq!((small.passes, large.passes), (5.0, 1.0));
    /// assert!(small.mixed < large.mixed);
    /// assert!(small.gain > 1.0);
    /// assert!(at(32).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn chunked(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
        budget: Tokens,
    ) -> Option<ChunkedLoad> {
        let plan = ChunkPlan::new(self, load, batch, budget)?;
        let (passes, chunk, reading) = (plan.passes(), plan.chunk(), plan.reading());
        let unevenness = match by {
            EstimateKind::Bound => 1.0,
            EstimateKind::Expected => self.unevenness(),
        };
        let time = |pass: &Pass| self.pass_time(by, pass).total * unevenness;
        let plain = time(&plan.decode);
        let (mixed, ttft) = self.mixed(by, &plan);
        let mixed = mixed * unevenness;
        // Others' prompts come in while a request decodes: its own does not delay it.
        let others = (reading - passes).max(0.0);
        let steps = others.max(plan.output - 1.0);
        let between = if plan.output > 1.0 { others / steps } else { 0.0 };
        let tpot = plain * (1.0 - between) + mixed * between;
        let is_alone = self.local(plan.batch).0 <= 1.0;
        let own = if is_alone { ttft } else { mixed * passes };
        let life = own + mixed * others + plain * (steps - others);
        let requests = fizeau_core::PerSec::new(plan.batch / life.get());
        let figures = Figures::new(load, plan.batch, ttft, tpot, requests);
        let whole = self.expected_or_serial(by, load, batch);
        Some(ChunkedLoad {
            budget,
            chunk: plan.prompt / passes * plan.prompts,
            passes,
            share: reading / (passes + steps),
            plain,
            mixed,
            longest: time(&plan.at_end(chunk.min(plan.prompt))).max(mixed).max(plain),
            gain: figures.requests_per_s / whole.requests_per_s,
            figures,
        })
    }

    /// The least budget with which a pass's arithmetic takes as long as its traffic, its chunk in the middle of the
    /// prompt: a larger one only makes passes longer. None where even the whole prompt beside `batch` sequences leaves
    /// arithmetic idle, or the sequences alone do not.
    #[must_use]
    pub fn balanced_budget(&self, load: &UniformLoad, batch: f64) -> Option<Tokens> {
        let plan = ChunkPlan::new(self, load, batch, Tokens::new(u64::MAX))?;
        let balanced = |chunk: f64| {
            let time = self.bound_pass(&plan.in_middle(chunk));
            time.arithmetic() >= time.memory()
        };
        if balanced(0.0) || !balanced(plan.prompt) {
            return None;
        }
        // It holds for `high` and not for `low`.
        let (mut low, mut high) = (0_u64, plan.prompt as u64);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if balanced(middle as f64) { high = middle } else { low = middle }
        }
        Some(Tokens::new(high + plan.decoding().ceil() as u64))
    }

    /// A pass that carries chunks, on average, and the time to first token of a prompt in such passes. While a chunk is in
    /// one stage the next is in the stage before, so that the last stage ends when the longest pass has gone through
    /// all and each of the others through one.
    fn mixed(&self, by: EstimateKind, plan: &ChunkPlan) -> (Seconds, Seconds) {
        let time = |pass: &Pass| self.pass_time(by, pass).total;
        // What others bring is no part of a bound.
        let packed = (plan.prompts > 1.0).then(|| time(&plan.packed()));
        let others = match by {
            EstimateKind::Bound => Seconds::default(),
            EstimateKind::Expected => packed.unwrap_or_default(),
        };
        let (mut alone, mut sum, mut longest) = <(Seconds, Seconds, Seconds)>::default();
        for pass in plan.turns() {
            let turn = time(&pass);
            alone = alone + turn;
            sum = sum + turn.max(others);
            longest = longest.max(turn.max(others));
        }
        let stages = f64::from(self.deployment().pipeline());
        let slowest = match by {
            EstimateKind::Bound => 1.0 / stages,
            EstimateKind::Expected => self.unevenness() / stages,
        };
        let ttft = longest + (sum + longest * -1.0) * slowest;
        (packed.unwrap_or_else(|| alone * (1.0 / plan.passes())), ttft)
    }

    /// Whole prompts and decode steps in turns, by either account.
    fn expected_or_serial(&self, by: EstimateKind, load: &UniformLoad, batch: f64) -> Figures {
        match by {
            EstimateKind::Bound => self.bound_at(load, batch, crate::PhaseSchedule::Serial),
            EstimateKind::Expected => self.expected_at(load, batch, crate::PhaseSchedule::Serial),
        }
    }
}

/// The passes of a micro-batch: its decode step, with chunks beside it or without.
#[derive(Clone, Copy)]
struct ChunkPlan {
    decode: Pass,
    /// Attention groups that read a prompt each.
    groups: f64,
    /// Sequences of all micro-batches and replicas.
    batch: f64,
    budget: f64,
    /// Prompts that each group reads at once: one, or short ones that come in for the same pass.
    prompts: f64,
    /// Tokens of a prompt that are computed, and those before them.
    prompt: f64,
    cached: f64,
    output: f64,
}

impl ChunkPlan {
    /// With `batch` sequences, or as many as prompts come in for. None where there is no room for a chunk.
    fn new(system: &System, load: &UniformLoad, batch: f64, budget: Tokens) -> Option<Self> {
        let (input, output, cached) = load.lengths();
        let decode = system.decode_pass(load, batch);
        let groups = f64::from(system.deployment().attention_groups()).min(decode.decoding);
        let groups = groups.max(1.0);
        let (budget, prompt) = (budget.get() as f64, input - cached);
        let each = decode.decoding / groups;
        if budget - each < 1.0 {
            return None;
        }
        // Each request brings its prompt and a token for each further one. Of long prompts one is read at a time.
        let fitting = budget / (prompt + output - 1.0);
        let most = if fitting < 1.0 { 1.0 + (output - 1.0) * fitting } else { output * fitting };
        let share = (most / each).min(1.0);
        Some(Self {
            decode: Pass { decoding: decode.decoding * share, ..decode },
            groups,
            batch: batch * share,
            budget,
            prompts: (each * share / output).max(1.0),
            prompt,
            cached,
            output,
        })
    }

    /// Sequences that run, in each attention group.
    fn running(&self) -> f64 {
        self.decode.decoding / self.groups
    }

    /// Those that decode while prompts are read.
    fn decoding(&self) -> f64 {
        (self.running() - self.prompts).max(0.0)
    }

    /// A whole chunk.
    fn chunk(&self) -> f64 {
        self.budget - self.decoding()
    }

    /// Passes that a prompt takes.
    fn passes(&self) -> f64 {
        (self.prompt / self.chunk()).ceil()
    }

    /// Passes that read the prompts of all that run.
    fn reading(&self) -> f64 {
        self.running() * self.passes() / self.prompts
    }

    /// A pass with all that comes in for it, where that is more than a chunk.
    fn packed(&self) -> Pass {
        let whole = self.with_chunk(0.0, self.prompt);
        Pass { prompts: whole.prompts * self.prompts, ..whole }
    }

    /// Each pass over a prompt, in turn.
    fn turns(&self) -> impl Iterator<Item = Pass> {
        let (plan, chunk) = (*self, self.chunk());
        (0..self.passes() as u64).map(move |turn| {
            let from = turn as f64 * chunk;
            plan.with_chunk(from, (from + chunk).min(plan.prompt))
        })
    }

    fn at_end(&self, chunk: f64) -> Pass {
        self.with_chunk(self.prompt - chunk, self.prompt)
    }

    fn in_middle(&self, chunk: f64) -> Pass {
        let from = (self.prompt - chunk) / 2.0;
        self.with_chunk(from, from + chunk)
    }

    /// With the prompt's tokens from one to another in each group.
    fn with_chunk(&self, from: f64, to: f64) -> Pass {
        if to - from < 1.0 {
            return self.decode;
        }
        let positions = ContextSpan::between(self.cached + from + 1.0, self.cached + to);
        let decoding = self.decoding() * self.groups;
        Pass { prompts: self.groups, positions, decoding, ..self.decode }
    }
}
