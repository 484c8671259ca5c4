//! The matrices that a class of tensors is made of. Precision is set matrix by matrix; a class's format is the blend.

use super::TensorClass;
use crate::Format;
use crate::format::GgufTensor;

/// One matrix of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatrixPart {
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
    /// Around experts that work on a narrower width: into it, and back.
    ToLatent,
    FromLatent,
}

/// A matrix of a class: where a format is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MatrixSlot {
    pub(super) class: TensorClass,
    pub(super) part: MatrixPart,
}

const fn slot(class: TensorClass, part: MatrixPart) -> MatrixSlot {
    MatrixSlot { class, part }
}

impl MatrixSlot {
    /// What it is in a GGUF file; none for what llama.cpp does not quantise.
    pub(super) const fn in_gguf(self) -> Option<GgufTensor> {
        Some(match (self.class, self.part) {
            (TensorClass::Router | TensorClass::Vectors, _) => return None,
            (TensorClass::Embedding, _) => GgufTensor::Embedding,
            (TensorClass::Head, _) => GgufTensor::Head,
            (TensorClass::Attention, MatrixPart::Key) => GgufTensor::Key,
            (TensorClass::Attention, MatrixPart::Value) => GgufTensor::Value,
            (TensorClass::Attention, MatrixPart::Output) => GgufTensor::AttentionOutput,
            (_, MatrixPart::Down) => GgufTensor::Down,
            _ => GgufTensor::Other,
        })
    }
}

/// Every slot, those of a class together.
pub(super) const SLOTS: [MatrixSlot; 28] = [
    slot(TensorClass::Embedding, MatrixPart::Whole),
    slot(TensorClass::Attention, MatrixPart::Query),
    slot(TensorClass::Attention, MatrixPart::Key),
    slot(TensorClass::Attention, MatrixPart::Value),
    slot(TensorClass::Attention, MatrixPart::Output),
    slot(TensorClass::Attention, MatrixPart::QueryDown),
    slot(TensorClass::Attention, MatrixPart::QueryUp),
    slot(TensorClass::Attention, MatrixPart::KvDown),
    slot(TensorClass::Attention, MatrixPart::KvUp),
    slot(TensorClass::Indexer, MatrixPart::Whole),
    slot(TensorClass::Recurrent, MatrixPart::Mixed),
    slot(TensorClass::Recurrent, MatrixPart::OutputGate),
    slot(TensorClass::Recurrent, MatrixPart::HeadGates),
    slot(TensorClass::Recurrent, MatrixPart::Output),
    slot(TensorClass::Dense, MatrixPart::Gate),
    slot(TensorClass::Dense, MatrixPart::Up),
    slot(TensorClass::Dense, MatrixPart::Down),
    slot(TensorClass::Dense, MatrixPart::ToLatent),
    slot(TensorClass::Dense, MatrixPart::FromLatent),
    slot(TensorClass::Experts, MatrixPart::Gate),
    slot(TensorClass::Experts, MatrixPart::Up),
    slot(TensorClass::Experts, MatrixPart::Down),
    slot(TensorClass::SharedExperts, MatrixPart::Gate),
    slot(TensorClass::SharedExperts, MatrixPart::Up),
    slot(TensorClass::SharedExperts, MatrixPart::Down),
    slot(TensorClass::Router, MatrixPart::Whole),
    slot(TensorClass::Vectors, MatrixPart::Whole),
    slot(TensorClass::Head, MatrixPart::Whole),
];

/// How large each matrix of a class is: elements, or any measure in proportion to them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct MatrixSizes(pub(super) Vec<(MatrixPart, f64)>);

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

impl MatrixSizes {
    /// Columns of each projection; all have as many rows as the model is wide.
    pub(super) fn attention(dims: AttentionDims) -> Self {
        Self(vec![
            (MatrixPart::Query, (dims.heads * dims.key_dim * dims.query_parts) as f64),
            (MatrixPart::Key, (dims.kv_heads * dims.key_dim) as f64),
            (MatrixPart::Value, (dims.kv_heads * dims.value_dim) as f64),
            (MatrixPart::Output, (dims.heads * dims.value_dim) as f64),
        ])
    }

    pub(super) fn latent(dims: LatentDims) -> Self {
        let [hidden, heads, kv_rank] = [dims.hidden, dims.heads, dims.kv_rank].map(|n| n as f64);
        let [nope, rope, value] = [dims.nope_dim, dims.rope_dim, dims.value_dim].map(|n| n as f64);
        let wide = heads * (nope + rope);
        let mut sizes = match dims.query_rank {
            Some(rank) => {
                vec![
                    (MatrixPart::QueryDown, hidden * rank as f64),
                    (MatrixPart::QueryUp, rank as f64 * wide),
                ]
            }
            None => vec![(MatrixPart::Query, hidden * wide)],
        };
        sizes.push((MatrixPart::KvDown, hidden * (kv_rank + rope)));
        sizes.push((MatrixPart::KvUp, kv_rank * heads * (nope + value)));
        sizes.push((MatrixPart::Output, heads * value * hidden));
        Self(sizes)
    }

    /// A feed-forward block of `matrices` matrices, all of the same size: 3 where gated, 2 where not.
    pub(super) fn feed_forward(matrices: u64) -> Self {
        let gate = if matrices > 2 { 1.0 } else { 0.0 };
        Self(vec![(MatrixPart::Gate, gate), (MatrixPart::Up, 1.0), (MatrixPart::Down, 1.0)])
    }

    /// The blend of the parts' formats by their sizes.
    pub(super) fn blend(&self, format_of: impl Fn(MatrixPart) -> Format) -> Format {
        let parts: Vec<(Format, f64)> =
            self.0.iter().map(|&(part, size)| (format_of(part), size)).collect();
        Format::blend(&parts)
    }
}
