//! Searches of simulated engines, held against the truth that a fine grid of long levels has.

#[allow(dead_code, reason = "the bench has a use for all of it")]
mod cases;

use cases::{CASES, Case};

/// The bench has 100 seeds of each goal: `cargo xtask bench search`.
#[test]
fn it_finds_the_concurrency_of_a_simulated_engine() {
    let case = Case { requests: 2_000, ..CASES[2] };
    for seed in 0..5 {
        let search = case.found(seed);
        assert!(search.trials().len() <= 12);
        assert!(case.off(&search).abs() <= 0.03, "seed {seed}: {:?}", search.found());
    }
}

#[test]
fn it_finds_the_rate_of_a_simulated_engine() {
    let case = CASES[1];
    for seed in 0..2 {
        let search = case.found(seed);
        assert!(search.trials().len() <= 12);
        assert!(case.off(&search).abs() <= 0.03, "seed {seed}: {:?}", search.found());
    }
}

/// Levels of a minute are too short for an interval of a p99, and the edge comes out several percent off. Then no confidence is
/// claimed.
#[test]
fn short_levels_claim_no_confidence() {
    let case = Case { requests: 1_000, ..CASES[1] };
    for seed in 0..3 {
        let found = case.found(seed).found();
        assert!(!found.has_errors, "seed {seed}: {found:?}");
        let edge = found.edge.unwrap();
        assert!((edge.low()..=edge.high()).contains(&case.truth), "seed {seed}: {found:?}");
    }
}
