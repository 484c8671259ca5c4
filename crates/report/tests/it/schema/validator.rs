//! A validator for as much of JSON Schema (draft 2020-12) as our schemas use. A keyword that it does not know is an error:
//! nothing is passed over.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What is wrong with `document`, each with its place; empty if the schema allows it.
pub(crate) fn errors(schema: &Value, document: &Value) -> Vec<String> {
    let mut check = Check { root: schema, errors: Vec::new() };
    check.value(schema, document, "");
    check.errors
}

struct Check<'a> {
    root: &'a Value,
    errors: Vec<String>,
}

/// Keywords that say nothing of what is allowed.
const REMARKS: [&str; 6] = ["$schema", "$defs", "title", "description", "default", "$id"];

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, at: &str) {
        let Value::Object(keywords) = schema else {
            if schema == &Value::Bool(false) {
                self.error(at, "is not allowed");
            }
            return;
        };
        for (keyword, argument) in keywords {
            self.keyword(keywords, (keyword, argument), value, at);
        }
    }

    fn keyword(
        &mut self,
        all: &Map<String, Value>,
        (keyword, argument): (&str, &Value),
        value: &Value,
        at: &str,
    ) {
        match keyword {
            "$ref" => self.value(&self.resolved(argument), value, at),
            "type" => {
                let names: Vec<&Value> =
                    argument.as_array().map_or_else(|| vec![argument], |a| a.iter().collect());
                if !names.iter().any(|name| is_of(name.as_str().unwrap(), value)) {
                    self.error(at, &format!("is {value}, not {argument}"));
                }
            }
            "const" if argument != value => self.error(at, &format!("is {value}, not {argument}")),
            "enum" if !argument.as_array().unwrap().contains(value) => {
                self.error(at, &format!("is {value}, none of {argument}"));
            }
            "minimum" if value.as_f64().is_some_and(|v| v < argument.as_f64().unwrap()) => {
                self.error(at, &format!("is {value}, below {argument}"));
            }
            "maximum" if value.as_f64().is_some_and(|v| v > argument.as_f64().unwrap()) => {
                self.error(at, &format!("is {value}, above {argument}"));
            }
            "minItems"
                if value
                    .as_array()
                    .is_some_and(|v| (v.len() as u64) < argument.as_u64().unwrap()) =>
            {
                self.error(at, "has too few items");
            }
            "maxItems"
                if value
                    .as_array()
                    .is_some_and(|v| v.len() as u64 > argument.as_u64().unwrap()) =>
            {
                self.error(at, "has too many items");
            }
            "items" => {
                let first = all.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                for (i, item) in value.as_array().into_iter().flatten().enumerate().skip(first) {
                    self.value(argument, item, &format!("{at}/{i}"));
                }
            }
            "prefixItems" => {
                let pairs =
                    value.as_array().into_iter().flatten().zip(argument.as_array().unwrap());
                for (i, (item, schema)) in pairs.enumerate() {
                    self.value(schema, item, &format!("{at}/{i}"));
                }
            }
            "required" => {
                for name in argument.as_array().unwrap() {
                    let name = name.as_str().unwrap();
                    if value.is_object() && value.get(name).is_none() {
                        self.error(at, &format!("lacks {name}"));
                    }
                }
            }
            "properties" => {
                for (name, schema) in argument.as_object().unwrap() {
                    if let Some(field) = value.get(name) {
                        self.value(schema, field, &format!("{at}/{name}"));
                    }
                }
            }
            "additionalProperties" => {
                let own = all.get("properties").and_then(Value::as_object);
                for (name, field) in value.as_object().into_iter().flatten() {
                    if own.is_none_or(|own| !own.contains_key(name)) {
                        self.value(argument, field, &format!("{at}/{name}"));
                    }
                }
            }
            "unevaluatedProperties" => {
                let known = self.evaluated(&Value::Object(all.clone()), value);
                for (name, field) in value.as_object().into_iter().flatten() {
                    if !known.contains(name) {
                        self.value(argument, field, &format!("{at}/{name}"));
                    }
                }
            }
            "anyOf" if !self.allowing(argument, value).iter().any(|fits| *fits) => {
                self.error(at, &format!("is {value}, none of those allowed"));
            }
            "oneOf" if self.allowing(argument, value).iter().filter(|fits| **fits).count() != 1 => {
                self.error(at, &format!("is {value}, not exactly one of those allowed"));
            }
            "allOf" => argument.as_array().unwrap().iter().for_each(|of| self.value(of, value, at)),
            "const" | "enum" | "minimum" | "maximum" | "minItems" | "maxItems" | "anyOf"
            | "oneOf" => {}
            remark if REMARKS.contains(&remark) => {}
            unknown => panic!("{at}: this validator does not know {unknown}"),
        }
    }

    /// Which of `schemas` allow `value`.
    fn allowing(&self, schemas: &Value, value: &Value) -> Vec<bool> {
        let fits = |schema: &Value| {
            let mut check = Check { root: self.root, errors: Vec::new() };
            check.value(schema, value, "");
            check.errors.is_empty()
        };
        schemas.as_array().unwrap().iter().map(fits).collect()
    }

    /// The fields that the schema itself, or a part of it that allows the value, lists.
    fn evaluated(&self, schema: &Value, value: &Value) -> BTreeSet<String> {
        let mut known = BTreeSet::new();
        if let Some(own) = schema.get("properties").and_then(Value::as_object) {
            known.extend(own.keys().cloned());
        }
        if let Some(reference) = schema.get("$ref") {
            known.extend(self.evaluated(&self.resolved(reference), value));
        }
        for keyword in ["oneOf", "anyOf", "allOf"] {
            let Some(parts) = schema.get(keyword) else { continue };
            for (part, fits) in parts.as_array().unwrap().iter().zip(self.allowing(parts, value)) {
                if fits {
                    known.extend(self.evaluated(part, value));
                }
            }
        }
        known
    }

    fn resolved(&self, reference: &Value) -> Value {
        let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
        self.root.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere")).clone()
    }

    fn error(&mut self, at: &str, what: &str) {
        let what: String = what.chars().take(300).collect();
        self.errors.push(format!("{at} {what}"));
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => {
            value.is_u64() || value.is_i64() || value.as_f64().is_some_and(|v| v.fract() == 0.0)
        }
        unknown => panic!("this validator does not know the type {unknown}"),
    }
}
