//! Frontier, operating point and `sweep.json`.

use fizeau_core::{LevelLoad, Millis, PerSec, Seconds};
use fizeau_metrics::{
    Distribution, Quantile, Slo, Validity, Verdict, VerdictConcern, VerdictReason,
};
use fizeau_record::{
    FrontierPosition, GoalSource, LevelReport, LevelStatus, OperatingPoint, SweepReport,
};
use fizeau_report::{Shown, Terminal, Verbosity};
use proptest::prelude::*;
use serde_json::Value;

use crate::sample;

/// A level of which nothing matters but two figures; without a `p99` the greatest value is all there is.
fn level(requests_per_s: f64, p99: Option<f64>, max: f64) -> LevelReport {
    let mut level = sample::level(1);
    level.summary.throughput.requests_per_s = PerSec::new(requests_per_s);
    level.summary.throughput.duration = Seconds::new(1.0);
    // A closed loop has no schedule.
    level.summary.arrivals = None;
    let e2el = &mut level.summary.metrics.e2el;
    *e2el = Distribution::default();
    e2el.n = if p99.is_some() { 100 } else { 8 };
    e2el.p99 = match p99 {
        Some(p99) => Quantile::Known { value: Millis::new(p99), interval: None },
        None => Quantile::Withheld { needs: 100 },
    };
    e2el.max = Some(Millis::new(max));
    level
}

fn sweep(levels: Vec<LevelReport>, slo: &str) -> SweepReport {
    let slo: Slo = slo.parse().unwrap();
    SweepReport::new(sample::setup(), levels, Some(slo))
}

fn parsed(report: &SweepReport) -> Value {
    serde_json::from_str(&report.to_json().unwrap()).unwrap()
}

#[test]
fn the_knee_is_on_the_frontier_and_what_lies_beyond_is_not() {
    let report = sample::sweep();
    assert_eq!(report.frontier(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(report.positions()[6], FrontierPosition::Dominated { by: 5 });
    assert_eq!(report.operating_point().level(), Some(5));
}

#[test]
fn a_level_that_did_less_than_a_lower_and_a_higher_load_is_remarked_upon() {
    let at = |slots: u32, rate: f64| {
        let mut level = level(rate, Some(100.0), 100.0);
        level.load = LevelLoad::Concurrency(slots.try_into().unwrap());
        level
    };
    let levels = |rates: [f64; 3]| {
        let [four, six, eight] = rates;
        sweep(vec![at(8, eight), at(4, four), at(6, six)], "p99 e2el<600ms")
    };
    let dips = levels([20.0, 15.0, 24.0]).dips();
    assert_eq!(dips.len(), 1, "{dips:?}");
    let said = "concurrency 6 (15.0 requests/s) gave fewer requests/s than both concurrency 4 (20.0 requests/s) and concurrency 8";
    assert!(dips[0].starts_with(said), "{dips:?}");
    // Saturation is no dip, and neither is what lies within a twentieth.
    assert!(levels([20.0, 19.5, 24.0]).dips().is_empty());
    assert!(levels([20.0, 15.0, 14.0]).dips().is_empty());
}

/// The run in the middle stands for its load, and may be far from the others: a dip is of all runs.
#[test]
fn a_dip_is_one_of_all_runs_of_a_load() {
    let dips = |rates: [[f64; 3]; 3]| {
        let runs = [4_u32, 6, 8].into_iter().zip(rates).flat_map(|(slots, rates)| {
            rates.map(|rate| {
                let mut run = level(rate, Some(100.0), 100.0);
                run.load = LevelLoad::Concurrency(slots.try_into().unwrap());
                run
            })
        });
        SweepReport::of_runs(sample::setup(), runs.collect(), None).dips()
    };
    let (below, above) = ([20.0, 20.1, 20.2], [24.0, 24.1, 24.2]);
    let found = dips([below, [15.0, 15.2, 14.8], above]);
    assert!(found[0].starts_with("concurrency 6 (15.0 requests/s)"), "{found:?}");
    assert!(dips([below, [30.0, 15.0, 14.0], above]).is_empty(), "its runs are not alike");
}

#[test]
fn a_level_broken_off_before_anything_completed_makes_the_others_suspect_at_worst() {
    let mut broken_off = level(100.0, Some(1.0), 1.0);
    broken_off.status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    broken_off.summary.requests.completed = 0;
    let text = "no request ended before the run was interrupted";
    let reason = VerdictReason::new(Verdict::Invalid, VerdictConcern::Failures, text);
    broken_off.validity = Validity::of(vec![reason]);
    let good = level(1.0, Some(500.0), 600.0);
    assert_eq!(sweep(vec![good, broken_off.clone()], "p99 e2el<600ms").verdict(), Verdict::Suspect);
    assert_eq!(sweep(vec![broken_off], "p99 e2el<600ms").verdict(), Verdict::Invalid);
}

#[test]
fn what_cannot_be_compared_is_left_out_with_the_reason() {
    let mut partial = level(100.0, Some(1.0), 1.0);
    partial.status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    let mut invalid = level(100.0, Some(1.0), 1.0);
    let late = VerdictReason::new(Verdict::Invalid, VerdictConcern::Client, "the client was late");
    invalid.validity = Validity::of(vec![late]);
    let mut empty = level(100.0, Some(1.0), 1.0);
    empty.summary.requests.completed = 0;
    let good = level(1.0, Some(500.0), 600.0);
    let report = sweep(vec![partial, invalid, empty, good], "p99 e2el<600ms");
    assert_eq!(report.frontier(), [3]);
    assert_eq!(report.verdict(), Verdict::Invalid);
    let json = parsed(&report);
    let reasons: Vec<&str> = json["levels"].as_array().unwrap()[..3]
        .iter()
        .map(|level| level["left_out_reason"].as_str().unwrap())
        .collect();
    let expected = ["partial: interrupted", "invalid: the client was late", "no request completed"];
    assert_eq!(reasons, expected);
}

#[test]
fn the_greatest_value_stands_in_for_a_withheld_percentile_and_says_so() {
    let report =
        sweep(vec![level(1.0, None, 500.0), level(2.0, Some(900.0), 999.0)], "p99 e2el<600ms");
    let json = parsed(&report);
    assert_eq!(json["frontier"][0]["latency_basis"], "max");
    assert_eq!(json["frontier"][0]["e2el_ms"], 500.0);
    assert_eq!(json["frontier"][1]["latency_basis"], "p99");
    assert!(json["levels"][0]["metrics"]["e2el_ms"]["p99"].is_null());
    assert!(json["levels"][0]["metrics"]["e2el_ms"]["p99_reason"].is_string());
    // The goal on the p99 is judged by it too.
    assert_eq!(json["operating_point"]["level"], 0);
    let goal = &json["operating_point"]["goals"][0];
    assert_eq!(goal["measured_statistic"], "max");
    assert_eq!((&goal["values"], &goal["values_needed"]), (&8.into(), &100.into()));
}

/// Eight values under the limit say little about the hundredth.
#[test]
fn a_goal_met_by_a_stand_in_says_by_how_many_values() {
    let words = |max: f64| {
        let report = sweep(vec![level(1.0, None, max)], "p99 e2el<600ms");
        let terminal = crate::terminal::plain(120, Verbosity::Full);
        // A sentence may go to a further line.
        Shown(&report).terminal(&terminal).replace("\n      ", " ")
    };
    let (met, missed) = (words(500.0), words(700.0));
    let says = "p99 E2EL < 600 ms: not decided (maximum 500 ms of 8; p99 needs 100)\n";
    assert!(met.contains(says), "{met}");
    assert!(met.contains("against p99 E2EL*: 1\n"), "{met}");
    let says = "p99 E2EL < 600 ms: missed (maximum 700 ms of 8; p99 needs 100)\n";
    assert!(missed.contains(says), "{missed}");
}

#[test]
fn a_level_that_took_no_time_has_no_rate_to_compare() {
    let mut instant = level(0.0, Some(0.0), 0.0);
    instant.summary.throughput.duration = Seconds::new(0.0);
    let report = sweep(vec![instant, level(1.0, Some(500.0), 500.0)], "p99 e2el<1s");
    assert_eq!(report.frontier(), [1]);
    let reason = "no time passed, so it has no rates".to_owned();
    assert_eq!(report.positions()[0], FrontierPosition::LeftOut { reason });
}

#[test]
fn a_missed_goal_names_the_nearest_level() {
    let report = sweep(
        vec![level(1.0, Some(500.0), 500.0), level(2.0, Some(900.0), 900.0)],
        "p99 e2el<400ms",
    );
    let OperatingPoint::Missed { nearest, goals } = report.operating_point() else {
        panic!("{:?}", report.operating_point());
    };
    assert_eq!(*nearest, Some(0));
    assert!(!goals[0].is_met());
    let json = parsed(&report);
    assert!(json["operating_point"].is_null());
    let reason = json["operating_point_reason"].as_str().unwrap();
    assert!(reason.starts_with("no level meets every goal"), "{reason}");
    assert_eq!(json["operating_point_nearest"]["level"], 0);
}

#[test]
fn the_knee_is_where_more_load_buys_latency_only() {
    // Given in rising load; the partial level between them is compared with nothing.
    let mut broken = level(9.0, Some(500.0), 500.0);
    broken.status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    let levels = vec![
        level(4.0, Some(500.0), 500.0),
        level(8.0, Some(520.0), 520.0),
        broken,
        level(8.2, Some(1_040.0), 1_040.0),
    ];
    let report = sweep(levels, "p99 e2el<2s");
    let words = report.knee().unwrap();
    assert!(words.ends_with("gives +2.5 % requests/s for 2.0 times the p99 E2EL"), "{words}");
    let json = parsed(&report);
    assert_eq!((&json["knee"]["level"], &json["knee"]["beyond"]), (&1.into(), &3.into()));
    assert_eq!(json["knee"]["e2el_factor"], 2.0);
}

#[test]
fn why_there_is_no_knee_is_said_as_it_is() {
    let reason = |levels| {
        let json = parsed(&sweep(levels, "p99 e2el<2s"));
        assert!(json["knee"].is_null());
        json["knee_reason"].as_str().unwrap().to_owned()
    };
    let one = || vec![level(4.0, Some(500.0), 500.0)];
    assert_eq!(reason(one()), "fewer than two levels can be compared");
    let two = vec![level(4.0, Some(500.0), 500.0), level(8.0, Some(520.0), 520.0)];
    assert_eq!(reason(two), "at no level does more load cost latency without giving throughput");
}

#[test]
fn a_knee_seen_in_greatest_values_is_not_said_to_be_of_a_p99() {
    let knee = |first, second| {
        let levels = vec![level(8.0, first, 520.0), level(8.2, second, 1_040.0)];
        sweep(levels, "p99 e2el<2s").knee().unwrap()
    };
    let both = knee(None, None);
    assert!(both.ends_with("for 2.0 times the greatest E2EL"), "{both}");
    let mixed = knee(None, Some(1_040.0));
    assert!(mixed.ends_with("for 2.0 times the tail E2EL (the greatest against a p99)"), "{mixed}");
}

#[test]
fn a_strict_limit_is_not_met_by_the_limit_itself() {
    for (slo, met) in [("p99 e2el<500ms", None), ("p99 e2el<=500ms", Some(0))] {
        let report = sweep(vec![level(1.0, Some(500.0), 500.0)], slo);
        assert_eq!(report.operating_point().level(), met, "{slo}");
    }
}

#[test]
fn goals_that_nobody_gave_are_said_to_be_assumed_and_once() {
    let given = sweep(vec![level(1.0, Some(500.0), 500.0)], "p99 e2el<1s");
    let assumed = given.clone().with_goal_source(GoalSource::Assumed);
    let terminal = crate::terminal::plain(80, Verbosity::Brief);
    let texts: [fn(&SweepReport, &Terminal<'_>) -> String; 3] = [
        |report, terminal| Shown(report).terminal(terminal),
        |report, _| Shown(report).page(),
        |report, _| Shown(report).markdown(),
    ];
    for text in texts {
        let times = |report| text(report, &terminal).matches("these were assumed").count();
        assert_eq!((times(&given), times(&assumed)), (0, 1), "{}", text(&assumed, &terminal));
    }
    assert!(parsed(&given)["slo_reason"].is_null());
    let said = assumed.assumed_goals().unwrap();
    assert_eq!(parsed(&assumed)["slo_reason"], said);
}

#[test]
fn without_a_goal_or_a_level_there_is_no_operating_point() {
    let report = SweepReport::new(sample::setup(), vec![level(1.0, Some(1.0), 1.0)], None);
    assert_eq!(*report.operating_point(), OperatingPoint::NoGoal);
    let json = parsed(&report);
    assert_eq!(json["slo_reason"], "no goal was given");
    let report = sweep(Vec::new(), "p99 e2el<1s");
    assert_eq!(*report.operating_point(), OperatingPoint::NoLevel);
    assert_eq!(report.verdict(), Verdict::Invalid);
}

#[test]
fn the_file_has_the_schemas_parts() {
    let json = parsed(&sample::sweep());
    assert_eq!(json["schema"], "fizeau.sweep/2");
    assert_eq!(json["setup"]["engine"]["kind"], "simulated");
    assert_eq!(json["slo"], "p99 ttft<150ms, p99 e2el<600ms");
    let levels = json["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 8);
    assert!(levels.iter().all(|level| level["schema"] == "fizeau.summary/2"));
    assert_eq!(levels[7]["dominated_by"], 5);
    assert_eq!(levels[0]["on_frontier"], true);
    assert!(levels[0]["dominated_by"].is_null());
    assert!(levels[0]["dominated_by_reason"].is_string());
    let note = json["notes"][0].as_str().unwrap();
    assert!(note.starts_with("The engine was simulated"), "{note}");
}

proptest! {
    #![proptest_config(crate::cases(256))]
    #[test]
    fn no_level_beats_one_on_the_frontier_and_one_beats_each_other(
        figures in prop::collection::vec((1..6_u8, 1..6_u8), 1..12)
    ) {
        let figures: Vec<(f64, f64)> = figures.into_iter().map(|(a, b)| (a.into(), b.into())).collect();
        let levels = figures.iter().map(|&(rate, ms)| level(rate, Some(ms), ms)).collect();
        let report = sweep(levels, "p99 e2el<3ms");
        let beats = |a: (f64, f64), b: (f64, f64)| a.0 >= b.0 && a.1 <= b.1 && a != b;
        for (i, place) in report.positions().iter().enumerate() {
            match place {
                FrontierPosition::Frontier => prop_assert!(!figures.iter().any(|&other| beats(other, figures[i]))),
                FrontierPosition::Dominated { by } => prop_assert!(beats(figures[*by], figures[i])),
                FrontierPosition::LeftOut { .. } => prop_assert!(false),
            }
        }
        // The operating point is the most throughput within the goal.
        let within = figures.iter().filter(|figure| figure.1 < 3.0).map(|figure| figure.0);
        let most = within.fold(None, |most: Option<f64>, rate| Some(most.map_or(rate, |m| m.max(rate))));
        let chosen = report.operating_point().level().map(|i| figures[i].0);
        prop_assert_eq!(chosen, most);
    }
}
