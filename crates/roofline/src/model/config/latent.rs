//! Latent attention (MLA), and the indexer that makes it sparse (DSA).

use super::super::fields::{CONTEXT, HEAD_DIM, HEADS, RANK};
use super::super::{Indexer, Latent, ModelConfigError};
use super::Config;
use crate::Format;

impl Config<'_> {
    pub(super) fn latent(&self, format: Format) -> Result<Latent, ModelConfigError> {
        let fields = self.fields;
        let query_rank = fields.nonzero("q_lora_rank", RANK)?;
        let kv_rank = fields.count("kv_lora_rank", RANK)?;
        let rope_dim = fields.count("qk_rope_head_dim", HEAD_DIM)?;
        let norms = query_rank.unwrap_or(0) + kv_rank;
        // The biases sit on the two projections down and on the output's.
        let biases = match fields.flag("attention_bias")? {
            Some(true) => norms + rope_dim + self.hidden,
            _ => 0,
        };
        Ok(Latent {
            heads: fields.count("num_attention_heads", HEADS)?,
            query_rank,
            kv_rank,
            nope_dim: fields.count("qk_nope_head_dim", HEAD_DIM)?,
            rope_dim,
            value_dim: fields.count("v_head_dim", HEAD_DIM)?,
            indexer: self.indexer()?,
            vectors: norms + biases,
            format,
        })
    }

    fn indexer(&self) -> Result<Option<Indexer>, ModelConfigError> {
        let Some(top_k) = self.fields.nonzero("index_topk", CONTEXT)? else {
            return Ok(None);
        };
        let dim = self.fields.count("index_head_dim", HEAD_DIM)?;
        Ok(Some(Indexer {
            heads: self.fields.count("index_n_heads", HEADS)?,
            dim,
            top_k,
            // The gain and the bias of the key's layer norm.
            vectors: 2 * dim,
        }))
    }
}
