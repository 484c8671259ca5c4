//! Other tools' files, by the fixtures of `fixtures/foreign` and by tapes.

mod clients;
mod damage;
mod failures;
mod figures;
mod inference_perf;
mod round_trip;
mod sessions;
mod versions;

use fizeau_interop::{ForeignError, ForeignFile, ForeignFormats};
use fizeau_record::ImportedLevel;
use serde_json::Value;

/// A file of `fixtures/foreign`.
fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/foreign");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

/// What is in a file, by whatever form it has.
fn import(name: &str, bytes: &[u8]) -> Result<Vec<ImportedLevel>, ForeignError> {
    ForeignFormats::import(vec![ForeignFile::new(name, bytes)], None)
}

/// The only level in a fixture.
fn level(name: &str) -> ImportedLevel {
    let mut levels = import(name, &fixture(name)).unwrap();
    assert_eq!(levels.len(), 1, "{name}");
    levels.remove(0)
}

/// The record of a fixture, as JSON.
fn record(name: &str) -> Value {
    let text = String::from_utf8(fixture(name)).unwrap().replace("Infinity", "\"inf\"");
    serde_json::from_str(text.lines().collect::<Vec<_>>().join("\n").as_str()).unwrap()
}

/// Equal to within rounding.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}
