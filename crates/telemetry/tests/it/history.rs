//! Series of pages.

use fizeau_core::Nanos;
use fizeau_telemetry::{
    Combine, CounterOver, Fetch, History, HistoryLine, Labels, MetricKind, Page, Sample,
    SeriesName, Window,
};
use proptest::prelude::*;

use super::pages::{at, instant};

fn name() -> SeriesName {
    SeriesName::new("a_total", Labels::default())
}

fn page(value: Option<f64>) -> Page {
    let line = value.map_or(String::new(), |value| format!("a_total {value}\n"));
    Page::read(format!("# TYPE a counter\nb 1\n{line}").as_bytes(), None).unwrap()
}

#[test]
fn what_no_page_has_is_absent_and_what_is_no_number_too() {
    let mut history = History::new();
    for (ms, value) in [(0, None), (1, Some(2.0)), (2, Some(f64::NAN)), (3, None), (4, Some(2.0))] {
        history.record(instant(ms), &page(value));
    }
    // Out of order: left out.
    history.record(instant(3), &page(Some(9.0)));
    let values: Vec<_> = history.points(&name()).map(|point| point.value).collect();
    assert_eq!(values, [None, Some(2.0), None, None, Some(2.0)]);
    assert_eq!((history.not_numbers(), history.kind("a_total")), (1, MetricKind::Counter));
    assert_eq!(history.metrics(), ["a_total", "b"]);
}

#[test]
fn failures_are_kept_up_to_a_number_and_counted_all() {
    let mut history = History::new();
    for ms in 0..70_000 {
        history.fail(Fetch { requested: at(ms), answered: at(ms + 1) }, "refused");
    }
    assert_eq!((history.failures().len(), history.failed()), (65_536, 70_000));
}

#[test]
fn what_comes_back_does_not_count_from_nothing() {
    let cut = Page::read(b"b 1\na_total 9", None).unwrap();
    let mut history = History::new();
    history.record(instant(0), &page(Some(1_000.0)));
    history.record(instant(1), &cut);
    // The page that said 1,000 is forgotten, and the one that stopped half way is the first.
    history.forget_before(at(1));
    for (ms, value) in [(2, 1_005.0), (3, 1_010.0)] {
        history.record(instant(ms), &page(Some(value)));
    }
    let points: Vec<_> = history.points(&name()).collect();
    let over = CounterOver::of(&points, Window::alone(at(1), at(3))).unwrap();
    assert_eq!((over.delta, over.resets), (5.0, 0));
}

#[test]
fn names_are_kept_up_to_a_number_of_bytes() {
    let mut page = Page::default();
    for number in 0..70 {
        let label = "0".repeat((1 << 20) - 4) + &format!("{number:02}");
        let sample = Sample { value: 1.0, told_at_unix_ms: None };
        page.samples.insert(SeriesName::new("a", Labels::new([("l", label)])), sample);
    }
    let mut history = History::new();
    history.record(instant(0), &page);
    assert_eq!((history.series().count(), history.left_out()), (64, 6));
}

#[test]
fn several_series_become_one() {
    let page = Page::read(b"k{e=\"0\"} 0.9\nk{e=\"1\"} 0.1\n", None).unwrap();
    let mut history = History::new();
    history.record(instant(0), &page);
    let series: Vec<_> = history.series_of("k").zip([3.0, 1.0]).collect();
    let value = |how: Combine| how.points(&history, &series)[0].value.unwrap();
    assert_eq!((value(Combine::Sum), value(Combine::Largest)), (1.0, 0.9));
    assert!((value(Combine::WeightedMean) - 0.7).abs() < 1e-12);
    assert_eq!(Combine::WeightedMean.points(&history, &[(series[0].0, 0.0)])[0].value, None);
}

proptest! {
    #[test]
    fn values_come_back_as_they_went_in(
        values in prop::collection::vec(prop::option::of(0_u32..3), 1..30), forget in 0_u64..40,
    ) {
        let mut history = History::new();
        for (ms, value) in (0..).zip(&values) {
            history.record(instant(ms), &page(value.map(f64::from)));
        }
        let points: Vec<_> = history.points(&name()).map(|point| point.value).collect();
        if values.iter().any(Option::is_some) {
            let expected: Vec<_> = values.iter().map(|value| value.map(f64::from)).collect();
            prop_assert_eq!(&points, &expected);
        }
        // What is forgotten changes nothing of the rest.
        history.forget_before(at(forget));
        let kept = history.fetches().len();
        let first = usize::try_from(forget).unwrap().min(values.len() - 1);
        prop_assert_eq!(kept, values.len() - first);
        let rest: Vec<_> = history.points(&name()).map(|point| point.value).collect();
        prop_assert!(rest.is_empty() || rest.as_slice() == &points[first..]);
        prop_assert!(!rest.is_empty() || points.iter().skip(first).all(Option::is_none));
        prop_assert!(history.fetches().all(|fetch| fetch.length() == Nanos::ZERO));
        // As lines of a file it comes back, to the byte.
        history.fail(instant(50), "refused");
        let text = |history: &History| serde_json::to_string(&history.lines(3)).unwrap();
        let lines: Vec<HistoryLine> = serde_json::from_str(&text(&history)).unwrap();
        let read = History::of_lines(lines);
        prop_assert_eq!(text(&read), text(&history));
        let again: Vec<_> = read.points(&name()).map(|point| point.value).collect();
        prop_assert!(again == rest || rest.iter().all(Option::is_none));
    }
}
