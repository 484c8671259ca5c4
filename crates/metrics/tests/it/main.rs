//! Tests of the crate from outside.

mod arrivals;
mod compare;
mod distribution;
mod docs;
mod goodput;
mod histogram;
mod honesty;
mod lengths;
mod level;
mod models;
mod monoid;
mod output;
mod over_time;
mod pooled;
mod precision;
mod probe;
mod request;
mod reread;
mod shape;
mod slo;
mod tally;
mod tapes;
mod thresholds;
mod uncertainty;
mod validity;
mod window;
mod windowed;

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1849), ..Config::default() }
}
