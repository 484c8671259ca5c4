//! The JSON Schemas of the documents, made from the types that write them.

use fizeau_core::Tape;
use fizeau_core::schema::document_schema;
use fizeau_telemetry::{FleetReport, ForwardPassLine};

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
            Self::Run => document_schema::<RunDocument>(),
            Self::Level => document_schema::<LevelDocument>(),
            Self::Shard => document_schema::<ShardDocument>(),
            Self::Summary => document_schema::<SummaryDocument>(),
            Self::Sweep => document_schema::<SweepDocument>(),
            Self::Compare => document_schema::<CompareDocument>(),
            Self::Ab => document_schema::<AbDocument>(),
            Self::Search => document_schema::<SearchDocument>(),
            Self::WhatIf => document_schema::<WhatIfDocument>(),
            Self::Plan => document_schema::<PlanDocument>(),
            Self::Diagnosis => document_schema::<DiagnosisDocument>(),
            Self::Imported => document_schema::<ImportedDocument<'_>>(),
            Self::Tape => document_schema::<Tape>(),
            Self::ForwardPass => document_schema::<ForwardPassLine>(),
            Self::Watch => document_schema::<FleetReport>(),
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
