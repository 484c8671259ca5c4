//! Softmax attention: heads, head dimensions, windows, biases and norms.

use fizeau_core::Tokens;
use serde_json::Value;

use super::super::fields::{CONTEXT, ConfigFields, HEAD_DIM, HEADS, RANK};
use super::super::{Attention, AttentionKeys, ModelConfigError, QueryNorm};
use super::Config;
use super::families::NormSpan;
use super::layout::{LayerPlace, MixerKind};
use crate::Format;

/// Heads and their dimensions.
#[derive(Clone, Copy)]
struct Heads {
    heads: u64,
    kv_heads: u64,
    key_dim: u64,
    value_dim: u64,
}

impl Config<'_> {
    pub(super) fn attention(
        &self,
        place: LayerPlace,
        format: Format,
    ) -> Result<Attention, ModelConfigError> {
        let windowed = place.mixer == MixerKind::Window;
        let heads = if windowed { self.window_heads()? } else { self.global_heads()? };
        let keys = self.keys(place)?;
        let window = if windowed { self.effective_window()? } else { None };
        let gated = self.flag(self.family.output_gate)?;
        let attention = Attention {
            heads: heads.heads,
            kv_heads: heads.kv_heads,
            key_dim: heads.key_dim,
            value_dim: heads.value_dim,
            window,
            chunked: window.is_some() && self.window_is_chunk(),
            query_rank: self.fields.nonzero("share_q_dim", RANK)?,
            query_parts: if gated { 2 } else { 1 },
            keys,
            query_norm: self.query_norm()?,
            vectors: 0,
            format,
        };
        let vectors = self.attention_vectors(&attention)?;
        Ok(Attention { vectors, ..attention })
    }

    /// MiniMax says by `qk_norm_type` that all heads of a layer are normed together.
    fn query_norm(&self) -> Result<QueryNorm, ModelConfigError> {
        let normed = self.fields.flag("use_qk_norm")?.unwrap_or(false);
        if !normed && !self.flag(self.family.qk_norm)? {
            return Ok(QueryNorm::None);
        }
        let together = self.fields.text("qk_norm_type") == Some("per_layer");
        Ok(match self.family.qk_norm_span {
            NormSpan::Head if !together => QueryNorm::PerHead,
            NormSpan::Head | NormSpan::Heads => QueryNorm::AllHeads,
        })
    }

    /// How far back layers with a window see.
    pub(super) fn window(&self) -> Result<Option<u64>, ModelConfigError> {
        let names = ["sliding_window", "sliding_window_size", "attention_chunk_size"];
        self.fields.any(&names, CONTEXT)
    }

    /// A window that no context outgrows is none.
    fn effective_window(&self) -> Result<Option<u64>, ModelConfigError> {
        let missing =
            ModelConfigError::Missing { field: "sliding_window", expected: CONTEXT.expected };
        let window = self.window()?.ok_or(missing)?;
        let longest = self.max_context()?.map_or(u64::MAX, Tokens::get);
        Ok((window < longest).then_some(window))
    }

    fn window_is_chunk(&self) -> bool {
        let sliding = ["sliding_window", "sliding_window_size"];
        sliding.iter().all(|field| self.fields.get(field).is_none())
    }

    fn keys(&self, place: LayerPlace) -> Result<AttentionKeys, ModelConfigError> {
        let full = place.mixer == MixerKind::Full;
        Ok(if place.shares_keys {
            AttentionKeys::Shared
        } else if full && self.fields.flag("attention_k_eq_v")? == Some(true) {
            AttentionKeys::AreValues
        } else {
            AttentionKeys::Own
        })
    }

    fn heads(&self) -> Result<Heads, ModelConfigError> {
        let fields = self.fields;
        let heads = fields.count("num_attention_heads", HEADS)?;
        let kv_heads = match fields.flag("multi_query")? {
            // Falcon: one key-value head, unless a later field says how many.
            Some(true) if fields.flag("new_decoder_architecture")? != Some(true) => 1,
            // Silence means as many key-value heads as query heads.
            _ => {
                let names = ["num_key_value_heads", "num_kv_heads", "num_attention_groups"];
                match fields.get("num_key_value_heads") {
                    Some(_) => fields.count("num_key_value_heads", HEADS)?,
                    None => fields.any(&names, HEADS)?.unwrap_or(heads),
                }
            }
        };
        if !heads.is_multiple_of(kv_heads) {
            return Err(ModelConfigError::Contradiction {
                field: "num_key_value_heads",
                value: kv_heads,
                other: "num_attention_heads",
                other_value: heads,
                rule: "the first must divide the second",
            });
        }
        let key_dim = match fields.optional_count("head_dim", HEAD_DIM)? {
            Some(head_dim) => head_dim,
            None => match fields.optional_count("attention_head_dim", HEAD_DIM)? {
                Some(head_dim) => head_dim,
                None => derived_head_dim(self.hidden, heads)?,
            },
        };
        let value_dim = fields.nonzero("v_head_dim", HEAD_DIM)?.unwrap_or(key_dim);
        Ok(Heads { heads, kv_heads, key_dim, value_dim })
    }

    /// Layers with a window may have heads of their own.
    fn window_heads(&self) -> Result<Heads, ModelConfigError> {
        let other = match self.fields.get("attention_other_setting") {
            Some(Value::Object(other)) => Some(ConfigFields(other)),
            _ => None,
        };
        let own = |names: &[&'static str], nested: &[&'static str], range| match other {
            Some(fields) => fields.any(nested, range),
            None => self.fields.any(names, range),
        };
        let heads = self.heads()?;
        let key_dim = own(&["swa_head_dim"], &["head_dim"], HEAD_DIM)?.unwrap_or(heads.key_dim);
        // A separate key dimension without a value dimension goes for both.
        let value_dim = match own(&["swa_v_head_dim"], &["v_head_dim"], HEAD_DIM)? {
            Some(value_dim) => value_dim,
            None if key_dim == heads.key_dim => heads.value_dim,
            None => key_dim,
        };
        let kv_names = ["num_attention_groups", "num_key_value_heads"];
        let own = Heads {
            heads: own(&["swa_num_attention_heads"], &["num_attention_heads"], HEADS)?
                .unwrap_or(heads.heads),
            kv_heads: own(&["swa_num_key_value_heads"], &kv_names, HEADS)?
                .unwrap_or(heads.kv_heads),
            key_dim,
            value_dim,
        };
        if own.heads.is_multiple_of(own.kv_heads) {
            return Ok(own);
        }
        Err(ModelConfigError::Contradiction {
            field: "swa_num_key_value_heads",
            value: own.kv_heads,
            other: "swa_num_attention_heads",
            other_value: own.heads,
            rule: "the first must divide the second",
        })
    }

    /// Layers that see everything may have wider heads, and fewer of them, than those with a window.
    fn global_heads(&self) -> Result<Heads, ModelConfigError> {
        let heads = self.heads()?;
        let Some(dim) = self.fields.nonzero("global_head_dim", HEAD_DIM)? else {
            return Ok(heads);
        };
        let shared = self.fields.flag("attention_k_eq_v")? == Some(true);
        let kv_heads = match self.fields.nonzero("num_global_key_value_heads", HEADS)? {
            Some(kv_heads) if shared => kv_heads,
            _ => heads.kv_heads,
        };
        if heads.heads.is_multiple_of(kv_heads) {
            return Ok(Heads { kv_heads, key_dim: dim, value_dim: dim, ..heads });
        }
        Err(ModelConfigError::Contradiction {
            field: "num_global_key_value_heads",
            value: kv_heads,
            other: "num_attention_heads",
            other_value: heads.heads,
            rule: "the first must divide the second",
        })
    }

    /// Biases, norms of queries and keys, sinks.
    fn attention_vectors(&self, attention: &Attention) -> Result<u64, ModelConfigError> {
        let queries = attention.heads * attention.key_dim;
        let (keys, values) = match attention.keys {
            AttentionKeys::Own => {
                let heads = attention.kv_heads;
                (heads * attention.key_dim, heads * attention.value_dim)
            }
            AttentionKeys::AreValues => (attention.kv_heads * attention.key_dim, 0),
            AttentionKeys::Shared => (0, 0),
        };
        // The norm between the two projections of a query of low rank.
        let mut vectors = attention.query_rank.unwrap_or(0);
        if self.flag(self.family.qkv_bias)? {
            vectors += queries * attention.query_parts + keys + values;
        }
        if self.flag(self.family.output_bias)? {
            vectors += self.hidden;
        }
        if self.flag(self.family.qk_norm)? {
            vectors += match self.family.qk_norm_span {
                NormSpan::Head => 2 * attention.key_dim,
                NormSpan::Heads => queries + keys,
            };
        }
        let sinks = match attention.window {
            Some(_) => "add_swa_attention_sink_bias",
            None => "add_full_attention_sink_bias",
        };
        if self.fields.flag(sinks)?.unwrap_or(false) || self.flag(self.family.sinks)? {
            vectors += attention.heads;
        }
        if self.fields.flag("use_head_wise_attn_gate")?.unwrap_or(false) {
            vectors += self.hidden * attention.heads;
        }
        Ok(vectors)
    }
}

fn derived_head_dim(hidden: u64, heads: u64) -> Result<u64, ModelConfigError> {
    let head_dim = hidden / heads;
    if hidden.is_multiple_of(heads) && head_dim <= HEAD_DIM.limit {
        return Ok(head_dim);
    }
    Err(ModelConfigError::Contradiction {
        field: "num_attention_heads",
        value: heads,
        other: "hidden_size",
        other_value: hidden,
        rule: "without `head_dim` their quotient is the head dimension: a whole number from 1 to 4096",
    })
}
