//! What is shown of other tools' results, by the fixtures of `fixtures/foreign`.

mod shown;
mod unseen;

use fizeau_interop::{ForeignError, ForeignFile, ForeignFormats};
use fizeau_record::ImportedLevel;

/// A file of `fixtures/foreign`.
fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/foreign");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

/// What is in a file, by whatever form it has.
fn import(name: &str, bytes: &[u8]) -> Result<Vec<ImportedLevel>, ForeignError> {
    ForeignFormats::import(vec![ForeignFile::new(name, bytes)], None)
}
