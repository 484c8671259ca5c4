//! Shapes of matrix products and of attention, and what they come to.

use fizeau_core::{Bytes, Flops};
use serde::{Deserialize, Serialize};

use super::Dtype;
use super::work::OperationWork;

/// `C[m,n] = A[m,k] B[k,n]`, `batch` times over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GemmShape {
    /// Rows of A: tokens.
    pub m: u64,
    /// Columns of B: outputs.
    pub n: u64,
    /// What is summed over: inputs.
    pub k: u64,
    /// How many such products one operation is: groups of a grouped product, 1 of a plain one.
    pub batch: u64,
}

impl GemmShape {
    /// One product.
    #[must_use]
    pub const fn new(m: u64, n: u64, k: u64) -> Self {
        Self { m, n, k, batch: 1 }
    }

    /// `2 m n k` operations, without bias or epilogue, and each operand and the result once. Scales of blocks count with
    /// their elements.
    #[must_use]
    pub fn work(self, operands: Dtype, output: Dtype) -> OperationWork {
        let Self { m, n, k, batch } = self;
        let [m, n, k, batch] = [m, n, k, batch].map(|count| count as f64);
        let bytes = (m * k + k * n) * operands.element_bytes() + m * n * output.element_bytes();
        OperationWork::once(Bytes::new(batch * bytes), Flops::new(batch * 2.0 * m * n * k))
    }
}

/// Which half of generation an attention is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AttentionPhase {
    /// One query, or a few, against a cache.
    Decode,
    /// All queries of a prompt.
    Prefill,
}

fizeau_core::words! {
    /// The name in files: `decode`.
    pub AttentionPhase::as_str, all, shown { Decode = "decode", Prefill = "prefill" }
}

/// One layer's attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AttentionShape {
    /// Which half of generation.
    pub phase: AttentionPhase,
    /// Sequences.
    pub batch: u64,
    /// Query heads.
    pub query_heads: u64,
    /// Heads of keys and values; 1 for a latent.
    pub kv_heads: u64,
    /// Dimension of queries and keys.
    pub key_dim: u64,
    /// Dimension of values.
    pub value_dim: u64,
    /// Queries of a sequence.
    pub query_len: u64,
    /// Keys of a sequence.
    pub kv_len: u64,
    /// Whether a query sees the keys up to its own position only, the last query seeing all.
    pub causal: bool,
    /// Whether values are a part of the keys, read with them: latent attention.
    pub shared_kv: bool,
    /// Tokens of a page where the cache is in pages; none where it lies in one piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_tokens: Option<u64>,
}

impl AttentionShape {
    /// Operations and bytes of one layer. Full: `2 B Hq Sq Sk (d_qk + d_v)`. Causal: `B Hq Sq (2 Sk - Sq)(d_qk + d_v)`, which is
    /// what the benchmarks of flash-attention and flashinfer count. The softmax is not counted. Bytes are queries, keys,
    /// values and outputs once.
    #[must_use]
    pub fn work(self, dtype: Dtype) -> OperationWork {
        let wide = |count: u64| count as f64;
        let (queries, keys) = (wide(self.query_len), wide(self.kv_len));
        let pairs = match self.causal && self.kv_len >= self.query_len {
            true => queries * (2.0 * keys - queries) / 2.0,
            false => queries * keys,
        };
        let dims = wide(self.key_dim + self.value_dim);
        let batch = wide(self.batch);
        let kept = if self.shared_kv { wide(self.key_dim) } else { dims };
        let elements = batch * (queries * wide(self.query_heads) * dims)
            + batch * keys * wide(self.kv_heads) * kept;
        let flops = 2.0 * batch * wide(self.query_heads) * pairs * dims;
        OperationWork::once(Bytes::new(elements * dtype.element_bytes()), Flops::new(flops))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_has_the_intensity_of_its_group() {
        let shape = AttentionShape {
            phase: AttentionPhase::Decode,
            batch: 4,
            query_heads: 32,
            kv_heads: 8,
            key_dim: 128,
            value_dim: 128,
            query_len: 1,
            kv_len: 1 << 20,
            causal: true,
            shared_kv: false,
            page_tokens: None,
        };
        let work = shape.work(Dtype::Bf16);
        let intensity = work.flops.unwrap().get() / work.bytes.stream.unwrap().get();
        assert!((intensity - 4.0).abs() < 1e-3, "{intensity}");
        // Absorbed latent attention at 128 heads: 1.89 H.
        let latent = AttentionShape {
            query_heads: 128,
            kv_heads: 1,
            key_dim: 576,
            value_dim: 512,
            shared_kv: true,
            ..shape
        };
        let work = latent.work(Dtype::Bf16);
        let intensity = work.flops.unwrap().get() / work.bytes.stream.unwrap().get();
        assert!((intensity - 241.8).abs() < 0.5, "{intensity}");
    }

    #[test]
    fn causal_attention_of_a_whole_prompt_is_half() {
        let full = AttentionShape {
            phase: AttentionPhase::Prefill,
            batch: 1,
            query_heads: 2,
            kv_heads: 2,
            key_dim: 64,
            value_dim: 64,
            query_len: 512,
            kv_len: 512,
            causal: false,
            shared_kv: false,
            page_tokens: None,
        };
        let half = AttentionShape { causal: true, ..full };
        let flops = |shape: AttentionShape| shape.work(Dtype::F32).flops.unwrap().get();
        assert_eq!(flops(full), 2.0 * flops(half));
    }
}
