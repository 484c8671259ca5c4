//! The rule of the step, and what is put first.

use fizeau_pareto::Objective::{Maximize, Minimize};
use fizeau_pareto::{Preference, StepRule, back_off};
use proptest::prelude::*;

use crate::fixed;

#[test]
fn latency_that_doubles_for_under_a_tenth_is_not_worth_it() {
    let stay = |levels: &[[f64; 2]]| back_off(levels, StepRule::default()).map(|stay| stay.at);
    assert_eq!(stay(&[[10.0, 100.0], [10.9, 200.0]]), Some(0));
    assert_eq!(stay(&[[10.0, 100.0], [10.9, 199.0]]), None);
    assert_eq!(stay(&[[10.0, 100.0], [11.0, 900.0]]), None);
    assert_eq!(stay(&[[10.0, 100.0]]), None);
}

#[test]
fn fine_steps_do_not_hide_what_they_cost_together() {
    // Each step costs a fifth more for a hundredth.
    let levels: Vec<[f64; 2]> =
        (0..6).map(|i| [10.0 * 1.01_f64.powi(i), 100.0 * 1.2_f64.powi(i)]).collect();
    let stay = back_off(&levels, StepRule::default()).unwrap();
    assert_eq!((stay.at, stay.beyond), (0, 4));
}

#[test]
fn the_next_level_counts_though_later_ones_gain_more() {
    let stay = |levels: &[[f64; 2]]| {
        back_off(levels, StepRule::default()).map(|stay| (stay.at, stay.beyond))
    };
    // Each step doubles the latency for under a tenth; two of them together gain more than that.
    let doubling = [[10.0, 100.0], [10.9, 210.0], [11.8, 450.0], [12.7, 950.0]];
    assert_eq!(stay(&doubling), Some((0, 1)));
    let later = [[5.0, 90.0], [10.0, 100.0], [10.9, 210.0], [20.0, 220.0]];
    assert_eq!(stay(&later), Some((1, 2)));
    // A level that the next one beats in both says nothing of what more load costs.
    assert_eq!(stay(&[[10.0, 100.0], [8.0, 250.0], [20.0, 190.0]]), None);
    assert_eq!(stay(&[[10.0, 100.0], [f64::NAN, 150.0], [10.5, 250.0]]), Some((0, 2)));
}

#[test]
fn a_rule_reads_as_it_is_written() {
    for text in ["2x:10%", "1.5x:7%", "3x:0%", "1.01x:250%"] {
        let rule: StepRule = text.parse().unwrap();
        assert_eq!(rule.to_string(), text);
    }
    for text in ["", "2:10", "2x", "1x:10%", "2x:-1%", "x:10%", "2x:10", "infx:1%", "NaNx:1%"] {
        let error = text.parse::<StepRule>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{text}`: write FACTORx:GAIN%")), "{error}");
    }
}

#[test]
fn the_first_figure_sets_who_may_be_chosen() {
    let levels = [[20.0, 4.0], [30.0, 8.0], [41.0, 12.0]];
    let with = |factor| Preference { first: Minimize, factor, then: Maximize }.choose(&levels);
    assert_eq!([with(1.0), with(2.0), with(3.0)], [Some(0), Some(1), Some(2)]);
    let goodput = Preference { first: Maximize, factor: 1.05, then: Minimize };
    assert_eq!(goodput.choose(&[[10.0, 300.0], [9.6, 200.0], [9.0, 100.0]]), Some(1));
}

#[test]
fn of_levels_that_are_alike_the_first_is_chosen() {
    let plain = Preference { first: Maximize, factor: 1.1, then: Minimize };
    assert_eq!(plain.choose(&[[9.0, 2.0], [10.0, 1.0], [10.0, 1.0], [9.5, 1.0]]), Some(1));
}

#[test]
fn odd_figures_are_not_preferred() {
    let plain = Preference { first: Maximize, factor: 2.0, then: Maximize };
    assert_eq!(plain.choose(&[]), None);
    assert_eq!(plain.choose(&[[f64::NAN, 9.0], [1.0, f64::NAN]]), None);
    assert_eq!(plain.choose(&[[f64::NAN, 9.0], [1.0, 1.0]]), Some(1));
    assert_eq!(plain.choose(&[[0.0, 1.0], [-1.0, 9.0]]), Some(0));
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn a_stricter_rule_never_stays_higher(
        levels in prop::collection::vec([1.0f64..100.0, 1.0f64..100.0], 0..10),
        cost in 1.1f64..4.0, gain in 0.0f64..1.0, more in 0.0f64..2.0,
    ) {
        let at = |most_cost, least_gain| {
            back_off(&levels, StepRule { most_cost, least_gain }).map_or(levels.len(), |stay| stay.at)
        };
        prop_assert!(at(cost, gain) <= at(cost + more, gain));
        prop_assert!(at(cost, gain + more) <= at(cost, gain));
    }

    #[test]
    fn nobody_near_enough_is_better_in_the_second(
        levels in prop::collection::vec([1.0f64..100.0, 1.0f64..100.0], 1..10), factor in 1.0f64..3.0,
    ) {
        let at = Preference { first: Minimize, factor, then: Maximize }.choose(&levels).unwrap();
        let least = levels.iter().map(|level| level[0]).fold(f64::MAX, f64::min);
        prop_assert!(levels[at][0] <= least * factor);
        let rivals = levels.iter().filter(|level| level[0] <= least * factor);
        prop_assert!(rivals.into_iter().all(|rival| rival[1] <= levels[at][1]));
    }
}
