//! compressed-tensors, as llm-compressor writes it: groups of modules, each with a scheme.

use serde_json::Value;

use super::super::super::fields::{ConfigFields, shown};
use super::super::super::{ModelConfigError, TensorClass};
use super::methods::{ListField, group, integers, keep_lists, list, warn_of_others};
use super::{LINEAR, Quantization, unsupported};
use crate::{Activations, Format};

const GROUPS: &str = "quantization_config.config_groups";
const WEIGHTS: &str = "quantization_config.config_groups.weights";
const TARGETS: ListField = ("targets", "quantization_config.config_groups.targets");
const SPARSITY: &str = "quantization_config.sparsity_config";
const PACKING: &str = "quantization_config.format";
const IGNORE: ListField = ("ignore", "quantization_config.ignore");

pub(super) fn apply(
    all: &mut Quantization,
    fields: ConfigFields<'_>,
) -> Result<(), ModelConfigError> {
    let expected = "an object of groups, each with `targets` and `weights`";
    let groups = match fields.get("config_groups") {
        Some(Value::Object(groups)) => groups,
        Some(other) => {
            return Err(ModelConfigError::Invalid { field: GROUPS, found: shown(other), expected });
        }
        None => return Err(ModelConfigError::Missing { field: GROUPS, expected }),
    };
    refuse_sparsity(fields)?;
    // Classes of modules first, so that what is named by its path holds whatever the order.
    let mut schemes = Vec::new();
    for value in groups.values() {
        let Value::Object(group) = value else {
            return Err(ModelConfigError::Invalid { field: GROUPS, found: shown(value), expected });
        };
        let group = ConfigFields(group);
        if let Some(format) = scheme(group)? {
            let targets = list(group, TARGETS)?;
            schemes.push((format, targets));
        }
    }
    for (format, targets) in &schemes {
        targets.iter().for_each(|target| by_class(all, target, *format));
    }
    for (format, targets) in &schemes {
        let paths: Vec<&str> = targets.iter().copied().filter(|t| !is_class(t)).collect();
        all.set_patterns(&paths, *format, TARGETS.1);
    }
    keep_lists(all, fields, &[IGNORE])?;
    if let Some(value) = fields.get("kv_cache_scheme") {
        all.kv_cache = kv_cache(all, value);
    }
    let read = [
        "config_groups",
        "format",
        "ignore",
        "kv_cache_scheme",
        "quantization_status",
        "sparsity_config",
    ];
    let more = ["global_compression_ratio"];
    warn_of_others(all, fields, &[&read[..], &more[..]].concat());
    Ok(())
}

/// Whether a target names a class of modules, such as `Linear`, and not modules by their path.
fn is_class(target: &str) -> bool {
    !target.starts_with("re:") && !target.contains('.') && target.starts_with(char::is_uppercase)
}

fn by_class(all: &mut Quantization, target: &str, format: Format) {
    if !is_class(target) {
        return;
    }
    match target {
        // The LM head is a linear layer like others; it stays as it is only where it is ignored.
        "Linear" => {
            all.set_classes(&LINEAR, format);
            all.set_classes(&[TensorClass::Head], format);
        }
        "Embedding" => all.set_classes(&[TensorClass::Embedding], format),
        "FusedMoE" => all.set_classes(&[TensorClass::Experts], format),
        _ if target.ends_with("Attention") => {}
        _ => all.remarks.doubt(
            format!("`{}`", TARGETS.1),
            format!(
                "`{}` names the class \"{target}\", which is not known here; it changes nothing",
                TARGETS.1
            ),
        ),
    }
}

/// The format of a group's weights; none where only activations are quantised.
fn scheme(group_fields: ConfigFields<'_>) -> Result<Option<Format>, ModelConfigError> {
    let weights = match group_fields.get("weights") {
        None => return Ok(None),
        Some(Value::Object(weights)) => ConfigFields(weights),
        Some(other) => return Err(unsupported(WEIGHTS, other, "an object is expected")),
    };
    let activations = group_fields.get("input_activations");
    let bits_of = |fields: ConfigFields<'_>| fields.get("num_bits").and_then(Value::as_u64);
    let kind = weights.get("type").and_then(Value::as_str).unwrap_or("int");
    let bits = bits_of(weights).unwrap_or(8);
    let symmetric = weights.get("symmetric") != Some(&Value::Bool(false));
    let size = group(weights, &["group_size"], 0)?;
    let blocks = weights.get("block_structure").and_then(Value::as_array);
    let stored = match (kind, bits) {
        ("float", 8) => match blocks.map(Vec::as_slice) {
            Some([rows, columns]) => {
                let side = |value: &Value| u32::try_from(value.as_u64()?).ok().filter(|&n| n > 0);
                match (side(rows), side(columns)) {
                    (Some(rows), Some(columns)) => Format::Fp8Blocks { rows, columns },
                    _ => Format::FP8_BLOCK,
                }
            }
            _ if size == 32 => Format::Mxfp8,
            _ => Format::Fp8,
        },
        ("float", 4) if size == 16 => Format::Nvfp4,
        ("float", 4) if size == 32 => Format::Mxfp4,
        ("int", 8) if activations.is_some() => Format::Int8,
        ("int", 2..=8) => integers(u8::try_from(bits).unwrap_or(8), size, symmetric),
        _ => {
            let found = Value::from(format!("{bits}-bit {kind} in groups of {size}"));
            let reason = "known are 8-bit and 4-bit floating point (groups of 16 or 32) and integers of 2 to 8 \
                          bits";
            return Err(unsupported(WEIGHTS, &found, reason));
        }
    };
    Ok(Some(match met_by(activations) {
        Some(activations) if stored != Format::Int8 => stored.with_activations(activations),
        _ => stored,
    }))
}

/// What activations are quantised to: nothing where a scheme has none, which is of the weights alone. None where it is integers.
fn met_by(activations: Option<&Value>) -> Option<Activations> {
    let Some(scheme) = activations else { return Some(Activations::A16) };
    let is_float = scheme.get("type").and_then(Value::as_str) == Some("float");
    match scheme.get("num_bits").and_then(Value::as_u64).filter(|_| is_float)? {
        4 => Some(Activations::A4),
        8 => Some(Activations::A8),
        16 => Some(Activations::A16),
        _ => None,
    }
}

/// A scheme for keys and values, which modelopt and compressed-tensors write alike.
pub(super) fn kv_cache(all: &mut Quantization, scheme: &Value) -> Option<Format> {
    let bits = scheme.get("num_bits").and_then(Value::as_u64);
    match (bits, scheme.get("type").and_then(Value::as_str)) {
        (Some(8), Some("float")) => Some(Format::Fp8),
        (Some(8), Some("int")) => Some(Format::Int8),
        (Some(4), Some("float")) => Some(Format::Nvfp4),
        _ => {
            let shown = shown(scheme);
            all.remarks.doubt("`quantization_config.kv_cache_scheme`".to_owned(), format!(
                "`quantization_config.kv_cache_scheme` is {shown}, which is not known here; the cache is taken to \
                 be 16-bit"
            ));
            None
        }
    }
}

/// Of sparse checkpoints half of the elements are left out, and of those that are left devices multiply twice as many: to
/// count them as dense would make the bound too slow.
fn refuse_sparsity(fields: ConfigFields<'_>) -> Result<(), ModelConfigError> {
    let packed = fields.get("format");
    if let Some(value) = packed.filter(|value| is_sparse(value.as_str())) {
        return Err(unsupported(PACKING, value, "2:4-sparse weights are not known here"));
    }
    match fields.get("sparsity_config") {
        Some(value) if is_sparse(value.get("format").and_then(Value::as_str)) => {
            Err(unsupported(SPARSITY, value, "sparse weights are not known here"))
        }
        _ => Ok(()),
    }
}

/// `marlin-24`, `sparse-24-bitmask`, `sparse-bitmask`.
fn is_sparse(format: Option<&str>) -> bool {
    format.is_some_and(|name| name.contains("24") || name.contains("sparse"))
}
