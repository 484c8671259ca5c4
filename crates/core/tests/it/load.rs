use std::cmp::Ordering;
use std::num::NonZeroU32;

use fizeau_core::{
    Failure, FailureClass, LevelLoad, LoadKind, Outcome, PerSec, Stamp, Tape, TapeSink, WarmUp,
};
use proptest::prelude::*;

fn rate(per_s: f64) -> LevelLoad {
    LevelLoad::Rate(PerSec::new(per_s))
}

fn load() -> impl Strategy<Value = LevelLoad> {
    prop_oneof![
        (1..u32::MAX).prop_map(|slots| LoadKind::Concurrency.at(slots.into())),
        // Three decimals are what a folder's name has.
        (0..90_000_000u32).prop_map(|thousandths| rate(f64::from(thousandths) / 1e3)),
    ]
}

proptest! {
    #[test]
    fn a_folder_is_read_as_the_load_that_it_is_named_for(load in load(), visit in 0..20u32) {
        prop_assert_eq!(LevelLoad::of_folder(&load.folder(visit)), Some((load, visit)));
        prop_assert_eq!(load.kind().at(load.value()), load);
    }

    #[test]
    fn loads_are_in_one_order(one in load(), other in load()) {
        prop_assert_eq!(one.rising(&other), other.rising(&one).reverse());
        prop_assert_eq!(one.rising(&other) == Ordering::Equal, one == other);
        if one.kind() == other.kind() {
            prop_assert_eq!(one.rising(&other), one.value().total_cmp(&other.value()));
        }
    }
}

#[test]
fn what_names_no_level_is_none() {
    assert_eq!(rate(12.5).folder(0), "rate-00012.500");
    assert_eq!(LoadKind::Concurrency.at(8.0).folder(1), "concurrency-0008-2");
    for name in [
        "rate",
        "rate-x",
        "rate-inf",
        "rate-12.5",
        "rate-00012.500-0",
        "rate-00012.500-1",
        "load-0008",
        "concurrency-0",
        "concurrency-8",
        "concurrency-0008-partial",
        "concurrency-0008-2-3",
        "",
    ] {
        assert_eq!(LevelLoad::of_folder(name), None, "{name}");
    }
}

#[test]
fn a_load_is_said_with_its_unit_and_a_long_rate_in_full_where_it_names_one() {
    let eight = LoadKind::Concurrency.at(8.0);
    assert_eq!((eight.to_string(), eight.number()), ("concurrency 8".to_owned(), "8".to_owned()));
    assert_eq!((eight.concurrency(), rate(8.0).concurrency()), (NonZeroU32::new(8), None));
    for (per_s, number) in [(0.125, "0.125"), (1234.5, "1234.5"), (f64::INFINITY, "inf")] {
        assert_eq!(rate(per_s).number(), number);
    }
    let long = rate(12.345_678);
    assert_eq!(
        (long.to_string(), format!("{long:#}")),
        ("12.3 requests/s".to_owned(), "12.345678 requests/s".to_owned())
    );
    // There is no part of a request in flight, and at least one is.
    assert_eq!(LoadKind::Concurrency.at(0.2).value(), 1.0);
    assert_eq!(LoadKind::Concurrency.at(2.9).value(), 2.0);
}

#[test]
fn a_warm_up_counts_what_was_sent_and_what_failed() {
    let mut warm_up = WarmUp::default();
    let mut tape = Tape::sent_at(Stamp::EPOCH);
    assert!(warm_up.record(&tape).is_ok());
    tape.outcome = Outcome::Failed(Failure::new(FailureClass::Connect, "refused"));
    assert!((0..2).all(|_| warm_up.record(&tape).is_ok()));
    assert_eq!((warm_up.sent, warm_up.failed), (3, 2));
}
