//! Loads at which requests fail.

use super::*;

/// That most requests fail at a load is the server's doing, and shows that it does not carry it, however little else is known there.
#[test]
fn a_load_at_which_most_requests_fail_breaks_the_goals() {
    let all = [(1.0, 10.0, 10.0, true), (2.0, 20.0, 11.0, true), (4.0, 40.0, 12.0, true)];
    let report = |completed: u64, goals: &str| {
        let mut made = with_tails(&all);
        for (at, level) in made.iter_mut().enumerate() {
            level.summary.requests.sent = 100;
            level.summary.requests.completed = if at == 2 { completed } else { 100 };
            level.summary.requests.failed = 100 - level.summary.requests.completed;
        }
        fail(&mut made[2]);
        sweep(made, slo(goals))
    };
    for (completed, goals) in [(46, "p99 e2el<50ms"), (0, "p99 e2el<50ms"), (0, "rps>=15")] {
        let report = report(completed, goals);
        let tight = json(&report)["decisions"][0]["tight"].clone();
        let highest = &tight["highest_load"];
        assert_eq!(highest["breaks_first"]["goal"], "few failed requests", "{highest}");
        assert_eq!(highest["breaks_first"]["level"], 2);
        assert_eq!(highest["breaks_first"]["value"], 1.0 - completed as f64 / 100.0);
        let ends = (&highest["reached"], &highest["nearest_level"]);
        assert_eq!(ends, (&Value::from(true), &Value::from(1)));
        assert_eq!(tight["operating_point"]["level"], 1);
    }
    let planned = |level: &LevelReport| PlanLevel::measured(level).unwrap();
    let report = report(0, "p99 e2el<50ms");
    let levels: Vec<PlanLevel> = report.levels().iter().map(planned).collect();
    let carried = ReplicaCapacity::of(&levels, &report.slo().unwrap().goals).unwrap();
    assert_eq!((carried.nearest.value(), carried.is_open_above), (2.0, false));
    assert_eq!(carried.breaks.unwrap(), "100 % of the requests failed at concurrency 4");
}

/// Has the verdict say that most of a level's requests failed.
fn fail(level: &mut LevelReport) {
    let of = VerdictConcern::Failures;
    level.validity.add(VerdictReason::new(Verdict::Invalid, of, "most requests failed"));
}

/// One run in which nothing failed does not speak for two in which most requests did.
#[test]
fn a_load_is_judged_by_the_runs_that_failed_too() {
    let all = [(1.0, 10.0, 10.0, true), (2.0, 20.0, 11.0, true)];
    let mut runs = with_tails(&all);
    runs.extend([runs[1].clone(), runs[1].clone()]);
    for (run, failed) in runs.iter_mut().zip([0, 0, 60, 60]) {
        let requests = &mut run.summary.requests;
        (requests.sent, requests.completed, requests.failed) = (100, 100 - failed, failed);
        if failed > 0 {
            fail(run);
        }
    }
    let report = SweepReport::of_runs(RunSetup::default(), runs, slo("p99 e2el<50ms"));
    let tight = json(&report)["decisions"][0]["tight"].clone();
    assert_eq!(tight["operating_point"]["level"], 0);
    let failed = tight["highest_load"]["breaks_first"]["value"].as_f64().unwrap();
    assert!((failed - 0.4).abs() < 1e-9, "{failed}");
}
