//! Which estimate answers a question: the bound or the expectation.

use fizeau_core::{Seconds, Tokens};

use crate::figures::{PhaseCosts, PhaseSchedule};
use crate::pass::{Pass, PassTime};
use crate::span::ContextSpan;
use crate::system::System;
use crate::{Figures, UniformLoad};

/// Which estimate answers a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EstimateKind {
    /// What nothing can beat: [`System::bound_pass`], prefill and decode overlapped perfectly.
    Bound,
    /// What the roofline model expects: [`System::expected_pass`], prompts in the passes that decode.
    Expected,
}

impl EstimateKind {
    /// Both, the bound first.
    pub const ALL: [Self; 2] = [Self::Bound, Self::Expected];
}

impl System {
    /// What one pass takes.
    pub(crate) fn pass_time(&self, by: EstimateKind, pass: &Pass) -> PassTime {
        match by {
            EstimateKind::Bound => self.bound_pass(pass),
            EstimateKind::Expected => self.expected_pass(pass),
        }
    }

    /// What a decode step of `batch` sequences takes, all replicas together, each of which sees `context` tokens.
    #[must_use]
    pub fn decode_step(&self, by: EstimateKind, batch: f64, context: Tokens) -> PassTime {
        let contexts = ContextSpan::at(context.get() as f64);
        self.pass_time(by, &Pass::decode(self.micro_batch(batch), contexts))
    }

    /// From the beginning of a pass over a prompt until its first token is out, where it waits for nothing.
    pub(crate) fn prompt_latency(&self, by: EstimateKind, prompt: &Pass) -> Seconds {
        let time = self.pass_time(by, prompt);
        match by {
            EstimateKind::Bound => self.bound_prompt(&time),
            EstimateKind::Expected => time.total,
        }
    }

    /// The figures of `load` with exactly `batch` sequences running, fitting or not.
    #[must_use]
    pub fn figures_at(&self, by: EstimateKind, load: &UniformLoad, batch: f64) -> Figures {
        self.figures_of(by, load, batch, &self.phases(by, load, batch))
    }

    /// Of `batch` sequences, those that one pass carries: a stage's share of a replica's.
    pub(crate) fn micro_batch(&self, batch: f64) -> f64 {
        let ways =
            f64::from(self.deployment().replicas()) * f64::from(self.deployment().pipeline());
        (batch / ways).max(batch.min(1.0))
    }

    /// Those by either account: the expectation's are of the sequences that run.
    pub(crate) fn rate_batch(&self, by: EstimateKind, load: &UniformLoad, batch: f64) -> f64 {
        match by {
            EstimateKind::Bound => self.bound_rate_batch(load, batch),
            EstimateKind::Expected => batch,
        }
    }

    pub(crate) fn phases(&self, by: EstimateKind, load: &UniformLoad, batch: f64) -> PhaseCosts {
        match by {
            EstimateKind::Bound => self.bound_phases(load, batch),
            EstimateKind::Expected => self.expected_phases(load, batch),
        }
    }

    /// The figures that `phases` make, which may be other than the system's own.
    pub(crate) fn figures_of(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
        phases: &PhaseCosts,
    ) -> Figures {
        match by {
            EstimateKind::Bound => {
                self.figures(load, batch, phases, PhaseSchedule::Overlapped, 1.0)
            }
            EstimateKind::Expected => {
                self.figures(load, batch, phases, PhaseSchedule::Mixed, self.unevenness())
            }
        }
    }
}

impl PassTime {
    /// This pass and then another, on the same devices.
    pub(crate) fn then(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            weights: self.weights + other.weights,
            shared: self.shared + other.shared,
            cache: self.cache + other.cache,
            activations: self.activations + other.activations,
            matrices: self.matrices + other.matrices,
            attention: self.attention + other.attention,
            link: self.link + other.link,
            hops: self.hops + other.hops,
            collectives: self.collectives + other.collectives,
            binding: self.binding.and(1.0, other.binding),
        }
    }

    /// What of this pass another would not take.
    pub(crate) fn less(self, other: Self) -> Self {
        self.then(other.scaled(-1.0))
    }

    /// This pass and another on the same devices, by an account: one after the other as expected; for a bound the memory
    /// time of both fully overlaps their arithmetic, since parts of a batch could alternate.
    pub(crate) fn beside(self, by: EstimateKind, other: Self) -> Self {
        let sum = self.then(other);
        match by {
            EstimateKind::Bound => Self { total: sum.memory().max(sum.arithmetic()), ..sum },
            EstimateKind::Expected => sum,
        }
    }
}
