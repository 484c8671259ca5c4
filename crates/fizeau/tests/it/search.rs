//! Searches of simulated engines, held against the truth that a fine grid of long levels has.

#[allow(dead_code, reason = "the bench has a use for all of it")]
mod cases;

use cases::{CASES, Case};
use fizeau::core::Nanos;
use fizeau::experiment::{Confirmation, LevelSize};
use fizeau::pareto::SearchEnding;

/// The bench has 100 seeds of each goal: `cargo xtask bench search`.
#[test]
fn it_finds_the_concurrency_of_a_simulated_engine() {
    let case = Case { requests: 2_000, ..CASES[2] };
    for seed in 0..5 {
        let search = case.found(seed);
        assert!(search.trials().len() <= 12);
        assert!(case.off(&search).abs() <= 0.03, "seed {seed}: {:?}", search.result());
    }
}

#[test]
fn it_finds_the_rate_of_a_simulated_engine() {
    let case = CASES[1];
    let search = case.found(0);
    assert!(search.trials().len() <= 12);
    assert!(case.off(&search).abs() <= 0.03, "{:?}", search.result());
}

/// Levels of a minute are too short for an interval of a p99, and the edge comes out several percent off. Then no confidence is
/// claimed.
#[test]
fn short_levels_claim_no_confidence() {
    let case = Case { requests: 1_000, ..CASES[1] };
    for seed in 0..3 {
        let found = case.found(seed).result();
        assert!(!found.has_errors, "seed {seed}: {found:?}");
        let edge = found.edge.unwrap();
        assert!((edge.low()..=edge.high()).contains(&case.truth), "seed {seed}: {found:?}");
    }
}

/// In virtual time: a level in flight at the end of the time may take a little longer.
#[test]
fn a_search_keeps_to_its_budget_and_ends_with_a_load_that_kept_the_goals() {
    for (case, seconds) in [(CASES[0], 60), (CASES[1], 180), (CASES[3], 180), (CASES[4], 30)] {
        let mut spec = case.spec();
        spec.budget = Some(Nanos::from_secs(seconds));
        (spec.confirm, spec.size) = (Some(LevelSize::default()), LevelSize::default());
        let (search, took) = case.searched(spec, 1849);
        let (share, found) = (took.as_secs_f64() / seconds as f64, search.result());
        assert!((0.5..1.05).contains(&share), "{} in {seconds} s: {share}", case.name);
        assert_eq!(found.ending, SearchEnding::OutOfTime, "{}", case.name);
        let load = found.load.unwrap_or_else(|| panic!("{}: {found:?}", case.name));
        assert!((0.3..1.25).contains(&(load / case.truth)), "{}: {load}", case.name);
        if seconds >= 60 {
            let held = matches!(search.confirmation(), Confirmation::Held { .. });
            assert!(held, "{}: {:?}", case.name, search.confirmation());
        }
    }
}
