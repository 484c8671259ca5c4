//! What is taken from a file, and what is not.

use fizeau_core::{LevelLoad, LoadKind, Tape};
use fizeau_interop::{ForeignFile, ForeignFormats, Peer, PeerSettings};
use fizeau_record::{ImportedLevel, ImportedRun, UnknownFact};
use serde_json::Value;

use super::{close, fixture, import, level, record};

fn why(level: &ImportedLevel, what: &str) -> String {
    let found = level.not_known.iter().find(|known| known.what.contains(what));
    found.map(|known| known.why.clone()).unwrap_or_default()
}

#[test]
fn a_figure_is_ours_only_where_the_definition_is() {
    let (level, file) = (level("vllm.json"), record("vllm.json"));
    let same = [
        ("requests_per_s", "request_throughput"),
        ("output_tps", "output_throughput"),
        ("total_tps", "total_token_throughput"),
        ("mean_ttft_ms", "mean_ttft_ms"),
        ("p50_ttft_ms", "median_ttft_ms"),
        ("p99_ttft_ms", "p99_ttft_ms"),
        ("p50_tpot_ms", "median_tpot_ms"),
    ];
    for (ours, theirs) in same {
        assert_eq!(level.figure(ours), file[theirs].as_f64(), "{ours}");
    }
    assert_eq!(level.level_load(), LoadKind::Concurrency.at(8.0));
    assert_eq!(level.about.date.as_deref(), Some("2026-08-01T12:00:00"));
    // Its ITL is another thing than ours, and its peaks are none.
    assert_eq!(level.figure("p50_itl_ms"), None);
    assert!(why(&level, "itl").contains("gap between chunks"));
    assert!(why(&level, "peaks").contains("whole second"));
    assert!(why(&level, "tapes").contains("--save-detailed"));
    assert!(why(&level, "p90_ttft_ms").contains("not in the file"));
}

#[test]
fn the_python_clients_latencies_give_the_end_to_end_latency_whatever_else_was_asked_for() {
    let (level, file) = (level("vllm.json"), record("vllm.json"));
    let mut all: Vec<f64> =
        file["latencies"].as_array().unwrap().iter().map(|l| l.as_f64().unwrap() * 1e3).collect();
    all.sort_by(f64::total_cmp);
    assert!(file.get("mean_e2el_ms").is_none());
    assert!(close(level.figure("max_e2el_ms").unwrap(), all[all.len() - 1]));
    assert!(close(level.figure("p50_e2el_ms").unwrap(), f64::midpoint(all[59], all[60])));
    assert!(level.greatest_for_p99.is_empty());
}

#[test]
fn tapes_of_a_detailed_file_give_its_own_figures_again() {
    for (name, peer) in [("vllm-detailed.json", Peer::VllmPython), ("vllm-rs.json", Peer::VllmRust)]
    {
        let (level, file) = (level(name), record(name));
        assert_eq!(level.tapes.len(), 12, "{name}");
        let report = peer.figures(&level.tapes, &PeerSettings::default());
        for key in ["completed", "failed", "total_input_tokens", "total_output_tokens"] {
            assert_eq!(report.value(key), file[key].as_f64(), "{name} {key}");
        }
        for metric in ["ttft", "tpot", "itl", "e2el"] {
            for word in ["mean", "median", "std", "p90", "p99"] {
                let key = format!("{word}_{metric}_ms");
                let (ours, theirs) = (report.value(&key).unwrap(), file[&key].as_f64().unwrap());
                assert!(close(ours, theirs), "{name} {key}: {ours} {theirs}");
            }
        }
    }
}

/// vLLM's client notes how long each waited for its own cap, whatever the load.
#[test]
fn a_wait_for_the_cap_is_lateness_only_where_a_rate_was_due() {
    let late = |tape: &&Tape| tape.marks.send_start > Some(tape.marks.intended);
    let closed = level("vllm-detailed.json");
    assert_eq!(closed.tapes.iter().filter(late).count(), 0);
    assert_eq!(closed.counts.held_back, None);
    let mut file = record("vllm-detailed.json");
    file["request_rate"] = 1e3.into();
    let open = import("vllm-detailed.json", file.to_string().as_bytes()).unwrap().remove(0);
    // Three slots, and twelve requests.
    assert_eq!(open.tapes.iter().filter(late).count(), 9);
    assert_eq!(open.counts.held_back, Some(9));
}

#[test]
fn more_requests_than_were_due_are_named_unless_bursts_explain_them() {
    let contradictions = |rate: f64, burstiness: f64| {
        let mut file = record("vllm.json");
        (file["request_rate"], file["burstiness"]) = (rate.into(), burstiness.into());
        let levels = import("vllm.json", file.to_string().as_bytes()).unwrap();
        let found = levels[0].not_known.iter().filter(|fact| fact.is_contradiction());
        found.map(|fact| fact.why.clone()).collect::<Vec<_>>()
    };
    let found = contradictions(20.0, 1.0);
    assert_eq!(
        found,
        ["the file says that 20.0 requests/s were asked for, and its 120 requests came at 94.2"]
    );
    for (rate, burstiness) in [(20.0, 0.01), (90.0, 1.0), (500.0, 1.0)] {
        assert_eq!(contradictions(rate, burstiness), [""; 0], "{rate} {burstiness}");
    }
}

/// Nothing says which of them is wrong, so that both are named.
#[test]
fn a_mean_that_is_not_that_of_its_own_requests_is_named() {
    for (name, means) in [
        ("vllm-detailed.json", ["mean_ttft_ms", "mean_tpot_ms", "mean_e2el_ms"]),
        ("vllm-rs.json", ["mean_ttft_ms", "mean_tpot_ms", "mean_e2el_ms"]),
        ("sglang-detailed.jsonl", ["mean_ttft_ms", "mean_tpot_ms", "mean_e2e_latency_ms"]),
    ] {
        let contradictions = |file: &Value| {
            let levels = import(name, file.to_string().as_bytes()).unwrap();
            let found = levels[0].not_known.iter().filter(|fact| fact.is_contradiction());
            found.map(|fact| fact.why.clone()).collect::<Vec<_>>()
        };
        let whole = record(name);
        assert_eq!(contradictions(&whole), [""; 0], "{name}");
        for key in means {
            let mut file = whole.clone();
            file[key] = (file[key].as_f64().unwrap() * 10.0).into();
            let found = contradictions(&file);
            assert_eq!(found.len(), 1, "{name} {key}: {found:?}");
            assert!(found[0].contains(&format!("{:.2}", file[key].as_f64().unwrap())), "{found:?}");
        }
    }
    let mut file = record("vllm-detailed.json");
    file["completed"] = 100.into();
    let levels = import("vllm-detailed.json", file.to_string().as_bytes()).unwrap();
    let said = UnknownFact::contradiction(
        "the file counts 100 completed requests, and lists 11".to_owned(),
    );
    assert!(levels[0].not_known.contains(&said), "{:?}", levels[0].not_known);
}

#[test]
fn totals_and_statistics_that_cannot_be_of_the_same_requests_are_named() {
    let contradictions = |field: &str, value: Value| {
        let mut file = record("vllm.json");
        file[field] = value;
        let levels = import("vllm.json", file.to_string().as_bytes()).unwrap();
        let found = levels[0].not_known.iter().filter(|fact| fact.is_contradiction());
        found.map(|fact| fact.why.clone()).collect::<Vec<_>>()
    };
    assert_eq!(contradictions("label", "as it came".into()), [""; 0]);
    for (field, value, says) in [
        ("request_throughput", 500.0, "requests_per_s is 500, and its totals come to 94.2"),
        ("request_throughput", 1e9, "requests_per_s is "),
        ("output_throughput", 1.0, "output_tps is 1.00, and its totals come to 755"),
        ("duration", 0.0, "120 completed requests in 0 s"),
        ("mean_ttft_ms", 99_999.0, "mean_ttft_ms is "),
        ("mean_tpot_ms", 0.0001, "mean_tpot_ms is "),
    ] {
        let found = contradictions(field, value.into());
        assert_eq!(found.len(), 1, "{field}: {found:?}");
        assert!(found[0].contains(says), "{field}: {found:?}");
    }
    let found = contradictions("completed", 1_000_000_000_000_000_000_u64.into());
    assert!(found.iter().any(|why| why.contains("requests_per_s is 94.2")), "{found:?}");
}

#[test]
fn a_failure_keeps_its_class_and_its_instant() {
    let level = level("vllm-detailed.json");
    let failed: Vec<_> = level.tapes.iter().filter(|tape| !tape.is_success()).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].request.0, 4);
    assert!(format!("{:?}", failed[0].outcome).contains("Status"));
    // Requests are in the order in which they ended, and the first leaves at the epoch.
    assert!(level.tapes.is_sorted_by_key(|tape| tape.marks.end));
    let first = level.tapes.iter().map(|tape| tape.marks.intended.as_nanos()).min();
    assert_eq!(first, Some(0));
}

#[test]
fn a_percentile_that_so_few_requests_do_not_support_is_withheld() {
    let name = "sglang-detailed.jsonl";
    let detailed = level(name);
    // The greatest stands in where each value is known.
    assert_eq!(detailed.figure("p99_ttft_ms"), detailed.figure("max_ttft_ms"));
    assert!(detailed.greatest_for_p99.contains(&"p99_ttft_ms".to_owned()));
    assert!(detailed.tapes.is_empty());
    assert!(why(&detailed, "tapes").contains("when each request was sent"));
    // Without the lists there is nothing to stand in.
    let mut file = record(name);
    for list in ["ttfts", "itls", "input_lens", "output_lens", "errors", "generated_texts"] {
        file.as_object_mut().unwrap().remove(list);
    }
    let brief = import(name, file.to_string().as_bytes()).unwrap().remove(0);
    assert_eq!(brief.figure("p99_ttft_ms"), None);
    assert_eq!(why(&brief, "p99_ttft_ms"), "12 requests, and it needs 100");
    assert_eq!(brief.figure("p90_ttft_ms"), file["p90_ttft_ms"].as_f64());
}

#[test]
fn a_line_of_sglangs_is_a_level() {
    let name = "sglang.jsonl";
    let levels = import(name, &fixture(name)).unwrap();
    let loads: Vec<LevelLoad> = levels.iter().map(ImportedLevel::level_load).collect();
    assert_eq!(loads, [LoadKind::Concurrency.at(4.0), LoadKind::Concurrency.at(16.0)]);
    assert!(levels.iter().all(|level| level.about.model.as_deref() == Some("org/model-8b")));
    assert!(levels.iter().all(|level| level.about.devices == Some(2)));
    assert!(
        levels.iter().all(|level| level.caveats.iter().any(|text| text.contains("end marker")))
    );
    assert_eq!(why(&levels[0], "failed"), "the file counts those that succeeded");
}

#[test]
fn files_that_do_not_have_the_rate_of_all_tokens_give_it() {
    // vLLM's of 2024 and before, SGLang's before it counted them.
    for (name, field) in
        [("vllm.json", "total_token_throughput"), ("sglang-detailed.jsonl", "total_throughput")]
    {
        let mut file = record(name);
        let wanted = file.as_object_mut().unwrap().remove(field).and_then(|rate| rate.as_f64());
        let level = import(name, file.to_string().as_bytes()).unwrap().remove(0);
        assert!(close(level.figure("total_tps").unwrap(), wanted.unwrap()), "{name}");
    }
}

#[test]
fn a_load_that_is_not_in_the_file_is_none() {
    let without = |name: &str, path: &str, field: &str| {
        let mut file = record(name);
        file.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(field);
        import(name, file.to_string().as_bytes()).unwrap().remove(0)
    };
    let levels = [
        level("aiperf-table/profile_export_aiperf.csv"),
        without("inference-perf/summary_lifecycle_metrics.json", "/load_summary", "requested_rate"),
        without("guidellm-figures.json", "/benchmarks/0/config", "strategy"),
        without("genai-perf.json", "/input_config", "perf_analyzer"),
    ];
    for level in &levels {
        let name = &level.source.file;
        assert_eq!(level.load_words(), "load not known", "{name}");
        assert_eq!(why(level, "the load"), "not in the file", "{name}");
    }
    // Of two such levels neither stands for the other.
    let run = ImportedRun::new("old", vec![levels[0].clone(), levels[0].clone()]);
    assert_eq!(run.one_a_load().len(), 2);
    // All at once is a load.
    let at_once = without("vllm.json", "", "max_concurrency");
    assert!(at_once.load_words().starts_with("concurrency "), "{}", at_once.load_words());
    let ramp = import(
        "x.json",
        {
            let mut file = record("vllm.json");
            file["ramp_up_strategy"] = "linear".into();
            file.to_string()
        }
        .as_bytes(),
    )
    .unwrap()
    .remove(0);
    assert_eq!(ramp.load_words(), "load not known");
}

fn sweep() -> Vec<ImportedLevel> {
    let mut files = Vec::new();
    for slots in [4, 16] {
        for file in ["run=0.json", "run=1.json", "summary.json"] {
            let name = format!("vllm-sweep/SERVE--tp=2-BENCH--max_concurrency={slots}/{file}");
            files.push((name.clone(), fixture(&name)));
        }
    }
    let files = files.iter().map(|(name, bytes)| ForeignFile::new(name, bytes));
    ForeignFormats::import(files.collect(), None).unwrap()
}

#[test]
fn a_sweeps_summary_is_not_counted_twice_and_one_run_stands_for_a_load() {
    let levels = sweep();
    assert_eq!(levels.len(), 4);
    let mut runs = ImportedRun::of_levels(levels);
    assert_eq!(runs.len(), 1);
    let run = runs.remove(0);
    assert_eq!((run.name(), run.tail()), ("model-8b", Some("p99_e2el_ms")));
    assert_eq!(run.one_a_load().len(), 2);
    assert_eq!(run.frontier().len(), 2);
    // The sweep's own setting says how many devices: tensor parallel 2.
    let level = &run.levels()[0];
    assert_eq!(level.about.devices, Some(2));
    let per_device = level.figure("output_tps_per_device").unwrap();
    assert!(close(per_device * 2.0, level.figure("output_tps").unwrap()));
}

#[test]
fn levels_of_other_models_or_settings_are_other_runs() {
    let mut levels = sweep();
    levels[0].about.model = Some("org/other".to_owned());
    levels[1].about.settings.insert("gpu".to_owned(), "b200".to_owned());
    let runs = ImportedRun::of_levels(levels);
    let names: Vec<&str> = runs.iter().map(ImportedRun::name).collect();
    assert_eq!(names, ["other", "model-8b gpu=b200", "model-8b"]);
}
