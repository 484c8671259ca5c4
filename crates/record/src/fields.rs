//! A document, leaf by leaf.

mod words;

use std::collections::BTreeMap;

use fizeau_core::Nanos;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[cfg(feature = "schema")]
use crate::Json;

/// The leaves of a document, each under its path (`plan.lengths.input.tokens`), in JSON: so two of them are compared with each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentFields(BTreeMap<String, String>);

/// A field of `run.json` that differs; its values are JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedField {
    /// Its path.
    pub field: String,
    /// What the baseline has there; null if nothing.
    #[serde(with = "as_json")]
    #[cfg_attr(feature = "schema", schemars(with = "Json"))]
    pub baseline: Option<String>,
    /// What the candidate has there.
    #[serde(with = "as_json")]
    #[cfg_attr(feature = "schema", schemars(with = "Json"))]
    pub candidate: Option<String>,
}

/// A text of JSON as the value that it is; what is none goes as text.
mod as_json {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::Json;

    pub(super) fn serialize<S: Serializer>(
        text: &Option<String>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let json = |text: &String| Json::parse(text).unwrap_or_else(|_| text.clone().into());
        text.as_ref().map(json).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<String>, D::Error> {
        Ok(Option::<Json>::deserialize(from)?.map(|json| json.to_string()))
    }
}

impl ChangedField {
    /// What the field is called in a sentence, such as `output length`; its path where it has no name.
    #[must_use]
    pub fn label(&self) -> String {
        words::label(&self.field)
    }

    /// What the baseline and the candidate have there, as a person would write it.
    #[must_use]
    pub fn values(&self) -> [String; 2] {
        let words = |json: &Option<String>| match json.as_deref().map(serde_json::from_str) {
            None | Some(Ok(Value::Null)) => "none".to_owned(),
            Some(Ok(Value::Array(items))) if items.is_empty() => "none".to_owned(),
            Some(Ok(Value::String(text))) => text,
            Some(Ok(Value::Number(number))) => self.quantity(&number),
            Some(_) => json.clone().unwrap_or_default(),
        };
        [words(&self.baseline), words(&self.candidate)]
    }

    /// A number of this field: durations are in milliseconds, and whole ones have no decimals.
    fn quantity(&self, number: &serde_json::Number) -> String {
        let float = number.as_f64().filter(|_| number.is_f64());
        match float {
            Some(ms) if self.field.ends_with("_ms") => Nanos::from_secs_f64(ms / 1e3)
                .map_or_else(|_| number.to_string(), |time| time.to_string()),
            Some(float) => float.to_string(),
            None => number.to_string(),
        }
    }
}

/// Those of `fields` that are worth a line: that a list is empty is said by what stands in the other, and nothing differs for a
/// reader where one document lacks what the other has none of.
pub(crate) fn told(fields: &[ChangedField]) -> impl Iterator<Item = &ChangedField> {
    fields.iter().filter(move |field| {
        let [baseline, candidate] = field.values();
        if baseline == candidate {
            return false;
        }
        let first = format!("{}[0]", field.field);
        !fields.iter().any(|other| other.field == first)
    })
}

impl DocumentFields {
    /// The leaves of `document`; none if it cannot be put into JSON.
    #[must_use]
    pub fn of(document: &impl Serialize) -> Option<Self> {
        let document = serde_json::to_value(document).ok()?;
        let mut fields = BTreeMap::new();
        flatten(String::new(), &document, &mut fields);
        Some(Self(fields))
    }

    /// The value at `path`, in JSON.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// The fields at and below any of `paths` in which this record and `other` differ, in order of their paths.
    #[must_use]
    pub fn differing(&self, other: &Self, paths: &[&str]) -> Vec<ChangedField> {
        let is_below = |field: &str| {
            let below = |path: &&str| {
                let rest = field.strip_prefix(*path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            paths.iter().any(below)
        };
        let mut fields: Vec<&String> = self.0.keys().chain(other.0.keys()).collect();
        fields.sort_unstable();
        fields.dedup();
        let fields = fields.into_iter().filter(|field| is_below(field));
        let pairs = fields.map(|field| (field, self.0.get(field), other.0.get(field)));
        let differing = pairs.filter(|(_, baseline, candidate)| baseline != candidate);
        differing
            .map(|(field, baseline, candidate)| ChangedField {
                field: field.clone(),
                baseline: baseline.cloned(),
                candidate: candidate.cloned(),
            })
            .collect()
    }
}

/// An empty object or list is a leaf.
fn flatten(path: String, value: &Value, leaves: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let dot = if path.is_empty() { "" } else { "." };
            for (name, value) in fields {
                flatten(format!("{path}{dot}{name}"), value, leaves);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                flatten(format!("{path}[{index}]"), value, leaves);
            }
        }
        leaf => drop(leaves.insert(path, leaf.to_string())),
    }
}
