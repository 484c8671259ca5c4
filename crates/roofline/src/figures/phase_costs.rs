//! What the passes of a replica's share cost, and what a request takes of them.

use fizeau_core::Seconds;

use crate::pass::{Pass, PassTime};
use crate::system::System;
use crate::totals::Totals;
use crate::{PhaseSchedule, UniformLoad};

/// What one replica's share of a load costs.
#[derive(Clone, Copy)]
pub(crate) struct PhaseCosts {
    /// The prefill of one prompt that waits for none: its total is how long it takes to come out, and in a bound stages
    /// work on parts of it at the same time.
    pub(crate) alone: PassTime,
    /// A prompt's share of a pass over [`PhaseCosts::prompts`] of them: its total is the time that the stages work on it, all
    /// of them together.
    pub(crate) prefill: PassTime,
    /// The prompts that a pass reads at once, at least one.
    pub(crate) prompts: f64,
    /// A pass that reads in so many prompts for a micro-batch, beside those of its sequences that decode.
    pub(crate) mixed: PassTime,
    /// A decode step of one micro-batch, through all stages; of one that yields several tokens, the share of one of them.
    pub(crate) step: PassTime,
    /// The tokens that a step yields to each sequence, on average.
    pub(crate) yields: f64,
    /// The sequences of that micro-batch.
    pub(crate) micro: f64,
    /// `B` of one replica.
    pub(crate) local: f64,
    /// Replicas that have anything to do.
    pub(crate) active: f64,
}

/// What is expected from one token of a request to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TokenTime {
    /// A decode step that reads no prompts.
    pub step: PassTime,
    /// What the prompts of others add to that, on average over the steps.
    pub prompts: PassTime,
    /// Steps that read prompts of others, of each step of the request.
    pub reading: f64,
    /// The prompts that such a step reads at once.
    pub prompts_at_once: f64,
}

impl TokenTime {
    /// Both: [`Figures::step`](crate::Figures::step) of the expectation.
    #[must_use]
    pub fn whole(&self) -> PassTime {
        self.step.then(self.prompts)
    }
}

/// What a request takes of the passes of its replica.
pub(crate) struct RequestTimes {
    /// From one of its tokens to the next.
    pub(crate) token: TokenTime,
    /// As many as run at once, from the start of one until the next one starts in its place.
    pub(crate) whole: PassTime,
}

/// How long a request keeps each resource busy.
pub(crate) struct ResourceBusyTime {
    pub(crate) weights: Seconds,
    pub(crate) cache: Seconds,
    pub(crate) compute: Seconds,
    pub(crate) link: Seconds,
}

impl ResourceBusyTime {
    pub(crate) fn longest(&self) -> Seconds {
        (self.weights + self.cache).max(self.compute).max(self.link)
    }
}

impl System {
    pub(crate) fn bound_phases(&self, load: &UniformLoad, batch: f64) -> PhaseCosts {
        let ideal = self.ideal();
        self.phases_by([ideal, ideal], load, batch)
    }

    /// Ideal passes over a prompt and over a batch that decodes, by the totals of each.
    pub(super) fn phases_by(
        &self,
        ideal: [&Totals; 2],
        load: &UniformLoad,
        batch: f64,
    ) -> PhaseCosts {
        let [read, step] = ideal.map(|totals| move |pass: &Pass| totals.time(pass));
        let costs = self.phases_timed(read, step, load, batch);
        let alone = PassTime { total: self.bound_prompt(&costs.alone), ..costs.alone };
        PhaseCosts { alone, ..costs }
    }

    pub(crate) fn expected_phases(&self, load: &UniformLoad, batch: f64) -> PhaseCosts {
        let time = |pass: &Pass| self.expected_pass(pass);
        self.phases_timed(time, time, load, batch)
    }

    /// The costs of passes that read prompts and of those that only decode, each timed in its way.
    fn phases_timed(
        &self,
        read: impl Fn(&Pass) -> PassTime,
        step: impl Fn(&Pass) -> PassTime,
        load: &UniformLoad,
        batch: f64,
    ) -> PhaseCosts {
        let (_, output, _) = load.lengths();
        let (local, active) = self.local(batch);
        let (one, decode) = (self.prefill_pass(load), self.decode_pass(load, batch));
        let prompts = self.prompts_of_pass(load, batch);
        let together = Pass { prompts, ..one };
        let alone = read(&one);
        let prefill = if prompts > 1.0 { read(&together).scaled(1.0 / prompts) } else { alone };
        let mixed = read(&mixed_pass(&together, &decode, output - 1.0));
        let (step, micro) = (step(&decode), decode.decoding);
        PhaseCosts { alone, prefill, prompts, mixed, step, yields: 1.0, micro, local, active }
    }

    /// The prompts that a pass of a stage reads at once with `batch` sequences running: those that come in while each of its
    /// sequences gets one token, within [`Serving::max_batched_tokens`](crate::Serving::max_batched_tokens) of each attention
    /// group. At least one, or one in each group that has any.
    #[must_use]
    pub fn prompts_of_pass(&self, load: &UniformLoad, batch: f64) -> f64 {
        let (input, output, cached) = load.lengths();
        self.prompts_together(batch, input - cached, output)
    }

    /// That for prompts of which so many tokens are computed, and so many generated after each.
    pub(crate) fn prompts_together(&self, batch: f64, computed: f64, output: f64) -> f64 {
        let micro = self.micro_batch(batch);
        let groups = f64::from(self.deployment().attention_groups());
        let least = groups.min(micro).max(1.0);
        let budget = self.serving().max_batched_tokens.get() as f64;
        (micro / output).clamp(least, (groups * budget / computed).max(least))
    }

    /// The least time of a prompt whose pass is `pass`: stages can work on different parts of it at the same time, but
    /// each reads its weights before the last token goes on.
    pub(crate) fn bound_prompt(&self, pass: &PassTime) -> Seconds {
        let spread = 1.0 / f64::from(self.deployment().pipeline());
        (pass.weights + pass.cache * spread).max(pass.arithmetic() * spread)
    }

    /// How long one request keeps each resource of a replica's stage busy, in all its passes.
    pub(crate) fn busy(&self, load: &UniformLoad, phases: &PhaseCosts) -> ResourceBusyTime {
        let (_, output, _) = load.lengths();
        let stages = f64::from(self.deployment().pipeline());
        let (prefill, step) = (&phases.prefill, &phases.step);
        // The prompt's pass is one of `O`; what is not shared by a batch is spread over the stages.
        let each = |of: fn(&PassTime) -> Seconds| {
            (of(prefill) + of(step) * ((output - 1.0) / phases.micro)) * (1.0 / stages)
        };
        // Of the request's passes each carries at most as many others as a micro-batch has, so many share a prefix.
        let shared = prefill.shared * phases.prompts
            + step.shared * ((output - 1.0) / phases.micro.min(1.0));
        let shared = shared * (1.0 / (phases.local / stages).max(1.0) / stages);
        ResourceBusyTime {
            weights: step.weights * (output / phases.local),
            cache: each(|pass| pass.own_cache() + pass.activations) + shared,
            compute: each(PassTime::arithmetic),
            link: each(PassTime::communication),
        }
    }

    /// What is expected from one token of a request of `load` to the next with `batch` sequences running, told apart: the step
    /// that a token is of, and the prompts of others that are read in such steps ([`PhaseSchedule::Mixed`]).
    #[must_use]
    pub fn expected_token(&self, load: &UniformLoad, batch: f64) -> TokenTime {
        let (_, output, _) = load.lengths();
        let phases = self.expected_phases(load, batch);
        self.request_times(PhaseSchedule::Mixed, &phases, output, self.unevenness()).token
    }

    /// What decodes in a pass that reads prompts, by itself.
    pub(crate) fn decoding_beside(&self, load: &UniformLoad, batch: f64) -> Pass {
        let prompts =
            Pass { prompts: self.prompts_of_pass(load, batch), ..self.prefill_pass(load) };
        let mixed = mixed_pass(&prompts, &self.decode_pass(load, batch), load.lengths().1 - 1.0);
        Pass { prompts: 0.0, ..mixed }
    }

    /// Of the time in which prompts are read in the passes that decode, the share that would not be needed without the prompts:
    /// what they add to those passes, which would take `beside` without them.
    pub(crate) fn mixed_prompt_share(
        &self,
        phases: &PhaseCosts,
        output: f64,
        beside: Seconds,
    ) -> f64 {
        let unevenness = self.unevenness();
        let times = self.request_times(PhaseSchedule::Mixed, phases, output, unevenness);
        let slower = slower(phases, self.deployment().pipeline(), unevenness);
        let passes = (phases.micro / phases.prompts).max(1.0) * slower;
        let adds = (phases.mixed.total.get() - beside.get()) * passes;
        (adds / times.whole.total.get()).clamp(0.0, 1.0)
    }

    /// The times of requests with so many tokens under a schedule that does not overlap, of which the slowest stage takes
    /// `unevenness` times as long as the mean one.
    pub(crate) fn request_times(
        &self,
        schedule: PhaseSchedule,
        phases: &PhaseCosts,
        output: f64,
        unevenness: f64,
    ) -> RequestTimes {
        let stages = f64::from(self.deployment().pipeline());
        let slower = slower(phases, self.deployment().pipeline(), unevenness);
        let step = phases.step.scaled(slower);
        if schedule == PhaseSchedule::Mixed {
            // Passes that read prompts for a micro-batch while one of its sequences lives.
            let reading = phases.micro / phases.prompts;
            let mixed = phases.mixed.scaled(slower);
            let added = mixed.less(step.scaled(phases.yields));
            let others = (reading - 1.0).max(0.0);
            let tokens = (output - 1.0).max(others * phases.yields);
            let whole = mixed.then(added.scaled(others)).then(step.scaled(tokens));
            // Where a prompt takes less than what decodes in its place, those that run are decoding at any time.
            let is_slower = output > 1.0 && added.total > Seconds::default();
            let share = if is_slower { others / tokens } else { 0.0 };
            let prompts = added.scaled(share);
            let reading = share * phases.yields;
            let prompts_at_once = phases.prompts;
            return RequestTimes {
                token: TokenTime { step, prompts, reading, prompts_at_once },
                whole,
            };
        }
        // While one prompt is in a stage, others are in the others.
        let each_stage = phases.local / stages * unevenness;
        let prompts = phases.prefill.scaled(each_stage);
        let prompts = if prompts.total > phases.alone.total { prompts } else { phases.alone };
        // Others' prompts come in at any of a request's passes alike, and its own does not delay itself.
        let others = (each_stage - phases.prompts).max(0.0) / output;
        let token = TokenTime {
            step,
            prompts: phases.prefill.scaled(others),
            reading: others / phases.prompts,
            prompts_at_once: phases.prompts,
        };
        RequestTimes { token, whole: prompts.then(step.scaled(output - 1.0)) }
    }
}

/// How much longer a pass takes than by itself: micro-batches wait for the slowest stage where there are as many as stages.
fn slower(phases: &PhaseCosts, stages: u32, unevenness: f64) -> f64 {
    (phases.local / phases.micro / f64::from(stages) * unevenness).max(1.0)
}

/// The pass over `prompts` with those of the micro-batch `decode` that have their first token: as many as can be beside them,
/// where a sequence has so many steps.
pub(crate) fn mixed_pass(prompts: &Pass, decode: &Pass, steps: f64) -> Pass {
    let decoding = decoding_beside(decode.decoding, prompts.prompts, steps);
    Pass { prompts: prompts.prompts, positions: prompts.positions, decoding, ..*decode }
}

/// Of a micro-batch, the sequences that decode in a pass that reads so many prompts.
pub(crate) fn decoding_beside(micro: f64, prompts: f64, steps: f64) -> f64 {
    (micro - prompts).min(prompts * steps).max(0.0)
}
