//! The live histogram.

use fizeau_core::{Nanos, Tokens};
use fizeau_metrics::LatencyHistogram;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use proptest::prelude::*;

fn of(values: &[u64]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    for &nanos in values {
        histogram.record(Nanos::from_nanos(nanos));
    }
    histogram
}

#[test]
fn an_empty_histogram_has_no_percentile() {
    assert_eq!(LatencyHistogram::new().percentile(50.0), None);
    assert_eq!(of(&[5]).percentile(100.1), None);
    assert_eq!(of(&[5]).percentile(f64::NAN), None);
    let mut weightless = LatencyHistogram::new();
    weightless.record_n(Nanos::from_secs(1), Tokens::ZERO);
    assert_eq!(weightless.count(), 0);
}

#[test]
fn no_latency_is_too_long() {
    let mut histogram = of(&[0, u64::MAX]);
    histogram.merge(&of(&[u64::MAX, 1]));
    assert_eq!(histogram.count(), 4);
    assert!(histogram.percentile(100.0).unwrap() > Nanos::from_secs(146 * 365 * 86_400));
}

#[test]
fn the_interval_log_is_read_by_a_reader_of_such_logs() {
    let histogram = of(&[20_000_000, 30_000_000]);
    let text = histogram.to_interval_log(Nanos::from_secs(7)).unwrap();
    let entries: Vec<_> =
        IntervalLogIterator::new(text.as_bytes()).collect::<Result<_, _>>().unwrap();
    let [LogEntry::Interval(interval)] = &entries[..] else {
        panic!("one interval, not {entries:?}");
    };
    assert_eq!(interval.duration().as_secs(), 7);
    assert!((interval.max() - 30.0).abs() < 0.03, "milliseconds");
}

proptest! {
    #![proptest_config(crate::cases(32))]

    #[test]
    fn merging_is_recording_in_one(
        a in prop::collection::vec(0..1u64 << 40, 0..50),
        b in prop::collection::vec(0..1u64 << 50, 0..50),
    ) {
        let mut merged = of(&a);
        merged.merge(&of(&b));
        let all = of(&[a, b].concat());
        prop_assert_eq!(merged.count(), all.count());
        for p in [0.0, 50.0, 90.0, 99.0, 100.0] {
            prop_assert_eq!(merged.percentile(p), all.percentile(p));
        }
    }

    #[test]
    fn a_value_is_known_to_three_digits(nanos in 1..1u64 << 60) {
        let found = of(&[nanos]).percentile(50.0).unwrap().as_nanos();
        prop_assert!(found >= nanos && (found - nanos) as f64 <= nanos as f64 * 1e-3);
    }
}
