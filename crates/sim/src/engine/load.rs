//! What one step has to do, and how long that takes.

use fizeau_core::{Nanos, Tokens};

/// What one step has to do, in the quantities that cost time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepLoad {
    /// Sequences that decode one token each.
    pub decode_sequences: u64,
    /// Their contexts added up: the cached tokens that they attend to, the one that is being decoded from
    /// included.
    pub decode_context_tokens: Tokens,
    /// Sequences that read a chunk of their prompt.
    pub prefill_sequences: u64,
    /// Prompt tokens read, over all of them.
    pub prefill_tokens: Tokens,
    /// Their contexts at the end of the chunk added up: the cached tokens that they attend to.
    pub prefill_context_tokens: Tokens,
    /// Pairs of a prompt token and a token that it attends to: for `n` new tokens behind `g` cached ones,
    /// `n g + n (n + 1) / 2`.
    pub prefill_pairs: u64,
    /// Sequences that give a token at the end of the step: the decoding ones, and those whose prompt is complete.
    pub sampled_sequences: u64,
}

impl StepLoad {
    /// All sequences that take part.
    #[must_use]
    pub const fn sequences(&self) -> u64 {
        self.decode_sequences.saturating_add(self.prefill_sequences)
    }

    pub(super) fn add_decode(&mut self, context: Tokens) {
        self.decode_sequences += 1;
        self.sampled_sequences += 1;
        self.decode_context_tokens += context;
    }

    /// Adds a chunk of `new` prompt tokens behind `cached` ones.
    pub(super) fn add_prefill(&mut self, cached: u64, new: u64) {
        self.prefill_sequences += 1;
        self.prefill_tokens += Tokens::new(new);
        self.prefill_context_tokens += Tokens::new(cached.saturating_add(new));
        let pairs =
            u128::from(new) * u128::from(cached) + u128::from(new) * (u128::from(new) + 1) / 2;
        let pairs = u64::try_from(pairs).unwrap_or(u64::MAX);
        self.prefill_pairs = self.prefill_pairs.saturating_add(pairs);
    }
}

/// How long a step takes: the physics of an [`crate::Engine`].
///
/// Any closure will do; [`crate::RooflineStep`] computes it from a model and a device.
pub trait StepTime {
    /// The length of a step with this load. An engine takes at least one nanosecond for it.
    fn step_time(&self, load: &StepLoad) -> Nanos;
}

impl<F: Fn(&StepLoad) -> Nanos> StepTime for F {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        self(load)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A prompt has the same pairs however it is cut into chunks: position p attends to p tokens.
        #[test]
        fn chunks_have_the_pairs_of_the_whole(chunks in prop::collection::vec(1u64..300, 1..20)) {
            let mut load = StepLoad::default();
            let mut read = 0;
            for chunk in chunks {
                load.add_prefill(read, chunk);
                read += chunk;
            }
            prop_assert_eq!(load.prefill_pairs, (1..=read).sum::<u64>());
            prop_assert_eq!(load.prefill_tokens.get(), read);
        }
    }
}
