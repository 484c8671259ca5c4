//! Shapes of norms and of layers with a state, and what they come to.

use fizeau_core::{Bytes, Flops};
use serde::{Deserialize, Serialize};

use super::Dtype;
use super::work::OperationWork;

/// The root-mean-square norm of rows, with a gain for each column: it hardly computes, and moves each row in and out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NormShape {
    /// Rows: tokens, or the heads of all tokens.
    pub rows: u64,
    /// Elements of a row.
    pub width: u64,
}

impl NormShape {
    /// So many rows of that width.
    #[must_use]
    pub const fn new(rows: u64, width: u64) -> Self {
        Self { rows, width }
    }

    /// Rows in, rows out and the gains, each once; of each element a square, a sum and two products.
    #[must_use]
    pub fn work(self, dtype: Dtype) -> OperationWork {
        let [rows, width] = [self.rows, self.width].map(|count| count as f64);
        let bytes = (2.0 * rows + 1.0) * width * dtype.element_bytes();
        OperationWork::once(Bytes::new(bytes), Flops::new(4.0 * rows * width))
    }
}

/// How a layer changes its state `S` by a token with key `k`, value `v`, decay `a` and strength `b`. It is then asked: `o = q S`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum RecurrenceRule {
    /// `S = a S + b k v`: Mamba-2 and plain linear attention.
    StateSpace,
    /// `S = a S + b k (v - a k S)`: gated delta rules, which first ask what the state has at the key.
    DeltaRule,
}

fizeau_core::words! {
    /// The name in files: `delta_rule`.
    pub RecurrenceRule::as_str, all, shown { StateSpace = "state_space", DeltaRule = "delta_rule" }
}

/// What one layer of linear attention, or of a state-space model, does with its states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RecurrenceShape {
    /// By which rule.
    pub rule: RecurrenceRule,
    /// Sequences, each with states of its own.
    pub sequences: u64,
    /// Tokens of each, one after the other: 1 of a decode step.
    pub tokens: u64,
    /// Heads of keys and queries; each serves as many heads of values.
    pub key_heads: u64,
    /// Heads of values, each with a state of `key_dim x value_dim`.
    pub value_heads: u64,
    /// Dimension of a key.
    pub key_dim: u64,
    /// Dimension of a value.
    pub value_dim: u64,
}

impl RecurrenceShape {
    /// States of `state` are read and written once, tokens come and go in 16 bits. Of each element of a state and each token: one
    /// operation for the decay, two for the change, two for what is asked, and by the delta rule two for what it asks first.
    #[must_use]
    pub fn work(self, state: Dtype) -> OperationWork {
        let [sequences, tokens, key_heads, value_heads, key_dim, value_dim] = [
            self.sequences,
            self.tokens,
            self.key_heads,
            self.value_heads,
            self.key_dim,
            self.value_dim,
        ]
        .map(|count| count as f64);
        let elements = sequences * value_heads * key_dim * value_dim;
        let each = 2.0 * (key_heads * key_dim + value_heads * value_dim);
        let passing = sequences * tokens * each * Dtype::Bf16.element_bytes();
        let operations = match self.rule {
            RecurrenceRule::StateSpace => 5.0,
            RecurrenceRule::DeltaRule => 7.0,
        };
        let bytes = 2.0 * elements * state.element_bytes() + passing;
        OperationWork::once(Bytes::new(bytes), Flops::new(operations * tokens * elements))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A decode step of Qwen3-Next's delta rule, worked by hand: a state of 32 heads of 128 x 128 in 32 bits in and out is 4 MiB.
    #[test]
    fn a_step_moves_its_states_in_and_out() {
        let shape = RecurrenceShape {
            rule: RecurrenceRule::DeltaRule,
            sequences: 1,
            tokens: 1,
            key_heads: 16,
            value_heads: 32,
            key_dim: 128,
            value_dim: 128,
        };
        let work = shape.work(Dtype::F32);
        let tokens = 2.0 * 2.0 * (16.0 + 32.0) * 128.0;
        assert_eq!(work.bytes.stream.map(Bytes::get), Some(f64::from(4 << 20) + tokens));
        assert_eq!(work.flops.map(Flops::get), Some(7.0 * 32.0 * 128.0 * 128.0));
        let norm = NormShape::new(64, 4096).work(Dtype::Bf16);
        assert_eq!(norm.bytes.stream.map(Bytes::get), Some(129.0 * 8192.0));
    }
}
