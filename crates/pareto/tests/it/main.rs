//! Tests of the public interface.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod contribution;
mod frontier;
mod hypervolume;
mod knee;
mod operating;

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
pub(crate) fn fixed() -> Config {
    Config { rng_seed: RngSeed::Fixed(1849), failure_persistence: None, ..Config::default() }
}
