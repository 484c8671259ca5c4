//! The JSON Schemas of a comparison.

use std::collections::BTreeMap;

use fizeau_core::schema::ObjectSchema;
use fizeau_core::{object_schema, written_as};
use schemars::{Schema, SchemaGenerator};

use super::{
    ChangedField, ComparedLevel, ComparedRun, ComparisonReport, ComparisonView, FrontierDistance,
    Row, RunComparison, Table,
};

/// The name and version of the document.
struct SchemaName;

impl schemars::JsonSchema for SchemaName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SchemaName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "string", "const": "fizeau.comparison/1" })
    }
}

object_schema!(ComparisonReport, "Comparison", "Runs, each held against the first.", |o| o
    .field::<SchemaName>("schema")
    .field::<String>("version")
    .field::<ComparedRun>("baseline")
    .field::<Vec<RunComparison>>("comparisons")
    .field::<Vec<String>>("notes"));

object_schema!(RunComparison, "RunComparison", "One run against the baseline.", |o| o
    .field::<ComparedRun>("candidate")
    .field::<Vec<String>>("notes")
    .field::<Vec<ChangedField>>("forced")
    .field::<Vec<ChangedField>>("changed")
    .may_have::<FrontierDistance>("frontier_distance")
    .field::<Vec<ComparedLevel>>("levels"));

object_schema!(
    ChangedField,
    "ChangedField",
    "A field of run.json that differs; its values are JSON.",
    |o| o
        .field::<String>("field")
        .field::<serde_json::Value>("baseline")
        .field::<serde_json::Value>("candidate")
);

object_schema!(ComparedLevel, "ComparedLevel", "One level of both runs.", |o| o
    .field::<String>("name")
    .field::<Vec<String>>("notes")
    .field::<Table<'_>>("comparison"));

written_as!(ComparisonView<'_>, Table<'_>);

object_schema!(
    Table<'_>,
    "ComparisonTable",
    "What differs, how sure that is, and what could have been found. It rests on `rounds`, `paired_requests`, `requests`, or `intervals_alone`.",
    |o| o
        .each(&["rounds", "paired_requests"], ObjectSchema::may_have::<u64>)
        .may_have::<[u64; 2]>("requests")
        .may_have::<bool>("intervals_alone")
        .each(&["alpha", "power", "smallest_change"], ObjectSchema::field::<f64>)
        .field::<u64>("figures_decided")
        .field::<Vec<Row<'_>>>("figures")
);

object_schema!(
    Row<'_>,
    "ComparedFigure",
    "One figure of both sides. `answer` is null with the reason where it was not tested.",
    |o| o
        .each(&["figure", "unit"], ObjectSchema::field::<String>)
        .field::<String>("better")
        .field::<bool>("decided")
        .each(&["baseline", "candidate"], ObjectSchema::field::<Option<f64>>)
        .may_have::<u64>("n")
        .may_have::<f64>("difference")
        .each(
            &["difference_ci", "change_ci", "effect_ci"],
            ObjectSchema::may_have::<Option<[f64; 2]>>
        )
        .each(
            &["change", "p_holm", "effect_size", "detectable", "detectable_change"],
            ObjectSchema::may_have::<Option<f64>>
        )
        .may_have::<BTreeMap<String, f64>>("tests")
        .each(&["decided_by", "effect"], ObjectSchema::may_have::<Option<String>>)
        .or_reason::<String>("answer")
);
