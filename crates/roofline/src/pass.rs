//! One pass of an engine over its batch, and what it costs.

use fizeau_core::Seconds;

use crate::span::ContextSpan;

/// What one pass carries, in one replica: sequences that decode, prompts that are read in, or both.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Pass {
    /// Sequences that decode. A mean, so it need not be whole.
    pub decoding: f64,
    /// The contexts that they see, the tokens of this pass included.
    pub contexts: ContextSpan,
    /// Tokens that each of them brings: 1, or 1 and a draft to verify.
    pub tokens_each: f64,
    /// Prompts, or chunks of prompts, that are read in. A mean too.
    pub prompts: f64,
    /// The positions of each prompt that are computed: from `g + 1` where `g` tokens are cached.
    pub positions: ContextSpan,
    /// Tokens at the start of all contexts and prompts that are the same and kept once: a bound reads them once, an
    /// expectation for each sequence.
    pub shared: f64,
}

impl Pass {
    /// A decode step of `sequences`, one token each.
    #[must_use]
    pub const fn decode(sequences: f64, contexts: ContextSpan) -> Self {
        Self {
            decoding: sequences,
            contexts,
            tokens_each: 1.0,
            prompts: 0.0,
            positions: ContextSpan::at(0.0),
            shared: 0.0,
        }
    }

    /// One prompt of `input` tokens, of which the first `cached` need not be computed.
    #[must_use]
    pub const fn prefill(input: f64, cached: f64) -> Self {
        Self {
            decoding: 0.0,
            contexts: ContextSpan::at(0.0),
            tokens_each: 1.0,
            prompts: 1.0,
            positions: ContextSpan::between(cached + 1.0, input),
            shared: 0.0,
        }
    }

    /// The same with the first `tokens` alike in all its sequences.
    pub(crate) const fn with_shared(self, tokens: f64) -> Self {
        Self { shared: tokens, ..self }
    }

    /// All tokens.
    pub(crate) fn tokens(&self) -> f64 {
        self.decoding * self.tokens_each + self.prompts * self.positions.count()
    }
}

/// What a pass takes on the busiest device, part by part. The parts are times of the resources, each as if it worked
/// alone; `total` says how they overlap.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct PassTime {
    /// The whole pass. A bound: the longest of memory, arithmetic and links, overlapped perfectly. An expectation:
    /// each operator takes the longer of its memory and its arithmetic, one after the other, and communication
    /// besides.
    pub total: Seconds,
    /// Memory: reading weights.
    pub weights: Seconds,
    /// Memory: reading and writing caches and states.
    pub cache: Seconds,
    /// Of that: what is read once for all sequences, a prefix that they share. Zero in an expectation.
    pub shared: Seconds,
    /// Memory: activations in and out of operators. Zero in a bound: they could stay on chip.
    pub activations: Seconds,
    /// Arithmetic in matrices of weights.
    pub matrices: Seconds,
    /// Arithmetic of attention.
    pub attention: Seconds,
    /// Links: moving bytes.
    pub link: Seconds,
    /// Links: hops, however few the bytes.
    pub hops: Seconds,
    /// Collective operations.
    pub collectives: f64,
    /// The total, by the resource that each part of it waits for.
    pub binding: Binding,
}

impl PassTime {
    /// The share of the whole pass that waits for one of its parts, from 0 to 1: `time.share_of(time.weights)`. Parts overlap in a
    /// bound, so that their shares may add up to more than 1 there. Zero of a pass that takes no time.
    #[must_use]
    pub fn share_of(&self, part: Seconds) -> f64 {
        if self.total.get() > 0.0 { part.get() / self.total.get() } else { 0.0 }
    }
}

/// A pass's time by what binds it: of each operator the longer of memory and arithmetic, and communication. The fields
/// add up to the pass's total, so that each is the total's derivative by the resource's own time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Binding {
    /// Reading weights.
    pub weights: Seconds,
    /// Reading and writing caches and states.
    pub cache: Seconds,
    /// Activations in and out of operators.
    pub activations: Seconds,
    /// Arithmetic.
    pub compute: Seconds,
    /// Links: moving bytes.
    pub link: Seconds,
    /// Links: hops.
    pub hops: Seconds,
}

impl Binding {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> Seconds {
        self.weights + self.cache + self.activations + self.compute + self.link + self.hops
    }

    /// This one and `times` another: a time that is made of both.
    pub(crate) fn and(self, times: f64, other: Self) -> Self {
        Self {
            weights: self.weights + other.weights * times,
            cache: self.cache + other.cache * times,
            activations: self.activations + other.activations * times,
            compute: self.compute + other.compute * times,
            link: self.link + other.link * times,
            hops: self.hops + other.hops * times,
        }
    }
}

impl PassTime {
    /// All of the memory's time.
    #[must_use]
    pub fn memory(&self) -> Seconds {
        self.weights + self.cache + self.activations
    }

    /// Reading and writing what each sequence has for itself.
    pub(crate) const fn own_cache(&self) -> Seconds {
        Seconds::new((self.cache.get() - self.shared.get()).max(0.0))
    }

    /// All of the arithmetic's time.
    #[must_use]
    pub fn arithmetic(&self) -> Seconds {
        self.matrices + self.attention
    }

    /// All of the links' time.
    #[must_use]
    pub fn communication(&self) -> Seconds {
        self.link + self.hops
    }

    /// A share of the pass.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self {
            total: self.total * factor,
            weights: self.weights * factor,
            cache: self.cache * factor,
            shared: self.shared * factor,
            activations: self.activations * factor,
            matrices: self.matrices * factor,
            attention: self.attention * factor,
            link: self.link * factor,
            hops: self.hops * factor,
            collectives: self.collectives * factor,
            binding: Binding::default().and(factor, self.binding),
        }
    }
}
