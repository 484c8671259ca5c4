//! A JSON object that keeps the order of its keys, for files that people read.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};

/// Keys and values in order; setting a key again keeps its place, as in a Python dictionary.
#[derive(Debug, Clone, Default)]
pub(super) struct Object(Vec<(String, Value)>);

impl Object {
    /// The fields of a record that is at hand.
    pub(super) fn of(map: Map<String, Value>) -> Self {
        Self(map.into_iter().collect())
    }

    pub(super) fn set(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = value,
            None => self.0.push((key, value)),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(String, Value)> {
        self.0.iter()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|entry| entry.0 == key).map(|entry| &entry.1)
    }

    /// In JSON, on one line.
    pub(super) fn to_line(&self) -> String {
        // Nothing in it can fail: keys are texts, and a `Value` has only finite numbers.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// In JSON, with a line for each field.
    pub(super) fn to_pretty(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl From<Vec<(String, Value)>> for Object {
    fn from(fields: Vec<(String, Value)>) -> Self {
        Self(fields)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
