//! The JSON Schema of `probe.json`: as it lies in docs/schema, and as what is written keeps to it.

#[path = "../../../report/tests/it/schema/validator.rs"]
mod validator;

use std::path::Path;

use fizeau_core::{Bytes, Millis};
use fizeau_probe::{
    DeviceFacts, Dtype, FleetTable, Measurement, MemoryKernel, Operation, ProbeComparison,
    ProbeDocument, ProbeHost, Provenance, StoreKind, Timing, import_measurements,
};
use serde_json::{Value, json};
use validator::errors;

use crate::import::fixtures;

fn schema() -> Value {
    serde_json::from_str(&ProbeDocument::json_schema()).unwrap()
}

/// `FIZEAU_WRITE_SCHEMAS=1 cargo test -p fizeau-probe --features schema schema` writes them anew.
#[test]
fn the_committed_schemas_are_those_of_the_types() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema"));
    for (name, now) in [
        ("probe", ProbeDocument::json_schema()),
        ("probe-comparison", ProbeComparison::json_schema()),
        ("probe-fleet", FleetTable::json_schema()),
    ] {
        let path = folder.join(format!("{name}.schema.json"));
        if std::env::var_os("FIZEAU_WRITE_SCHEMAS").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == now, "{} is out of date: FIZEAU_WRITE_SCHEMAS=1", path.display());
    }
}

#[test]
fn what_is_made_of_several_keeps_to_its_schema() {
    let both = fixtures().into_iter().take(2).map(|(name, content)| {
        let imported = import_measurements(&content, Some(&name)).unwrap();
        ProbeDocument::of_imports([imported], &name).unwrap()
    });
    let both: Vec<ProbeDocument> = both.collect();
    let alike = [both[0].clone(), both[0].clone(), both[1].clone()];
    let compared = serde_json::to_value(ProbeComparison::of(&both[0], &both[1])).unwrap();
    let fleet = serde_json::to_value(FleetTable::of(&alike)).unwrap();
    for (schema, document) in
        [(ProbeComparison::json_schema(), compared), (FleetTable::json_schema(), fleet)]
    {
        let errors = errors(&serde_json::from_str(&schema).unwrap(), &document);
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

/// Documents of every tool that is read, and one of this crate's own.
fn documents() -> Vec<(String, Value)> {
    let value = |document: &ProbeDocument| serde_json::from_str(&document.to_json()).unwrap();
    let mut all: Vec<(String, Value)> = fixtures()
        .into_iter()
        .map(|(name, content)| {
            let imported = import_measurements(&content, Some(&name)).unwrap();
            let document = ProbeDocument::of_imports([imported], "node").unwrap();
            (name, value(&document))
        })
        .collect();
    let reads = (10..30).map(|power| {
        let bytes = 2_f64.powi(power);
        let (kernel, working_set) = (MemoryKernel::Read, Some(Bytes::new(bytes)));
        let operation = Operation::Memory { kernel, stores: None, working_set };
        let timing = Timing::of_samples(vec![Millis::new(bytes / 1e7); 8], 1);
        let mut seen = Measurement::new("cpu", operation, timing, Provenance::native());
        seen.work = kernel.work(bytes as u64 / 8, Dtype::F64, StoreKind::Ordinary);
        seen
    });
    let host = ProbeHost::named("node");
    let own = ProbeDocument::new(host, vec![DeviceFacts::new("cpu", "a part")], reads.collect());
    assert!(!own.plateaus.is_empty());
    all.push(("own".to_owned(), value(&own)));
    all
}

#[test]
fn what_is_written_keeps_to_the_schema_and_a_strange_field_is_seen() {
    let schema = schema();
    for (name, document) in documents() {
        let found = errors(&schema, &document);
        assert!(found.is_empty(), "{name}: {found:#?}");
        let mut strange = document.clone();
        strange["strange"] = json!(1);
        assert_eq!(errors(&schema, &strange), ["/strange is not allowed"], "{name}");
        let mut strange = document;
        strange["rows"][0]["measured"]["method"]["strange"] = json!(1);
        assert_eq!(errors(&schema, &strange).len(), 1, "{name}");
    }
}
