//! Tests of the crate from outside.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod defects;
mod docs;
mod foreign;
mod peers;
mod peers_agree;
mod peers_links;
mod says;
mod stored;
#[allow(dead_code, reason = "those of fizeau-metrics, which uses more of them")]
#[path = "../../../metrics/tests/it/tapes.rs"]
mod tapes;
mod vllm;
mod vllm_peer;

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1849), ..Config::default() }
}
