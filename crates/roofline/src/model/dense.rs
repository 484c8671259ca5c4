//! Per-token arithmetic of dense models.

use fizeau_core::{Bytes, Flops};

use super::{FeedForward, Mixer, Model, TensorClass};
use crate::Format;

impl Model {
    /// Every parameter that is stored, embedding, norms and biases included. A tied table counts once.
    #[must_use]
    pub fn total_parameters(&self) -> u64 {
        self.parameters().total
    }

    /// The parameters that every step multiplies by, and so has to read.
    #[must_use]
    pub fn streamed_parameters(&self) -> u64 {
        self.parameters().streamed
    }

    /// What all weights take in memory.
    #[must_use]
    pub fn resident_weight_bytes(&self) -> Bytes {
        self.weight_bytes()
    }

    /// Arithmetic per token in the matrices of the layers, LM head apart: two for each parameter.
    #[must_use]
    pub fn linear_flops_per_token(&self) -> Flops {
        let tables = [
            TensorClass::Embedding,
            TensorClass::Head,
            TensorClass::Vectors,
            TensorClass::ExpertBiases,
        ];
        let linear = self.tensors().into_iter().filter(|t| !tables.contains(&t.class));
        Flops::new(linear.map(|t| 2.0 * t.active as f64).sum())
    }

    /// Arithmetic for one row of logits, `2Vh`: once for a prompt, once for each decoded token.
    #[must_use]
    pub fn head_flops_per_token(&self) -> Flops {
        Flops::new((2 * self.vocabulary * self.hidden) as f64)
    }

    /// Arithmetic for one query position attending to one key position, over all layers.
    #[must_use]
    pub fn attention_flops_per_pair(&self) -> Flops {
        let of = |mixer: &Mixer| match mixer {
            Mixer::Attention(attention) => attention.flops_per_pair(),
            _ => 0,
        };
        let all: u64 = self.layers.iter().map(|layers| layers.count * of(&layers.mixer)).sum();
        Flops::new(all as f64)
    }

    /// How the first layer's feed-forward block is stored.
    #[must_use]
    pub fn layers_format(&self) -> Format {
        match self.layers.first().map(|layers| &layers.feed_forward) {
            Some(FeedForward::Dense(dense)) => dense.format,
            Some(FeedForward::Experts(experts)) => experts.each.format,
            _ => Format::Bf16,
        }
    }
}
