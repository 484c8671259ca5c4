use std::time::Duration;

use fizeau_core::{Nanos, ReadLag, Stamp};
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_span_added_and_taken_back_is_the_span(at in 0..u64::MAX / 2, span in 0..u64::MAX / 2) {
        let start = Stamp::from_nanos(at);
        let span = Nanos::from_nanos(span);
        prop_assert_eq!((start + span).since(start), Some(span));
    }

    #[test]
    fn a_length_is_the_same_in_every_unit(a in 0..u64::MAX / 4, b in 0..u64::MAX / 4) {
        let (one, other) = (Nanos::from_nanos(a), Nanos::from_nanos(b));
        prop_assert_eq!((one + other).as_nanos(), a + b);
        prop_assert_eq!([one, other, one].into_iter().sum::<Nanos>().as_nanos(), a + b + a);
        prop_assert_eq!(one.saturating_sub(other).as_nanos(), a.saturating_sub(b));
        prop_assert_eq!(one.as_millis_f64(), a as f64 / 1e6);
        prop_assert_eq!(Nanos::from(Duration::from(one)), one);
        prop_assert_eq!(Duration::from(one).as_nanos(), u128::from(a));
        let at = Stamp::from_nanos(a);
        prop_assert_eq!(at + other - other, at);
        let lag = ReadLag::of(one);
        prop_assert_eq!(lag.to_nanos().as_nanos(), a.min(u32::MAX.into()));
    }

    #[test]
    fn since_is_absent_exactly_when_the_order_is_wrong(a: u64, b: u64) {
        let (a, b) = (Stamp::from_nanos(a), Stamp::from_nanos(b));
        prop_assert_eq!(a.since(b).is_some(), a >= b);
        prop_assert_eq!(a.saturating_since(b), a.since(b).unwrap_or(Nanos::ZERO));
    }

    #[test]
    fn seconds_of_a_day_survive_floats_to_the_nanosecond(nanos in 0..86_400_000_000_000u64) {
        let span = Nanos::from_nanos(nanos);
        let back = Nanos::from_secs_f64(span.as_secs_f64()).unwrap();
        // A double holds a day in seconds to 15 picoseconds, so rounding restores each nanosecond.
        prop_assert_eq!(back, span);
    }
}

#[test]
fn arithmetic_saturates_instead_of_wrapping() {
    let end = Stamp::from_nanos(u64::MAX);
    assert_eq!(end + Nanos::from_nanos(1), end);
    assert_eq!(Stamp::EPOCH - Nanos::from_secs(1), Stamp::EPOCH);
    assert_eq!(Nanos::MAX * 2, Nanos::MAX);
    assert_eq!(Nanos::from_secs(1) / 0, Nanos::MAX);
    assert_eq!(Nanos::from_secs(u64::MAX), Nanos::MAX);
    assert_eq!(Nanos::from(Duration::MAX), Nanos::MAX);
}

#[test]
fn not_every_float_is_a_time() {
    for bad in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e30] {
        let error = Nanos::from_secs_f64(bad).unwrap_err();
        assert!(error.to_string().contains("is not a length of time"), "{error}");
    }
    assert_eq!(Nanos::from_secs_f64(0.0), Ok(Nanos::ZERO));
}

#[test]
fn a_person_reads_the_unit_that_fits() {
    let cases = [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_500, "1.5 us"),
        (20_000_000, "20 ms"),
        (3_210_000_000, "3.21 s"),
    ];
    for (nanos, text) in cases {
        assert_eq!(Nanos::from_nanos(nanos).to_string(), text);
    }
}

#[test]
fn a_person_writes_a_time_with_its_unit() {
    let cases = [
        ("150us", 150_000),
        ("2 ms", 2_000_000),
        ("0", 0),
        ("7ns", 7),
        ("1.5s", 1_500_000_000),
        (" 20m ", 1_200_000_000_000),
        ("1.5h", 5_400_000_000_000),
    ];
    for (text, nanos) in cases {
        assert_eq!(text.parse(), Ok(Nanos::from_nanos(nanos)), "{text}");
        assert_eq!(Nanos::parse_in(text, Nanos::from_secs(1)), text.parse(), "{text}");
    }
    for text in ["150", "-1ms", "us", "nans", "infs", "", "20 ", "1e400h", "20\u{b5}", "soon"] {
        assert!(text.parse::<Nanos>().is_err(), "{text}");
    }
    let bare = |text| Nanos::parse_in(text, Nanos::from_millis(1));
    assert_eq!(bare("1.5"), Ok(Nanos::from_micros(1_500)));
    assert!(["-1", "NaN", "inf", "2d"].iter().all(|text| bare(text).is_err()));
}
