//! AMD's Quark.

use serde_json::Value;

use super::super::super::fields::{ConfigFields, shown};
use super::super::super::{ModelConfigError, TensorClass};
use super::methods::{ListField, group, integers, keep_lists, warn_of_others};
use super::{LINEAR, Quantization, unsupported};
use crate::{Activations, Format};

const GLOBAL: &str = "quantization_config.global_quant_config";
const LAYERS: &str = "quantization_config.layer_quant_config";
const CACHE: &str = "quantization_config.kv_cache_quant_config";
const WEIGHT: &str = "quantization_config.global_quant_config.weight";
const DTYPE: &str = "quantization_config.global_quant_config.weight.dtype";
const EXCLUDE: ListField = ("exclude", "quantization_config.exclude");

pub(super) fn apply(
    all: &mut Quantization,
    fields: ConfigFields<'_>,
) -> Result<(), ModelConfigError> {
    let expected = "an object with `weight`, an object with a `dtype`";
    let global = fields
        .get("global_quant_config")
        .ok_or(ModelConfigError::Missing { field: GLOBAL, expected })?;
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
            return Err(ModelConfigError::Invalid { field: LAYERS, found: shown(other), expected });
        }
    }
    keep_lists(all, fields, &[EXCLUDE])?;
    all.kv_cache = kv_cache(all, fields, global);
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

/// Keys and values are kept as the outputs of their projections are quantised. Which projections those are stands in
/// one list or the other, by the age of the file; files of today have `kv_cache_quant_config`, of modules or alone.
fn kv_cache(all: &mut Quantization, fields: ConfigFields<'_>, global: &Value) -> Option<Format> {
    let mut found = Vec::new();
    if let Some(cache @ Value::Object(modules)) = fields.get("kv_cache_quant_config") {
        if cache.get("dtype").is_some() {
            found.push((CACHE, cache));
        } else {
            found.extend(modules.values().filter_map(outputs).map(|tensors| (CACHE, tensors)));
        }
    }
    let is_cache = |name: &str| {
        ["k_proj", "v_proj", "qkv_proj", "kv_b_proj"].iter().any(|end| name.ends_with(end))
    };
    if let Some(Value::Object(layers)) = fields.get("layer_quant_config") {
        let named = layers.iter().filter(|(name, _)| is_cache(name));
        found.extend(
            named.filter_map(|(_, config)| outputs(config)).map(|tensors| (LAYERS, tensors)),
        );
    }
    let groups = [
        fields.get("kv_cache_group"),
        fields.get("export").and_then(|to| to.get("kv_cache_group")),
    ];
    let grouped =
        groups.into_iter().flatten().filter_map(Value::as_array).any(|list| !list.is_empty());
    if let Some(tensors) = outputs(global).filter(|_| grouped) {
        found.push((GLOBAL, tensors));
    }
    let Some((field, tensors)) = found.into_iter().next() else {
        if grouped {
            let list = "quantization_config.kv_cache_group";
            all.remarks.doubt(
                format!("`{list}`"),
                format!("`{list}` is given, but no format for it; the cache is taken to be 16-bit"),
            );
        }
        return None;
    };
    match tensors.get("dtype").and_then(Value::as_str) {
        Some("fp8_e4m3" | "fp8_e5m2") => Some(Format::Fp8),
        Some("int8") => Some(Format::Int8),
        _ => {
            all.remarks.doubt(format!("`{field}`"), format!(
                "`{field}` has {} for keys and values, which is not known here; the cache is taken to be 16-bit",
                shown(tensors)
            ));
            None
        }
    }
}

fn outputs(config: &Value) -> Option<&Value> {
    config.get("output_tensors").filter(|tensors| tensors.is_object())
}

/// The format of a configuration's weights; none where it leaves them as they are.
fn scheme(config: &Value) -> Result<Option<Format>, ModelConfigError> {
    let weight = match config.get("weight") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(weight)) => ConfigFields(weight),
        Some(other) => {
            return Err(unsupported(WEIGHT, other, "one object with a `dtype` is expected"));
        }
    };
    let size = group(weight, &["group_size"], 0)?;
    let inputs = config.get("input_tensors").filter(|inputs| !inputs.is_null());
    let stored = match weight.get("dtype").and_then(Value::as_str) {
        Some("fp8_e4m3" | "fp8_e5m2") if size == 32 => Format::Mxfp8,
        Some("fp8_e4m3" | "fp8_e5m2") => Format::Fp8,
        Some("fp6_e2m3" | "fp6_e3m2") => Format::Mxfp6,
        Some("fp4" | "mxfp4") if size == 16 => Format::Nvfp4,
        Some("fp4" | "mxfp4") => Format::Mxfp4,
        Some("int8") if inputs.is_some() => Format::Int8,
        Some("int8") => integers(8, size, true),
        Some("int4") => integers(4, size, true),
        Some("uint4") => integers(4, size, false),
        _ => {
            let found = weight.get("dtype").unwrap_or(&Value::Null);
            let reason = "this type is not known here; known are fp8_e4m3, fp6_e2m3, fp4, int8, int4 and uint4";
            return Err(unsupported(DTYPE, found, reason));
        }
    };
    Ok(Some(match met_by(inputs) {
        Some(activations) if stored != Format::Int8 => stored.with_activations(activations),
        _ => stored,
    }))
}

/// What inputs are quantised to: nothing where a configuration has none. None where it is another type.
fn met_by(inputs: Option<&Value>) -> Option<Activations> {
    let Some(inputs) = inputs else { return Some(Activations::A16) };
    match inputs.get("dtype").and_then(Value::as_str) {
        Some("fp4" | "mxfp4") => Some(Activations::A4),
        Some("fp8_e4m3" | "fp8_e5m2") => Some(Activations::A8),
        _ => None,
    }
}
