//! AIPerf, GuideLLM, GenAI-Perf and inference-perf.

use fizeau_core::{Channel, LoadKind, Nanos, Tape, Tokens, Usage};
use fizeau_interop::{ExportLevel, ForeignFile, ForeignFormats};
use fizeau_interop::{Peer, PeerSettings};
use fizeau_metrics::{GoodputGoals, RequestMetrics};
use fizeau_record::ImportedLevel;
use proptest::prelude::*;
use serde_json::Value;

use super::round_trip::{export, imported, level, requests, same, tapes};
use super::{close, fixture, import, record};

/// The only level in files of one folder.
fn folder(names: &[&str]) -> ImportedLevel {
    let bytes: Vec<Vec<u8>> = names.iter().map(|name| fixture(name)).collect();
    let files = names.iter().zip(&bytes).map(|(name, bytes)| ForeignFile::new(name, bytes));
    let mut levels = ForeignFormats::import(files.collect(), None).unwrap();
    assert_eq!(levels.len(), 1, "{names:?}");
    levels.remove(0)
}

const AIPERF: [&str; 2] = ["aiperf/profile_export_aiperf.json", "aiperf/profile_export.jsonl"];
const INFERENCE_PERF: [&str; 3] = [
    "inference-perf/stage_0_lifecycle_metrics.json",
    "inference-perf/summary_lifecycle_metrics.json",
    "inference-perf/per_request_lifecycle_metrics.json",
];

/// What is known of a level, held against the places in the file that have it, each with its factor.
fn holds(level: &ImportedLevel, file: &Value, places: &[(&str, &str, f64)]) {
    for (figure, place, factor) in places {
        let (found, wanted) = (level.figure(figure), file.pointer(place).and_then(Value::as_f64));
        let is_same = found.zip(wanted).is_some_and(|(a, b)| close(a, b * factor));
        assert!(is_same, "{figure} {found:?}, {place} {wanted:?}");
    }
}

fn why(level: &ImportedLevel, what: &str) -> String {
    let found = level.not_known.iter().find(|known| known.what.contains(what));
    found.map(|known| known.why.clone()).unwrap_or_default()
}

const AIPERF_PLACES: [(&str, &str, f64); 9] = [
    ("requests_per_s", "/request_throughput/avg", 1.0),
    ("output_tps", "/output_token_throughput/avg", 1.0),
    ("total_tps", "/total_token_throughput/avg", 1.0),
    ("mean_ttft_ms", "/time_to_first_token/avg", 1.0),
    ("p90_ttft_ms", "/time_to_first_token/p90", 1.0),
    ("p50_tpot_ms", "/inter_token_latency/p50", 1.0),
    ("max_tpot_ms", "/inter_token_latency/max", 1.0),
    ("p50_e2el_ms", "/request_latency/p50", 1.0),
    ("max_e2el_ms", "/request_latency/max", 1.0),
];

#[test]
fn aiperfs_inter_token_latency_is_tpot_and_its_requests_are_tapes() {
    let level = folder(&AIPERF);
    holds(&level, &record(AIPERF[0]), &AIPERF_PLACES);
    assert_eq!(level.source.version.as_deref(), Some("0.13.0"));
    assert_eq!(level.about.model.as_deref(), Some("org/model-8b"));
    assert_eq!(level.level_load(), LoadKind::Concurrency.at(4.0));
    assert_eq!((level.counts.completed, level.counts.failed), (11, Some(1)));
    assert!(why(&level, "itl").contains("inter_chunk_latency"));
    // 11 requests do not support a p99.
    assert_eq!(level.figure("p99_ttft_ms"), None);
    assert_eq!(level.tapes.len(), 12);
    assert_eq!(level.tapes.iter().filter(|tape| tape.is_success()).count(), 11);
    // It was due 1.5 ms before it was sent, and the warm-up a second before that is no part.
    let first = level.tapes.iter().min_by_key(|tape| tape.request).unwrap();
    let late = first.marks.send_start.unwrap().saturating_since(first.marks.intended);
    assert_eq!(late, Nanos::from_micros(1500));
    mean_ttft(&level);
}

/// The tapes say what the figures say.
fn mean_ttft(level: &ImportedLevel) {
    let good = level.tapes.iter().filter(|tape| tape.is_success());
    let ttfts: Vec<f64> =
        good.map(|tape| RequestMetrics::of(tape).ttft.unwrap().as_nanos() as f64 / 1e6).collect();
    let mean = ttfts.iter().sum::<f64>() / ttfts.len() as f64;
    let known = level.figure("mean_ttft_ms").unwrap();
    assert!((mean - known).abs() < 1e-4, "{mean} {known}");
}

#[test]
fn aiperfs_requests_alone_and_its_table_alone_are_read() {
    let (whole, alone) = (folder(&AIPERF), folder(&AIPERF[1..]));
    assert_eq!(whole.tapes, alone.tapes);
    for name in ["requests_per_s", "output_tps", "p50_ttft_ms", "mean_tpot_ms", "max_e2el_ms"] {
        let (one, other) = (whole.figure(name).unwrap(), alone.figure(name).unwrap());
        assert!((one - other).abs() < 1e-5 * one, "{name} {one} {other}");
    }
    let table = folder(&["aiperf-table/profile_export_aiperf.csv"]);
    assert_eq!(table.counts, whole_counts(&whole, &table));
    for (name, _, _) in AIPERF_PLACES {
        let (one, other) = (whole.figure(name).unwrap(), table.figure(name).unwrap());
        assert!((one - other).abs() <= 0.0051, "{name} {one} {other}");
    }
    assert!(table.caveats.iter().any(|caveat| caveat.contains("two decimals")));
}

/// A table has the duration to two decimals.
fn whole_counts(whole: &ImportedLevel, table: &ImportedLevel) -> fizeau_record::ImportedCounts {
    fizeau_record::ImportedCounts { duration_s: table.counts.duration_s, ..whole.counts }
}

#[test]
fn a_unit_that_is_none_is_named() {
    let mut file = record(AIPERF[0]);
    file["time_to_first_token"]["unit"] = "weeks".into();
    let error = import("x.json", file.to_string().as_bytes()).unwrap_err().to_string();
    assert_eq!(
        error,
        "x.json: `time_to_first_token.unit` is \"weeks\"; ms, sec, us or ns is expected"
    );
}

#[test]
fn latencies_of_a_request_are_in_the_unit_beside_them() {
    let name = AIPERF[1];
    let of = |unit: &str, scale: f64| {
        let line = |line: &str| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            for metric in line["metrics"].as_object_mut().unwrap().values_mut() {
                if metric["unit"] == "ms" {
                    metric["unit"] = unit.into();
                    match &mut metric["value"] {
                        Value::Array(all) => {
                            all.iter_mut()
                                .for_each(|one| *one = (one.as_f64().unwrap() * scale).into());
                        }
                        one => *one = (one.as_f64().unwrap() * scale).into(),
                    }
                }
            }
            line.to_string()
        };
        let text = String::from_utf8(fixture(name)).unwrap();
        let lines: Vec<String> = text.lines().map(line).collect();
        import(name, lines.join("\n").as_bytes()).map(|mut levels| levels.remove(0))
    };
    let (known, own) = (of("sec", 1e-3).unwrap(), of("ms", 1.0).unwrap());
    for (figure, value) in &own.figures {
        assert!(close(*value, known.figures[figure]), "{figure}");
    }
    let error = of("weeks", 1.0).unwrap_err().to_string();
    assert!(error.ends_with("is \"weeks\"; ms, sec, us or ns is expected"), "{error}");
}

#[test]
fn other_documents_of_aiperfs_folder_are_passed_over() {
    // As `server_metrics_export.json` begins.
    let text = br#"{"schema_version": "1.0", "aiperf_version": "0.13.0", "summary": {}, "metrics": {}, "input_config": {}}"#;
    assert!(ForeignFormats::of(&ForeignFile::new("server_metrics_export.json", text)).is_err());
}

/// Of `throughput` GuideLLM notes for each request the start of all of them.
#[test]
fn guidellms_requests_are_due_only_where_its_strategy_has_a_clock() {
    let late = |strategy: Value| {
        let mut file = record("guidellm.json");
        let benchmark = &mut file["benchmarks"][0];
        benchmark["config"]["strategy"] = strategy;
        for request in benchmark["requests"]["successful"].as_array_mut().unwrap() {
            request["info"]["timings"]["targeted_start"] = 1_785_585_600.0.into();
        }
        let level = import("guidellm.json", file.to_string().as_bytes()).unwrap().remove(0);
        let is_late = |tape: &&Tape| tape.marks.send_start > Some(tape.marks.intended);
        level.tapes.iter().filter(is_late).count()
    };
    assert!(late(serde_json::json!({"type_": "constant", "rate": 5.0})) > 0);
    for strategy in ["throughput", "concurrent"] {
        assert_eq!(late(serde_json::json!({"type_": strategy, "streams": 4})), 0, "{strategy}");
    }
}

/// It may list a sample of the requests of each kind: what is missing among those that failed would make the others look better.
#[test]
fn guidellms_requests_are_taken_where_all_are_listed() {
    let tapes = |errored: u64| {
        let mut file = record("guidellm.json");
        file["benchmarks"][0]["metrics"]["request_totals"]["errored"] = errored.into();
        import("guidellm.json", file.to_string().as_bytes()).unwrap().remove(0).tapes.len()
    };
    assert_eq!([tapes(1), tapes(100)], [12, 0]);
}

#[test]
fn guidellms_time_per_output_token_is_not_taken() {
    let (whole, few) = (folder(&["guidellm.json"]), folder(&["guidellm-figures.json"]));
    assert_eq!((whole.tapes.len(), few.tapes.len()), (12, 0));
    let (file, at) = (record("guidellm.json"), "/benchmarks/0/metrics");
    let places = [
        ("requests_per_s", format!("{at}/requests_per_second/successful/mean"), 1.0),
        ("output_tps", format!("{at}/output_tokens_per_second/successful/mean"), 1.0),
        ("mean_ttft_ms", format!("{at}/time_to_first_token_ms/successful/mean"), 1.0),
        ("max_ttft_ms", format!("{at}/time_to_first_token_ms/successful/max"), 1.0),
    ];
    for level in [&whole, &few] {
        for (name, place, factor) in &places {
            // An instant since 1970 in a floating number has steps of a quarter of a microsecond.
            let wanted = file.pointer(place).and_then(Value::as_f64).unwrap() * factor;
            let found = level.figure(name).unwrap();
            assert!((found - wanted).abs() < 1e-3, "{name} {found} {wanted}");
        }
        assert_eq!(level.level_load(), LoadKind::Concurrency.at(4.0));
        assert_eq!((level.counts.completed, level.counts.failed), (11, Some(1)));
        assert_eq!(level.about.date.as_deref(), Some("2026-08-01T12:00:00Z"));
    }
    // Latency there runs to the end of the stream, 0.2 ms on; the single requests have the last token.
    let (one, other) = (whole.figure("mean_e2el_ms").unwrap(), few.figure("mean_e2el_ms").unwrap());
    assert!((other - one - 0.2).abs() < 1e-3, "{one} {other}");
    assert!(whole.figure("mean_tpot_ms").is_some() && few.figure("mean_tpot_ms").is_none());
    assert!(why(&few, "tpot").contains("time to the first token in it"));
    assert!(why(&whole, "each token").contains("made up"));
    mean_ttft_to(&whole, 1e-3);
}

fn mean_ttft_to(level: &ImportedLevel, within: f64) {
    let good: Vec<&Tape> = level.tapes.iter().filter(|tape| tape.is_success()).collect();
    let sum: f64 = good
        .iter()
        .map(|tape| RequestMetrics::of(tape).ttft.unwrap().as_nanos() as f64 / 1e6)
        .sum();
    let (mean, known) = (sum / good.len() as f64, level.figure("mean_ttft_ms").unwrap());
    assert!((mean - known).abs() < within, "{mean} {known}");
}

#[test]
fn genai_perfs_figures_are_as_aiperfs() {
    let level = folder(&["genai-perf.json"]);
    let places =
        AIPERF_PLACES.map(|place| if place.0 == "total_tps" { AIPERF_PLACES[0] } else { place });
    holds(&level, &record("genai-perf.json"), &places);
    assert_eq!(level.level_load(), LoadKind::Concurrency.at(4.0));
    assert_eq!((level.counts.completed, level.counts.failed), (11, None));
    assert!(why(&level, "itl").contains("TPOT"));
}

#[test]
fn inference_perfs_stages_count_once_and_its_requests_are_tapes() {
    let level = folder(&INFERENCE_PERF);
    let at = "/successes/latency";
    let places = [
        ("requests_per_s", "/successes/throughput/requests_per_sec".to_owned(), 1.0),
        ("output_tps", "/successes/throughput/output_tokens_per_sec".to_owned(), 1.0),
        ("p50_ttft_ms", format!("{at}/time_to_first_token/median"), 1e3),
        ("p90_tpot_ms", format!("{at}/time_per_output_token/p90"), 1e3),
        ("max_e2el_ms", format!("{at}/request_latency/max"), 1e3),
    ];
    let places = places.each_ref().map(|(name, place, factor)| (*name, place.as_str(), *factor));
    holds(&level, &record(INFERENCE_PERF[0]), &places);
    assert!(level.source.file.contains("stage_0"));
    assert_eq!(level.about.model.as_deref(), Some("org/model-8b"));
    assert_eq!(level.load.requests_per_s.map(fizeau_core::PerSec::get), Some(40.0));
    assert_eq!(level.tapes.len(), 12);
    mean_ttft(&level);
    let error = import("x.json", &fixture(INFERENCE_PERF[2])).unwrap_err().to_string();
    assert!(error.starts_with("x.json: single requests"), "{error}");
}

/// The format, its peer, the document among its files, where figures are in it, and their factors to ours.
type Case = (&'static str, Peer, [(&'static str, &'static str, f64); 4]);

const CASES: [Case; 3] = [
    (
        "aiperf",
        Peer::AiPerf,
        [
            ("requests_per_s", "request_throughput.avg", 1.0),
            ("output_tps", "output_token_throughput.avg", 1.0),
            ("p50_ttft_ms", "time_to_first_token.p50", 1.0),
            ("mean_e2el_ms", "request_latency.avg", 1.0),
        ],
    ),
    (
        "genai-perf",
        Peer::GenAiPerf,
        [
            ("requests_per_s", "request_throughput.avg", 1.0),
            ("output_tps", "output_token_throughput.avg", 1.0),
            ("p50_ttft_ms", "time_to_first_token.p50", 1.0),
            ("mean_e2el_ms", "request_latency.avg", 1.0),
        ],
    ),
    (
        "inference-perf",
        Peer::InferencePerf,
        [
            ("requests_per_s", "successes.throughput.requests_per_sec", 1.0),
            ("output_tps", "successes.throughput.output_tokens_per_sec", 1.0),
            ("mean_tpot_ms", "successes.latency.time_per_output_token.mean", 1e3),
            ("mean_e2el_ms", "successes.latency.request_latency.mean", 1e3),
        ],
    ),
];

proptest! {
    #![proptest_config(crate::cases(16))]

    #[test]
    fn figures_go_out_as_the_tool_defines_them(requests in requests()) {
        let (tapes, goals) = (tapes(&requests), GoodputGoals::default());
        for (format, peer, pairs) in CASES {
            let report = peer.figures(&tapes, &PeerSettings::default());
            let back = imported(&export(format, &[level("", &tapes, &goals)])).remove(0);
            prop_assert_eq!(back.counts.completed as usize, tapes.len());
            for (ours, theirs, factor) in pairs {
                let (found, wanted) = (back.figure(ours), report.value(theirs));
                let is_same = match (found, wanted) {
                    (Some(found), Some(wanted)) => close(found, wanted * factor),
                    (found, wanted) => found.is_none() && wanted.is_none(),
                };
                prop_assert!(is_same, "{} {} {:?} {:?}", format, ours, found, wanted);
            }
        }
    }

    /// The mean over its lines of requests is the mean in its summary, where events without text or tokens came and the server counted
    /// otherwise.
    #[test]
    fn aiperfs_lines_and_its_summary_say_the_same(
        requests in requests(), silent in any::<bool>(), reported in 0..40_u64,
    ) {
        let (mut tapes, goals) = (tapes(&requests), GoodputGoals::default());
        for tape in &mut tapes {
            tape.usage = Some(Usage { completion_tokens: Some(Tokens::new(reported)), ..Usage::default() });
            if silent {
                tape.arrivals[0].channel = Channel::Silent;
            }
        }
        let files = export("aiperf", &[level("", &tapes, &goals)]);
        let summary: Value = serde_json::from_slice(&files[0].bytes).unwrap();
        let lines = files.iter().find(|file| file.name.ends_with(".jsonl")).unwrap();
        let lines = std::str::from_utf8(&lines.bytes).unwrap().lines();
        let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
        for tag in ["time_to_first_token", "request_latency", "inter_token_latency", "output_sequence_length"] {
            let of = |line: &Value| line["metrics"][tag]["value"].as_f64();
            let values: Vec<f64> = lines.iter().filter_map(of).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            match summary[tag]["avg"].as_f64() {
                Some(wanted) => prop_assert!(close(mean, wanted), "{} {} {}", tag, mean, wanted),
                None => prop_assert!(values.is_empty(), "{}", tag),
            }
        }
        let total: f64 = lines.iter().filter_map(|line| line["metrics"]["output_sequence_length"]["value"].as_f64()).sum();
        prop_assert_eq!(summary["total_osl"]["avg"].as_f64(), Some(total));
    }

    #[test]
    fn guidellms_statistics_are_weighted_as_its_own(requests in requests()) {
        let (tapes, goals) = (tapes(&requests), GoodputGoals::default());
        let report = Peer::GuideLlm.figures(&tapes, &PeerSettings::default());
        let file = &export("guidellm", &[level("", &tapes, &goals)])[0];
        prop_assert!(!String::from_utf8_lossy(&file.bytes).contains("-0.0"), "no sum of nothing is below zero");
        let document: Value = serde_json::from_slice(&file.bytes).unwrap();
        for key in ["time_to_first_token_ms", "inter_token_latency_ms", "time_per_output_token_ms"] {
            for statistic in ["mean", "percentiles/p50", "percentiles/p90", "percentiles/p99"] {
                let place = format!("/benchmarks/0/metrics/{key}/successful/{statistic}");
                let name = format!("successful.{key}.{}", statistic.replace('/', "."));
                let (found, wanted) = (document.pointer(&place).unwrap().as_f64().unwrap(), report.value(&name));
                // Where nothing has a weight there is a zero.
                prop_assert!(close(found, wanted.unwrap_or(0.0)), "{} {} {:?}", name, found, wanted);
            }
        }
    }
}

#[test]
fn files_of_the_tools_form_go_out_as_they_came_in() {
    let goals = GoodputGoals::default();
    for names in [&AIPERF[..], &["guidellm.json"], &["genai-perf.json"], &INFERENCE_PERF[..1]] {
        let own = folder(names);
        let epoch_unix = own.epoch_unix_ns.map(Nanos::from_nanos);
        let one = ExportLevel { imported: Some(&own), epoch_unix, ..level("", &own.tapes, &goals) };
        let files = export(&own.source.format, &[one]);
        let again: Value = serde_json::from_slice(&files[0].bytes).unwrap();
        match own.source.format.as_str() {
            "guidellm" => {
                let metrics = |file: &Value| file["benchmarks"][0]["metrics"].clone();
                same(&metrics(&record(names[0])), &metrics(&again), names[0]);
                let starts = |file: &Value| -> Vec<f64> {
                    let all = file["benchmarks"][0]["requests"]["successful"].as_array().unwrap();
                    let start = |one: &Value| one["info"]["timings"]["request_start"].as_f64();
                    all.iter().map(|one| start(one).unwrap()).collect()
                };
                let [came, went] = [&record(names[0]), &again].map(starts);
                assert!(came.iter().zip(&went).all(|(a, b)| (a - b).abs() < 1e-5), "{went:?}");
                assert_eq!(came.len(), went.len());
            }
            "aiperf" => {
                let lines = |text: &[u8]| -> Vec<Value> {
                    let text = String::from_utf8(text.to_vec()).unwrap();
                    let lines =
                        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
                    let mut starts: Vec<Value> = lines
                        .filter(|line| line["metadata"]["benchmark_phase"] != "warmup")
                        .map(|line| line["metadata"]["request_start_ns"].clone())
                        .collect();
                    starts.sort_by_key(Value::as_u64);
                    starts
                };
                let written = files.iter().find(|file| file.name.ends_with(".jsonl")).unwrap();
                assert_eq!(lines(&fixture(AIPERF[1])), lines(&written.bytes));
                same(&record(names[0]), &again, names[0]);
            }
            _ => same(&record(names[0]), &again, names[0]),
        }
        // And what was written is read as the same level.
        let back = imported(&files).remove(0);
        assert_eq!(back.counts, own.counts, "{names:?}");
        assert_eq!(back.load, own.load, "{names:?}");
        assert_eq!(back.tapes.len(), own.tapes.len(), "{names:?}");
    }
}

#[test]
fn a_table_is_written_as_the_tool_writes_it() {
    let (own, goals) = (folder(&AIPERF), GoodputGoals::default());
    let one = ExportLevel { imported: Some(&own), ..level("", &own.tapes, &goals) };
    let files = export("aiperf", &[one]);
    let table = files.iter().find(|file| file.name.ends_with(".csv")).unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert_eq!(text(&table.bytes), text(&fixture("aiperf-table/profile_export_aiperf.csv")));
}

#[test]
fn a_reply_without_its_gaps_is_no_tape() {
    let text = String::from_utf8(fixture(AIPERF[1])).unwrap();
    let text = text.replace("inter_chunk_latency", "inter_chunk_latency_of_old");
    let level = import("profile_export.jsonl", text.as_bytes()).unwrap().remove(0);
    assert!(level.tapes.is_empty());
    assert!(why(&level, "tapes").contains("inter_chunk_latency"));
    assert!(level.figure("mean_ttft_ms").is_some());
}
