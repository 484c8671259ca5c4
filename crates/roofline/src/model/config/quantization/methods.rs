//! The dialects of `quantization_config`, by `quant_method`; the longer ones have files of their own.

use serde_json::Value;

use super::super::super::fields::{ConfigFields, shown};
use super::super::super::{ModelConfigError, TensorClass};
use super::super::unknown::is_off;
use super::{
    LINEAR, Quantization, compressed, harmless, mlx, modelopt, overrides, quark, unsupported,
};
use crate::Format;

const METHOD: &str = "quantization_config.quant_method";
const KNOWN: &str = "this quantisation is not known here; known are fp8, fbgemm_fp8, compressed-tensors, modelopt, \
                     mxfp4, mxfp8, awq, gptq, auto-round, bitsandbytes, quark, w8a8_int8, w8a8_fp8 and gguf";

/// A list of modules that keep 16 bits: its key, and its name in a message.
pub(super) type ListField = (&'static str, &'static str);

const IGNORED: ListField = ("ignored_layers", "quantization_config.ignored_layers");
const NOT_CONVERTED: ListField =
    ("modules_to_not_convert", "quantization_config.modules_to_not_convert");
const SKIPPED: ListField = ("llm_int8_skip_modules", "quantization_config.llm_int8_skip_modules");

/// Sets the formats that `fields`, the content of a `quantization_config`, describes.
pub(super) fn apply(
    all: &mut Quantization,
    fields: ConfigFields<'_>,
) -> Result<(), ModelConfigError> {
    let method = match fields.get("quant_method") {
        Some(method) => method,
        // The file that modelopt writes beside a config has no method.
        None if fields.get("quantization").is_some() || fields.get("quant_algo").is_some() => {
            return modelopt::apply(all, fields);
        }
        None if mlx::is_meant(fields) => return mlx::apply(all, fields),
        None => {
            let expected = "the name of a quantiser, such as \"fp8\" or \"compressed-tensors\"";
            return Err(ModelConfigError::Missing { field: METHOD, expected });
        }
    };
    let known = method.as_str().map(|name| name.to_lowercase().replace('_', "-"));
    match known.as_deref().unwrap_or_default() {
        "fp8" | "finegrained-fp8" => fp8(all, fields),
        "fbgemm-fp8" => everywhere(all, fields, Format::Fp8, &["activation_scale_ub"]),
        "w8a8-fp8" => everywhere(all, fields, Format::Fp8, &[]),
        "w8a8-int8" => everywhere(all, fields, Format::Int8, &[]),
        "mxfp8" => everywhere(all, fields, Format::Mxfp8, &["weight_block_size"]),
        "mxfp4" | "gpt-oss-mxfp4" => mxfp4(all, fields),
        "awq" | "awq-marlin" => awq(all, fields),
        "gptq" | "gptq-marlin" => gptq(all, fields),
        "auto-round" | "intel/auto-round" => auto_round(all, fields),
        "bitsandbytes" => bitsandbytes(all, fields),
        "gguf" => gguf(all, fields),
        "compressed-tensors" => compressed::apply(all, fields),
        "quark" => quark::apply(all, fields),
        other if other.starts_with("modelopt") => modelopt::apply(all, fields),
        _ => Err(unsupported(METHOD, method, KNOWN)),
    }
}

/// Warns of every field that is neither among `read` nor harmless.
pub(super) fn warn_of_others(all: &mut Quantization, fields: ConfigFields<'_>, read: &[&str]) {
    for (name, value) in fields.0 {
        if !is_off(value)
            && !read.contains(&name.as_str())
            && !harmless::FIELDS.split_ascii_whitespace().any(|field| field == name.as_str())
        {
            all.remarks.not_understood(&format!("quantization_config.{name}"));
        }
    }
}

/// The strings of a list; none where there is no such field.
pub(super) fn list<'a>(
    fields: ConfigFields<'a>,
    (key, field): ListField,
) -> Result<Vec<&'a str>, ModelConfigError> {
    let Some(value) = fields.get(key) else {
        return Ok(Vec::new());
    };
    let names = value.as_array().map(|names| names.iter().map(Value::as_str).collect());
    names.flatten().ok_or_else(|| ModelConfigError::Invalid {
        field,
        found: shown(value),
        expected: "a list of module names",
    })
}

/// Leaves at 16 bits what these lists name.
pub(super) fn keep_lists(
    all: &mut Quantization,
    fields: ConfigFields<'_>,
    lists: &[ListField],
) -> Result<(), ModelConfigError> {
    for named in lists {
        all.keep(&list(fields, *named)?, named.1);
    }
    Ok(())
}

/// All linear layers in one format, but for the lists of those that are not. The LM head is not among them.
fn everywhere(
    all: &mut Quantization,
    fields: ConfigFields<'_>,
    format: Format,
    read: &[&str],
) -> Result<(), ModelConfigError> {
    all.set_classes(&LINEAR, format);
    keep_lists(all, fields, &[IGNORED, NOT_CONVERTED])?;
    let mut read = read.to_vec();
    read.extend([IGNORED.0, NOT_CONVERTED.0]);
    warn_of_others(all, fields, &read);
    Ok(())
}

/// A scale per tensor, or one per block as DeepSeek-V3 has it.
fn fp8(all: &mut Quantization, fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    let scales_in_8_bits = fields.text("scale_fmt") == Some("ue8m0");
    let format = match fields.get("weight_block_size") {
        None => Format::Fp8,
        Some(value) => match block_size(value)? {
            (1, 32) if scales_in_8_bits => Format::Mxfp8,
            (rows, columns) => Format::Fp8Blocks { rows, columns },
        },
    };
    everywhere(all, fields, format, &["weight_block_size"])
}

fn block_size(value: &Value) -> Result<(u32, u32), ModelConfigError> {
    let side = |value: &Value| u32::try_from(value.as_u64()?).ok().filter(|&side| side > 0);
    let sides = match value.as_array().map(Vec::as_slice) {
        Some([rows, columns]) => side(rows).zip(side(columns)),
        _ => None,
    };
    sides.ok_or_else(|| ModelConfigError::Invalid {
        field: "quantization_config.weight_block_size",
        found: shown(value),
        expected: "two whole numbers from 1, such as [128, 128]",
    })
}

/// As gpt-oss: experts alone (transformers' `Mxfp4Config`, vLLM's `mxfp4`).
fn mxfp4(all: &mut Quantization, fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    all.set_classes(&[TensorClass::Experts], Format::Mxfp4);
    keep_lists(all, fields, &[IGNORED, NOT_CONVERTED])?;
    warn_of_others(all, fields, &[IGNORED.0, NOT_CONVERTED.0, "dequantize"]);
    Ok(())
}

fn awq(all: &mut Quantization, fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    // Older files have the names of AutoAWQ's own configuration.
    let bits = bits(fields, &["bits", "w_bit"])?;
    let group = group(fields, &["group_size", "q_group_size"], 128)?;
    let symmetric = fields.get("zero_point") == Some(&Value::Bool(false));
    let read = ["bits", "w_bit", "group_size", "q_group_size", "zero_point"];
    everywhere(all, fields, integers(bits, group, symmetric), &read)
}

fn gptq(all: &mut Quantization, fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    let bits = bits(fields, &["bits"])?;
    let group = group(fields, &["group_size"], 128)?;
    let symmetric = fields.get("sym") != Some(&Value::Bool(false));
    let format = integers(bits, group, symmetric);
    let read = ["bits", "group_size", "sym", "lm_head", "dynamic"];
    everywhere(all, fields, format, &read)?;
    if fields.get("lm_head") == Some(&Value::Bool(true)) {
        all.set_classes(&[TensorClass::Head], format);
    }
    overrides::dynamic(all, fields)
}

fn auto_round(all: &mut Quantization, fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    let data_type = fields.get("data_type");
    if !matches!(data_type.map(Value::as_str), None | Some(Some("int"))) {
        let value = data_type.unwrap_or(&Value::Null);
        return Err(unsupported("quantization_config.data_type", value, "only \"int\" is known"));
    }
    let bits = bits(fields, &["bits"])?;
    let group = group(fields, &["group_size"], 128)?;
    let symmetric = fields.get("sym") != Some(&Value::Bool(false));
    let mut read = vec!["bits", "group_size", "sym", "data_type", "extra_config"];
    // Activations as they are.
    if fields.get("act_bits").and_then(Value::as_u64) == Some(16) {
        read.push("act_bits");
    }
    everywhere(all, fields, integers(bits, group, symmetric), &read)?;
    overrides::extra(all, fields)
}

/// The documentation of bitsandbytes: 8-bit integers, or 4-bit quantiles with one or two levels of scales.
fn bitsandbytes(all: &mut Quantization, fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    let is = |name: &str| fields.get(name) == Some(&Value::Bool(true));
    let four = is("load_in_4bit") || is("_load_in_4bit");
    let eight = is("load_in_8bit") || is("_load_in_8bit");
    let format = match (four, eight) {
        (true, false) if is("bnb_4bit_use_double_quant") => Format::Nf4Double,
        (true, false) => Format::Nf4,
        (false, true) => Format::Int8,
        _ => {
            let field = "quantization_config.load_in_4bit";
            let expected = "true, or `load_in_8bit`, one of them";
            return Err(ModelConfigError::Missing { field, expected });
        }
    };
    // The list's default keeps the LM head, and so does an absent list.
    all.set_classes(&LINEAR, format);
    keep_lists(all, fields, &[SKIPPED])?;
    let read = [
        SKIPPED.0,
        "_load_in_4bit",
        "_load_in_8bit",
        "load_in_4bit",
        "load_in_8bit",
        "bnb_4bit_use_double_quant",
        "bnb_4bit_quant_type",
        "bnb_4bit_compute_dtype",
        "bnb_4bit_quant_storage",
        "llm_int8_enable_fp32_cpu_offload",
        "llm_int8_has_fp16_weight",
        "llm_int8_threshold",
    ];
    warn_of_others(all, fields, &read);
    Ok(())
}

/// Not of any published config: the file type of a GGUF file, for a config that stands in for one.
fn gguf(all: &mut Quantization, fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    let field = "quantization_config.file_type";
    let expected = "a file type of llama.cpp such as \"Q4_K_M\"";
    let value = fields.get("file_type").ok_or(ModelConfigError::Missing { field, expected })?;
    let invalid = || ModelConfigError::Invalid { field, found: shown(value), expected };
    let kind = value.as_str().and_then(|name| name.parse().ok()).ok_or_else(invalid)?;
    all.set_file_type(kind);
    warn_of_others(all, fields, &["file_type"]);
    Ok(())
}

pub(super) fn integers(bits: u8, group: u32, symmetric: bool) -> Format {
    if symmetric { Format::Int { bits, group } } else { Format::IntZero { bits, group } }
}

pub(super) fn bits(fields: ConfigFields<'_>, names: &[&str]) -> Result<u8, ModelConfigError> {
    let field = "quantization_config.bits";
    let expected = "a whole number from 2 to 8";
    let value = names.iter().find_map(|name| fields.get(name));
    let value = value.ok_or(ModelConfigError::Missing { field, expected })?;
    let bits = value.as_u64().and_then(|bits| u8::try_from(bits).ok());
    bits.filter(|bits| (2..=8).contains(bits)).ok_or_else(|| ModelConfigError::Invalid {
        field,
        found: shown(value),
        expected,
    })
}

/// How many elements share a scale; -1 in a file is a whole channel, and 0 here.
pub(super) fn group(
    fields: ConfigFields<'_>,
    names: &[&str],
    usual: u32,
) -> Result<u32, ModelConfigError> {
    let Some(value) = names.iter().find_map(|name| fields.get(name)) else {
        return Ok(usual);
    };
    match value.as_i64() {
        Some(-1) => Ok(0),
        Some(group @ 1..=65_536) => Ok(u32::try_from(group).unwrap_or(usual)),
        _ => Err(ModelConfigError::Invalid {
            field: "quantization_config.group_size",
            found: shown(value),
            expected: "a whole number from 1 to 65536, or -1 for a whole channel",
        }),
    }
}
