//! Latent attention (MLA), and the indexer that makes it sparse (DSA).

use serde_json::Value;

use super::super::fields::{CONTEXT, HEAD_DIM, HEADS, LAYERS, RANK, shown};
use super::super::{Indexer, Latent, ModelConfigError};
use super::Config;
use super::layout::LayerPlace;
use crate::Format;

impl Config<'_> {
    pub(super) fn latent(
        &self,
        place: LayerPlace,
        format: Format,
    ) -> Result<Latent, ModelConfigError> {
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
            output_gate: fields.flag("mla_use_output_gate")? == Some(true),
            indexer: self.indexer(place)?,
            vectors: norms + biases,
            format,
        })
    }

    fn indexer(&self, place: LayerPlace) -> Result<Option<Indexer>, ModelConfigError> {
        let Some(top_k) = self.fields.nonzero("index_topk", CONTEXT)? else {
            return Ok(None);
        };
        if place.shares_choice {
            return Ok(Some(Indexer { heads: 0, dim: 0, top_k, vectors: 0 }));
        }
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

/// The layers that have an indexer of their own.
pub(super) enum Choosers<'a> {
    /// As a list says, layer by layer.
    Listed(&'a [Value]),
    /// The first `offset`, and of those from the last of them on every `every`th.
    Every { every: u64, offset: u64 },
}

impl Choosers<'_> {
    pub(super) fn has(&self, layer: u64) -> bool {
        match *self {
            Self::Listed(kinds) => {
                let kind = usize::try_from(layer).ok().and_then(|layer| kinds.get(layer));
                kind.and_then(Value::as_str) == Some("full")
            }
            Self::Every { every, offset } => {
                (layer + 1).saturating_sub(offset).is_multiple_of(every)
            }
        }
    }
}

impl Config<'_> {
    /// GLM-5.2 has an indexer in some layers alone, whose choice the layers behind it share: `indexer_types` says which, or how
    /// often one comes (`GlmMoeDsaConfig` of Hugging Face).
    pub(super) fn choosers(&self) -> Result<Choosers<'_>, ModelConfigError> {
        let field = "indexer_types";
        if let Some(kinds) = self.fields.list(field) {
            self.long_enough(field, kinds.len() as u64)?;
            if let Some(other) =
                kinds.iter().find(|kind| !matches!(kind.as_str(), Some("full" | "shared")))
            {
                let reason = "known are \"full\" and \"shared\"";
                return Err(ModelConfigError::Unsupported { field, found: shown(other), reason });
            }
            return Ok(Choosers::Listed(kinds));
        }
        Ok(Choosers::Every {
            every: self.fields.nonzero("index_topk_freq", LAYERS)?.unwrap_or(1),
            offset: self.fields.nonzero("index_skip_topk_offset", LAYERS)?.unwrap_or(0),
        })
    }
}
