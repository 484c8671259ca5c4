//! The JSON Schemas: as they lie in docs/schema, and as what is written keeps to them.

mod validator;

use std::path::PathBuf;

use fizeau_core::LoadKind;
use fizeau_record::{DocumentSchema, SweepEnding, Unmeasured};
use serde_json::{Value, json};

use crate::sample;
use validator::errors;

/// Where the schema lies.
fn path(of: DocumentSchema) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema");
    PathBuf::from(folder).join(format!("{}.schema.json", of.name()))
}

fn schema(of: DocumentSchema) -> Value {
    serde_json::from_str(&of.to_json().unwrap()).unwrap()
}

/// Each schema with documents that keep to it.
fn documents() -> Vec<(DocumentSchema, Value)> {
    let value = |document: String| -> Value { serde_json::from_str(&document).unwrap() };
    let sweep = sample::sweep();
    let reason = Some("more load would pay no more".to_owned());
    let unmeasured = Unmeasured::never(LoadKind::Concurrency.at(256.0), reason);
    let more = sample::sweep().with_unmeasured(vec![unmeasured]);
    let more = more.with_ending(SweepEnding::Interrupted);
    let mut all = vec![
        (DocumentSchema::Sweep, value(more.to_json().unwrap())),
        (DocumentSchema::Sweep, value(sweep.to_json().unwrap())),
        (DocumentSchema::Compare, value(crate::comparison::report().to_json().unwrap())),
        (DocumentSchema::Ab, value(crate::ab::report().to_json().unwrap())),
        (DocumentSchema::WhatIf, value(crate::whatif::report().to_json().unwrap())),
        (DocumentSchema::Plan, value(crate::plan::sample().to_json().unwrap())),
    ];
    let levels = sweep.levels().iter();
    all.extend(levels.map(|level| (DocumentSchema::Summary, value(level.to_json().unwrap()))));
    let tapes = sample::tapes(32).into_iter();
    all.extend(tapes.map(|tape| (DocumentSchema::Tape, serde_json::to_value(tape).unwrap())));
    all
}

/// `FIZEAU_WRITE_SCHEMAS=1 cargo test -p fizeau-report --features schema schema` writes them anew.
#[test]
fn the_committed_schemas_are_those_of_the_types() {
    for of in DocumentSchema::ALL {
        let (path, now) = (path(of), of.to_json().unwrap());
        if std::env::var_os("FIZEAU_WRITE_SCHEMAS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &now).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == now, "{} is out of date: FIZEAU_WRITE_SCHEMAS=1", path.display());
    }
}

#[test]
fn what_is_written_keeps_to_its_schema() {
    for (of, document) in documents() {
        let errors = errors(&schema(of), &document);
        assert!(errors.is_empty(), "{of:?}: {errors:#?}");
    }
}

/// Stored runs, those of other tools and those that were merged or interrupted among them.
#[test]
fn what_is_stored_keeps_to_its_schema() {
    use DocumentSchema::{Ab, Imported, Level, Run, Search, Summary, Sweep, WhatIf};

    let runs = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs"));
    let schemas: Vec<_> =
        DocumentSchema::ALL.iter().map(|&of| (of, schema(of), of.name())).collect();
    let (mut folders, mut kept) = (vec![runs], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_of =
                |name: &str| path.file_name().is_some_and(|file| file == &*format!("{name}.json"));
            let Some((of, schema, _)) = schemas.iter().find(|(.., name)| is_of(name)) else {
                continue;
            };
            let document = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let errors = errors(schema, &document);
            assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
            kept.push(*of);
        }
    }
    for of in [Ab, Imported, Level, Run, Search, Summary, Sweep, WhatIf] {
        assert!(kept.contains(&of), "no {of:?} is stored");
    }
}

/// Nor would a field that nobody lists, or one less, go unseen, wherever it is.
#[test]
fn a_field_more_or_less_is_seen() {
    for (of, document) in documents() {
        if of == DocumentSchema::Tape || of == DocumentSchema::Summary {
            continue;
        }
        let schema = schema(of);
        let mut strange = document.clone();
        strange.as_object_mut().unwrap().insert("strange".to_owned(), json!(1));
        assert_eq!(errors(&schema, &strange), ["/strange is not allowed"], "{of:?}");
        for name in document.as_object().unwrap().keys() {
            let mut less = document.clone();
            less.as_object_mut().unwrap().remove(name);
            let is_seen = !errors(&schema, &less).is_empty();
            assert!(is_seen || !is_required(&schema, name), "{of:?}: {name}");
        }
    }
    let (schema, mut summary) = (schema(DocumentSchema::Summary), first(DocumentSchema::Summary));
    summary["metrics"]["ttft_ms"]["p98"] = json!(1.0);
    summary["throughput"]["requests_per_s"] = json!("12");
    summary["validity"]["verdict"] = json!("splendid");
    assert_eq!(errors(&schema, &summary).len(), 3, "{:?}", errors(&schema, &summary));
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().unwrap().contains(&json!(name))
}

fn first(of: DocumentSchema) -> Value {
    documents().into_iter().find(|(other, _)| *other == of).unwrap().1
}
