//! Which level comes next, and when enough were measured.

use std::num::NonZeroU32;
use std::path::Path;

use fizeau_core::{LevelLoad, Millis, Nanos, PerSec};
use fizeau_experiment::{
    InputField, LevelYield, StopRule, SweepProtocol, TriedLoad, load_between, rates_up_to,
};
use fizeau_metrics::{Verdict, VerdictConcern, VerdictReason};
use fizeau_record::{LevelReport, StoredRun};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1862), ..Config::default() }
}

fn slots(slots: u32) -> LevelLoad {
    LevelLoad::Concurrency(NonZeroU32::new(slots).unwrap())
}

fn number(load: LevelLoad) -> f64 {
    match load {
        LevelLoad::Concurrency(slots) => slots.get().into(),
        LevelLoad::Rate(rate) => rate.get(),
    }
}

/// Loads of one kind, rising, and whether each was within the goals.
fn any_tried() -> impl Strategy<Value = Vec<TriedLoad>> {
    // Powers of two have each other's means between them.
    let loads = prop_oneof![1..5_000_u32, (0..12_u32).prop_map(|k| 1 << k)];
    let loads = prop::collection::btree_set(loads, 1..12);
    let within = prop::collection::vec(prop::option::of(any::<bool>()), 12);
    (loads, within, any::<bool>()).prop_map(|(loads, within, is_open)| {
        let load = |n: u32| match is_open {
            true => LevelLoad::Rate(PerSec::new(f64::from(n) / 8.0)),
            false => slots(n),
        };
        let tried = loads.into_iter().map(load).zip(within);
        tried.map(|(load, within)| TriedLoad { load, within }).collect()
    })
}

/// An engine that serves up to `slots` requests at once, at one a second each: waiting is linear beyond.
fn ideal(n: u32, most: u32) -> LevelYield {
    let requests = f64::from(n.min(most));
    LevelYield {
        load: slots(n),
        sent: None,
        requests: PerSec::new(requests),
        latency: Some(Millis::new(1e3 * f64::from(n) / requests)),
        is_saturated: false,
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn the_next_load_is_new_and_lies_between_two_that_were_tried(
        tried in any_tried(), bend in prop::option::of(0..14_usize),
    ) {
        let Some(next) = load_between(&tried, bend) else { return Ok(()) };
        prop_assert!(tried.iter().all(|tried| tried.load != next));
        let below = tried.iter().any(|tried| number(tried.load) < number(next));
        let above = tried.iter().any(|tried| number(tried.load) > number(next));
        prop_assert!(below && above, "{next}");
    }

    #[test]
    fn refining_ends_at_the_edge_of_the_goals(edge in 1..5_000_u32, top in 5_000..20_000_u32) {
        let within = |n: f64| Some(n <= f64::from(edge));
        let mut tried = vec![
            TriedLoad { load: slots(1), within: within(1.0) },
            TriedLoad { load: slots(top), within: within(f64::from(top)) },
        ];
        let mut levels = 0;
        while let Some(load) = load_between(&tried, None) {
            tried.push(TriedLoad { load, within: within(number(load)) });
            tried.sort_by(|a, b| a.load.rising(&b.load));
            levels += 1;
            prop_assert!(levels <= 16, "bisection over a range of 20,000");
        }
        let low = tried.iter().rfind(|tried| tried.within == Some(true)).unwrap();
        let high = tried.iter().find(|tried| tried.within == Some(false)).unwrap();
        let (low, high) = (number(low.load), number(high.load));
        prop_assert!(high / low <= 1.05 || high - low < 1.5, "{low} to {high}");
    }

    #[test]
    fn a_sweep_stops_two_levels_beyond_what_pays_and_no_sooner(most in 1..600_u32) {
        let levels: Vec<LevelYield> = (0..14).map(|k| ideal(1 << k, most)).collect();
        let stop = |n: &usize| StopRule::default().saturated(&levels[..*n]).is_some();
        let measured = (1..=levels.len()).find(stop).unwrap();
        // Those that gain 5 % over the one before, and two more.
        let paid = levels.windows(2).take_while(|w| w[1].requests.get() >= 1.05 * w[0].requests.get());
        prop_assert_eq!(measured, paid.count() + 1 + 2);
    }

    #[test]
    fn auto_rates_rise_from_a_tenth_to_beyond_what_was_reached(most in 0.5..1e5_f64, count in 2..40_u32) {
        let rates: Vec<f64> = rates_up_to(PerSec::new(most), count).iter().map(|r| r.get()).collect();
        prop_assert_eq!(rates.len(), count as usize);
        prop_assert!(rates.is_sorted_by(|a, b| a < b));
        prop_assert!((rates[0] / most - 0.1).abs() < 2e-3);
        prop_assert!((rates[rates.len() - 1] / most - 1.2).abs() < 2e-3);
    }
}

/// The level between was measured and tells nothing, as its client was late.
#[test]
fn a_load_that_could_not_be_judged_is_not_asked_for_again() {
    let tried = |all: &[(u32, Option<bool>)]| {
        let of = |&(n, within): &(u32, Option<bool>)| TriedLoad { load: slots(n), within };
        load_between(&all.iter().map(of).collect::<Vec<_>>(), None)
    };
    let (kept, broken) = (Some(true), Some(false));
    assert_eq!(tried(&[(8, kept), (11, None), (16, broken)]), Some(slots(13)));
    assert_eq!(tried(&[(8, kept), (11, None), (13, None), (16, broken)]), Some(slots(9)));
    assert_eq!(tried(&[(8, kept), (9, None), (10, broken)]), None);
}

#[test]
fn a_sustained_run_leaves_time_for_a_level() {
    let check = |sustain, budget| {
        let mut protocol = SweepProtocol::default();
        protocol.sustain = Some(Nanos::from_secs(sustain));
        protocol.budget = Some(Nanos::from_secs(budget));
        protocol.check().map_err(|error| (error.field, error.message().to_owned()))
    };
    assert_eq!(check(290, 300), Ok(()));
    let (field, why) = check(300, 300).unwrap_err();
    assert_eq!(field, InputField::Sustain);
    assert_eq!(why, "leaves no time for a level; give at most 298 s of a budget of 300 s");
}

/// What of a stored level matters here, with so many of its requests failed.
fn failing(completed: u64, about: VerdictConcern) -> LevelReport {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/sweep");
    let report = StoredRun::open(stored).unwrap().report().unwrap();
    let mut level = report.levels()[0].clone();
    let requests = &mut level.summary.requests;
    (requests.completed, requests.failed) = (completed, requests.sent - completed);
    if completed == 0 {
        level.summary.throughput.requests_per_s = PerSec::new(0.0);
        level.summary.metrics.e2el.mean = None;
    }
    level.validity.add(VerdictReason::new(Verdict::Invalid, about, "it is so"));
    level
}

/// A server that refuses everything carries no more at a higher load; of a client at its limit nobody knows.
#[test]
fn a_level_of_which_nothing_completed_does_not_pay() {
    let of = |n, level: &LevelReport| LevelYield::of(slots(n), level);
    assert_eq!(of(8, &failing(1, VerdictConcern::Client)), None);
    let refused = failing(0, VerdictConcern::Failures);
    let levels = [ideal(8, 64), of(16, &refused).unwrap(), of(32, &refused).unwrap()];
    let found = StopRule::default().saturated(&levels).unwrap();
    assert_eq!((found.best, found.beyond), (Some(levels[0]), levels[1]));
    let found = StopRule::default().saturated(&levels[1..]).unwrap();
    assert_eq!((found.best, found.beyond), (None, levels[1]));
}

#[test]
fn one_level_that_does_not_pay_is_no_saturation_if_the_next_one_pays() {
    let mut dip = [ideal(8, 64), ideal(16, 64), ideal(32, 64), ideal(64, 64)];
    dip[1].requests = PerSec::new(8.1);
    assert_eq!(StopRule::default().saturated(&dip), None);
    // More of both is no reason to stop: a level that is no slower pays whatever it gains.
    let mut flat = [ideal(8, 8); 4];
    flat[3].latency = Some(Millis::new(999.0));
    assert_eq!(StopRule::default().saturated(&flat), None);
}

/// An open loop that completes a share of what is sent, the slower the more that is.
fn open(rate: f64, share: f64, is_saturated: bool) -> LevelYield {
    LevelYield {
        load: LevelLoad::Rate(PerSec::new(rate)),
        sent: Some(PerSec::new(rate)),
        requests: PerSec::new(rate * share),
        latency: Some(Millis::new(10.0 * rate)),
        is_saturated,
    }
}

#[test]
fn an_open_loop_whose_queue_grows_does_not_pay_whatever_it_serves() {
    let levels = [open(1.0, 1.0, false), open(2.0, 1.0, true), open(4.0, 1.0, true)];
    let found = StopRule::default().saturated(&levels).unwrap();
    assert_eq!((found.best, found.beyond), (Some(levels[0]), levels[1]));
}

/// Rates that lie nearer to each other than what a level must gain: it is no sign of saturation that they do.
#[test]
fn an_open_loop_that_keeps_up_pays_however_little_its_rate_rose() {
    // The time of the last replies lowers what is completed per second, by alike in all.
    let near: Vec<LevelYield> =
        (0..8).map(|k| open(2.0 + 0.05 * f64::from(k), 0.85, false)).collect();
    assert_eq!(StopRule::default().saturated(&near), None);
    // Of 33 that can be served, whatever is sent.
    let over = |rate: f64| open(rate, (33.0 / rate).min(1.0), false);
    let levels = [32.0, 33.0, 34.0, 35.0, 40.0, 45.0].map(over);
    let found = StopRule::default().saturated(&levels).unwrap();
    assert_eq!((found.best, found.beyond), (Some(levels[1]), levels[4]));
}

#[test]
fn a_lowest_level_that_is_saturated_is_not_the_best() {
    let levels = [open(4.0, 1.0, true), open(8.0, 0.5, true)];
    let found = StopRule::default().saturated(&levels).unwrap();
    assert_eq!((found.best, found.beyond), (None, levels[0]));
    // A false alarm: the next one pays, and is the best, though it completes no more.
    let alarm =
        [open(4.0, 1.0, true), open(4.1, 0.9, false), open(8.0, 1.0, true), open(9.0, 1.0, true)];
    let found = StopRule::default().saturated(&alarm).unwrap();
    assert_eq!((found.best, found.beyond), (Some(alarm[1]), alarm[2]));
}
