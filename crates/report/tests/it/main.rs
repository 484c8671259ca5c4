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
mod markdown;
#[cfg(feature = "html")]
mod page;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "pictures")]
mod pictures;
mod plan;
mod repeats;
mod requests;
mod sample;
mod schema;
mod sweep;
mod terminal;
mod whatif;
mod window;

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1849), ..Config::default() }
}
