//! Counters, gauges and histograms over windows.

use fizeau_core::Nanos;
use fizeau_telemetry::{
    CounterOver, Fetch, GaugeOver, HistogramOver, History, Page, SeriesPoint, Window,
};
use proptest::prelude::*;

use super::pages::{at, instant, point};

#[test]
fn edges_that_are_cut_are_interpolated_and_say_how_far_off_they_may_be() {
    let points = [point(0, 0.0), point(1_000, 100.0), point(2_000, 150.0), point(3_000, 150.0)];
    let over = CounterOver::of(&points, Window::within(at(500), at(1_500))).unwrap();
    assert_eq!((over.delta, over.low, over.high), (75.0, 0.0, 150.0));
    let over = CounterOver::of(&points, Window::within(at(1_000), at(2_000))).unwrap();
    assert_eq!((over.delta, over.low, over.high), (50.0, 50.0, 50.0));
    assert_eq!(CounterOver::of(&points, Window::within(at(500), at(3_001))), None);
    assert_eq!(CounterOver::of(&[], Window::within(at(0), at(1))), None);
}

#[test]
fn a_page_under_way_at_an_edge_is_of_neither_side() {
    let slow =
        SeriesPoint { fetch: Fetch { requested: at(900), answered: at(1_100) }, ..point(0, 40.0) };
    let points = [point(0, 0.0), slow, point(2_000, 100.0)];
    let over = CounterOver::of(&points, Window::alone(at(1_000), at(2_000))).unwrap();
    assert_eq!(over.delta, 100.0);
}

#[test]
fn a_series_that_appears_counted_from_nothing() {
    let points = [SeriesPoint { value: None, ..point(0, 0.0) }, point(1_000, 7.0)];
    let over = CounterOver::of(&points, Window::alone(at(0), at(1_000))).unwrap();
    assert_eq!((over.delta, over.resets), (7.0, 0));
    // Where the page before does not surely say that there was none, it counts from what is seen first.
    let cut = SeriesPoint { value: None, is_unclear: true, ..point(0, 0.0) };
    let points = [cut, point(1_000, 1e9), point(2_000, 1e9 + 3.0)];
    let over = CounterOver::of(&points, Window::alone(at(0), at(2_000))).unwrap();
    assert_eq!((over.delta, over.resets), (3.0, 0));
}

#[test]
fn gauges_are_weighted_by_time_and_gaps_are_not_filled() {
    // 10 for one second, then 2 for three, at uneven pages.
    let points = [point(0, 10.0), point(1_000, 10.0), point(1_200, 2.0), point(4_000, 2.0)];
    let over =
        GaugeOver::of(&points, Window::within(at(0), at(4_000)), Nanos::from_secs(10)).unwrap();
    assert!((over.mean - (1.1 * 10.0 + 2.9 * 2.0) / 4.0).abs() < 1e-9, "{over:?}");
    assert_eq!((over.min, over.peak, over.pages, over.changes), (Some(2.0), Some(10.0), 4, 1));
    assert_eq!(over.covered, 1.0);
    let held =
        GaugeOver::of(&points, Window::within(at(0), at(4_000)), Nanos::from_millis(500)).unwrap();
    // From 1,700 to 3,500 nobody says.
    assert!((held.covered - 0.55).abs() < 1e-9, "{held:?}");
}

#[test]
fn what_an_idle_server_says_around_a_level_is_not_of_it() {
    let points = [point(0, 0.0), point(1_000, 8.0), point(2_000, 8.0), point(3_000, 0.0)];
    let over =
        GaugeOver::of(&points, Window::alone(at(10), at(2_990)), Nanos::from_secs(2)).unwrap();
    assert_eq!((over.mean, over.min), (8.0, Some(8.0)));
    assert_eq!(GaugeOver::of(&points, Window::alone(at(10), at(20)), Nanos::from_secs(2)), None);
}

#[test]
fn a_part_of_a_level_has_the_pages_within_it_alone() {
    let points = [point(0, 0.0), point(1_000, 48.0), point(2_000, 48.0), point(3_000, 0.0)];
    let steady =
        |from, to| GaugeOver::of(&points, Window::within(at(from), at(to)), Nanos::from_secs(2));
    let over = steady(300, 2_900).unwrap();
    assert_eq!((over.mean, over.min, over.pages), (48.0, Some(48.0), 2));
    assert_eq!(steady(200, 780), None, "no page is of it");
}

#[test]
fn the_true_resolution_is_found() {
    let points: Vec<SeriesPoint> = (0..100_u32)
        .map(|second| point(u64::from(second) * 1_000, f64::from(second / 30)))
        .collect();
    let over =
        GaugeOver::of(&points, Window::within(at(0), at(99_000)), Nanos::from_secs(2)).unwrap();
    assert_eq!((over.changes, over.resolution.map(fizeau_core::Millis::get)), (3, Some(30_000.0)));
}

fn histogram_page(counts: [u32; 3]) -> Page {
    let [one, two, all] = counts;
    let text = format!(
        "h_bucket{{le=\"0.01\"}} {one}\nh_bucket{{le=\"0.1\"}} {two}\nh_bucket{{le=\"+Inf\"}} {all}\nh_sum {all}\nh_count {all}\n"
    );
    Page::read(text.as_bytes(), None).unwrap()
}

#[test]
fn a_histogram_tells_the_bucket_of_a_percentile_and_no_more() {
    let mut history = History::new();
    history.record(instant(0), &histogram_page([5, 5, 5]));
    history.record(instant(1_000), &histogram_page([95, 104, 105]));
    let over =
        HistogramOver::of(&history, "h", Window::alone(at(0), at(1_000)), 1e3, |_| true).unwrap();
    assert_eq!((over.count.delta, over.mean), (100.0, Some(1e3)));
    let holding = |percentile| over.holding(percentile).map(|held| (held.above, held.up_to));
    assert_eq!(holding(50.0), Some((None, Some(10.0))));
    assert_eq!(holding(90.0), Some((None, Some(10.0))));
    assert_eq!(holding(99.0), Some((Some(10.0), Some(100.0))));
    assert_eq!(holding(100.0), Some((Some(100.0), None)));
    let none =
        HistogramOver::of(&history, "h", Window::alone(at(0), at(0)), 1.0, |_| true).unwrap();
    assert_eq!((none.mean, none.holding(50.0)), (None, None));
}

proptest! {
    /// Against brute force: what was counted between the pages, however often it restarted.
    #[test]
    fn a_counter_is_what_was_counted(
        steps in prop::collection::vec((1_u64..50, 0_u32..100, prop::bool::weighted(0.1)), 2..40),
        edges in (0.0..1.0_f64, 0.0..1.0_f64),
    ) {
        let (mut ms, mut value) = (0, 1_000_u32);
        let mut points = vec![point(0, 1_000.0)];
        let mut counted = vec![0_u32];
        for (wait, more, restarts) in steps {
            ms += wait;
            let before = value;
            value = if restarts { more } else { value + more };
            // A restart that nobody can see: the new count is past the old one.
            let seen = if value >= before { value - before } else { value };
            counted.push(counted[counted.len() - 1] + seen);
            points.push(point(ms, f64::from(value)));
        }
        let total = f64::from(counted[counted.len() - 1]);
        let all = CounterOver::of(&points, Window::alone(at(0), at(ms))).unwrap();
        prop_assert_eq!(all.delta, total);

        let (one, other) = (edges.0 * ms as f64, edges.1 * ms as f64);
        let (from, to) = (one.min(other) as u64, one.max(other) as u64);
        let cut = CounterOver::of(&points, Window::within(at(from), at(to))).unwrap();
        prop_assert!(cut.low <= cut.delta + 1e-6 && cut.delta <= cut.high + 1e-6, "{cut:?}");
        let quiet = CounterOver::of(&points, Window::alone(at(from), at(to))).unwrap();
        prop_assert!((quiet.delta - cut.high).abs() < 1e-9);

        // Two parts come to the whole.
        let left = CounterOver::of(&points, Window::within(at(0), at(from))).unwrap();
        let right = CounterOver::of(&points, Window::within(at(from), at(ms))).unwrap();
        prop_assert!((left.delta + right.delta - total).abs() < 1e-6);
    }

    #[test]
    fn a_mean_is_between_what_was_seen(
        steps in prop::collection::vec((1_u64..50, -5.0..5.0_f64), 1..30), from in 0_u64..500, length in 0_u64..900, hold in 0_u64..60,
    ) {
        let mut ms = 0;
        let points: Vec<SeriesPoint> = steps.into_iter().map(|(wait, value)| { ms += wait; point(ms, value) }).collect();
        for window in [Window::within(at(from), at(from + length)), Window::alone(at(from), at(from + length))] {
            if let Some(over) = GaugeOver::of(&points, window, Nanos::from_millis(hold)) {
                let (min, peak) = (over.min.unwrap(), over.peak.unwrap());
                prop_assert!(min - 1e-9 <= over.mean && over.mean <= peak + 1e-9, "{over:?}");
                prop_assert!((0.0..=1.0).contains(&over.covered));
            }
        }
    }
}
