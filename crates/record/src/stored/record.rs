//! `run.json`, field by field.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::StoredError;

/// The schema of the documents that can be read.
const SCHEMA: &str = "fizeau.run/1";

/// The schema of the tapes that can be read, which `run.json` names. One that does not is from before there were others.
const TAPES: &str = "fizeau.tapes/1";

/// What a document has for its readers alone.
const HEAD: [&str; 2] = ["schema", "version"];

/// What was asked of a run: the leaves of its `run.json`, each under its path (`plan.lengths.input.tokens`), in JSON. A
/// level's `summary.json` is read in the same way ([`StoredLevel::summary`](super::StoredLevel::summary)).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunRecord(BTreeMap<String, String>);

/// A field in which two runs differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differing {
    /// Its path.
    pub field: String,
    /// What one has there, in JSON; absent if it has nothing.
    pub one: Option<String>,
    /// What the other has there.
    pub other: Option<String>,
}

impl RunRecord {
    pub(super) fn read(path: &Path) -> Result<Self, StoredError> {
        let record = Self::of(path, SCHEMA)?;
        match record.text("tapes_schema") {
            Some(found) if found != TAPES => {
                Err(StoredError::Schema { path: path.to_path_buf(), found, reads: TAPES })
            }
            _ => Ok(record),
        }
    }

    /// The leaves of a document of `schema`.
    pub(super) fn of(path: &Path, schema: &'static str) -> Result<Self, StoredError> {
        let text = fs::read(path).map_err(StoredError::io(path))?;
        let document: Value = serde_json::from_slice(&text)
            .map_err(|error| StoredError::Document { path: path.to_path_buf(), error })?;
        let found = document.get("schema").and_then(Value::as_str).unwrap_or_default();
        if found != schema {
            let (path, found) = (path.to_path_buf(), found.to_owned());
            return Err(StoredError::Schema { path, found, reads: schema });
        }
        let mut fields = BTreeMap::new();
        flatten(String::new(), &document, &mut fields);
        Ok(Self(fields))
    }

    /// The leaves of a document that is at hand; none if it cannot be put into JSON.
    #[must_use]
    pub fn describing(document: &impl Serialize) -> Option<Self> {
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

    /// The whole number at `path`; none if there is nothing, or no such number.
    #[must_use]
    pub fn whole(&self, path: &str) -> Option<u64> {
        serde_json::from_str(self.get(path)?).ok()
    }

    /// The number at `path`; none if there is nothing, or no number.
    #[must_use]
    pub fn number(&self, path: &str) -> Option<f64> {
        serde_json::from_str(self.get(path)?).ok()
    }

    /// The texts of the list at `path`, in their order; none of them if there is no list, or one of other things.
    #[must_use]
    pub fn texts(&self, path: &str) -> Vec<String> {
        (0..).map_while(|index| self.text(&format!("{path}[{index}]"))).collect()
    }

    /// The text at `path`; none if there is nothing, or no text.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        serde_json::from_str(self.get(path)?).ok()
    }

    /// The same with what is at and below `from` put where `to` is, in place of what is there.
    #[must_use]
    pub fn moved(&self, from: &str, to: &str) -> Self {
        let below = |field: &str, path: &str| -> Option<String> {
            let rest = field.strip_prefix(path)?;
            (rest.is_empty() || rest.starts_with(['.', '['])).then(|| rest.to_owned())
        };
        let stays = self.0.iter().filter(|(field, _)| below(field, to).is_none());
        let stays = stays.map(|(field, value)| (field.clone(), value.clone()));
        let moves = self.0.iter().filter_map(|(field, value)| {
            Some((format!("{to}{}", below(field, from)?), value.clone()))
        });
        Self(stays.chain(moves).collect())
    }

    /// How many levels it plans.
    #[must_use]
    pub fn levels(&self) -> usize {
        let is_there = |k: &usize| self.get(&format!("levels[{k}].requests")).is_some();
        (0..).take_while(is_there).count()
    }

    /// The same with `other` at `path`, in place of what is there.
    pub(super) fn with(mut self, path: &str, other: &Self) -> Self {
        let below = format!("{path}.");
        self.0.retain(|field, _| !field.starts_with(&below));
        let fields = other.0.iter().filter(|(field, _)| !HEAD.contains(&field.as_str()));
        self.0.extend(fields.map(|(field, value)| (below.clone() + field, value.clone())));
        self
    }

    /// The fields at and below any of `paths` in which this record and `other` differ, in order of their paths.
    #[must_use]
    pub fn differing(&self, other: &Self, paths: &[&str]) -> Vec<Differing> {
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
        let differing = pairs.filter(|(_, one, other)| one != other);
        differing
            .map(|(field, one, other)| Differing {
                field: field.clone(),
                one: one.cloned(),
                other: other.cloned(),
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
