//! AMD's Quark.

use serde_json::Value;

use super::super::super::fields::{Fields, shown};
use super::super::super::{ModelError, TensorClass};
use super::methods::{ListField, group, integers, keep_lists, warn_of_others};
use super::{LINEAR, Quantization, compressed, unsupported};
use crate::Format;

const GLOBAL: &str = "quantization_config.global_quant_config";
const LAYERS: &str = "quantization_config.layer_quant_config";
const WEIGHT: &str = "quantization_config.global_quant_config.weight";
const DTYPE: &str = "quantization_config.global_quant_config.weight.dtype";
const EXCLUDE: ListField = ("exclude", "quantization_config.exclude");

pub(super) fn apply(all: &mut Quantization, fields: Fields<'_>) -> Result<(), ModelError> {
    let expected = "an object with `weight`, an object with a `dtype`";
    let global =
        fields.get("global_quant_config").ok_or(ModelError::Missing { field: GLOBAL, expected })?;
    if let Some(format) = scheme(global)? {
        all.set_classes(&LINEAR, format);
        all.set_classes(&[TensorClass::Head], format);
    }
    match fields.get("layer_quant_config") {
        None => {}
        Some(Value::Object(layers)) => {
            for (pattern, config) in layers {
                if let Some(format) = scheme(config)? {
                    all.set_patterns(&[pattern], format, LAYERS);
                }
            }
        }
        Some(other) => {
            let expected = "an object of module names";
            return Err(ModelError::Invalid { field: LAYERS, found: shown(other), expected });
        }
    }
    keep_lists(all, fields, &[EXCLUDE])?;
    let cache = fields.get("kv_cache_quant_config").and_then(Value::as_object);
    if let Some(tensors) = cache.and_then(|modules| modules.values().next()) {
        all.kv_cache = match tensors.pointer("/output_tensors/dtype").and_then(Value::as_str) {
            Some("fp8_e4m3") => Some(Format::Fp8),
            _ => compressed::kv_cache(all, tensors),
        };
    }
    let read = [
        "algo_config",
        "exclude",
        "export",
        "global_quant_config",
        "kv_cache_group",
        "kv_cache_quant_config",
        "layer_quant_config",
        "quant_mode",
        "softmax_quant_spec",
    ];
    warn_of_others(all, fields, &read);
    Ok(())
}

/// The format of a configuration's weights; none where it leaves them as they are.
fn scheme(config: &Value) -> Result<Option<Format>, ModelError> {
    let weight = match config.get("weight") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(weight)) => Fields(weight),
        Some(other) => {
            return Err(unsupported(WEIGHT, other, "one object with a `dtype` is expected"));
        }
    };
    let size = group(weight, &["group_size"], 0)?;
    let inputs = config.get("input_tensors").is_some_and(|inputs| !inputs.is_null());
    Ok(Some(match weight.get("dtype").and_then(Value::as_str) {
        Some("fp8_e4m3" | "fp8_e5m2") if size == 32 => Format::Mxfp8,
        Some("fp8_e4m3" | "fp8_e5m2") => Format::Fp8,
        Some("fp6_e2m3" | "fp6_e3m2") => Format::Mxfp6,
        Some("fp4" | "mxfp4") if size == 16 => Format::Nvfp4,
        Some("fp4" | "mxfp4") => Format::Mxfp4,
        Some("int8") if inputs => Format::Int8,
        Some("int8") => integers(8, size, true),
        Some("int4") => integers(4, size, true),
        Some("uint4") => integers(4, size, false),
        _ => {
            let found = weight.get("dtype").unwrap_or(&Value::Null);
            let reason = "this type is not known here; known are fp8_e4m3, fp6_e2m3, fp4, int8, int4 and uint4";
            return Err(unsupported(DTYPE, found, reason));
        }
    }))
}
