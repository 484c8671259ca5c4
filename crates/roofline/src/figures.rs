//! The figures of a load: the bound's, and the expected.

use fizeau_core::{PerSec, Seconds};

use crate::pass::Pass;
use crate::span::Span;
use crate::system::System;
use crate::{Load, PassTime};

/// What a load can come to, by one way of reckoning: bound, expected or calibrated. The words are those of the
/// measured metrics.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// Time to first token of a prompt that does not wait for others.
    pub ttft: Seconds,
    /// Time per output token with [`Figures::batch`] sequences running.
    pub tpot: Seconds,
    /// From sending to the last token: `ttft + (O - 1) tpot`.
    pub e2el: Seconds,
    /// Generated tokens per second, of all replicas.
    pub output_tokens_per_s: PerSec,
    /// Completed requests per second, of all replicas.
    pub requests_per_s: PerSec,
    /// The sequences that run at once, of all replicas: the concurrency, or what fits.
    pub batch: f64,
}

impl System {
    /// What nothing can beat under `load`: prefill and decode overlap perfectly, as do memory and arithmetic.
    #[must_use]
    pub fn bound_figures(&self, load: &Load) -> Figures {
        let (input, output, cached) = load.lengths();
        let batch = self.running_batch(load);
        let prefill = self.bound_pass(&Pass::prefill(input, cached));
        let step = self.bound_pass(&self.decode_pass(load, batch));
        let replicas = f64::from(self.deployment().replicas());
        let stages = f64::from(self.deployment().pipeline());
        let steps = output - 1.0;
        // One replica's resources over a mean request; stages work on different micro-batches at once.
        let local = (batch / replicas).max(1.0);
        let arithmetic = prefill.arithmetic().get()
            + step.arithmetic().get() * steps / (local / stages).max(1.0);
        let memory = step.memory().get() * output / (local / stages).max(1.0);
        let busy = arithmetic.max(memory) / stages;
        let requests_per_s = replicas / busy;
        Figures {
            ttft: prefill.total,
            tpot: step.total,
            e2el: prefill.total + step.total * steps,
            output_tokens_per_s: PerSec::new(requests_per_s * output),
            requests_per_s: PerSec::new(requests_per_s),
            batch,
        }
    }

    /// What physics leads one to expect under `load`: prefills and decode steps alternate, so that each step waits
    /// for the prompts that come in meanwhile.
    #[must_use]
    pub fn expected_figures(&self, load: &Load) -> Figures {
        let (input, output, cached) = load.lengths();
        let batch = self.running_batch(load);
        let prefill = self.expected_pass(&Pass::prefill(input, cached));
        let step = self.expected_pass(&self.decode_pass(load, batch));
        let replicas = f64::from(self.deployment().replicas());
        let local = (batch / replicas).max(1.0);
        let tpot = step.total + prefill.total * (local / output);
        let requests_per_s = batch / (output * tpot.get());
        Figures {
            ttft: prefill.total,
            tpot,
            e2el: prefill.total + tpot * (output - 1.0),
            output_tokens_per_s: PerSec::new(requests_per_s * output),
            requests_per_s: PerSec::new(requests_per_s),
            batch,
        }
    }

    /// The sequences of `load` that run at once: its concurrency, or what fits.
    #[must_use]
    pub fn running_batch(&self, load: &Load) -> f64 {
        (load.concurrency.get() as f64).min(self.max_batch(load))
    }

    /// The expected decode step of `load` with `batch` sequences running, part by part.
    #[must_use]
    pub fn expected_decode(&self, load: &Load, batch: f64) -> PassTime {
        self.expected_pass(&self.decode_pass(load, batch))
    }

    /// A micro-batch's decode step: an even share of the replicas' and the stages'.
    fn decode_pass(&self, load: &Load, batch: f64) -> Pass {
        let (input, output, _) = load.lengths();
        let ways =
            f64::from(self.deployment().replicas()) * f64::from(self.deployment().pipeline());
        let contexts = Span::between(input + 1.0, input + output - 1.0);
        Pass::decode((batch / ways).max(batch.min(1.0)), contexts)
    }
}

impl Load {
    /// `I`, `O` and `g` as the formulas take them.
    pub(crate) fn lengths(&self) -> (f64, f64, f64) {
        let cached = self.cached_tokens.get().min(self.input_tokens.get().saturating_sub(1));
        (self.input_tokens.get() as f64, self.output_tokens.get() as f64, cached as f64)
    }
}
