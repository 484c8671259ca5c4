use fizeau_pareto::{StepRule, knee};
use proptest::prelude::*;

/// A server of eight slots, one second a request: throughput stands still past eight, latency grows with the load.
fn eight_slots(load: f64) -> [f64; 2] {
    [load.min(8.0), (load / 8.0).max(1.0)]
}

#[test]
fn the_knee_of_eight_slots_is_at_eight() {
    let levels: Vec<[f64; 2]> =
        [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].into_iter().map(eight_slots).collect();
    let knee = knee(&levels, StepRule::KNEE).unwrap();
    assert_eq!((knee.at, knee.beyond, knee.gain, knee.cost), (3, 4, 0.0, 2.0));
}

#[test]
fn fine_steps_do_not_hide_the_knee() {
    let levels: Vec<[f64; 2]> = (4..=16).map(f64::from).map(eight_slots).collect();
    let knee = knee(&levels, StepRule::KNEE).unwrap();
    // Each step past eight costs an eighth more; 13 is the first at over 1.5 times.
    assert_eq!((knee.at, knee.beyond), (4, 9));
}

#[test]
fn a_dip_that_is_made_good_later_is_no_knee() {
    // A real engine's sweep: 4 in flight were slower than 2, and 8 faster than both.
    let levels =
        [[1.34, 815.0], [1.44, 1_929.0], [1.19, 3_828.0], [1.83, 4_494.0], [1.90, 8_584.0]];
    assert_eq!(knee(&levels, StepRule::KNEE).map(|knee| knee.at), Some(3));
}

#[test]
fn a_level_that_loses_throughput_is_past_the_knee() {
    let found = knee(&[[10.0, 1.0], [9.0, 3.0]], StepRule::KNEE).unwrap();
    assert_eq!(found.at, 0);
    assert!(found.gain < 0.0);
}

#[test]
fn where_every_step_pays_there_is_no_knee() {
    assert_eq!(knee(&[[1.0, 1.0], [2.0, 4.0], [4.0, 16.0]], StepRule::KNEE), None);
    assert_eq!(knee(&[[1.0, 1.0], [1.01, 1.4]], StepRule::KNEE), None, "latency hardly grew");
    assert_eq!(knee(&[], StepRule::KNEE), None);
    assert_eq!(knee(&[[1.0, 1.0]], StepRule::KNEE), None);
}

#[test]
fn what_cannot_be_compared_is_no_knee() {
    for odd in [f64::NAN, 0.0, -1.0] {
        assert_eq!(knee(&[[odd, 1.0], [1.0, 9.0]], StepRule::KNEE), None);
        assert_eq!(knee(&[[1.0, 1.0], [1.0, odd]], StepRule::KNEE), None);
        let around = knee(&[[1.0, 1.0], [odd, 2.0], [1.0, 3.0]], StepRule::KNEE).unwrap();
        assert_eq!((around.at, around.beyond), (0, 2));
    }
}

proptest! {
    #[test]
    fn units_do_not_matter(
        levels in prop::collection::vec([0.1f64..100.0, 0.1f64..100.0], 0..12),
        exponent in -8i32..8,
    ) {
        // A power of two scales without rounding, so the answer must be the very same.
        let scale = f64::from(exponent).exp2();
        let scaled: Vec<[f64; 2]> = levels.iter().map(|[a, b]| [a * scale, b / scale]).collect();
        let rule = StepRule::KNEE;
        prop_assert_eq!(knee(&levels, rule), knee(&scaled, rule));
    }
}
