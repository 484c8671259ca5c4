//! How requests arrived.

use fizeau_core::{FailureClass, Nanos, RequestPurpose, Stamp, Tape};
use fizeau_metrics::{ArrivalSummary, GapSummary, GoodputGoals, LevelSummary};
use proptest::prelude::*;

use crate::tapes::{any_tape, failed, ms, tape};

fn arrivals<'a>(tapes: impl IntoIterator<Item = &'a Tape>) -> ArrivalSummary {
    LevelSummary::of(tapes, &GoodputGoals::default()).arrivals.unwrap_or_default()
}

/// Tapes intended at these milliseconds and sent 5 ms later.
fn at(millis: &[u64]) -> Vec<Tape> {
    let sent = |&at: &u64| {
        let mut tape = tape(at + 5, &[(at + 25, 1)]);
        tape.marks.intended = ms(at);
        tape
    };
    millis.iter().map(sent).collect()
}

/// By hand: gaps of 10, 30, 10, 30 ms have a mean of 20 and a variance of 100; each is off by 10 the other way than the
/// next, so that three products of -100 stand over four squares of 100.
#[test]
fn gaps_have_the_figures_of_a_hand_made_example() {
    let found = arrivals(&at(&[80, 0, 40, 10, 50]));
    let gaps = GapSummary {
        n: 4,
        rate: Some(fizeau_core::PerSec::new(50.0)),
        cv_squared: Some(0.25),
        lag1: Some(-0.75),
    };
    assert_eq!((found.intended, found.sent), (gaps, gaps));
}

#[test]
fn an_even_spacing_has_no_spread_and_no_memory() {
    let even = arrivals(&at(&[0, 10, 20, 30])).intended;
    assert_eq!((even.cv_squared, even.lag1), (Some(0.0), None));
}

#[test]
fn what_was_sent_is_told_from_what_was_planned() {
    let mut tapes = at(&[0, 100, 200]);
    tapes[2].marks.send_start = Some(ms(405));
    let found = arrivals(&tapes);
    assert_eq!(found.intended.rate.unwrap().get(), 10.0);
    assert_eq!(found.sent.rate.unwrap().get(), 5.0);
    // Gaps of 100 and 300 ms: mean 200, variance 10000.
    assert_eq!((found.intended.cv_squared, found.sent.cv_squared), (Some(0.0), Some(0.25)));
}

#[test]
fn one_arrival_and_many_at_once_have_no_rate() {
    let one = arrivals(&at(&[7])).intended;
    assert_eq!(one, GapSummary::default());
    let burst = arrivals(&at(&[7, 7, 7])).intended;
    assert_eq!(burst, GapSummary { n: 2, ..GapSummary::default() });
    let level = LevelSummary::of(&at(&[7]), &GoodputGoals::default());
    let json = serde_json::to_value(level).unwrap();
    let reason = "fewer than two arrivals, or all at one instant";
    assert_eq!(json["arrivals"]["sent"]["rate_per_s_reason"], reason);
}

#[test]
fn later_turns_probes_and_the_unsent_are_no_arrivals() {
    let mut tapes = at(&[0, 10, 20, 30, 40]);
    tapes[1].turn = 1;
    tapes[2].part = RequestPurpose::Probe;
    tapes[3] = failed(tapes[3].clone(), FailureClass::Connect);
    tapes[3].marks.send_start = None;
    let found = arrivals(&tapes);
    assert_eq!((found.intended.n, found.sent.n), (2, 1));
}

#[test]
fn a_closed_loop_says_why_it_has_no_arrivals() {
    let mut level = LevelSummary::of(&at(&[0, 10]), &GoodputGoals::default());
    level.arrivals = None;
    let json = serde_json::to_value(level).unwrap();
    assert!(json["arrivals"].is_null());
    assert_eq!(json["arrivals_reason"], "a closed loop: the endpoint sets the pace");
}

proptest! {
    #![proptest_config(crate::cases(64))]

    /// The plain formulas, over a sorted list.
    #[test]
    fn figures_are_those_of_the_textbook(
        gaps in prop::collection::vec(1u64..2_000_000_000, 2..200),
        order in any::<u64>(),
    ) {
        let mut instants = vec![0];
        let mut at = 0;
        for gap in &gaps {
            at += gap;
            instants.push(at);
        }
        let mut tapes: Vec<Tape> =
            instants.iter().map(|&at| Tape::sent_at(Stamp::EPOCH + Nanos::from_nanos(at))).collect();
        let len = tapes.len();
        tapes.rotate_left(order as usize % len);
        let found = arrivals(&tapes).sent;
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<u64>() as f64 / n;
        let variance = gaps.iter().map(|&gap| (gap as f64 - mean).powi(2)).sum::<f64>() / n;
        prop_assert_eq!(found.n, gaps.len() as u64);
        prop_assert!((found.rate.unwrap().get() - 1e9 / mean).abs() < 1e-9 * 1e9 / mean);
        prop_assert!((found.cv_squared.unwrap() - variance / mean / mean).abs() < 1e-9);
        prop_assert!(found.lag1.is_none_or(|lag1| (-1.0..=1.0).contains(&lag1)));
    }

    #[test]
    fn the_order_of_tapes_does_not_matter(tapes in prop::collection::vec(any_tape(), 0..40)) {
        prop_assert_eq!(arrivals(&tapes), arrivals(tapes.iter().rev()));
    }
}
