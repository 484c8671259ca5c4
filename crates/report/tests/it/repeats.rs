//! Loads that were measured more than once, and what goals make of their runs.

use fizeau_core::FailureClass;
use fizeau_metrics::{Slo, Validity, Verdict, VerdictConcern, VerdictReason};
use fizeau_pareto::LoadEdge;
use fizeau_record::{HighestLoadBasis, LevelReport, PlanLevel, ReplicaCapacity, SweepReport};
use fizeau_report::Shown;

use crate::decision::{parsed, rate, said, slots};
use crate::sample;

/// The same levels and goals: what a plan carries is what the sweep calls the highest rate, by all runs of each load.
#[test]
fn a_sweep_with_repeats_and_a_plan_of_it_say_the_same() {
    let runs = vec![
        rate(2.0, 190.0, 0.0),
        rate(2.0, 200.0, 0.0),
        rate(2.0, 230.0, 0.0),
        rate(4.0, 300.0, 0.0),
        rate(4.0, 280.0, 0.0),
        rate(4.0, 360.0, 0.0),
        rate(8.0, 700.0, 0.0),
        rate(8.0, 690.0, 0.0),
        rate(8.0, 800.0, 0.0),
    ];
    let slo: Slo = "p99 ttft<=500ms".parse().unwrap();
    let report = SweepReport::of_runs(sample::setup(), runs.clone(), Some(slo.clone()));
    let Ok(LoadEdge::Between(edge)) = report.decisions()[0].tight.maximum.edge else { panic!() };
    // Medians 300 and 700: halfway; the ranges 280 to 360 and 690 to 800 cross at 4 + 4 x 220/410 and 4 + 4 x 140/440.
    assert!((edge.load.value() - 6.0).abs() < 1e-9, "{edge:?}");
    assert!((edge.load.high() - (4.0 + 880.0 / 410.0)).abs() < 1e-9, "{edge:?}");
    assert!((edge.load.low() - (4.0 + 560.0 / 440.0)).abs() < 1e-9, "{edge:?}");
    // The level to run at is judged by all runs of its load, too.
    assert_eq!(report.operating_point().goals()[0].outcome.measured, Some(300.0));
    let levels: Vec<PlanLevel> = runs.iter().map(|run| PlanLevel::measured(run).unwrap()).collect();
    let carried = ReplicaCapacity::of(&levels, &slo.goals).unwrap();
    assert_eq!((carried.requests_per_s, carried.served), (edge.load, edge.throughput));
    // What the ends are is said: no interval.
    assert_eq!(carried.bounds, HighestLoadBasis::Runs);
    let text = said(&report);
    let part = "about 6.0 requests/s (5.3 to 6.1 over the runs), interpolated";
    assert!(text.contains(part), "{text}");
    let highest = &parsed(&report)["decisions"][0]["tight"]["highest_load"];
    assert!(highest["load_ci"].is_null() && highest["load_between_tested"].is_null(), "{highest}");
    assert_eq!(highest["load_over_runs"][1], edge.load.high());
}

/// A goal is judged by a figure that a run had, and everywhere it is said which, since the table has another.
#[test]
fn a_goal_of_repeats_says_of_which_run_its_figure_is() {
    let twice = vec![slots(8, 10.0, 501.0, 900.0), slots(8, 11.0, 472.0, 890.0)];
    let thrice =
        vec![slots(4, 5.0, 472.0, 700.0), slots(4, 5.2, 501.0, 700.0), slots(4, 5.1, 487.0, 700.0)];
    let slo: Slo = "p99 ttft<500ms".parse().unwrap();
    let of = |runs: Vec<LevelReport>| {
        SweepReport::of_runs(sample::setup(), runs, Some(slo.clone())).with_curve(None)
    };
    // Half of 501 and 472 is no percentile of any run, and would be met.
    let (twice, thrice) = (of(twice), of(thrice));
    assert_eq!(twice.operating_point().level(), None);
    let missed =
        "p99 TTFT < 500 ms: missed by 0.20 %: measured 501 ms (the worse of 2 runs, 472 to 501)";
    assert!(said(&twice).contains(missed), "{}", said(&twice));
    let figure = "487 ms (the median of 3 runs, 472 to 501)";
    assert!(said(&thrice).contains(&format!("met, measured {figure}, margin 2.6 %")));
    assert!(Shown(&thrice).markdown().contains(figure), "{}", Shown(&thrice).markdown());
    assert!(Shown(&thrice).markdown().to_lowercase().contains("the table of levels shows one run"));
    let kept = [&twice, &thrice].map(|report| report.repeats()[0].keeping(&slo));
    assert_eq!(kept, [Some(1), Some(2)]);
    assert!(Shown(&thrice).page().contains("in 2 of 3 runs."));
    let goal = &parsed(&thrice)["operating_point"]["goals"][0];
    assert!(goal["measured_ci"].is_null(), "least and greatest are no interval: {goal}");
    let ends = ["runs", "measured_least", "measured_greatest"].map(|name| goal[name].as_f64());
    assert_eq!(ends, [Some(3.0), Some(472.0), Some(501.0)]);
    let tails = &parsed(&twice)["repeats"][0]["p99_ttft_ms"];
    assert_eq!(tails["median"], 501.0, "as goals have it");
}

/// What one run of a load shows is no better because another run of it stands in the table.
#[test]
fn a_sweep_is_as_good_as_the_worst_of_all_runs() {
    let text = "a third of what was sent failed";
    for verdict in [Verdict::Suspect, Verdict::Invalid] {
        let mut runs = vec![slots(4, 5.0, 472.0, 700.0), slots(4, 5.2, 501.0, 700.0)];
        runs[1].validity =
            Validity::of(vec![VerdictReason::new(verdict, VerdictConcern::Failures, text)]);
        // The run that stands for both has none of the first kind, and four of the second as the other has.
        runs[1].summary.requests.by_class.insert(FailureClass::TimeoutIdle, 4);
        runs.iter_mut().for_each(|run| {
            run.summary.requests.by_class.insert(FailureClass::Connect, 4);
        });
        let report = SweepReport::of_runs(sample::setup(), runs, None);
        assert_eq!(report.levels()[0].validity.verdict, Verdict::Valid, "another stands for it");
        assert_eq!((report.verdict(), report.repeats().len()), (verdict, 1));
        let said = Shown(&report).markdown();
        let failures = "Failures: connect 8 (at 4), timeout_idle 4 (at 4)";
        assert!(said.contains(text) && said.contains(&failures.replace('_', "&#95;")), "{said}");
        assert!(Shown(&report).page().contains(failures), "{}", Shown(&report).page());
        assert!(said.contains(&format!("Verdict: {}", verdict.as_str())), "{said}");
    }
}
