//! What another tool's file does not tell is in no figure, and is said.

use fizeau_metrics::Metric;
use fizeau_record::{ImportedLevel, ImportedRun, LevelReport, SweepReport};
use fizeau_report::{ChartRun, Exposition, LevelTable, RequestRow, Shown, TableRun};
use serde_json::Value;

use super::{fixture, import};

/// The fixtures with what each request did.
const DETAILED: [&str; 4] =
    ["vllm-detailed.json", "vllm-rs.json", "aiperf/profile_export.jsonl", "guidellm.json"];

fn reports() -> Vec<(&'static str, ImportedLevel, LevelReport)> {
    let mut all = Vec::new();
    for name in DETAILED {
        let level = import(name, &fixture(name)).unwrap().remove(0);
        assert!(!level.tapes.is_empty(), "{name}");
        let report = LevelReport::of_tapes(level.level_load(), &level.tapes);
        let report = report.with_unseen(level.unseen());
        all.push((name, level, report));
    }
    all
}

fn sweep(level: &ImportedLevel, report: LevelReport) -> SweepReport {
    let run = ImportedRun::new("old", vec![level.clone()]);
    SweepReport::new(run.setup(), vec![report], None)
}

#[test]
fn a_figure_that_is_not_known_is_nowhere() {
    for (name, level, report) in reports() {
        let summary: Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        for figure in ["itl_ms", "connection_wait_ms", "send_delay_ms"] {
            assert_eq!(summary["metrics"][figure]["p50"], Value::Null, "{name} {figure}");
        }
        assert_eq!(summary["jitter"]["itl_std_ms"], Value::Null, "{name}");
        for figure in ["threads", "connections_fresh", "connections_replaced"] {
            assert_eq!(summary["client"][figure], Value::Null, "{name} {figure}");
            let reason = summary["client"][format!("{figure}_reason")].as_str();
            assert!(reason.unwrap().contains("another tool"), "{name} {figure}");
        }
        let report = sweep(&level, report);
        assert_eq!(ChartRun::of(&report, "").levels[0].figures.get("p99_itl_ms"), None, "{name}");
        let metrics = Exposition::of(&report, "old").to_prometheus();
        assert!(!metrics.contains("fizeau_itl_seconds{"), "{name}: {metrics}");
        let table = LevelTable::new(&[TableRun {
            name: "old".to_owned(),
            setup: report.setup(),
            levels: report.levels(),
            system: None,
            devices: None,
            price: None,
            quality: None,
        }]);
        assert_eq!(table.cell(0, "p99_itl_ms"), Some(&fizeau_report::TableCell::Empty), "{name}");
    }
}

#[test]
fn where_no_file_says_when_a_request_was_due_nothing_is_late() {
    for (name, _, report) in reports() {
        let metrics = &report.summary.metrics;
        let late = metrics.send_lateness.max;
        assert!(late.is_none_or(|late| late.get() > 0.0), "{name}: {late:?}");
        assert_eq!(metrics.send_lateness.n == 0, metrics.ttft_scheduled.n == 0, "{name}");
        let text = Shown(&report).block(fizeau_report::Verbosity::Full);
        assert!(!text.contains("Connections made") && !text.contains("Client threads"), "{text}");
        assert!(!text.contains("0.00 / - / 0.00"), "{name}: {text}");
    }
}

#[test]
fn what_is_not_known_is_listed_with_the_reason_wherever_the_run_is_shown() {
    for (name, level, report) in reports() {
        let unseen = report.unseen.clone().unwrap();
        assert!(!unseen.not_known().is_empty(), "{name}");
        let (block, sweep) =
            (Shown(&report).block(fizeau_report::Verbosity::Full), sweep(&level, report));
        for known in unseen.not_known() {
            // A terminal breaks lines between words.
            let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = format!("{}: {}", known.what, known.why);
            assert!(flat(&block).contains(&line), "{name}: {line}: {block}");
            let shown = Shown(&sweep).markdown();
            assert!(shown.contains("Not known:") && shown.contains(&known.what), "{name}: {shown}");
            #[cfg(feature = "html")]
            {
                let cell = format!(">{}<", known.what.replace('\'', "&#x27;"));
                assert!(Shown(&sweep).page().contains(&cell), "{name}: {cell}");
            }
        }
        // What tapes give again is no lack of theirs.
        assert!(!block.contains("p99_e2el_ms"), "{name}: {block}");
    }
}

#[test]
fn gaps_that_are_made_up_are_not_shown() {
    let level = import("guidellm.json", &fixture("guidellm.json")).unwrap().remove(0);
    let unseen = level.unseen();
    assert!(unseen.has_no_gaps() && unseen.has_no_itl());
    let report = LevelReport::of_tapes(level.level_load(), &level.tapes).with_unseen(unseen);
    assert_eq!(report.summary.metrics.icl.n, 0);
    assert!(
        Shown(&report)
            .block(fizeau_report::Verbosity::Full)
            .contains("ICL, gap of chunks (ms):                 not known")
    );
    let shape = &report.detail.as_ref().unwrap().shape;
    assert!(shape.quantiles.of(Metric::Itl).is_empty());
    assert!(shape.timeline.bins.iter().all(|bin| bin.itl_max.is_none()));
}

#[test]
fn a_request_has_no_value_for_what_nobody_saw() {
    let level = import("vllm-detailed.json", &fixture("vllm-detailed.json")).unwrap().remove(0);
    let unseen = level.unseen();
    let heads = RequestRow::csv_head();
    let heads: Vec<&str> = heads.split(',').collect();
    let nobody = [
        "requested_output_tokens",
        "connection",
        "send_lateness_ms",
        "ttft_scheduled_ms",
        "connection_wait_ms",
    ];
    for tape in &level.tapes {
        let row =
            RequestRow { level: "", load: level.level_load(), tape, unseen: Some(&unseen) }.csv();
        let cells: Vec<&str> = row.split(',').collect();
        for name in nobody {
            let at = heads.iter().position(|head| *head == name).unwrap();
            assert_eq!(cells[at], "", "{name}: {row}");
        }
        let ttft = heads.iter().position(|head| *head == "ttft_ms").unwrap();
        assert_eq!(cells[ttft].is_empty(), !tape.is_success(), "{row}");
    }
}

#[test]
fn what_nobody_recorded_is_said_to_be_so() {
    for (name, level, report) in reports() {
        let markdown = Shown(&sweep(&level, report)).markdown();
        for row in ["Connections", "Seed", "Command line"] {
            assert!(markdown.contains(&format!("| {row} | not recorded |")), "{name}: {markdown}");
        }
    }
}

#[test]
fn nobody_recorded_the_seed_of_another_tool() {
    let level = import("vllm.json", &fixture("vllm.json")).unwrap();
    let setup = ImportedRun::new("old", level).setup();
    assert_eq!(setup.workload.seed, None);
    assert_eq!(serde_json::to_value(&setup).unwrap()["workload"]["seed"], Value::Null);
}
