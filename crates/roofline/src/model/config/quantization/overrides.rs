//! Modules that are stored otherwise than the rest, by name: `dynamic` of GPTQModel, `extra_config` of AutoRound.

use serde_json::{Map, Value};

use super::super::super::ModelConfigError;
use super::super::super::fields::{ConfigFields, shown};
use super::Quantization;
use super::methods::{bits, group, integers};
use crate::Format;

/// Patterns that are stored alike.
type ByFormat = Vec<(Format, Vec<String>)>;

const DYNAMIC: &str = "quantization_config.dynamic";
const EXTRA: &str = "quantization_config.extra_config";

/// What either of them is, and each rule in it.
const RULES: &str = "an object with an object for each module or pattern";

/// Regular expressions: behind `-:` for what is not quantised, behind `+:` or nothing for what is quantised in another way
/// (GPTQModel's README, "Dynamic quantization").
pub(super) fn dynamic(
    all: &mut Quantization,
    fields: ConfigFields<'_>,
) -> Result<(), ModelConfigError> {
    let mut others = ByFormat::new();
    let mut kept = Vec::new();
    for (key, scheme) in rules(fields, "dynamic", DYNAMIC)? {
        if let Some(pattern) = key.strip_prefix("-:") {
            kept.push(format!("re:{pattern}"));
        } else if let Some(format) = format_of(all, fields, scheme, DYNAMIC)? {
            let pattern = key.strip_prefix("+:").unwrap_or(key);
            put(&mut others, format, format!("re:{pattern}"));
        }
    }
    // Of rules that fit one module the first holds, and in which order they stood is not known any more.
    if others.len() + usize::from(!kept.is_empty()) > 1 {
        let text = format!(
            "`{DYNAMIC}` has rules of several outcomes, of which the order is not read: what is left alone is taken to be so"
        );
        all.remarks.doubt(format!("`{DYNAMIC}`"), text);
    }
    put_all(all, &others, DYNAMIC);
    all.keep(&strings(&kept), DYNAMIC);
    Ok(())
}

/// Paths of modules, or regular expressions that are found anywhere in them.
pub(super) fn extra(
    all: &mut Quantization,
    fields: ConfigFields<'_>,
) -> Result<(), ModelConfigError> {
    let mut others = ByFormat::new();
    for (key, scheme) in rules(fields, "extra_config", EXTRA)? {
        let Some(format) = format_of(all, fields, scheme, EXTRA)? else { continue };
        let is_expression = key.contains(['*', '+', '?', '^', '$', '(', '[', '{', '|', '\\']);
        let pattern = if is_expression { format!("re:.*(?:{key})") } else { key.clone() };
        put(&mut others, format, pattern);
    }
    put_all(all, &others, EXTRA);
    Ok(())
}

fn rules<'a>(
    fields: ConfigFields<'a>,
    key: &str,
    field: &'static str,
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, ModelConfigError> {
    match fields.get(key) {
        None => Ok(None.into_iter().flatten()),
        Some(Value::Object(rules)) => Ok(Some(rules.iter()).into_iter().flatten()),
        Some(other) => {
            Err(ModelConfigError::Invalid { field, found: shown(other), expected: RULES })
        }
    }
}

/// What a rule sets; none where it sets nothing that is counted, or something that is not understood.
fn format_of(
    all: &mut Quantization,
    fields: ConfigFields<'_>,
    scheme: &Value,
    field: &'static str,
) -> Result<Option<Format>, ModelConfigError> {
    let sizes = ["bits", "group_size", "sym"];
    let Some(scheme) = scheme.as_object() else {
        return Err(ModelConfigError::Invalid { field, found: shown(scheme), expected: RULES });
    };
    if !sizes.iter().any(|name| scheme.get(*name).is_some_and(|value| !value.is_null())) {
        return Ok(None);
    }
    let own = ConfigFields(scheme);
    if own.get("bits").and_then(Value::as_u64).is_some_and(|bits| bits >= 16) {
        return Ok(Some(all.base));
    }
    if !matches!(own.text("data_type"), None | Some("int")) {
        let text =
            format!("`{field}` has a `data_type` other than \"int\", which is not understood");
        all.remarks.doubt(format!("`{field}`"), text);
        return Ok(None);
    }
    let merged = sizes.iter().filter_map(|name| {
        let value = own.get(name).or_else(|| fields.get(name))?;
        Some(((*name).to_owned(), value.clone()))
    });
    let merged: Map<String, Value> = merged.collect();
    let merged = ConfigFields(&merged);
    let symmetric = merged.get("sym") != Some(&Value::Bool(false));
    let group = group(merged, &["group_size"], 128)?;
    Ok(Some(integers(bits(merged, &["bits"])?, group, symmetric)))
}

fn put(all: &mut ByFormat, format: Format, pattern: String) {
    match all.iter_mut().find(|known| known.0 == format) {
        Some(known) => known.1.push(pattern),
        None => all.push((format, vec![pattern])),
    }
}

fn put_all(all: &mut Quantization, rules: &ByFormat, field: &str) {
    for (format, patterns) in rules {
        all.set_patterns(&strings(patterns), *format, field);
    }
}

fn strings(patterns: &[String]) -> Vec<&str> {
    patterns.iter().map(String::as_str).collect()
}
