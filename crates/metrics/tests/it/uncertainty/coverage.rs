//! How often intervals enclose the truth, on made series with known means and percentiles.

use fizeau_core::{Millis, Nanos};
use fizeau_metrics::{
    BatchMeans, BatchMeansError, Confidence, Distribution, Interval, RandomBits, ResampleSeed,
    SampleSupport,
};

use super::autoregressive;

/// Runs to judge by: the share found is then within 0.05 of a coverage of 0.95 all but once in a thousand times.
const RUNS: u64 = 200;

/// The share of runs whose interval encloses `truth`.
fn coverage(truth: f64, interval: impl Fn(u64) -> Interval<f64>) -> f64 {
    let encloses = |found: &Interval<f64>| found.low <= truth && truth <= found.high;
    (0..RUNS).map(interval).filter(encloses).count() as f64 / RUNS as f64
}

#[test]
fn an_interval_of_batches_encloses_the_mean_as_often_as_it_says() {
    for (phi, n) in [(0.0, 100), (0.0, 1_000), (0.6, 1_000), (0.9, 3_000)] {
        let share = coverage(0.0, |run| {
            let values = autoregressive(n, phi, run);
            BatchMeans::of(&values, Confidence::P95).unwrap().known().unwrap().interval
        });
        assert!((0.9..=0.99).contains(&share), "{phi} {n}: {share}");
    }
}

/// Ends at random instants, 400 on average in 100 s: 4 per second.
#[test]
fn an_interval_of_a_rate_encloses_it_as_often_as_it_says() {
    let duration = Nanos::from_secs(100);
    let share = coverage(4.0, |run| {
        let mut bits = RandomBits::new(ResampleSeed(run));
        let mut at = 0.0;
        let ends = std::iter::from_fn(|| {
            let u = (bits.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            at -= (-u).ln_1p() / 4.0;
            (at < 100.0).then(|| (Nanos::from_secs_f64(at).unwrap(), 1))
        });
        let ends: Vec<_> = ends.collect();
        BatchMeans::of_rate(&ends, duration, Confidence::P95).unwrap().known().unwrap().interval
    });
    assert!((0.9..=0.99).contains(&share), "{share}");
}

#[test]
fn a_sample_that_is_too_small_is_said_to_be() {
    let batches = BatchMeans::of(&[1.0; 29], Confidence::P95);
    assert_eq!(batches, Ok(SampleSupport::NotSupported { needs: 30, has: 29 }));
    let events = [(Nanos::from_secs(1), 1); 3];
    let rate = BatchMeans::of_rate(&events, Nanos::from_secs(2), Confidence::P95);
    assert_eq!(rate, Ok(SampleSupport::NotSupported { needs: 30, has: 3 }));
}

#[test]
fn equal_values_have_an_interval_without_width() {
    let same = [7.0; 500];
    let found = BatchMeans::of(&same, Confidence::P95).unwrap().known().unwrap();
    assert_eq!((found.autocorrelation, found.effective_n), (None, 500.0));
    assert_eq!((found.interval.low, found.interval.high), (7.0, 7.0));
}

#[test]
fn bad_input_is_refused_by_name() {
    let rate = |at, duration| {
        let (at, duration) = (Nanos::from_secs(at), Nanos::from_secs(duration));
        BatchMeans::of_rate(&[(at, 1)], duration, Confidence::P95)
    };
    assert_eq!(rate(3, 2), Err(BatchMeansError::PastTheEnd { index: 0 }));
    assert_eq!(rate(0, 0), Err(BatchMeansError::NoDuration));
}

/// How many of 200 intervals of the mean, the p50, the p90 and the p99 are shown, and how many of those enclose the truth:
/// quantiles of the normal distribution, 0, 1.2816 and 2.3263 deviations above the mean.
fn shown_and_enclosing(phi: f64, n: usize) -> [(u32, u32); 4] {
    let spread = (1.0 - phi * phi).sqrt();
    let mut counts = [(0, 0); 4];
    for run in 0..RUNS {
        // A latency is never below zero: twenty deviations above it.
        let values = autoregressive(n, phi, 5_000 + run);
        let found = Distribution::of_series(values.iter().map(|v| Millis::new(20.0 + spread * v)));
        let intervals = [
            (found.mean_interval.and_then(SampleSupport::known), 20.0),
            (found.p50.interval(), 20.0),
            (found.p90.interval(), 21.281_551_565_6),
            (found.p99.interval(), 22.326_347_874),
        ];
        for ((shown, encloses), (interval, truth)) in counts.iter_mut().zip(intervals) {
            let holds =
                |ends: Interval<Millis>| ends.low.get() <= truth && truth <= ends.high.get();
            *shown += u32::from(interval.is_some());
            *encloses += u32::from(interval.is_some_and(holds));
        }
    }
    counts
}

#[test]
fn intervals_of_a_level_enclose_the_truth_as_often_as_they_say() {
    for (phi, n) in
        [(0.0f64, 100), (0.0, 600), (0.6, 400), (0.6, 2_000), (0.9, 1_000), (0.9, 4_000)]
    {
        let counts = shown_and_enclosing(phi, n);
        for (shown, encloses) in counts {
            assert!(
                shown < 20 || f64::from(encloses) >= 0.9 * f64::from(shown),
                "{phi} {n}: {counts:?}"
            );
        }
        assert!(counts[1].0 > 180, "{phi} {n}: {counts:?}");
    }
}

/// A run that is too short to tell how far it hangs together shows wide intervals, or none: hardly any encloses too little.
#[test]
fn intervals_of_a_level_that_is_worth_few_values_are_wide() {
    for (phi, n) in [(0.9, 100), (0.9, 600), (0.9, 1_000)] {
        let p99 = shown_and_enclosing(phi, n)[3];
        assert!(p99.0 - p99.1 <= 2, "p99, {phi} {n}: {p99:?} of {RUNS}");
    }
    let counts = shown_and_enclosing(0.9, 100);
    let wrong = counts.map(|(shown, encloses)| shown - encloses);
    assert!(wrong.iter().all(|&wrong| wrong <= 30), "{counts:?} of {RUNS}");
    // To show only what came out as little correlated is to choose the intervals that are too narrow.
    let [(mean, _), (median, _), ..] = counts;
    assert!(mean > 140 && median > 140, "{counts:?} of {RUNS}");
}

/// The page's table; `cargo test -- --nocapture` prints it.
#[test]
fn how_often_intervals_are_shown_and_enclose_the_truth() {
    for (phi, lengths) in [
        (0.0, [100, 400, 1_000, 4_000]),
        (0.6, [100, 400, 1_000, 4_000]),
        (0.9, [100, 400, 1_000, 4_000]),
    ] {
        for n in lengths {
            let counts = shown_and_enclosing(phi, n);
            println!("{phi} {n}: {counts:?}");
            let is_long = n >= if phi < 0.5 { 400 } else { 1_000 };
            let holds = |&(shown, encloses): &(u32, u32)| encloses * 100 >= shown * 90;
            assert!(!is_long || counts.iter().all(holds), "{phi} {n}: {counts:?} of {RUNS}");
        }
    }
}

/// What an interval is worth that takes successive requests for independent.
#[test]
fn intervals_of_independent_values_are_far_too_narrow_for_a_series() {
    let share = |of: fn(Vec<Millis>) -> Distribution| {
        let interval = |run| {
            let values = autoregressive(1_000, 0.9, 7_000 + run);
            let found = of(values.iter().map(|value| Millis::new(50.0 + value)).collect());
            found.p50.interval()
        };
        let shown: Vec<_> = (0..RUNS).filter_map(interval).collect();
        let encloses = |ends: &&Interval<Millis>| ends.low.get() <= 50.0 && 50.0 <= ends.high.get();
        assert!(shown.len() > 180, "{}", shown.len());
        shown.iter().filter(encloses).count() as f64 / shown.len() as f64
    };
    let (plain, series) = (share(Distribution::of), share(Distribution::of_series));
    assert!(plain < 0.6 && series > 0.88, "{plain} and {series}");
}
