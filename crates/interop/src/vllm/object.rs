//! A JSON object that keeps the order of its keys, for files that people read.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};

/// Keys and values in order; setting a key again keeps its place, as in a Python dictionary.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object(Vec<(Cow<'static, str>, Field)>);

/// A value of an object. Lists of one value a request can be long, and are plain.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Field {
    Value(Value),
    Counts(Vec<u64>),
    Numbers(Vec<f64>),
    Lists(Vec<Vec<f64>>),
    Texts(Vec<String>),
}

impl Object {
    /// The fields of a record that was kept.
    pub(crate) fn kept(record: &str) -> Self {
        let map: Map<String, Value> = serde_json::from_str(record).unwrap_or_default();
        Self(map.into_iter().map(|(key, value)| (key.into(), Field::Value(value))).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn set(&mut self, key: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        self.put(key, Field::Value(value.into()));
    }

    pub(crate) fn put(&mut self, key: impl Into<Cow<'static, str>>, value: Field) {
        let key = key.into();
        match self.0.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = value,
            None => self.0.push((key, value)),
        }
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| &**key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Field> {
        self.0.iter().find(|entry| entry.0 == key).map(|entry| &entry.1)
    }

    /// In JSON, on one line.
    pub(crate) fn to_line(&self) -> String {
        // Nothing in it can fail: keys are texts, and a number that is not finite is null.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// In JSON, with a line for each field.
    pub(crate) fn to_pretty(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// By hand, since its keys keep the order in which vLLM writes them.
impl Serialize for Object {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
