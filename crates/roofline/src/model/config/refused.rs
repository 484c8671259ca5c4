//! Fields that describe layers whose formulas this crate does not have. To leave such layers out would be to guess.

use super::super::ModelConfigError;
use super::super::fields::{ConfigFields, shown};
use super::unknown::is_off;

const REFUSED: [(&str, &str); 8] = [
    // Jamba.
    (
        "attn_layer_period",
        "the layers between those with attention are Mamba-1, which is not known",
    ),
    // DeciLM (Nemotron-NAS).
    ("block_configs", "each layer has blocks of its own there, which are not read"),
    // Llama 3.2 Vision.
    (
        "cross_attention_layers",
        "layers that attend to an image and keep no key a token are not known",
    ),
    // DeepSeek-V4.
    ("compress_ratios", "attention over compressed keys and values is not known"),
    ("o_lora_rank", "attention with an output projection of low rank is not known"),
    // Falcon-H1.
    ("mamba_d_ssm", "layers with Mamba and attention side by side are not known"),
    // Ring-linear.
    (
        "layer_group_size",
        "the layers between those with softmax attention are lightning attention, which is not known",
    ),
    // LongCat.
    (
        "zero_expert_num",
        "experts that compute nothing are not known, nor two attentions in a layer",
    ),
];

/// Models whose layers are none of those that are known, by the type that their configs name.
const TYPES: [&str; 4] = ["mamba", "mamba2", "falcon_mamba", "rwkv"];

/// Refuses a config that has one of these fields, by its name.
pub(super) fn check(fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    if let Some(found) = fields
        .get("model_type")
        .filter(|kind| kind.as_str().is_some_and(|kind| TYPES.contains(&kind)))
    {
        let (field, reason) = ("model_type", "models without attention are not known");
        return Err(ModelConfigError::Unsupported { field, found: shown(found), reason });
    }
    for (field, reason) in REFUSED {
        if let Some(value) = fields.get(field).filter(|value| !is_off(value))
            && value.as_u64() != Some(1)
        {
            return Err(ModelConfigError::Unsupported { field, found: shown(value), reason });
        }
    }
    Ok(())
}
