//! What a token takes in the cache of latent attention: narrow formats are laid out in a way of their own.

use fizeau_core::Bytes;

use super::{Indexer, Latent};
use crate::Format;

/// Elements that share one float32 scale in the fp8 layouts of sparse attention.
const BLOCK: u64 = 128;

impl Latent {
    /// What one token takes in one layer when latents are kept in `format`, the indexer's key apart.
    ///
    /// In fp8, the kernels of sparse attention keep the latent in fp8 with a float32 scale for each 128 elements, and
    /// the rotary part in 16 bits: 512 + 16 + 128 = 656 bytes for DeepSeek-V3.2 (FlashMLA's documentation, "FP8 KV
    /// cache"; vLLM's `fp8_ds_mla`). Without an indexer all of it is fp8 with one scale: 576 bytes.
    pub(crate) fn cache_bytes(&self, format: Format) -> Bytes {
        if format == Format::Fp8 && self.indexer.is_some() {
            let scales = 4 * self.kv_rank.div_ceil(BLOCK);
            return Bytes::new((self.kv_rank + scales + 2 * self.rope_dim) as f64);
        }
        format.element_size() * self.cache_elements() as f64
    }
}

impl Indexer {
    /// What one token's key takes in one layer when the cache is kept in `format`: in fp8 with a float32 scale for each
    /// 128 elements, 132 bytes for DeepSeek-V3.2 (its published inference code and vLLM's indexer cache).
    pub(crate) fn cache_bytes(&self, format: Format) -> Bytes {
        if format == Format::Fp8 {
            return Bytes::new((self.dim + 4 * self.dim.div_ceil(BLOCK)) as f64);
        }
        format.element_size() * self.dim as f64
    }
}
