//! What the tests of several modules have in common.

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
pub(crate) fn cases() -> Config {
    Config { failure_persistence: None, rng_seed: RngSeed::Fixed(1849), ..Config::default() }
}
