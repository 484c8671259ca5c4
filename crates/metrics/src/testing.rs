//! What the tests of several modules have in common.

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
pub(crate) fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1849), ..Config::default() }
}
