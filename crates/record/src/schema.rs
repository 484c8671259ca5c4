//! The JSON Schemas of the documents, made from the types that write them.

use fizeau_core::Tape;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};

use crate::{
    AbReport, ComparisonReport, LevelDocument, LevelReport, PlanReport, RunDocument, SearchReport,
    SweepReport, WhatIf,
};

/// A document that has a JSON Schema (draft 2020-12).
///
/// ```
/// use fizeau_record::DocumentSchema;
/// let schema = DocumentSchema::Summary.to_json()?;
/// assert!(schema.contains("fizeau.summary/1"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentSchema {
    /// `run.json`: what was asked, of whom.
    Run,
    /// `level.json`: what the level beside it is to be.
    Level,
    /// `summary.json`: one level.
    Summary,
    /// `sweep.json`: levels side by side.
    Sweep,
    /// What `fizeau compare --json` prints: runs against a baseline.
    Compare,
    /// `ab.json`: two endpoints in turns.
    Ab,
    /// `search.json`: the highest load within goals.
    Search,
    /// `whatif.json`: several configurations side by side.
    WhatIf,
    /// What `fizeau plan --json` prints.
    Plan,
    /// A line of `tapes.jsonl`: one request.
    Tape,
}

impl DocumentSchema {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Run,
        Self::Level,
        Self::Summary,
        Self::Sweep,
        Self::Compare,
        Self::Ab,
        Self::Search,
        Self::WhatIf,
        Self::Plan,
        Self::Tape,
    ];

    /// What its file is called: `summary` of `summary.schema.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Level => "level",
            Self::Summary => "summary",
            Self::Sweep => "sweep",
            Self::Compare => "compare",
            Self::Ab => "ab",
            Self::Search => "search",
            Self::WhatIf => "whatif",
            Self::Plan => "plan",
            Self::Tape => "tape",
        }
    }

    /// The schema, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for a schema.
    pub fn to_json(self) -> Result<String, serde_json::Error> {
        let mut schema = match self {
            Self::Run => schema_of::<RunDocument>(),
            Self::Level => schema_of::<LevelDocument>(),
            Self::Summary => schema_of::<LevelReport>(),
            Self::Sweep => schema_of::<SweepReport>(),
            Self::Compare => schema_of::<ComparisonReport>(),
            Self::Ab => schema_of::<AbReport>(),
            Self::Search => schema_of::<SearchReport>(),
            Self::WhatIf => schema_of::<WhatIf>(),
            Self::Plan => schema_of::<PlanReport>(),
            Self::Tape => schema_of::<Tape>(),
        };
        schema.insert("title".to_owned(), format!("fizeau {}", self.name()).into());
        serde_json::to_string_pretty(&schema).map(|text| text + "\n")
    }
}

fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.with_transform(Closed).into_generator().into_root_schema_for::<T>()
}

/// Nothing but the listed fields, so that a field that is forgotten here or there shows; and no formats, which say again
/// what the types say.
#[derive(Debug, Clone)]
struct Closed;

impl Transform for Closed {
    fn transform(&mut self, schema: &mut Schema) {
        schema.remove("format");
        let is_listed = schema.get("properties").is_some();
        let is_open = schema.get("additionalProperties").is_none();
        if is_listed && is_open && schema.get("unevaluatedProperties").is_none() {
            let is_combined =
                ["oneOf", "anyOf", "allOf"].iter().any(|key| schema.get(*key).is_some());
            let key = if is_combined { "unevaluatedProperties" } else { "additionalProperties" };
            schema.insert(key.to_owned(), false.into());
        }
        transform_subschemas(self, schema);
    }
}
