//! JSON whose fields are not this crate's to know.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A value of JSON that is kept as it is, the fields of objects in the order of their names: what a plan is made from, what a server was
/// found to be.
///
/// ```
/// use fizeau_record::Json;
///
/// let plan = Json::of(&std::collections::BTreeMap::from([("seed", 7), ("requests", 60)]))?;
/// assert_eq!(plan.get("seed").and_then(Json::whole), Some(7));
/// assert_eq!(plan.without("requests").to_string(), r#"{"seed":7}"#);
/// # Ok::<(), fizeau_record::JsonError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Node);

/// Why something cannot be put into JSON, or read from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JsonError(String);

impl JsonError {
    /// Because of `reason`, in plain words.
    #[must_use]
    pub fn new(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }

    /// `value` in JSON, indented, with a newline at its end.
    pub(crate) fn pretty(value: &impl Serialize) -> Result<String, Self> {
        Ok(serde_json::to_string_pretty(value).map_err(Self::new)? + "\n")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Node {
    Null(()),
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Default for Node {
    fn default() -> Self {
        Self::Null(())
    }
}

impl Json {
    /// What `value` is in JSON.
    ///
    /// # Errors
    /// If it cannot be put into JSON.
    pub fn of(value: &impl Serialize) -> Result<Self, JsonError> {
        let value = serde_json::to_value(value).map_err(JsonError::new)?;
        serde_json::from_value(value).map_err(JsonError::new)
    }

    /// The value of a text of JSON.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        serde_json::from_str(text).map_err(JsonError::new)
    }

    /// What it is as a `T`; none where it is none.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_value(serde_json::to_value(self).ok()?).ok()
    }

    /// The field of that name; none of what is no object, or has no such field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match &self.0 {
            Node::Object(fields) => fields.get(name),
            _ => None,
        }
    }

    /// The text that it is.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.0 {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number that it is.
    #[must_use]
    pub fn whole(&self) -> Option<u64> {
        match &self.0 {
            Node::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// Whether it is an object or a list of nothing, or null.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Node::Null(()) => true,
            Node::List(list) => list.is_empty(),
            Node::Object(fields) => fields.is_empty(),
            _ => false,
        }
    }

    /// The same without the field of that name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        if let Node::Object(fields) = &mut self.0 {
            fields.remove(name);
        }
        self
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self(Node::Text(text))
    }
}

impl fmt::Display for Json {
    /// In one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}
