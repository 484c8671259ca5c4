//! Comparisons as people and programs get them.

use fizeau_core::{Estimate, Interval};
use fizeau_metrics::{
    ComparisonSettings, ComparisonTable, FigureChoice, LevelFigure, RoundFigures,
};
use fizeau_record::{
    ChangedField, ComparedLevel, ComparedRun, ComparedRunNote, ComparisonDocument,
    ComparisonReport, ComparisonView, FrontierDistance, FrontierPoint, RunComparison,
};
use fizeau_report::{Shown, Verbosity};
use serde_json::{Value, json};

fn table() -> ComparisonTable {
    let rounds = |ttft: [f64; 6], tps: [f64; 6]| -> Vec<RoundFigures> {
        let round = |(ttft, tps)| {
            let figures = [
                (LevelFigure::P50_TTFT, ttft),
                (LevelFigure::OUTPUT_TPS, tps),
                (LevelFigure::RPS, tps / 10.0),
            ];
            RoundFigures::from_iter(figures)
        };
        ttft.into_iter().zip(tps).map(round).collect()
    };
    let before =
        rounds([50.1, 49.8, 50.6, 50.3, 49.9, 50.4], [99.0, 101.0, 100.0, 98.0, 102.0, 100.5]);
    let after =
        rounds([48.0, 47.9, 48.8, 48.1, 47.7, 48.5], [98.9, 101.2, 99.7, 98.3, 101.8, 100.6]);
    let mut figures =
        FigureChoice::only([LevelFigure::P50_TTFT, LevelFigure::P99_TTFT, LevelFigure::OUTPUT_TPS]);
    figures.beside = vec![LevelFigure::RPS];
    let settings = ComparisonSettings { figures, ..ComparisonSettings::default() };
    ComparisonTable::of_rounds(&before, &after, &settings).unwrap()
}

#[test]
fn the_table_says_all_in_eighty_columns() {
    let table = table();
    let view = ComparisonView { table: &table, baseline: "v1", candidate: "v2" };
    let text = Shown(&view).text(Verbosity::Full);
    let expected = "                     v1    v2   change          interval  adj. p  result
p50 TTFT, ms       50.2  48.2  -4.02 %  -4.38 to -3.66 %  <0.001  better
p99 TTFT, ms          -     -  the baseline does not have this figure
output TPS, tok/s   100   100  +0.00 %  -0.25 to +0.25 %    1.00  not detected
For information only (p is not adjusted for several tests):
RPS, req/s         10.0  10.0  +0.00 %  -0.25 to +0.25 %    1.00  -
";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "A change of this size is detectable (at 80 % power): p50 TTFT",
        "Cohen's d: p50 TTFT -",
        "6 rounds of each, in pairs; change of v2 against v1; test: paired t; p by Holm's correction over 2 figures",
    ] {
        assert!(words.contains(said), "{said}: {words}");
    }
}

/// A difference that is sure and of no account, and a figure that one of seven rounds lacks.
#[test]
fn what_is_too_small_or_not_of_all_rounds_is_said() {
    let [before, after] = [1.0, 1.0001].map(|factor| -> Vec<RoundFigures> {
        let round = |k: u32| {
            let ms = factor * (50.0 + f64::from(k)) + 1e-5 * f64::from(k % 2);
            let p99 = (k > 0).then_some((LevelFigure::P99_TTFT, 2.0 * ms));
            [(LevelFigure::P50_TTFT, ms)].into_iter().chain(p99).collect()
        };
        (0..7).map(round).collect()
    });
    let figures = FigureChoice::only([LevelFigure::P50_TTFT, LevelFigure::P99_TTFT]);
    let settings = ComparisonSettings { figures, ..ComparisonSettings::default() };
    let table = ComparisonTable::of_rounds(&before, &after, &settings).unwrap();
    let view = ComparisonView { table: &table, baseline: "A", candidate: "B" };
    let text = Shown(&view).text(Verbosity::Full);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "+0.01 %",
        "too small",
        "p99 TTFT from 6 of 7 rounds; the others have none",
        "a difference of less than 0.1 % was detected, which is too small to count",
    ] {
        assert!(words.contains(said), "{said}: {text}");
    }
    assert!(!words.contains("worse"), "{text}");
    let document = serde_json::to_value(ComparisonDocument::from(view.table)).unwrap();
    assert_eq!(document["smallest_change"], 0.001);
    assert_eq!(
        document["figures"][0]["answer_reason"],
        "a difference smaller than smallest_change"
    );
}

pub(crate) fn report() -> ComparisonReport {
    let run = |name: &str| ComparedRun { name: name.to_owned(), notes: Vec::new() };
    let changed = |field: &str, baseline: Option<&str>, candidate: &str| ChangedField {
        field: field.to_owned(),
        baseline: baseline.map(str::to_owned),
        candidate: Some(candidate.to_owned()),
    };
    let comparisons = vec![RunComparison {
        missing_levels: Vec::new(),
        candidate: run("runs/b\u{1b}[31m"),
        forced: vec![changed("plan.seed", Some("1"), "2")],
        changed: vec![changed("setup.hardware", None, "\"h100\"")],
        frontier_distance: None,
        levels: vec![ComparedLevel { name: "concurrency 8".into(), table: table(), notes: vec![] }],
        notes: vec!["one of a kind".to_owned()],
    }];
    ComparisonReport::new(
        ComparedRun { notes: vec!["suspect: late".to_owned().into()], ..run("runs/a") },
        comparisons,
        vec!["two runs".to_owned()],
    )
}

#[test]
fn a_report_says_what_differs_before_the_tables() {
    let text = Shown(&report()).text(Verbosity::Full);
    let head = "A: runs/a
B: runs/b\u{fffd}[31m
note: A: suspect: late
note: one of a kind
Compared although these differ:
  seed: 1 -> 2
What else changed:
  hardware: none -> h100

concurrency 8:
";
    assert!(text.starts_with(head), "{text}");
    // As the Markdown has it: an exit code is not left without a word.
    let (_, sentence) = text.split_once("note: two runs\n").unwrap();
    assert!(sentence.starts_with("B is "), "{text}");
}

/// A kind of note is one line in brief, with what it is of.
#[test]
fn in_brief_a_doubt_is_said_once_for_both_runs_and_all_levels() {
    let late = |load: u32, ms: u32| ComparedRunNote {
        at: Some(format!("concurrency {load}")),
        text: format!("suspect: late: p99 {ms} ms (limit 10 ms); it was busy"),
    };
    let mut report = report();
    report.baseline.notes = vec![late(1, 12), late(4, 40)];
    report.comparisons[0].candidate.notes = vec![late(4, 30)];
    let text = Shown(&report).text(Verbosity::Brief);
    let note = "note: suspect: late: p99 40 ms (limit 10 ms) (A at concurrency 1 and 4; B at\n    \
                concurrency 4; worst: A at concurrency 4)\n";
    assert_eq!(text.matches("late").count(), 1, "{text}");
    assert!(text.contains(note), "{text}");
    report.comparisons[0].candidate.notes = report.baseline.notes.clone();
    let text = Shown(&report).text(Verbosity::Brief);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("(A and B at concurrency 1 and 4; worst: A at concurrency 4)"),
        "{text}"
    );
    let full = Shown(&report).text(Verbosity::Full);
    assert_eq!(full.matches("it was busy").count(), 4, "{full}");
}

/// Of no failures five in a hundred are no share: the overview of many levels says how many points.
#[test]
fn a_change_from_nothing_has_its_unit_among_percents() {
    let rounds = |failed: [f64; 6]| -> Vec<RoundFigures> {
        let round = |share| RoundFigures::from_iter([(LevelFigure::FAILED_SHARE, share)]);
        failed.into_iter().map(round).collect()
    };
    let settings = ComparisonSettings {
        figures: FigureChoice::only([LevelFigure::FAILED_SHARE]),
        ..ComparisonSettings::default()
    };
    let failing = rounds([0.049, 0.051, 0.05, 0.048, 0.052, 0.05]);
    let table = ComparisonTable::of_rounds(&rounds([0.0; 6]), &failing, &settings).unwrap();
    let mut report = report();
    let level = |n: u32| ComparedLevel {
        name: format!("concurrency {n}"),
        table: table.clone(),
        notes: vec![],
    };
    report.comparisons[0].levels = (1..=4).map(level).collect();
    let text = Shown(&report).text(Verbosity::Brief);
    let (_, overview) = text.split_once("Change of B against A in %:\n").unwrap();
    assert!(overview.contains("concurrency 1  +5.00 points worse\n"), "{text}");
}

#[test]
fn the_document_has_every_figure_with_its_reason_where_there_is_none() {
    let document: Value = serde_json::from_str(&report().to_json().unwrap()).unwrap();
    assert_eq!(document["schema"], "fizeau.comparison/1");
    let comparison = &document["comparisons"][0];
    let changed = json!({"field": "setup.hardware", "baseline": null, "candidate": "h100"});
    assert_eq!(comparison["changed"][0], changed);
    let table = &comparison["levels"][0]["comparison"];
    assert_eq!((&table["rounds"], &table["alpha"]), (&json!(6), &json!(0.05)));
    let [ttft, p99, tps, rps] = &table["figures"].as_array().unwrap()[..] else {
        panic!("{table}")
    };
    assert_eq!((&ttft["figure"], &ttft["answer"]), (&json!("p50 ttft"), &json!("better")));
    assert_eq!((&ttft["better"], &ttft["decided_by"]), (&json!("lower"), &json!("paired t")));
    assert_eq!(ttft["tests"]["Wilcoxon"], 1.0 / 32.0);
    for key in ["difference", "change", "p_holm", "effect_size", "detectable", "detectable_change"]
    {
        assert!(ttft[key].is_f64(), "{key}: {ttft}");
    }
    assert_eq!(p99["answer_reason"], "the baseline does not have this figure");
    assert_eq!(tps["answer"], "no detectable difference");
    assert_eq!((&rps["answer"], &rps["decided"]), (&Value::Null, &json!(false)));
}

/// Twice the rate at each latency: by hand, and with intervals that are as wide as the figures'.
#[test]
fn a_sweep_says_how_far_its_frontier_was_pushed() {
    let point = |rate: f64, ms: f64, part: Option<f64>| {
        let figure = |value: f64| {
            let ends = |part| Interval::p95(value * (1.0 - part), value * (1.0 + part));
            Estimate::widened(value, part.map(ends))
        };
        FrontierPoint { requests_per_s: figure(rate), p99_e2el_ms: figure(ms) }
    };
    let levels = |times: f64, part| {
        [[4.0, 200.0], [6.0, 300.0], [7.0, 500.0]].map(|[rate, ms]| point(rate * times, ms, part))
    };
    let between = |part| FrontierDistance::between(&levels(1.0, part), &levels(2.0, part)).unwrap();
    let exact = between(None);
    assert_eq!((exact.requests_per_s.change, exact.requests_per_s.change_ci), (Some(1.0), None));
    assert_eq!(exact.requests_per_s.over, Some([200.0, 500.0]));
    // At 8 requests/s or more the baseline has no latency.
    assert_eq!(exact.p99_e2el_ms.change, None);
    assert!(
        exact
            .p99_e2el_ms
            .change_reason
            .unwrap()
            .starts_with("the frontiers have no range in common")
    );
    let noisy = between(Some(0.02)).requests_per_s.change_ci.unwrap();
    assert!(noisy[0].unwrap() < 1.0 && noisy[1].unwrap() > 1.0, "{noisy:?}");
    assert_eq!(FrontierDistance::between(&levels(1.0, None)[..1], &levels(2.0, None)), None);

    let mut report = report();
    report.comparisons[0].frontier_distance = Some(between(None));
    let line = "Frontier: B has +100 % requests/s at equal p99 E2EL (200 to 500 ms)";
    assert!(
        Shown(&report).text(Verbosity::Full).contains(line),
        "{}",
        Shown(&report).text(Verbosity::Full)
    );
    assert!(Shown(&report).markdown().contains(line), "{}", Shown(&report).markdown());
    let json: Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    assert_eq!(json["comparisons"][0]["frontier_distance"]["requests_per_s"]["change"], 1.0);
}
