//! Fields that describe layers whose formulas this crate does not have. To leave such layers out would be to guess.

use super::super::ModelConfigError;
use super::super::fields::{ConfigFields, shown};
use super::unknown::is_off;

const REFUSED: [(&str, &str); 3] = [
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
];

/// Refuses a config that has one of these fields, by its name.
pub(super) fn check(fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    for (field, reason) in REFUSED {
        if let Some(value) = fields.get(field).filter(|value| !is_off(value))
            && value.as_u64() != Some(1)
        {
            return Err(ModelConfigError::Unsupported { field, found: shown(value), reason });
        }
    }
    Ok(())
}
