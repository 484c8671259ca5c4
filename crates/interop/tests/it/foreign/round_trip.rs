//! Out and in again, and in and out again.

use fizeau_core::{
    Arrival, Channel, Failure, FailureClass, Finish, Nanos, Outcome, PerSec, RequestId, Stamp,
    Tape, Tokens,
};
use fizeau_interop::{
    ExportArrivals, ExportLevel, ExportedFile, ForeignFile, ForeignFormat, ForeignFormats,
    VllmRequestRate, VllmRun,
};
use fizeau_interop::{Peer, PeerSettings};
use fizeau_metrics::{GoodputGoals, RequestMetrics};
use fizeau_record::{ImportedLevel, LevelStatus};
use proptest::prelude::*;
use serde_json::Value;

use super::{close, fixture, import, record};

fn run(cap: u32) -> VllmRun {
    VllmRun {
        date: "20260801-120000".to_owned(),
        backend: "openai".to_owned(),
        label: None,
        model_id: "org/model".to_owned(),
        tokenizer_id: None,
        metadata: Vec::new(),
        request_rate: VllmRequestRate::Unlimited,
        burstiness: 1.0,
        max_concurrency: Some(cap),
    }
}

/// Requests one after another, by the microseconds to each of their events.
pub(super) fn tapes(requests: &[(u64, Vec<u64>)]) -> Vec<Tape> {
    let mut at = Stamp::EPOCH;
    let tape = |(index, (ttft, gaps)): (usize, &(u64, Vec<u64>))| {
        let mut tape = Tape::sent_at(at);
        tape.request = RequestId(index as u64);
        tape.requested.input_tokens = Some(Tokens::new(100));
        tape.outcome = Outcome::Complete(Finish::Length);
        for micros in std::iter::once(ttft).chain(gaps) {
            at += Nanos::from_micros(*micros);
            tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
        }
        tape.marks.end = Some(at);
        tape
    };
    requests.iter().enumerate().map(tape).collect()
}

pub(super) fn level<'a>(
    name: &'a str,
    tapes: &'a [Tape],
    goals: &'a GoodputGoals,
) -> ExportLevel<'a> {
    ExportLevel {
        name,
        run: run(4),
        arrivals: ExportArrivals::Unpaced,
        path: "/v1/completions",
        dataset: "random",
        goals,
        tapes,
        epoch_unix: None,
        status: LevelStatus::Finished,
        imported: None,
    }
}

pub(super) fn export(format: &str, levels: &[ExportLevel<'_>]) -> Vec<ExportedFile> {
    ForeignFormats::named(format).unwrap().export(levels).unwrap()
}

pub(super) fn imported(files: &[ExportedFile]) -> Vec<ImportedLevel> {
    let files = files.iter().map(|file| ForeignFile::new(&file.name, &file.bytes));
    ForeignFormats::import(files.collect(), None).unwrap()
}

pub(super) fn requests() -> impl Strategy<Value = Vec<(u64, Vec<u64>)>> {
    prop::collection::vec((1_u64..500_000, prop::collection::vec(0_u64..50_000, 0..8)), 1..140)
}

proptest! {
    #![proptest_config(crate::cases(24))]

    #[test]
    fn tapes_go_out_and_come_in_as_they_were(requests in requests()) {
        let (tapes, goals) = (tapes(&requests), GoodputGoals::default());
        for format in ["vllm", "vllm-rs", "aiperf", "guidellm", "inference-perf"] {
            let files = export(format, &[level("", &tapes, &goals)]);
            let back = imported(&files).remove(0);
            prop_assert_eq!(&back.source.format, format);
            prop_assert_eq!(back.tapes.len(), tapes.len());
            for tape in &tapes {
                let again = back.tapes.iter().find(|again| again.request == tape.request).unwrap();
                let (one, other) = (RequestMetrics::of(tape), RequestMetrics::of(again));
                let ns = |span: Option<Nanos>| span.map_or(0.0, |span| span.as_nanos() as f64);
                prop_assert!((ns(one.ttft) - ns(other.ttft)).abs() <= 2.0);
                prop_assert!((ns(one.e2el) - ns(other.e2el)).abs() <= 2.0);
                prop_assert_eq!(one.output_tokens, other.output_tokens);
            }
        }
    }

    #[test]
    fn figures_that_go_out_come_in_as_the_tool_defines_them(requests in requests()) {
        let (tapes, goals) = (tapes(&requests), GoodputGoals::default());
        let peers = [("vllm", Peer::VllmPython, "e2el"), ("vllm-rs", Peer::VllmRust, "e2el"), ("vllm-sweep", Peer::VllmPython, "e2el"), ("sglang", Peer::Sglang, "e2e_latency")];
        for (format, peer, e2el) in peers {
            let report = peer.figures(&tapes, &PeerSettings::default());
            let back = imported(&export(format, &[level("", &tapes, &goals)])).remove(0);
            prop_assert_eq!(back.counts.completed as usize, tapes.len());
            let pairs = [
                ("requests_per_s", "request_throughput".to_owned()),
                ("output_tps", "output_throughput".to_owned()),
                ("p50_ttft_ms", "median_ttft_ms".to_owned()),
                ("mean_ttft_ms", "mean_ttft_ms".to_owned()),
                ("p50_e2el_ms", format!("median_{e2el}_ms")),
            ];
            for (ours, theirs) in pairs {
                let (found, wanted) = (back.figure(ours), report.value(&theirs));
                prop_assert!(found.zip(wanted).is_some_and(|(a, b)| close(a, b)), "{} {} {:?} {:?}", format, ours, found, wanted);
            }
        }
    }
}

/// Whether two records say the same. `start_times` count from another instant, and a failed request's error has its class in front.
pub(super) fn same(one: &Value, other: &Value, path: &str) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let keys =
                |map: &serde_json::Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
            let (mut a_keys, mut b_keys) = (keys(a), keys(b));
            a_keys.sort();
            b_keys.sort();
            assert_eq!(a_keys, b_keys, "{path}");
            a.iter().for_each(|(key, value)| same(value, &b[key], &format!("{path}.{key}")));
        }
        (Value::Array(a), Value::Array(b)) if path.ends_with(".start_times") => {
            let since = |list: &[Value]| -> Vec<f64> {
                let all: Vec<f64> = list.iter().map(|at| at.as_f64().unwrap()).collect();
                let first = all.iter().copied().fold(f64::INFINITY, f64::min);
                all.into_iter().map(|at| at - first).collect()
            };
            assert!(since(a).into_iter().zip(since(b)).all(|(a, b)| close(a, b)), "{path}");
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{path}");
            a.iter().zip(b).for_each(|(a, b)| same(a, b, path));
        }
        (Value::Number(a), Value::Number(b)) => {
            assert!(close(a.as_f64().unwrap(), b.as_f64().unwrap()), "{path}: {a} {b}");
        }
        (Value::String(a), Value::String(b)) => {
            assert!(b.trim_end().ends_with(a.trim_end()), "{path}: {a} {b}");
        }
        _ => assert_eq!(one, other, "{path}"),
    }
}

#[test]
fn files_of_the_tools_form_go_out_as_they_came_in() {
    let goals = GoodputGoals::default();
    let all = ["vllm.json", "vllm-detailed.json", "vllm-rs.json", "sglang-detailed.jsonl"];
    for name in all {
        let own = import(name, &fixture(name)).unwrap().remove(0);
        let format = own.source.format.clone();
        let level = ExportLevel { imported: Some(&own), ..level("", &own.tapes, &goals) };
        let mut files = export(&format, &[level]);
        let text = String::from_utf8(files.remove(0).bytes).unwrap();
        let again: Value = serde_json::from_str(&text.replace("Infinity", "\"inf\"")).unwrap();
        same(&record(name), &again, name);
    }
}

#[test]
fn a_sweep_goes_out_as_the_tool_lays_it_out_and_its_table_says_the_same() {
    let (tapes, goals) =
        (tapes(&[(20_000, vec![5_000; 4]), (21_000, vec![5_100; 4])]), GoodputGoals::default());
    let levels =
        [level("concurrency-0004", &tapes, &goals), level("concurrency-0008", &tapes, &goals)];
    let levels = levels.map(|level| ExportLevel {
        run: run(if level.name.ends_with('8') { 8 } else { 4 }),
        ..level
    });
    let files = export("vllm-sweep", &levels);
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let wanted = [
        "BENCH--max_concurrency=4/run=0.json",
        "BENCH--max_concurrency=4/summary.json",
        "BENCH--max_concurrency=8/run=0.json",
        "BENCH--max_concurrency=8/summary.json",
        "summary.csv",
    ];
    assert_eq!(names, wanted);
    let (table, runs) = files.split_last().unwrap();
    let (from_runs, from_table) = (imported(runs), imported(std::slice::from_ref(table)));
    assert_eq!((from_runs.len(), from_table.len()), (2, 2));
    for (one, other) in from_runs.iter().zip(&from_table) {
        assert_eq!((one.load, &one.figures), (other.load, &other.figures));
    }
}

/// The first file that a format has of a level whose requests were to leave so.
fn exported(format: &str, path: &str, arrivals: ExportArrivals) -> Value {
    let (tapes, goals) = (tapes(&[(20_000, vec![5_000; 4])]), GoodputGoals::default());
    let one = ExportLevel { path, arrivals, ..level("", &tapes, &goals) };
    serde_json::from_slice(&export(format, &[one])[0].bytes).unwrap()
}

#[test]
fn the_kind_of_requests_is_that_of_the_route() {
    for (path, kind) in [("/v1/chat/completions", "chat"), ("/v1/completions", "completions")] {
        for format in ["aiperf", "genai-perf"] {
            let document = exported(format, path, ExportArrivals::Unpaced);
            assert_eq!(document["input_config"]["endpoint"]["type"], kind, "{format} {path}");
        }
    }
}

#[test]
fn arrivals_are_called_by_the_tools_own_words_or_said_to_have_none() {
    let rate = PerSec::new(20.0);
    let gamma = |burstiness| ExportArrivals::Gamma { rate, burstiness };
    let ramp = ExportArrivals::Other { words: "linear ramp".to_owned(), rate: Some(rate) };
    let trace = ExportArrivals::Trace { rate: Some(rate) };
    for (arrivals, aiperf, guidellm) in [
        (gamma(1.0), "poisson", "poisson"),
        (gamma(f64::INFINITY), "constant", "constant"),
        (gamma(0.5), "gamma", "poisson"),
        (trace, "fixed_schedule", "poisson"),
        (ramp, "fixed_schedule", "poisson"),
        (ExportArrivals::Unpaced, "concurrency", "concurrent"),
    ] {
        let phase = &exported("aiperf", "", arrivals.clone())["input_config"]["phases"][0];
        assert_eq!(phase["type"], aiperf, "{phase}");
        assert_eq!(phase["smoothness"].as_f64(), (aiperf == "gamma").then_some(0.5));
        let document = exported("guidellm", "", arrivals.clone());
        let strategy = &document["benchmarks"][0]["config"]["strategy"];
        assert_eq!(strategy["type_"], guidellm, "{strategy}");
        let has_rate = arrivals != ExportArrivals::Unpaced;
        assert_eq!(strategy["rate"].as_f64(), has_rate.then_some(20.0), "{strategy}");
        let document = exported("genai-perf", "", arrivals);
        let stimulus = &document["input_config"]["perf_analyzer"]["stimulus"];
        assert_eq!(stimulus["request_rate"].as_f64(), has_rate.then_some(20.0), "{stimulus}");
    }
}

/// A file that says how regular its arrivals were does not become Poisson on its way to another tool.
#[test]
fn how_regular_arrivals_were_is_read_again() {
    let even = f64::INFINITY;
    let (tapes, goals) = (tapes(&[(20_000, vec![5_000; 4])]), GoodputGoals::default());
    for (format, burstiness) in
        [("aiperf", 1.0), ("aiperf", even), ("aiperf", 0.5), ("guidellm", 1.0), ("guidellm", even)]
    {
        let arrivals = ExportArrivals::Gamma { rate: PerSec::new(20.0), burstiness };
        let one = ExportLevel { arrivals, ..level("", &tapes, &goals) };
        let again = imported(&export(format, &[one]))[0].requested_load().arrivals.unwrap();
        assert_eq!(again.rate, Some(PerSec::new(20.0)), "{format}");
        assert_eq!(again.cv_squared, Some(1.0 / burstiness), "{format}");
    }
}

/// What is said of a format that has no word for a law.
#[test]
fn a_law_without_a_word_is_told() {
    let (rate, goals) = (PerSec::new(20.0), GoodputGoals::default());
    let gamma = |burstiness| ExportArrivals::Gamma { rate, burstiness };
    let ramp = || ExportArrivals::Other { words: "linear ramp".to_owned(), rate: Some(rate) };
    let unsaid = |format: &str, arrivals: ExportArrivals| {
        let mut one = ExportLevel { arrivals, ..level("", &[], &goals) };
        one.run.request_rate = VllmRequestRate::Limited(rate);
        one.unsaid(ForeignFormats::named(format).unwrap()).pop()
    };
    for format in ForeignFormats::all().map(ForeignFormat::key) {
        assert_eq!(unsaid(format, ExportArrivals::Unpaced), None);
        assert_eq!(unsaid(format, gamma(1.0)), None);
        assert!(unsaid(format, ramp()).unwrap().contains("linear ramp"), "{format}");
        let has_gamma = format == "aiperf" || format.starts_with("vllm");
        assert_eq!(unsaid(format, gamma(0.5)).is_none(), has_gamma, "{format}");
    }
    let said = "guidellm has no word for gamma gaps of burstiness 0.5: its file says poisson, at the mean rate";
    assert_eq!(unsaid("guidellm", gamma(0.5)).as_deref(), Some(said));
    assert_eq!(unsaid("guidellm", gamma(f64::INFINITY)), None);
    assert_eq!(unsaid("aiperf", ExportArrivals::Trace { rate: Some(rate) }), None);
}

/// Of three requests the last was cancelled with the run: nobody takes the file for that of a whole one.
#[test]
fn an_interrupted_level_goes_out_as_such() {
    let (mut tapes, goals) = (tapes(&vec![(20_000, vec![5_000; 4]); 3]), GoodputGoals::default());
    let cancelled = Failure::new(FailureClass::Cancelled, "cancelled");
    tapes[2].outcome = Outcome::Failed(cancelled);
    let status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    let one = ExportLevel { status, ..level("", &tapes, &goals) };
    let files = export("aiperf", std::slice::from_ref(&one));
    let again = imported(&files).remove(0);
    assert!(again.caveats.iter().any(|caveat| caveat.contains("cancelled")), "{again:?}");
    let lines = files.iter().find(|file| file.name.ends_with(".jsonl")).unwrap();
    let lines = String::from_utf8(lines.bytes.clone()).unwrap();
    assert_eq!(lines.matches("\"was_cancelled\":true").count(), 1, "{lines}");
    for format in ForeignFormats::all() {
        assert_eq!(one.unsaid(format).is_empty(), format.key() == "aiperf", "{}", format.key());
    }
    // Cancelled requests are a group of their own to GuideLLM, as in its figures by `Peer`.
    let document: Value = serde_json::from_slice(&export("guidellm", &[one])[0].bytes).unwrap();
    let totals = &document["benchmarks"][0]["metrics"]["request_totals"];
    assert_eq!(totals["errored"], 0, "{totals}");
    let report = Peer::GuideLlm.figures(&tapes, &PeerSettings::default());
    let counted = report.value("incomplete.request_count");
    assert_eq!((counted, &totals["incomplete"]), (Some(1.0), &Value::from(1)));
}

#[test]
fn a_rate_that_is_not_limited_is_written_as_python_writes_it() {
    let (tapes, goals) = (tapes(&[(20_000, vec![5_000; 4])]), GoodputGoals::default());
    let files = export("sglang", &[level("", &tapes, &goals)]);
    let text = String::from_utf8(files[0].bytes.clone()).unwrap();
    assert!(text.contains("\"request_rate\":Infinity,"), "{text}");
}

#[test]
fn the_steady_state_of_the_rust_client_is_an_object_where_the_cap_was_reached() {
    let (tapes, goals) =
        (tapes(&[(20_000, vec![5_000; 4]), (20_000, vec![5_000; 4])]), GoodputGoals::default());
    let one = ExportLevel { run: run(1), ..level("", &tapes, &goals) };
    let of = |level: ExportLevel<'_>| -> Value {
        serde_json::from_slice(&export("vllm-rs", &[level])[0].bytes).unwrap()
    };
    let document = of(one);
    let block = &document["steady_state"];
    assert_eq!(block["window"]["target_concurrency"], 1);
    assert_eq!(block["window"]["start_s"], 0.0);
    assert!(block["output_throughput"].as_f64().is_some());
    // Four were never in flight.
    assert_eq!(of(level("", &tapes, &goals))["steady_state"], Value::Null);
}

#[test]
fn figures_alone_are_written_in_no_other_form() {
    let own = import("vllm.json", &fixture("vllm.json")).unwrap().remove(0);
    let goals = GoodputGoals::default();
    let level = ExportLevel { imported: Some(&own), ..level("", &[], &goals) };
    let error = ForeignFormats::named("sglang").unwrap().export(&[level]).unwrap_err().to_string();
    assert!(error.starts_with("cannot write sglang: vllm.json holds figures"), "{error}");
}

#[test]
fn names_of_files_lead_nowhere_whatever_a_file_says() {
    let (tapes, goals) = (tapes(&[(20_000, vec![5_000; 4])]), GoodputGoals::default());
    let odd = "../x\n\u{1b}[31mred<>:\"|?*".to_owned();
    let own = VllmRun {
        backend: odd.clone(),
        label: Some(odd.clone()),
        model_id: odd.clone(),
        date: odd.clone(),
        ..run(4)
    };
    for format in ForeignFormats::all() {
        for name in ["", odd.as_str()] {
            let level = ExportLevel { run: own.clone(), ..level(name, &tapes, &goals) };
            for file in format.export(&[level]).unwrap() {
                let plain = |c: char| c.is_ascii_alphanumeric() || "-_.=".contains(c);
                let is_plain =
                    |part: &str| !part.starts_with(['.', '-']) && part.chars().all(plain);
                assert!(file.name.split('/').all(is_plain), "{:?}", file.name);
            }
        }
    }
}

#[test]
fn the_rust_client_dates_its_file_with_the_zone() {
    let (tapes, goals) = (tapes(&[(20_000, vec![5_000; 4])]), GoodputGoals::default());
    let own = level("", &tapes, &goals);
    let date = |level: &ExportLevel<'_>| -> Value {
        let files = export("vllm-rs", std::slice::from_ref(level));
        assert_eq!(imported(&files)[0].source.tool, "vllm-rs bench serve");
        serde_json::from_slice::<Value>(&files[0].bytes).unwrap()["date"].clone()
    };
    assert_eq!(date(&own), "2026-08-01T12:00:00Z");
    // That of the Python client may be of any zone.
    let python = import("vllm.json", &fixture("vllm.json")).unwrap().remove(0);
    assert_eq!(date(&ExportLevel { imported: Some(&python), ..own }), "2026-08-01T12:00:00");
}
