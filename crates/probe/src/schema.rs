//! The JSON Schemas of `probe.json` and of what is made of several, from the types that write them.

use fizeau_core::schema::document_schema;
use schemars::JsonSchema;

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
    let mut schema = document_schema::<T>();
    schema.insert("title".to_owned(), title.into());
    // Only maps with keys that are not text, and writers, can fail.
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
