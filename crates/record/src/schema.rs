//! The JSON Schemas of the documents, made from the types that write them.

use fizeau_core::Tape;
use fizeau_telemetry::{FleetReport, ForwardPassLine};
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::imported::ImportedDocument;
use crate::shards::ShardDocument;
use crate::{
    AbDocument, CompareDocument, DiagnosisDocument, JsonError, LevelDocument, PlanDocument,
    RunDocument, SearchDocument, SummaryDocument, SweepDocument, WhatIfDocument,
};

/// A document that has a JSON Schema (draft 2020-12).
///
/// ```
/// use fizeau_record::DocumentSchema;
/// let schema = DocumentSchema::Summary.to_json()?;
/// assert!(schema.contains("fizeau.summary/2"));
/// # Ok::<(), fizeau_record::JsonError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentSchema {
    /// `run.json`: what was requested, and from whom.
    Run,
    /// `level.json`: what the level beside it is to be.
    Level,
    /// `shard.json`: one client's part of the level beside it.
    Shard,
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
    /// What `fizeau diagnose --json` prints: why levels are slower than their bounds.
    Diagnosis,
    /// `imported.json`: a level of another tool.
    Imported,
    /// A line of `tapes.jsonl`: one request.
    Tape,
    /// A line of `forward-pass.jsonl`: one step of an engine.
    ForwardPass,
    /// What `fizeau watch --json` prints: what a fleet does now.
    Watch,
}

impl DocumentSchema {
    /// The schema, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for a schema.
    pub fn to_json(self) -> Result<String, JsonError> {
        let mut schema = match self {
            Self::Run => schema_of::<RunDocument>(),
            Self::Level => schema_of::<LevelDocument>(),
            Self::Shard => schema_of::<ShardDocument>(),
            Self::Summary => schema_of::<SummaryDocument>(),
            Self::Sweep => schema_of::<SweepDocument>(),
            Self::Compare => schema_of::<CompareDocument>(),
            Self::Ab => schema_of::<AbDocument>(),
            Self::Search => schema_of::<SearchDocument>(),
            Self::WhatIf => schema_of::<WhatIfDocument>(),
            Self::Plan => schema_of::<PlanDocument>(),
            Self::Diagnosis => schema_of::<DiagnosisDocument>(),
            Self::Imported => schema_of::<ImportedDocument<'_>>(),
            Self::Tape => schema_of::<Tape>(),
            Self::ForwardPass => schema_of::<ForwardPassLine>(),
            Self::Watch => schema_of::<FleetReport>(),
        };
        schema.insert("title".to_owned(), format!("fizeau {}", self.name()).into());
        JsonError::pretty(&schema)
    }
}

fizeau_core::words! {
    /// What its file is called: `summary` of `summary.schema.json`.
    pub DocumentSchema::name, all {
        Run = "run", Level = "level", Shard = "shard", Summary = "summary", Sweep = "sweep", Compare = "compare",
        Ab = "ab", Search = "search", WhatIf = "whatif", Plan = "plan", Diagnosis = "diagnosis",
        Imported = "imported", Tape = "tape", ForwardPass = "forward-pass", Watch = "watch",
    }
}

fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.with_transform(ClosedObjects).into_generator().into_root_schema_for::<T>()
}

/// Under which a schema has alternatives.
const COMBINED: [&str; 3] = ["oneOf", "anyOf", "allOf"];

/// Nothing but the listed fields, so that a field that is forgotten here or there shows; and no formats, which say again
/// what the types say.
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
