//! NVIDIA's Model Optimizer, in a `config.json` and in the `hf_quant_config.json` beside it.

use serde_json::Value;

use super::super::super::fields::{ConfigFields, shown};
use super::super::super::{ModelConfigError, TensorClass};
use super::methods::{ListField, group, keep_lists, warn_of_others};
use super::{LINEAR, Quantization, compressed, unsupported};
use crate::{Activations, Format};

const ALGORITHM: &str = "quantization_config.quant_algo";
const LAYERS: &str = "quantization_config.quantized_layers";
const IGNORE: ListField = ("ignore", "quantization_config.ignore");
const EXCLUDED: ListField = ("exclude_modules", "quantization_config.exclude_modules");

pub(super) fn apply(
    all: &mut Quantization,
    fields: ConfigFields<'_>,
) -> Result<(), ModelConfigError> {
    // The file of its own has everything one level down.
    let fields = match fields.get("quantization") {
        Some(Value::Object(inner)) => ConfigFields(inner),
        _ => fields,
    };
    let expected = "an algorithm such as \"FP8\" or \"NVFP4\"";
    let value =
        fields.get("quant_algo").ok_or(ModelConfigError::Missing { field: ALGORITHM, expected })?;
    let size = group(fields, &["group_size"], 128)?;
    if value.as_str().is_some_and(|name| name.eq_ignore_ascii_case("MIXED_PRECISION")) {
        mixed(all, fields)?;
    } else {
        let format = algorithm(value, size)?;
        all.set_classes(&LINEAR, format);
        // The LM head is on the list of those that are left out unless it is quantised.
        all.set_classes(&[TensorClass::Head], format);
    }
    keep_lists(all, fields, &[IGNORE, EXCLUDED])?;
    if let Some(value) = fields.get("kv_cache_quant_algo") {
        all.kv_cache = match value.as_str().map(str::to_uppercase).as_deref() {
            Some("FP8") => Some(Format::Fp8),
            Some("NVFP4") => Some(Format::Nvfp4),
            Some("INT8") => Some(Format::Int8),
            _ => {
                let shown = shown(value);
                all.remarks.doubt("`quantization_config.kv_cache_quant_algo`".to_owned(), format!(
                    "`quantization_config.kv_cache_quant_algo` is {shown}, which is not known here; the cache is \
                     taken to be 16-bit"
                ));
                None
            }
        };
    } else if let Some(value) = fields.get("kv_cache_scheme") {
        all.kv_cache = compressed::kv_cache(all, value);
    }
    let read = [
        "config_groups",
        "exclude_modules",
        "group_size",
        "has_zero_point",
        "ignore",
        "kv_cache_quant_algo",
        "kv_cache_scheme",
        "pre_quant_scale",
        "quant_algo",
        "quantized_layers",
        "targets",
    ];
    warn_of_others(all, fields, &read);
    Ok(())
}

/// Only what is listed is quantised, each module by an algorithm of its own.
fn mixed(all: &mut Quantization, fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    let expected = "an object with a `quant_algo` for each module";
    let layers = match fields.get("quantized_layers") {
        Some(Value::Object(layers)) => layers,
        Some(other) => {
            return Err(ModelConfigError::Invalid { field: LAYERS, found: shown(other), expected });
        }
        None => return Err(ModelConfigError::Missing { field: LAYERS, expected }),
    };
    let mut by_format: Vec<(Format, Vec<&str>)> = Vec::new();
    for (module, scheme) in layers {
        let Value::Object(scheme) = scheme else {
            return Err(ModelConfigError::Invalid {
                field: LAYERS,
                found: shown(scheme),
                expected,
            });
        };
        let scheme = ConfigFields(scheme);
        let value = scheme
            .get("quant_algo")
            .ok_or(ModelConfigError::Missing { field: LAYERS, expected })?;
        let format = algorithm(value, group(scheme, &["group_size"], 128)?)?;
        match by_format.iter_mut().find(|known| known.0 == format) {
            Some(known) => known.1.push(module),
            None => by_format.push((format, vec![module])),
        }
    }
    for (format, modules) in by_format {
        all.set_patterns(&modules, format, LAYERS);
    }
    Ok(())
}

/// The algorithms of Model Optimizer's export (`modelopt.torch.export`), and those of TensorRT-LLM that it feeds.
fn algorithm(value: &Value, group: u32) -> Result<Format, ModelConfigError> {
    let four = Format::Int { bits: 4, group };
    Ok(match value.as_str().map(str::to_uppercase).as_deref() {
        Some("FP8" | "FP8_PER_CHANNEL_PER_TOKEN") => Format::Fp8,
        Some("FP8_PB_WO" | "FP8_PB_REAL" | "FP8_BLOCK_SCALES") => Format::FP8_BLOCK,
        Some("NVFP4" | "NVFP4_AWQ") => Format::Nvfp4,
        Some("W4A8_NVFP4_FP8") => Format::Nvfp4.with_activations(Activations::A8),
        Some("W4A16_NVFP4") => Format::Nvfp4.with_activations(Activations::A16),
        Some("MXFP4" | "W4A8_MXFP4_FP8" | "W4A8_MXFP4_MXFP8") => Format::Mxfp4,
        Some("W4A16_MXFP4") => Format::Mxfp4.with_activations(Activations::A16),
        Some("MXFP8") => Format::Mxfp8,
        Some("W4A16" | "W4A16_AWQ" | "INT4_AWQ" | "W4A16_GPTQ") => four,
        Some("W4A8_AWQ") => four.with_activations(Activations::A8),
        Some("INT8_SQ" | "W8A8_SQ_PER_CHANNEL" | "W8A8_SQ_PER_TENSOR_PLUGIN") => Format::Int8,
        Some("W8A16" | "INT8_WO") => Format::Int { bits: 8, group: 0 },
        _ => {
            let reason = "this algorithm is not known here; known are FP8, FP8_PB_WO, MXFP8, NVFP4, MXFP4, W4A16_AWQ, \
                          W4A8_AWQ, INT8_SQ, W8A16 and MIXED_PRECISION";
            return Err(unsupported(ALGORITHM, value, reason));
        }
    })
}
