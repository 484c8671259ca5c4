//! The matrices that a class of tensors is made of. Precision is set matrix by matrix; a class's format is the blend.

use super::TensorClass;
use crate::Format;
use crate::format::GgufTensor;

/// One matrix of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of a class that is not told apart further.
    Whole,
    Query,
    Key,
    Value,
    Output,
    /// Latent attention's low-rank projections.
    QueryDown,
    QueryUp,
    KvDown,
    KvUp,
    /// Of a feed-forward block.
    Gate,
    Up,
    Down,
    /// Of linear attention and state-space layers: what goes into the convolution, the output gate, the gates a
    /// head.
    Mixed,
    OutputGate,
    HeadGates,
}

/// A matrix of a class: where a format is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) class: TensorClass,
    pub(super) part: Part,
}

const fn slot(class: TensorClass, part: Part) -> Slot {
    Slot { class, part }
}

impl Slot {
    /// What it is in a GGUF file; none for what llama.cpp does not quantise.
    pub(super) const fn in_gguf(self) -> Option<GgufTensor> {
        Some(match (self.class, self.part) {
            (TensorClass::Router | TensorClass::Vectors, _) => return None,
            (TensorClass::Embedding, _) => GgufTensor::Embedding,
            (TensorClass::Head, _) => GgufTensor::Head,
            (TensorClass::Attention, Part::Key) => GgufTensor::Key,
            (TensorClass::Attention, Part::Value) => GgufTensor::Value,
            (TensorClass::Attention, Part::Output) => GgufTensor::AttentionOutput,
            (_, Part::Down) => GgufTensor::Down,
            _ => GgufTensor::Other,
        })
    }
}

/// Every slot, those of a class together.
pub(super) const SLOTS: [Slot; 26] = [
    slot(TensorClass::Embedding, Part::Whole),
    slot(TensorClass::Attention, Part::Query),
    slot(TensorClass::Attention, Part::Key),
    slot(TensorClass::Attention, Part::Value),
    slot(TensorClass::Attention, Part::Output),
    slot(TensorClass::Attention, Part::QueryDown),
    slot(TensorClass::Attention, Part::QueryUp),
    slot(TensorClass::Attention, Part::KvDown),
    slot(TensorClass::Attention, Part::KvUp),
    slot(TensorClass::Indexer, Part::Whole),
    slot(TensorClass::Recurrent, Part::Mixed),
    slot(TensorClass::Recurrent, Part::OutputGate),
    slot(TensorClass::Recurrent, Part::HeadGates),
    slot(TensorClass::Recurrent, Part::Output),
    slot(TensorClass::Dense, Part::Gate),
    slot(TensorClass::Dense, Part::Up),
    slot(TensorClass::Dense, Part::Down),
    slot(TensorClass::Experts, Part::Gate),
    slot(TensorClass::Experts, Part::Up),
    slot(TensorClass::Experts, Part::Down),
    slot(TensorClass::SharedExperts, Part::Gate),
    slot(TensorClass::SharedExperts, Part::Up),
    slot(TensorClass::SharedExperts, Part::Down),
    slot(TensorClass::Router, Part::Whole),
    slot(TensorClass::Vectors, Part::Whole),
    slot(TensorClass::Head, Part::Whole),
];

/// How large each matrix of a class is: elements, or any measure in proportion to them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Sizes(pub(super) Vec<(Part, f64)>);

/// Heads and dimensions of softmax attention, from which the sizes of its projections follow.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttentionDims {
    pub(super) heads: u64,
    pub(super) kv_heads: u64,
    pub(super) key_dim: u64,
    pub(super) value_dim: u64,
    pub(super) query_parts: u64,
}

/// Dimensions of latent attention, as in [`super::Latent`].
#[derive(Debug, Clone, Copy)]
pub(super) struct LatentDims {
    pub(super) hidden: u64,
    pub(super) heads: u64,
    pub(super) query_rank: Option<u64>,
    pub(super) kv_rank: u64,
    pub(super) nope_dim: u64,
    pub(super) rope_dim: u64,
    pub(super) value_dim: u64,
}

impl Sizes {
    /// Columns of each projection; all have as many rows as the model is wide.
    pub(super) fn attention(dims: AttentionDims) -> Self {
        Self(vec![
            (Part::Query, (dims.heads * dims.key_dim * dims.query_parts) as f64),
            (Part::Key, (dims.kv_heads * dims.key_dim) as f64),
            (Part::Value, (dims.kv_heads * dims.value_dim) as f64),
            (Part::Output, (dims.heads * dims.value_dim) as f64),
        ])
    }

    pub(super) fn latent(dims: LatentDims) -> Self {
        let [hidden, heads, kv_rank] = [dims.hidden, dims.heads, dims.kv_rank].map(|n| n as f64);
        let [nope, rope, value] = [dims.nope_dim, dims.rope_dim, dims.value_dim].map(|n| n as f64);
        let wide = heads * (nope + rope);
        let mut sizes = match dims.query_rank {
            Some(rank) => {
                vec![(Part::QueryDown, hidden * rank as f64), (Part::QueryUp, rank as f64 * wide)]
            }
            None => vec![(Part::Query, hidden * wide)],
        };
        sizes.push((Part::KvDown, hidden * (kv_rank + rope)));
        sizes.push((Part::KvUp, kv_rank * heads * (nope + value)));
        sizes.push((Part::Output, heads * value * hidden));
        Self(sizes)
    }

    /// A feed-forward block of `matrices` matrices, all of the same size: 3 where gated, 2 where not.
    pub(super) fn feed_forward(matrices: u64) -> Self {
        let gate = if matrices > 2 { 1.0 } else { 0.0 };
        Self(vec![(Part::Gate, gate), (Part::Up, 1.0), (Part::Down, 1.0)])
    }

    /// The blend of the parts' formats by their sizes.
    pub(super) fn blend(&self, format_of: impl Fn(Part) -> Format) -> Format {
        let parts: Vec<(Format, f64)> =
            self.0.iter().map(|&(part, size)| (format_of(part), size)).collect();
        Format::blend(&parts)
    }
}
