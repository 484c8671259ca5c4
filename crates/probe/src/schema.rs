//! The JSON Schemas of `probe.json` and of what is made of several, from the types that write them.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::comparison::ProbeComparison;
use crate::document::ProbeDocument;
use crate::fleet::FleetTable;

impl ProbeDocument {
    /// The schema of `probe.json` (draft 2020-12), indented, with a newline at its end.
    ///
    /// ```
    /// let schema = fizeau_probe::ProbeDocument::json_schema();
    /// assert!(schema.contains("fizeau.probe/2"));
    /// ```
    #[must_use]
    pub fn json_schema() -> String {
        schema_of::<Self>("fizeau probe")
    }
}

impl ProbeComparison {
    /// The schema of two documents side by side, likewise.
    #[must_use]
    pub fn json_schema() -> String {
        schema_of::<Self>("fizeau probe compare")
    }
}

impl FleetTable {
    /// The schema of a fleet's table, likewise.
    #[must_use]
    pub fn json_schema() -> String {
        schema_of::<Self>("fizeau probe fleet")
    }
}

fn schema_of<T: JsonSchema>(title: &str) -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let generator = settings.with_transform(ClosedObjects).into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    // Only maps with keys that are not text, and writers, can fail.
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// Under which a schema has alternatives.
const COMBINED: [&str; 3] = ["oneOf", "anyOf", "allOf"];

/// Nothing but the listed fields, and no formats, which say again what the types say: the rule of all of Fizeau's schemas.
#[derive(Debug, Clone)]
struct ClosedObjects;

impl Transform for ClosedObjects {
    fn transform(&mut self, schema: &mut Schema) {
        schema.remove("format");
        let is_listed = schema.get("properties").is_some();
        let is_open = schema.get("additionalProperties").is_none();
        if is_listed && is_open && schema.get("unevaluatedProperties").is_none() {
            let is_combined = COMBINED.iter().any(|key| schema.get(*key).is_some());
            let key = if is_combined { "unevaluatedProperties" } else { "additionalProperties" };
            schema.insert(key.to_owned(), false.into());
        }
        transform_subschemas(self, schema);
        // The fields of an alternative stand among those of the whole, which is closed by itself.
        for key in COMBINED.into_iter().filter(|_| is_listed) {
            let branches = schema.get_mut(key).and_then(Value::as_array_mut);
            for branch in branches.into_iter().flatten().filter_map(Value::as_object_mut) {
                branch.remove("additionalProperties");
            }
        }
    }
}
