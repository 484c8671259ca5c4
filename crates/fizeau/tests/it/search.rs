//! Searches of simulated engines, held against the truth that a fine grid of long levels has.

#[allow(dead_code, reason = "the bench has a use for all of it")]
mod cases;

use cases::CASES;

/// The bench has 100 seeds of each goal and the usual length of levels: `cargo xtask bench search`.
#[test]
fn it_finds_the_concurrency_of_a_simulated_engine() {
    let case = cases::Case { requests: 2_000, ..CASES[2] };
    for seed in 0..5 {
        let search = case.found(seed);
        assert!(search.trials().len() <= 12);
        assert!(case.off(&search).abs() <= 0.03, "seed {seed}: {:?}", search.found());
    }
}
