//! The page of several runs.

use fizeau_metrics::{
    ComparisonSettings, ComparisonTable, FigureChoice, LevelFigure, RoundFigures,
};
use fizeau_record::{
    ChangedField, ComparedLevel, ComparedRun, ComparisonReport, EngineRecord, RunComparison,
    SweepReport,
};
use fizeau_report::ComparisonPage;

use super::{EVIL, assert_closed, data, read, words};
use crate::sample;

fn runs(second: &str) -> [(String, SweepReport); 2] {
    let mut setup = sample::setup();
    setup.precision = Some("weights fp8".to_owned());
    let levels = [1, 4, 16, 64].map(sample::level).into();
    let other = SweepReport::new(setup, levels, "p99 e2el<600ms".parse().ok());
    [("runs/a".to_owned(), sample::sweep()), (second.to_owned(), other)]
}

/// TTFT is better, the throughput worse, and of the rest there is no telling.
fn comparison(candidate: &str) -> ComparisonReport {
    let rounds = |ttft: f64, tps: f64| -> Vec<RoundFigures> {
        let wobble = |nth: u32| f64::from(nth * 7 % 5) / 100.0;
        let round = |nth| {
            RoundFigures::from_iter([
                (LevelFigure::P50_TTFT, ttft + wobble(nth)),
                (LevelFigure::OUTPUT_TPS, tps - wobble(nth)),
                (LevelFigure::P99_TTFT, 90.0 + wobble(nth * 3)),
            ])
        };
        (0..8).map(round).collect()
    };
    let figures =
        FigureChoice::only([LevelFigure::P50_TTFT, LevelFigure::OUTPUT_TPS, LevelFigure::P99_TTFT]);
    let settings = ComparisonSettings { figures, ..ComparisonSettings::default() };
    let table =
        ComparisonTable::of_rounds(&rounds(50.0, 900.0), &rounds(48.0, 880.0), &settings).unwrap();
    let run = |name: &str| ComparedRun {
        name: name.to_owned(),
        notes: vec!["suspect: late".to_owned().into()],
    };
    let comparisons = vec![RunComparison {
        missing_levels: Vec::new(),
        candidate: run(candidate),
        forced: Vec::new(),
        changed: vec![ChangedField {
            field: "setup.precision".to_owned(),
            baseline: Some("\"bf16\"".to_owned()),
            candidate: Some(format!("\"{EVIL}\"")),
        }],
        frontier_distance: None,
        levels: vec![ComparedLevel { name: "concurrency 4".to_owned(), table, notes: Vec::new() }],
        notes: vec!["one of a kind".to_owned()],
    }];
    ComparisonReport::new(run("runs/a"), comparisons, vec!["two runs".to_owned()])
}

#[test]
fn it_says_what_is_better_what_worse_and_what_changed() {
    let (runs, report) = (runs("runs/b"), comparison("runs/b"));
    let page = ComparisonPage { runs: &runs, imported: &[], comparison: Ok(&report) }.page();
    assert_closed(&page);
    let words = words(&page);
    for text in [
        "runs/a against runs/b",
        "Better and worse: of 3 figures 1 better, 1 worse and 1 without a detectable difference.",
        "Better: p50 TTFT -4.0",
        "Worse: output TPS -2.2",
        "not detected",
        "precision of weights and cache bf16",
        "weights fp8",
        "Note: one of a kind.",
        "Note: two runs.",
        "runs/b: suspect: late",
        "change of runs/b against runs/a",
        "The engine was simulated, not run on hardware.",
        "p by Holm's correction over 3 figures",
        "concurrency 32",
    ] {
        assert!(words.contains(text), "{text}: {words}");
    }
    let data = data(&page);
    let names: Vec<&str> =
        data["runs"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["runs/a", "runs/b"]);
    assert_eq!(read(&page).matches("<figure").count(), 7);
}

/// Requests that fail are in no latency: it looks better for them.
#[test]
fn latencies_of_a_run_that_fails_more_are_no_improvement() {
    let rounds = |ttft: f64, failed: f64| -> Vec<RoundFigures> {
        let round = |nth: u32| {
            let wobble = f64::from(nth * 7 % 5) / 1000.0;
            let figures = [
                (LevelFigure::P99_TTFT, ttft + wobble),
                (LevelFigure::FAILED_SHARE, failed + wobble),
            ];
            RoundFigures::from_iter(figures)
        };
        (0..8).map(round).collect()
    };
    let figures = FigureChoice::only([LevelFigure::P99_TTFT, LevelFigure::FAILED_SHARE]);
    let settings = ComparisonSettings { figures, ..ComparisonSettings::default() };
    let (runs, mut report) = (runs("runs/b"), comparison("runs/b"));
    report.comparisons[0].levels[0].table =
        ComparisonTable::of_rounds(&rounds(90.0, 0.01), &rounds(70.0, 0.2), &settings).unwrap();
    let words =
        words(&ComparisonPage { runs: &runs, imported: &[], comparison: Ok(&report) }.page());
    let caution = "of 2 figures 1 better and 1 worse. More requests fail there, and latencies are of those that completed alone: they \
                   are no improvement.";
    assert!(words.contains(caution), "{words}");
}

/// A figure that came out alike at many levels is named once.
#[test]
fn the_answer_is_no_wall() {
    let (runs, mut report) = (runs("runs/b"), comparison("runs/b"));
    let levels = &mut report.comparisons[0].levels;
    for name in ["concurrency 8", "concurrency 16"] {
        levels.push(ComparedLevel { name: name.to_owned(), ..levels[0].clone() });
    }
    let words =
        words(&ComparisonPage { runs: &runs, imported: &[], comparison: Ok(&report) }.page());
    assert!(words.contains("of 9 figures 3 better, 3 worse and 3 without"), "{words}");
    let (_, better) = words.split_once("Better: ").unwrap();
    let (better, _) = better.split_once("Worse: ").unwrap();
    assert_eq!(better.matches("p50 TTFT").count(), 1, "{better}");
    assert!(better.contains(" % at concurrency 4, 8 and 16"), "{better}");
}

#[test]
fn a_comparison_says_at_its_top_which_runs_were_simulated() {
    let mut runs = runs("runs/b");
    let mut setup = sample::setup();
    setup.engine = EngineRecord::Remote { description: Some("vllm 1".to_owned()) };
    runs[1].1 = SweepReport::new(setup, vec![sample::level(4)], None);
    let words = words(&ComparisonPage { runs: &runs, imported: &[], comparison: Err("no") }.page());
    let (top, _) = words.split_once("Not tested against each other").unwrap();
    assert!(top.contains("The engine was simulated, not run on hardware. runs/a."), "{top}");
}

#[test]
fn runs_that_may_not_be_compared_lie_over_one_another_and_it_says_why() {
    let runs = runs(EVIL);
    let page =
        ComparisonPage { runs: &runs, imported: &[], comparison: Err("their workloads differ") }
            .page();
    assert_closed(&page);
    let words = words(&page);
    assert!(words.contains("Not tested against each other: their workloads differ"), "{words}");
    assert!(!read(&page).contains("<script") && !read(&page).contains("<img"));
    assert_eq!(page.matches("<script").count(), 3);
    assert_eq!(data(&page)["runs"][1]["name"], EVIL);
}
