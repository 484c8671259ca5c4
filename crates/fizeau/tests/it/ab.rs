//! A/B runs from end to end, in virtual time: how often a difference is seen where there is none, and where there is one.
//! `cargo xtask bench false-alarms` counts runs of the whole size.

mod counts;
mod weather;

use fizeau::experiment::AbTurn;
use fizeau::metrics::{ComparisonAnswer, LevelFigure};

use counts::{Design, FEW, alarm, compared, count};
use weather::{Size, USUAL, Weather};

/// The alarm of an A/B run.
fn alternating(turns: &[AbTurn]) -> [bool; 1] {
    [alarm(turns, Design::Alternating)]
}

/// What one run in a hundred may exceed where the rate is 5 %: 25 and 2.33 times the root of 500 x 0.05 x 0.95.
const ALARMS_OF_500: u64 = 36;

#[test]
fn where_there_is_no_difference_five_runs_in_a_hundred_see_one_at_the_most() {
    let [alarms] = count(500, Size { rounds: 5, requests: FEW }, USUAL, alternating);
    println!("{alarms} of 500");
    assert!(alarms <= ALARMS_OF_500, "{alarms} of 500");
    // A test that never finds anything is no test.
    assert!(alarms > 5, "{alarms} of 500");
}

#[test]
fn a_candidate_that_is_five_per_cent_slower_is_found_worse() {
    let slower = Weather { candidate: 0.05, ..USUAL };
    let looks = |turns: &[AbTurn]| {
        let table = compared(turns, Design::Alternating);
        let has = |answer, figure| table.answered(answer).any(|found| found == figure);
        let better = table.answered(ComparisonAnswer::Better).next().is_some();
        [
            has(ComparisonAnswer::Worse, LevelFigure::OUTPUT_TPS),
            has(ComparisonAnswer::Worse, LevelFigure::P50_TPOT),
            better,
        ]
    };
    let [tps, tpot, better] = count(100, Size { rounds: 10, requests: FEW }, slower, looks);
    println!("output TPS {tps}, TPOT {tpot} of 100");
    assert!(tps >= 95 && tpot >= 95, "output TPS {tps}, TPOT {tpot} of 100");
    assert_eq!(better, 0);
}

/// Why rounds alternate: on a machine that gets slower as it gets warm, whoever is always second is found worse.
#[test]
fn drift_is_no_difference_where_rounds_alternate_and_is_one_where_they_do_not() {
    let warming = Weather { drift_a_minute: 0.5, ..USUAL };
    let designs = [Design::Alternating, Design::SameFirst, Design::OneAfterTheOther];
    let looks = |turns: &[AbTurn]| designs.map(|design| alarm(turns, design));
    let [alternating, same_first, one_after_the_other] =
        count(100, Size { rounds: 10, requests: FEW }, warming, looks);
    let all = format!("{alternating}, {same_first}, {one_after_the_other} of 100");
    println!("{all}");
    assert!(alternating <= 10, "{all}: 5 % of 100, and 2.33 standard deviations");
    assert!(same_first >= 20, "{all}");
    assert!(one_after_the_other >= 95, "{all}");
}
