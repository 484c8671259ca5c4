//! Tests of the public interface.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod answers;
mod bend;
mod capacity;
mod choosing;
mod distance;
mod edge;
mod epsilon;
mod frontier;
mod hypervolume;
mod isotonic;
mod knee;
mod operating;
mod search;
mod tables;
mod tables_frontier;
mod uncertain;

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
pub(crate) fn fixed() -> Config {
    Config { rng_seed: RngSeed::Fixed(1849), failure_persistence: None, ..Config::default() }
}
