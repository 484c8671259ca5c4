//! Markdown and JUnit's XML, with everything foreign in them hostile.

use fizeau_metrics::{
    ComparisonSettings, ComparisonTable, FigureChoice, Interval, IntervalFigure, LevelFigure,
};
use fizeau_record::{
    ChangedField, ComparedLevel, ComparedRun, ComparisonReport, RunComparison, SweepReport,
};
use fizeau_report::{Markdown, ReportSink, Shown};

use crate::sample;

/// What somebody might call a model.
const HOSTILE: &str = "a|b`c` <script>alert(1)</script>\n# **x** [y](http://z) @all \u{1b}[2J";

/// The lines that are rows of a table.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with('|'))
}

#[test]
fn a_sweep_has_the_verdict_first_and_a_row_a_level() {
    let report = sample::sweep();
    let text = Shown(&report).markdown();
    assert!(
        text.starts_with("## org/model-8b · h100-sxm · simulated\n\n**Verdict: suspect.**"),
        "{text}"
    );
    assert!(text.contains("| Operating point | concurrency 32, "), "{text}");
    assert!(text.contains("| Goal | p99 TTFT &lt; 150 ms: met"), "{text}");
    let heads = rows(&text).find(|row| row.starts_with("| conc |")).unwrap();
    assert!(heads.contains("| req/s | out tok/s | TTFT p50, ms |"), "{heads}");
    let of_levels: Vec<&str> = rows(&text)
        .skip_while(|row| !row.starts_with("| conc |"))
        .take_while(|row| row.matches('|').count() == heads.matches('|').count())
        .collect();
    // Heads, rule, levels.
    assert_eq!(of_levels.len(), 2 + report.levels().len(), "{text}");
    assert_eq!(text.matches("| **operating point** |").count(), 1, "{text}");
    for folded in ["Frontier", "Checklist: 7 of 14 pass", "What was run, and on what"] {
        assert!(
            text.contains(&format!("<details><summary>{folded}</summary>\n\n")),
            "{folded}: {text}"
        );
    }
    let mut through_a_sink = String::new();
    Markdown(&mut through_a_sink).report(&report).unwrap();
    assert_eq!(through_a_sink, text);
}

#[test]
fn foreign_text_in_a_sweep_is_text() {
    let mut setup = sample::setup();
    setup.endpoint.model = HOSTILE.to_owned();
    setup.hardware = Some(HOSTILE.to_owned());
    let mut level = sample::level(64);
    level.validity.reasons[0].text = HOSTILE.to_owned();
    level.validity.notes = vec![HOSTILE.to_owned()];
    let text = Shown(&SweepReport::new(setup, vec![level, sample::level(2)], None)).markdown();
    assert_inert(&text);
    assert!(text.contains("a&#124;b"), "{text}");
}

/// No row of a table is broken, and nothing of the hostile text is markup.
fn assert_inert(text: &str) {
    for markup in ["<script", "b`c`", "**x**", "[y]", "http://z", "@all", "\n# ", "\u{1b}"] {
        assert!(!text.contains(markup), "{markup}: {text}");
    }
    let mut columns = 0;
    for line in text.lines() {
        let bars = line.matches('|').count();
        let is_row = line.starts_with("| ");
        assert!(!is_row || columns == 0 || bars == columns, "{line}\n{text}");
        columns = if is_row { bars } else { 0 };
    }
}

/// A side whose p50 TTFT is `ms` give or take 1, and whose rate is 100 give or take 50.
fn side(ms: f64) -> [IntervalFigure; 2] {
    let of = |figure, value: f64, reach: f64| {
        let interval = Some(Interval::p95(value - reach, value + reach));
        IntervalFigure { figure, value, interval, n: 100 }
    };
    [of(LevelFigure::P50_TTFT, ms, 1.0), of(LevelFigure::OUTPUT_TPS, 100.0, 50.0)]
}

fn compared(baseline: f64, candidate: f64) -> ComparisonReport {
    let figures =
        FigureChoice::only([LevelFigure::P50_TTFT, LevelFigure::P99_TTFT, LevelFigure::OUTPUT_TPS]);
    let settings = ComparisonSettings { figures, ..ComparisonSettings::default() };
    let table = ComparisonTable::of_intervals(&side(baseline), &side(candidate), &settings);
    let run =
        |name: &str| ComparedRun { name: name.to_owned(), notes: vec![HOSTILE.to_owned().into()] };
    let changed = ChangedField {
        field: HOSTILE.to_owned(),
        baseline: None,
        candidate: Some(HOSTILE.to_owned()),
    };
    let comparisons = vec![RunComparison {
        missing_levels: Vec::new(),
        candidate: run(HOSTILE),
        forced: vec![changed.clone()],
        changed: vec![changed],
        frontier_distance: None,
        levels: vec![ComparedLevel {
            name: "concurrency 8".to_owned(),
            table,
            notes: vec![HOSTILE.to_owned()],
        }],
        notes: vec![HOSTILE.to_owned()],
    }];
    ComparisonReport::new(run("main"), comparisons, vec![HOSTILE.to_owned()])
}

#[test]
fn a_comparison_says_first_what_it_comes_to() {
    let text = Shown(&compared(50.0, 60.0)).text(fizeau_report::Verbosity::Brief);
    assert!(text.ends_with("\nB is worse in p50 TTFT at concurrency 8."), "{text}");
    let worse = Shown(&compared(50.0, 60.0)).markdown();
    assert!(
        worse.starts_with("## Comparison\n\nB is **worse** in p50 TTFT at concurrency 8.\n"),
        "{worse}"
    );
    assert!(worse.contains("| p50 TTFT, ms | 50.0 | 60.0 | +20.0 % |"), "{worse}");
    assert!(worse.contains("| the baseline does not have this figure |"), "{worse}");
    assert_inert(&worse);
    let same = Shown(&compared(50.0, 50.1)).markdown();
    assert!(same.contains("**B against A: no detectable difference.**"), "{same}");
}

#[test]
fn junit_fails_what_is_worse_and_skips_what_was_not_tested() {
    let worse = compared(50.0, 60.0);
    assert!(!worse.passes());
    let xml = Shown(&worse).junit();
    let counts = " tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\">";
    assert_eq!(xml.matches(counts).count(), 2, "{xml}");
    assert!(
        xml.contains("name=\"p50 TTFT\"><failure message=\"worse: p50 TTFT, ms: 50.0 to 60.0"),
        "{xml}"
    );
    assert!(
        xml.contains("name=\"p99 TTFT\"><skipped message=\"not tested: the baseline does not have this figure\"/>"),
        "{xml}"
    );
    assert!(xml.contains("a|b`c` &lt;script&gt;"), "{xml}");
    assert!(!xml.contains(|c: char| c.is_control() && c != '\n'), "{xml}");
    let better = compared(60.0, 50.0);
    assert!(better.passes() && Shown(&better).junit().contains(" failures=\"0\" "));
}

#[test]
fn where_nothing_could_be_tested_a_case_fails() {
    let mut report = compared(50.0, 50.0);
    let settings = ComparisonSettings::default();
    report.comparisons[0].levels[0].table = ComparisonTable::of_intervals(&[], &[], &settings);
    assert!(!report.passes());
    let xml = Shown(&report).junit();
    assert!(xml.contains("name=\"some metric could be tested\"><failure "), "{xml}");
    assert!(Shown(&report).markdown().contains("**No answer: no figure could be tested.**"));
}
