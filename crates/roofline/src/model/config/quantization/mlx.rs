//! Apple's MLX: `bits` and `group_size` without a method, and modules of their own by path.

use serde_json::Value;

use super::super::super::fields::ConfigFields;
use super::super::super::{ModelConfigError, TensorClass};
use super::methods::{bits, group, warn_of_others};
use super::{LINEAR, Quantization, unsupported};
use crate::Format;

/// What MLX takes beside the layers' matrices: everything that has weights in two dimensions.
const OTHERS: [TensorClass; 3] = [TensorClass::Embedding, TensorClass::Router, TensorClass::Head];

const MODE: &str = "quantization_config.mode";

/// Whether this is how MLX writes it.
pub(super) fn is_meant(fields: ConfigFields<'_>) -> bool {
    fields.get("bits").is_some() && fields.get("group_size").is_some()
}

pub(super) fn apply(
    all: &mut Quantization,
    fields: ConfigFields<'_>,
) -> Result<(), ModelConfigError> {
    let format = scheme(fields)?;
    all.set_classes(&LINEAR, format);
    all.set_classes(&OTHERS, format);
    let mut read = vec!["bits", "group_size", "mode"];
    for (path, value) in fields.0 {
        let own = match value {
            Value::Bool(false) => all.base,
            Value::Object(own) => scheme(ConfigFields(own))?,
            _ => continue,
        };
        all.set_patterns(&[path], own, "quantization_config");
        read.push(path);
    }
    warn_of_others(all, fields, &read);
    Ok(())
}

/// Integers with a scale and a bias for each group, or one of the small floating-point formats.
fn scheme(fields: ConfigFields<'_>) -> Result<Format, ModelConfigError> {
    Ok(match fields.text("mode") {
        None | Some("affine") => {
            let group = group(fields, &["group_size"], 64)?;
            Format::IntBias { bits: bits(fields, &["bits"])?, group }
        }
        Some("mxfp4") => Format::Mxfp4,
        Some("mxfp8") => Format::Mxfp8,
        Some("nvfp4") => Format::Nvfp4,
        _ => {
            let mode = fields.get("mode").unwrap_or(&Value::Null);
            let reason = "this mode is not known here; known are affine, mxfp4, mxfp8 and nvfp4";
            return Err(unsupported(MODE, mode, reason));
        }
    })
}
