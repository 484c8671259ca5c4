//! Tests of the public API on a synthetic sweep.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod ab;
mod asked;
mod catalogue;
mod checklist;
mod columns;
mod comparison;
mod decision;
mod digits;
mod exposition;
mod foreign;
mod level;
mod light;
#[cfg(all(feature = "html", feature = "pictures", feature = "probe"))]
mod machine;
mod markdown;
#[cfg(feature = "html")]
mod page;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "html")]
mod peers;
#[cfg(feature = "pictures")]
mod pictures;
mod plan;
mod repeats;
mod requests;
mod sample;
mod schema;
mod sweep;
mod telemetry;
mod terminal;
mod whatif;
mod window;

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1849), ..Config::default() }
}

/// Compares `text` with the golden file of this name; with `FIZEAU_WRITE_PAGES` set it writes the file instead.
fn is_as_golden(name: &str, text: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/golden/").to_owned() + name;
    if std::env::var_os("FIZEAU_WRITE_PAGES").is_some() {
        std::fs::write(path, text).unwrap();
        return;
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap_or_default(), "{name}");
}
