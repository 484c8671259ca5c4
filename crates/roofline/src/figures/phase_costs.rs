//! What the passes of a replica's share cost, and what a request takes of them.

use fizeau_core::Seconds;

use crate::UniformLoad;
use crate::pass::{Binding, Pass, PassTime};
use crate::system::System;
use crate::totals::Totals;

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
    /// A decode step of one micro-batch, through all stages.
    pub(crate) step: PassTime,
    /// The sequences of that micro-batch.
    pub(crate) micro: f64,
    /// `B` of one replica.
    pub(crate) local: f64,
    /// Replicas that have anything to do.
    pub(crate) active: f64,
}

/// What a request takes where the prompts and the decode steps of its replica alternate.
pub(crate) struct AlternatingTimes {
    /// The prompts of all sequences of the replica, one after the other; of several stages in the slowest.
    prompts: PassTime,
    /// Of these, what others' take that are not read beside its own.
    others: PassTime,
    /// A step, as often as a sequence has one.
    step: PassTime,
    /// Tokens that it generates.
    output: f64,
}

impl AlternatingTimes {
    /// From one token of a request to its next: others' prompts come in at any of its passes alike, and its own does not
    /// delay itself.
    pub(crate) fn tpot(&self) -> Seconds {
        self.step.total + self.others.total * (1.0 / self.output)
    }

    /// From the start of a request until the next one starts in its place.
    pub(crate) fn whole(&self) -> Seconds {
        self.prompts.total + self.step.total * (self.output - 1.0)
    }

    /// What [`AlternatingTimes::tpot`] waits for.
    pub(crate) fn tpot_binding(&self) -> Binding {
        self.step.binding.and(1.0 / self.output, self.others.binding)
    }

    /// What [`AlternatingTimes::whole`] waits for.
    pub(crate) fn whole_binding(&self) -> Binding {
        self.prompts.binding.and(self.output - 1.0, self.step.binding)
    }
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
        let one = ideal[0].time(&self.prefill_pass(load));
        let alone = PassTime { total: self.bound_prompt(&one), ..one };
        let decode = self.decode_pass(load, batch);
        let (local, active) = self.local(batch);
        let (step, micro) = (ideal[1].time(&decode), decode.decoding);
        let prompts = self.prompts_of_pass(load, batch);
        let together = Pass { prompts, ..self.prefill_pass(load) };
        let prefill = ideal[0].time(&together).scaled(1.0 / prompts);
        PhaseCosts { alone, prefill, prompts, step, micro, local, active }
    }

    pub(crate) fn expected_phases(&self, load: &UniformLoad, batch: f64) -> PhaseCosts {
        let (local, active) = self.local(batch);
        let one = self.prefill_pass(load);
        let alone = self.expected_pass(&one);
        let prompts = self.prompts_of_pass(load, batch);
        let prefill = if prompts > 1.0 {
            self.expected_pass(&Pass { prompts, ..one }).scaled(1.0 / prompts)
        } else {
            alone
        };
        let decode = self.decode_pass(load, batch);
        let (step, micro) = (self.expected_pass(&decode), decode.decoding);
        PhaseCosts { alone, prefill, prompts, step, micro, local, active }
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
        let (local, _) = self.local(batch);
        let micro = self.micro_batch(batch);
        let groups = f64::from(self.deployment().attention_groups());
        let least = groups.min(local).max(1.0);
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

    /// The times of requests with so many tokens, whose slowest stage takes `unevenness` times as long as the mean one.
    pub(crate) fn alternating(
        &self,
        phases: &PhaseCosts,
        output: f64,
        unevenness: f64,
    ) -> AlternatingTimes {
        let stages = f64::from(self.deployment().pipeline());
        // While one prompt is in a stage, others are in the others.
        let each_stage = phases.local / stages * unevenness;
        let prompts = phases.prefill.scaled(each_stage);
        let prompts = if prompts.total > phases.alone.total { prompts } else { phases.alone };
        let others = phases.prefill.scaled((each_stage - phases.prompts).max(0.0));
        // Micro-batches wait for the slowest stage where there are as many as stages.
        let micro_batches = phases.local / phases.micro;
        let step = phases.step.scaled((micro_batches / stages * unevenness).max(1.0));
        AlternatingTimes { prompts, others, step, output }
    }
}
