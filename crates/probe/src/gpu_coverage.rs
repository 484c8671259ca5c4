//! What the kernels for GPUs cover of a model's operators, and which tools print the rest. Known without the feature that runs them.

use crate::measurement::{AttentionPhase, AttentionShape, CollectiveOp, Operation};

/// Dimensions of a head that the kernel of decode attention is written for.
pub(crate) const HEAD_DIM: u32 = 128;
/// Tokens of a page of its cache.
pub(crate) const PAGE_TOKENS: u32 = 16;
/// The most query heads to a head of keys.
pub(crate) const MOST_QUERY_HEADS: u64 = 16;

/// Who measures an operation on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GpuCoverage {
    /// A kernel or library call of this crate.
    Kernel,
    /// These tools print it.
    Printed(&'static str),
    /// Neither.
    Nowhere,
}

/// Who measures `operation` on a GPU.
pub(crate) fn coverage(operation: &Operation) -> GpuCoverage {
    match operation {
        Operation::Attention { shape, .. } if decode_attention(shape).is_err() => {
            let is_latent = shape.shared_kv && shape.phase == AttentionPhase::Decode;
            GpuCoverage::Printed(if is_latent { "FlashMLA or FlashInfer" } else { "FlashInfer" })
        }
        Operation::Recurrence { shape, .. } if shape.tokens > 1 => GpuCoverage::Nowhere,
        Operation::Collective { shape, .. } if shape.op == CollectiveOp::SendRecv => {
            GpuCoverage::Printed("nccl-tests")
        }
        _ => GpuCoverage::Kernel,
    }
}

/// Whether the kernel of decode attention has that shape.
///
/// # Errors
/// What it is written for, as a sentence.
pub(crate) fn decode_attention(shape: &AttentionShape) -> Result<(), String> {
    let dims = [shape.key_dim, shape.value_dim];
    let is_written = shape.phase == AttentionPhase::Decode
        && shape.query_len == 1
        && dims == [u64::from(HEAD_DIM); 2]
        && !shape.shared_kv
        && shape.page_tokens.is_none_or(|tokens| tokens == u64::from(PAGE_TOKENS));
    if !is_written {
        return Err(format!(
            "only decode of one query on heads of {HEAD_DIM} in bf16 and pages of {PAGE_TOKENS} is written for GPUs"
        ));
    }
    let AttentionShape { query_heads, kv_heads, kv_len, .. } = *shape;
    let group = query_heads.checked_div(kv_heads).unwrap_or(0);
    if group * kv_heads != query_heads || !(1..=MOST_QUERY_HEADS).contains(&group) {
        return Err(format!(
            "{query_heads} query heads on {kv_heads} heads of keys: 1 to {MOST_QUERY_HEADS} to each are written"
        ));
    }
    if kv_len == 0 || kv_len % u64::from(PAGE_TOKENS) != 0 {
        return Err(format!("{kv_len} keys are not whole pages of {PAGE_TOKENS}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_kernel_covers_names_who_prints_it() {
        let decode = AttentionShape {
            phase: AttentionPhase::Decode,
            batch: 8,
            query_heads: 32,
            kv_heads: 8,
            key_dim: 128,
            value_dim: 128,
            query_len: 1,
            kv_len: 8192,
            causal: true,
            shared_kv: false,
            page_tokens: None,
        };
        let from = |shape| coverage(&Operation::Attention { shape, role: None });
        assert_eq!(from(decode), GpuCoverage::Kernel);
        let narrow = AttentionShape { key_dim: 64, value_dim: 64, ..decode };
        let many = AttentionShape { query_heads: 32, kv_heads: 1, ..decode };
        let prompt = AttentionShape { phase: AttentionPhase::Prefill, query_len: 512, ..decode };
        assert_eq!([narrow, many, prompt].map(from), [GpuCoverage::Printed("FlashInfer"); 3]);
        let latent = AttentionShape { key_dim: 576, value_dim: 512, shared_kv: true, ..decode };
        assert_eq!(from(latent), GpuCoverage::Printed("FlashMLA or FlashInfer"));
    }
}
