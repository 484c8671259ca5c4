//! How goals come out in words, at a level and over several runs of a load.

use fizeau_core::{Millis, PerSec};
use fizeau_metrics::{ArrivalSummary, Distribution, Goal, Interval, Quantile, Slo, Statistic};
use fizeau_record::{
    GoalResult, LevelReport, RunSetup, SweepReport, goal_limit, goal_measured, goal_name,
    goal_value,
};

use crate::judged::levels;

fn goal(text: &str) -> Goal {
    text.parse::<Slo>().unwrap().goals[0]
}

/// A sample of so many values up to so many milliseconds, of which a p99 is known only of a hundred or more.
fn sample(like: &Distribution, n: u64, max: f64) -> Distribution {
    let p99 = match n >= 100 {
        true => Quantile::Known { value: Millis::new(max), interval: None },
        false => Quantile::Withheld { needs: 100 },
    };
    let mut sample = like.clone();
    (sample.n, sample.max, sample.p99, sample.over_sent) = (n, Some(Millis::new(max)), p99, None);
    sample
}

/// Runs of one slot whose TTFT has so many values up to so many milliseconds.
fn runs(samples: &[(u64, f64)]) -> Vec<LevelReport> {
    let of = |(n, max): &(u64, f64)| {
        let mut level = levels(&[(1.0, 10.0)]).swap_remove(0);
        level.summary.metrics.ttft = sample(&level.summary.metrics.ttft, *n, *max);
        level.summary.metrics.ttft.mean = Some(Millis::new(*max));
        level.summary.metrics.ttft.mean_interval = None;
        level.summary.requests.sent = *n;
        level
    };
    samples.iter().map(of).collect()
}

/// The first goal at those runs, and how many requests would decide it.
fn judged(slo: &str, runs: Vec<LevelReport>) -> (GoalResult, Option<u64>) {
    let report = SweepReport::of_runs(RunSetup::default(), runs, Some(slo.parse().unwrap()));
    (report.operating_point().goals()[0], report.requests_needed())
}

/// The greatest of few values keeps a limit or does not; that the percentile keeps it was not shown.
#[test]
fn the_greatest_of_too_few_values_decides_against_a_goal_and_not_for_it() {
    let (met, needed) = judged("p99 ttft<50ms", runs(&[(60, 40.0)]));
    assert_eq!((met.is_met(), met.values_needed(), needed), (true, Some(100), Some(100)));
    assert_eq!(met.measured_words().as_deref(), Some("40.0 ms, greatest of 60"));
    let undecided = "p99 TTFT < 50 ms: not decided (maximum 40.0 ms of 60; p99 needs 100)";
    assert_eq!(met.words(), undecided);
    let (missed, needed) = judged("p99 ttft<30ms", runs(&[(60, 40.0)]));
    assert_eq!((missed.is_met(), missed.values_needed(), needed), (false, None, None));
    assert_eq!(missed.words(), "p99 TTFT < 30 ms: missed (maximum 40.0 ms of 60; p99 needs 100)");
    let (known, needed) = judged("p99 ttft<50ms", runs(&[(100, 40.0)]));
    assert_eq!((known.values_needed(), needed), (None, None));
    assert_eq!(known.measured_words().as_deref(), Some("40.0 ms"));
    assert_eq!(known.words(), "p99 TTFT < 50 ms: met, measured 40.0 ms, margin 20 %");
    assert_eq!(known.words_simulated(), "p99 TTFT < 50 ms: met, simulated 40.0 ms, margin 20 %");
    let (beyond, _) = judged("p99 ttft<32ms", runs(&[(100, 40.0)]));
    assert_eq!(beyond.words(), "p99 TTFT < 32 ms: missed by 25 %: measured 40.0 ms");
}

/// Of eighty requests twenty failed: of a hundred and thirty-four, and a tenth to be sure, a hundred have a value.
#[test]
fn more_requests_than_values_are_asked_for_where_not_each_has_one() {
    let mut some_failed = runs(&[(60, 40.0)]);
    some_failed[0].summary.requests.sent = 80;
    let (met, needed) = judged("p99 ttft<50ms", some_failed);
    assert_eq!((met.values_needed(), needed), (Some(100), Some(147)));
}

/// A percentile over runs is what one of them had: the median, or of two the worse.
#[test]
fn a_figure_over_runs_says_which_of_theirs_it_is() {
    let words =
        |slo: &str, samples: &[(u64, f64)]| judged(slo, runs(samples)).0.measured_words().unwrap();
    let three = [(100, 40.0), (100, 44.0), (100, 48.0)];
    assert_eq!(words("p99 ttft<50ms", &three[..2]), "44.0 ms (the worse of 2 runs, 40.0 to 44.0)");
    assert_eq!(words("p99 ttft<50ms", &three), "44.0 ms (the median of 3 runs, 40.0 to 48.0)");
    assert!(words("mean ttft<60ms", &three).ends_with(" ms (the mean of 3 runs, 40.0 to 48.0)"));
    let same = [(100, 40.0), (100, 40.0)];
    assert_eq!(words("p99 ttft<50ms", &same), "40.0 ms (the worse of 2 runs)");
}

/// What only a stricter reading misses is told with the plain figure beside it.
#[test]
fn a_goal_that_only_a_stricter_figure_misses_names_both() {
    let mut level = runs(&[(100, 40.0)]);
    level[0].summary.arrivals = Some(ArrivalSummary::default());
    let metrics = &mut level[0].summary.metrics;
    metrics.ttft_scheduled = sample(&metrics.ttft_scheduled, 100, 70.0);
    let (from_schedule, _) = judged("p99 ttft<50ms", level.clone());
    assert!(!from_schedule.is_met());
    assert_eq!(
        from_schedule.words(),
        "p99 TTFT < 50 ms: missed from schedule, measured 70.0 ms, and 40.0 ms from the sending of requests"
    );
    assert_eq!(judged("p99 ttft<80ms", level).0.outcome.from_schedule, None);
    let mut level = runs(&[(100, 40.0)]);
    let requests = &mut level[0].summary.requests;
    (requests.sent, requests.completed, requests.failed) = (100, 50, 50);
    let (failed, _) = judged("p99 ttft<50ms", level);
    let words =
        "p99 TTFT < 50 ms: missed: 50 % of the requests failed; measured 40.0 ms for the others";
    assert_eq!(failed.words(), words);
    assert!(!failed.is_met());
}

#[test]
fn a_goal_is_named_with_its_limit_and_its_figure() {
    let all = ["p99 ttft<500ms", "mean e2el<=12s", "rps>3", "good_share>=0.95"].map(goal);
    assert_eq!(all.map(|goal| goal_name(&goal)), ["p99 TTFT", "mean E2EL", "RPS", "good share"]);
    assert_eq!(
        all.map(|goal| goal_limit(&goal)),
        ["< 500 ms", "<= 12000 ms", "> 3 req/s", ">= 0.95"]
    );
    assert_eq!([goal_value(&all[0], 85.2), goal_value(&all[0], 12_000.0)], ["85.2 ms", "12.0 s"]);
    assert_eq!([goal_value(&all[2], 3.0), goal_value(&all[3], 0.5)], ["3.00 req/s", "0.50"]);
}

/// A figure is never rounded over the limit that it is beside.
#[test]
fn a_figure_beside_its_limit_has_the_digits_that_tell_on_which_side_it_is() {
    let below = goal("p99 ttft<500ms");
    let shown = |goal: &Goal, value: f64, ends: Option<(f64, f64)>| {
        goal_measured(goal, value, ends.map(|(low, high)| Interval::p95(low, high)))
    };
    assert_eq!(shown(&below, 481.2, Some((470.0, 492.0))), "480 ms");
    assert_eq!(shown(&below, 499.8, None), "499.8 ms");
    assert_eq!(shown(&below, 499.996, None), "499.996 ms");
    assert_eq!(shown(&below, 500.0, None), "500 ms");
    assert_eq!(shown(&below, 500.4, None), "500 ms");
    let or_equal = goal("p99 ttft<=500ms");
    assert_eq!(shown(&or_equal, 500.4, None), "500.4 ms");
    assert_eq!(shown(&goal("rps>3"), 3.004, None), "3.004 req/s");
}

/// Ends of runs of one load are Student's of a mean; what fails in one run counts as its share of all.
#[test]
fn what_failed_is_averaged_over_the_runs_of_a_load() {
    let mut both = runs(&[(100, 40.0), (100, 40.0)]);
    for (level, failed) in both.iter_mut().zip([0, 10]) {
        let requests = &mut level.summary.requests;
        (requests.sent, requests.completed, requests.failed) = (100, 100 - failed, failed);
    }
    let (result, _) = judged("p99 ttft<50ms", both.clone());
    assert!((result.outcome.failures.unwrap() - 0.05).abs() < 1e-9, "{result:?}");
    let (rate, _) = judged("rps>3", both);
    assert_eq!(rate.outcome.failures, None, "a failed request is missing from a rate by itself");
    assert_eq!(rate.outcome.goal.statistic, Statistic::Value);
    assert_eq!(rate.outcome.measured, Some(PerSec::new(10.0).get()));
}

/// Of three runs one misses the goal from the schedule: the figure that decides is the median of what decides each.
#[test]
fn over_runs_a_stricter_figure_of_one_decides_for_none() {
    for late in 0..3 {
        let mut all = runs(&[(100, 45.0), (100, 48.0), (100, 46.0)]);
        for (index, level) in all.iter_mut().enumerate() {
            level.summary.arrivals = Some(ArrivalSummary::default());
            let from_schedule = if index == late { 70.0 } else { 47.0 };
            let metrics = &mut level.summary.metrics;
            metrics.ttft_scheduled = sample(&metrics.ttft_scheduled, 100, from_schedule);
        }
        let (result, _) = judged("p99 ttft<50ms", all);
        assert!(result.is_met(), "{late}: {}", result.words());
        assert!(result.outcome.measured.is_some_and(|of| of < 50.0), "{late}: {result:?}");
    }
}
