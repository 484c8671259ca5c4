//! Linear attention and state-space layers.

use serde_json::Value;

use super::super::fields::{ConfigFields, CountRange, HEAD_DIM, HEADS};
use super::super::{DeltaNet, Mamba2, ModelConfigError};
use super::Config;
use crate::Format;

impl Config<'_> {
    pub(super) fn delta_net(&self, format: Format) -> Result<DeltaNet, ModelConfigError> {
        let fields = self.fields;
        if let Some(Value::Object(own)) = fields.get("linear_attn_config") {
            return kimi_delta(ConfigFields(own), format);
        }
        Ok(DeltaNet {
            key_heads: fields.count("linear_num_key_heads", HEADS)?,
            key_dim: fields.count("linear_key_head_dim", HEAD_DIM)?,
            value_heads: fields.count("linear_num_value_heads", HEADS)?,
            value_dim: fields.count("linear_value_head_dim", HEAD_DIM)?,
            convolution: fields.count("linear_conv_kernel_dim", HEAD_DIM)?,
            gate_rank: None,
            full_output_gate: true,
            format,
        })
    }

    pub(super) fn mamba(&self, format: Format) -> Result<Mamba2, ModelConfigError> {
        let heads = self.needed(&["mamba_num_heads", "mamba_n_heads"], HEADS)?;
        let groups = self.needed(&["n_groups", "mamba_n_groups"], HEADS)?;
        let state = self.needed(&["ssm_state_size", "mamba_d_state"], HEAD_DIM)?;
        let convolution = self.needed(&["conv_kernel", "mamba_d_conv"], HEAD_DIM)?;
        let head_dim = self.mamba_head_dim(heads)?;
        let inner = heads * head_dim;
        let channels = inner + 2 * groups * state;
        let biased = self.fields.flag("use_conv_bias")?.or(self.fields.flag("mamba_conv_bias")?);
        let taps = convolution + u64::from(biased.unwrap_or(true));
        let projected = match self.fields.flag("mamba_proj_bias")? {
            Some(true) => inner + channels + heads + self.hidden,
            _ => 0,
        };
        Ok(Mamba2 {
            heads,
            head_dim,
            groups,
            state,
            convolution,
            // The convolution; decay, skip and time step of each head; the gated norm.
            vectors: channels * taps + 3 * heads + inner + projected,
            format,
        })
    }

    /// As stated, or the expanded hidden size over the heads, which some configs write as `"auto"`.
    fn mamba_head_dim(&self, heads: u64) -> Result<u64, ModelConfigError> {
        let automatic = self.fields.get("mamba_d_head").is_none_or(Value::is_string);
        let names: &[&'static str] =
            if automatic { &["mamba_head_dim"] } else { &["mamba_head_dim", "mamba_d_head"] };
        if let Some(head_dim) = self.fields.any(names, HEAD_DIM)? {
            return Ok(head_dim);
        }
        let expand = self.needed(&["mamba_expand", "expand"], HEADS)?;
        let head_dim = self.hidden * expand / heads;
        if head_dim * heads == self.hidden * expand && head_dim <= HEAD_DIM.limit {
            return Ok(head_dim);
        }
        Err(ModelConfigError::Contradiction {
            field: "mamba_n_heads",
            value: heads,
            other: "hidden_size",
            other_value: self.hidden,
            rule: "without a head dimension the first must divide the expanded second",
        })
    }

    /// The first of several names that is there; an error names the first.
    fn needed(&self, names: &[&'static str], range: CountRange) -> Result<u64, ModelConfigError> {
        let found = self.fields.any(names, range)?;
        let field = names.first().copied().unwrap_or_default();
        found.ok_or(ModelConfigError::Missing { field, expected: range.expected })
    }
}

/// Kimi delta attention: as many keys as values; the decay of a head's rank, and the output gate too unless it is of full rank.
fn kimi_delta(fields: ConfigFields<'_>, format: Format) -> Result<DeltaNet, ModelConfigError> {
    let heads = fields.count("num_heads", HEADS)?;
    let dim = fields.count("head_dim", HEAD_DIM)?;
    Ok(DeltaNet {
        key_heads: heads,
        key_dim: dim,
        value_heads: heads,
        value_dim: dim,
        convolution: fields.count("short_conv_kernel_size", HEAD_DIM)?,
        gate_rank: Some(dim),
        full_output_gate: fields.flag("use_full_rank_gate")? == Some(true),
        format,
    })
}
