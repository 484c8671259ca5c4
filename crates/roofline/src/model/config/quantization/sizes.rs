//! How large the matrices of each class are, from the dimensions in a config: for blending formats within a class.

use serde_json::Value;

use super::super::super::TensorClass;
use super::super::super::fields::ConfigFields;
use super::super::super::parts::{AttentionDims, LatentDims, MatrixPart, MatrixSizes};
use crate::format::ModelShape;

/// The names that families have for the number of experts.
const EXPERTS: [&str; 4] =
    ["n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"];

/// The sizes of the matrices of each class that has several.
#[derive(Debug, Clone)]
pub(super) struct ClassSizes {
    attention: MatrixSizes,
    recurrent: MatrixSizes,
    feed_forward: MatrixSizes,
    whole: MatrixSizes,
    /// Query heads for each key-value head.
    sharing: u64,
    experts: u64,
    tied: bool,
}

impl ClassSizes {
    /// What is missing or senseless is reported by those who need it: sizes only weigh formats against each other.
    pub(super) fn read(fields: ConfigFields<'_>) -> Self {
        let number = |name: &str| fields.get(name).and_then(Value::as_u64);
        let or = |name: &str, other: u64| number(name).unwrap_or(other).min(1 << 20);
        let hidden = or("hidden_size", 1);
        let heads = or("num_attention_heads", 1);
        let attention = match number("kv_lora_rank").filter(|rank| *rank > 0) {
            Some(kv_rank) => MatrixSizes::latent(LatentDims {
                hidden,
                heads,
                query_rank: number("q_lora_rank").map(|rank| rank.min(1 << 20)),
                kv_rank: kv_rank.min(1 << 20),
                nope_dim: or("qk_nope_head_dim", 0),
                rope_dim: or("qk_rope_head_dim", 0),
                value_dim: or("v_head_dim", 1),
            }),
            None => {
                let key_dim = or("head_dim", hidden / heads.max(1));
                let gated = fields.get("attn_output_gate") == Some(&Value::Bool(true));
                MatrixSizes::attention(AttentionDims {
                    heads,
                    kv_heads: or("num_key_value_heads", heads),
                    key_dim,
                    value_dim: or("v_head_dim", key_dim),
                    query_parts: if gated { 2 } else { 1 },
                })
            }
        };
        let activation = fields.get("mlp_hidden_act").or_else(|| fields.get("hidden_act"));
        let gated = activation.and_then(Value::as_str) != Some("relu2");
        Self {
            attention,
            recurrent: recurrent(fields, &or),
            feed_forward: MatrixSizes::feed_forward(if gated { 3 } else { 2 }),
            whole: MatrixSizes(vec![(MatrixPart::Whole, 1.0)]),
            sharing: heads / or("num_key_value_heads", heads).max(1),
            experts: EXPERTS.into_iter().find_map(number).unwrap_or(0),
            tied: fields.get("tie_word_embeddings") == Some(&Value::Bool(true)),
        }
    }

    /// What the rules of llama.cpp look at, in a model of `layers` layers.
    pub(super) const fn shape(&self, layers: u64) -> ModelShape {
        ModelShape { layers, sharing: self.sharing, experts: self.experts, tied: self.tied }
    }

    /// How many experts a layer has; none in a dense model.
    pub(super) const fn experts(&self) -> Option<u64> {
        if self.experts == 0 { None } else { Some(self.experts) }
    }

    pub(super) const fn of(&self, class: TensorClass) -> &MatrixSizes {
        match class {
            TensorClass::Attention => &self.attention,
            TensorClass::Recurrent => &self.recurrent,
            TensorClass::Dense | TensorClass::Experts | TensorClass::SharedExperts => {
                &self.feed_forward
            }
            _ => &self.whole,
        }
    }
}

/// Kimi delta attention by its own object, gated DeltaNet by its `linear_*` fields, else Mamba-2. Columns of each projection.
fn recurrent(fields: ConfigFields<'_>, or: &dyn Fn(&str, u64) -> u64) -> MatrixSizes {
    let values = or("linear_num_value_heads", 0) * or("linear_value_head_dim", 0);
    let [mixed, gate, heads, output] = if let Some(Value::Object(own)) =
        fields.get("linear_attn_config")
    {
        kimi_delta(ConfigFields(own), or("hidden_size", 1))
    } else if values > 0 {
        let keys = or("linear_num_key_heads", 0) * or("linear_key_head_dim", 0);
        [2 * keys + values, values, 2 * or("linear_num_value_heads", 0), values].map(|n| n as f64)
    } else {
        mamba(or).map(|n| n as f64)
    };
    MatrixSizes(vec![
        (MatrixPart::Mixed, mixed),
        (MatrixPart::OutputGate, gate),
        (MatrixPart::HeadGates, heads),
        (MatrixPart::Output, output),
    ])
}

/// The decay goes with the gates of heads.
fn kimi_delta(fields: ConfigFields<'_>, hidden: u64) -> [f64; 4] {
    let number = |name: &str| fields.get(name).and_then(Value::as_u64).unwrap_or(1).min(1 << 20);
    let [heads, dim] = ["num_heads", "head_dim"].map(|name| number(name) as f64);
    let inner = heads * dim;
    // Down to a head's dimension and up again, in columns of the hidden size.
    let low = dim + dim * inner / hidden.max(1) as f64;
    let full = fields.get("use_full_rank_gate") == Some(&Value::Bool(true));
    [3.0 * inner, if full { inner } else { low }, heads + low, inner]
}

/// Under either family of names, as `Config::mamba` reads them.
fn mamba(or: &dyn Fn(&str, u64) -> u64) -> [u64; 4] {
    let either = |name: &str, other: &str, silent: u64| or(name, or(other, silent));
    let heads = either("mamba_num_heads", "mamba_n_heads", 1);
    let expanded = or("hidden_size", 1) * either("mamba_expand", "expand", 1) / heads.max(1);
    let inner = heads * either("mamba_head_dim", "mamba_d_head", expanded);
    let groups = either("n_groups", "mamba_n_groups", 1);
    let states = 2 * groups * either("ssm_state_size", "mamba_d_state", 1);
    [inner + states, inner, heads, inner]
}
