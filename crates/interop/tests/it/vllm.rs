//! vLLM's block and file, by hand-made tapes.

use std::num::NonZeroU32;

use fizeau_core::{
    Arrival, Channel, Failure, FailureClass, LevelLoad, Nanos, Outcome, PerSec, RequestPurpose,
    Stamp, Tape, Tokens, Usage,
};
use fizeau_interop::{
    VllmDetail, VllmRampStrategy, VllmRequestRate, VllmResult, VllmRun, VllmSelection, VllmTally,
};
use fizeau_metrics::{GoodputGoals, LevelTally};
use fizeau_workload::{ArrivalLaw, RampShape, RampSpan, Rescale, Spacing};
use proptest::prelude::*;
use serde_json::{Value, json};

fn run() -> VllmRun {
    VllmRun {
        date: "20260801-120000".to_owned(),
        backend: "vllm".to_owned(),
        label: None,
        model_id: "openai/gpt-oss-120b".to_owned(),
        tokenizer_id: Some("openai/gpt-oss-120b".to_owned()),
        metadata: Vec::new(),
        request_rate: VllmRequestRate::Unlimited,
        burstiness: 1.0,
        max_concurrency: Some(3),
    }
}

#[test]
fn a_law_of_arrivals_is_a_rate_where_vllm_has_it_and_else_its_mean() {
    let rate = PerSec::new(1.0 / 3.0);
    let mean = Some(PerSec::new(2.345_678));
    let of = |law: &ArrivalLaw| VllmRequestRate::of(law, mean);
    assert_eq!(of(&ArrivalLaw::Constant { rate }), VllmRequestRate::Limited(rate));
    let gamma = ArrivalLaw::Gamma { rate, burstiness: 2.0, rescale: Rescale::None };
    assert_eq!(of(&gamma), VllmRequestRate::Limited(rate));
    let stages = ArrivalLaw::stages("1:10,20:10", Spacing::Even).unwrap();
    assert_eq!(of(&stages), VllmRequestRate::Limited(PerSec::new(2.346)));
    assert_eq!(VllmRequestRate::of(&ArrivalLaw::AllAtOnce, None), VllmRequestRate::Unlimited);
    let (from, to) = (PerSec::new(1.0), PerSec::new(9.0));
    let (over, spacing) = (RampSpan::Requests, Spacing::Even);
    for (shape, strategy) in [
        (RampShape::Linear, VllmRampStrategy::Linear),
        (RampShape::Exponential, VllmRampStrategy::Exponential),
    ] {
        let ramp = ArrivalLaw::Ramp { from, to, shape, over, spacing };
        assert_eq!(of(&ramp), VllmRequestRate::Ramp { strategy, start: from, end: to });
    }
    assert_eq!(VllmRequestRate::from(LevelLoad::Rate(rate)), VllmRequestRate::Limited(rate));
    let slots = LevelLoad::Concurrency(NonZeroU32::MIN);
    assert_eq!(VllmRequestRate::from(slots), VllmRequestRate::Unlimited);
}

fn at(ms: u64) -> Stamp {
    Stamp::EPOCH + Nanos::from_millis(ms)
}

/// A request of 10 prompt tokens sent at `sent` with an arrival at each of `arrivals`: milliseconds and tokens.
fn tape(sent: u64, arrivals: &[(u64, u32)]) -> Tape {
    let mut tape = Tape::sent_at(at(sent));
    let arrival = |&(ms, tokens): &(u64, u32)| Arrival::tokens(at(ms), tokens, Channel::Visible);
    tape.arrivals = arrivals.iter().map(arrival).collect();
    tape.requested.input_tokens = Some(Tokens::new(10));
    tape.marks.end = arrivals.last().map(|last| at(last.0 + 1));
    tape.text = Some("text".to_owned());
    tape
}

/// Two that succeed, one of a bundle of chunks and one of a single token, and one that fails.
fn tapes() -> Vec<Tape> {
    let mut failed = tape(30, &[(40, 1)]);
    let failure = Failure::new(FailureClass::Truncated, "the reply broke off");
    failed.outcome = Outcome::Failed(failure);
    vec![tape(0, &[(20, 1), (30, 2), (50, 2)]), tape(0, &[(99, 1)]), failed]
}

fn result(run: VllmRun, metrics: &str, percentiles: &str) -> VllmResult {
    let selection = VllmSelection::parse(metrics, percentiles).unwrap();
    // One of the two that succeed meets it.
    let goals = "ttft:50".parse().unwrap();
    VllmResult::of(run, &tapes(), &selection, &goals, VllmDetail::Full)
}

fn by_default(run: VllmRun, tapes: &[Tape], detail: VllmDetail) -> VllmResult {
    VllmResult::of(run, tapes, &VllmSelection::default(), &GoodputGoals::default(), detail)
}

fn parsed(result: &VllmResult) -> Value {
    serde_json::from_str(&result.to_json()).unwrap()
}

/// The keys of the file in the order in which they stand there. None of them holds an object.
fn keys(text: &str) -> Vec<String> {
    struct Keys(Vec<String>);
    impl<'de> serde::Deserialize<'de> for Keys {
        fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Keys;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }

                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<Keys, A::Error> {
                    let mut keys = Vec::new();
                    while let Some((key, _)) = map.next_entry::<String, serde::de::IgnoredAny>()? {
                        keys.push(key);
                    }
                    Ok(Keys(keys))
                }
            }
            from.deserialize_map(Visitor)
        }
    }
    let Keys(keys) = serde_json::from_str(text).unwrap();
    keys
}

// The order in which `vllm bench serve` 0.33 writes its result file.
const ASKED: [&str; 10] = [
    "date",
    "endpoint_type",
    "backend",
    "label",
    "model_id",
    "tokenizer_id",
    "num_prompts",
    "request_rate",
    "burstiness",
    "max_concurrency",
];
const TOTALS: [&str; 9] = [
    "duration",
    "completed",
    "failed",
    "total_input_tokens",
    "total_output_tokens",
    "request_throughput",
    "request_goodput",
    "output_throughput",
    "total_token_throughput",
];
const DETAILED: [&str; 9] = [
    "input_lens",
    "output_lens",
    "ttfts",
    "itls",
    "latencies",
    "start_times",
    "queue_times",
    "generated_texts",
    "errors",
];
const PEAKS: [&str; 3] = ["max_output_tokens_per_s", "max_concurrent_requests", "rtfx"];
const STATS: [&str; 12] = [
    "mean_ttft_ms",
    "median_ttft_ms",
    "std_ttft_ms",
    "p99_ttft_ms",
    "mean_tpot_ms",
    "median_tpot_ms",
    "std_tpot_ms",
    "p99_tpot_ms",
    "mean_itl_ms",
    "median_itl_ms",
    "std_itl_ms",
    "p99_itl_ms",
];

#[test]
fn the_keys_stand_in_vllms_order() {
    let full = by_default(run(), &tapes(), VllmDetail::Full).to_json();
    let expected = [&ASKED[..], &TOTALS, &DETAILED, &PEAKS, &STATS].concat();
    assert_eq!(keys(&full), expected);
    let brief = by_default(run(), &tapes(), VllmDetail::Brief).to_json();
    let kept = ["latencies", "queue_times"];
    let expected = [&ASKED[..], &TOTALS, &kept, &PEAKS, &STATS].concat();
    assert_eq!(keys(&brief), expected);
}

#[test]
fn the_figures_are_by_vllms_definitions() {
    let json = parsed(&result(run(), "ttft,tpot,itl,e2el", "50,99.9"));
    assert_eq!(json["num_prompts"], 3);
    assert_eq!((&json["completed"], &json["failed"]), (&json!(2), &json!(1)));
    assert_eq!(json["total_input_tokens"], 20);
    assert_eq!(json["total_output_tokens"], 6);
    assert_eq!(json["duration"], 0.1);
    assert_eq!(json["request_throughput"], 20.0);
    assert_eq!(json["request_goodput"], 10.0);
    // Seconds by request; zeros and an error text where one failed.
    assert_eq!(json["ttfts"], json!([0.02, 0.099, 0.0]));
    assert_eq!(json["itls"], json!([[0.01, 0.02], [], []]));
    assert_eq!(json["latencies"], json!([0.05, 0.099, 0.0]));
    assert_eq!(json["output_lens"], json!([5, 1, 0]));
    assert_eq!(json["start_times"], json!([0.0, 0.0, 0.03]));
    assert_eq!(json["errors"], json!(["", "", "truncated: the reply broke off"]));
    // TPOT by tokens over requests with more than one: (50 - 20) / 4. ITL by chunks: 10 and 20.
    assert_eq!(json["mean_tpot_ms"], 7.5);
    assert_eq!(json["mean_itl_ms"], 15.0);
    assert_eq!(json["std_itl_ms"], 5.0);
    assert_eq!(json["p50_e2el_ms"], 74.5);
    assert!(json["p99.9_ttft_ms"].is_number());
    assert!(json.get("p99_ttft_ms").is_none());
}

/// More requests than are kept one by one: counts, means and extremes stay exact, percentiles are within 0.05 %.
#[test]
fn figures_of_very_many_requests_come_from_buckets() {
    let count = LevelTally::EXACT as u64 + 1_000;
    let ttft = |k: u64| 20 + k % 1_000;
    let tapes = (0..count).map(|k| tape(k, &[(k + ttft(k), 1), (k + ttft(k) + 40, 2)]));
    let mut tally =
        VllmTally::new(&VllmSelection::default(), &GoodputGoals::default(), VllmDetail::Totals);
    tapes.for_each(|tape| tally.add(&tape));
    let json = parsed(&tally.finish(run()));
    assert!(json.get("latencies").is_none() && json.get("ttfts").is_none());
    assert_eq!(json["completed"], count);
    let mut all: Vec<u64> = (0..count).map(ttft).collect();
    all.sort_unstable();
    let near = |key: &str, exact: f64| {
        let found = json[key].as_f64().unwrap();
        assert!((found / exact - 1.0).abs() < 5e-4, "{key}: {found} for {exact}");
    };
    near("mean_ttft_ms", all.iter().sum::<u64>() as f64 / count as f64);
    near("median_ttft_ms", all[all.len() / 2] as f64);
    near("p99_ttft_ms", all[all.len() * 99 / 100] as f64);
    near("mean_tpot_ms", 20.0);
    near("p99_tpot_ms", 20.0);
    near("mean_itl_ms", 40.0);
}

/// vLLM takes the pace of a reply of one token as 0, which meets any goal; ours is absent and meets none.
#[test]
fn goodput_is_by_vllms_rule() {
    let mut failed = tape(0, &[(20, 1)]);
    failed.outcome = Outcome::Failed(Failure::new(FailureClass::Status, "500"));
    let tapes = [
        tape(0, &[(20, 1)]),
        // 30 ms after the first chunk, by vLLM over 4 further tokens, by us over 1.
        tape(0, &[(20, 4), (50, 1)]),
        tape(0, &[(20, 1), (99, 2)]),
        failed,
    ];
    let goals: GoodputGoals = "ttft:30 tpot:10 e2el:60".parse().unwrap();
    let result =
        VllmResult::of(run(), &tapes, &VllmSelection::default(), &goals, VllmDetail::Brief);
    assert_eq!(result.goodput(), Some(PerSec::new(2.0 / 0.1)));
    assert_eq!(by_default(run(), &tapes, VllmDetail::Brief).goodput(), None);
    // It has neither groups nor other figures.
    for beyond in ["ttft:30 or e2el:60", "itl_p99:30"] {
        let goals: GoodputGoals = beyond.parse().unwrap();
        let result =
            VllmResult::of(run(), &tapes, &VllmSelection::default(), &goals, VllmDetail::Brief);
        assert_eq!(result.goodput(), None);
        assert!(parsed(&result)["request_goodput"].is_null());
    }
}

#[test]
fn the_servers_count_goes_before_ours() {
    let mut one = tape(0, &[(20, 1), (50, 1)]);
    one.usage = Some(Usage { completion_tokens: Some(Tokens::new(7)), ..Usage::default() });
    let json = parsed(&by_default(run(), &[one], VllmDetail::Full));
    assert_eq!(json["output_lens"], json!([7]));
    assert_eq!(json["mean_tpot_ms"], 5.0);
    assert!(json["request_goodput"].is_null());
}

#[test]
fn rates_labels_and_metadata() {
    let mut limited = run();
    limited.request_rate = VllmRequestRate::Limited(PerSec::new(10.0));
    limited.max_concurrency = None;
    limited.burstiness = f64::INFINITY;
    limited.label = Some("rack 7/night".to_owned());
    limited.metadata =
        vec![("gpu".to_owned(), "H100".to_owned()), ("duration".to_owned(), "long".to_owned())];
    assert_eq!(
        limited.file_name(),
        "rack 7-night-10.0qps-gpt-oss-120b-20260801-120000.json",
        "a label is no folder"
    );
    let result = result(limited, "ttft", "99");
    let text = result.to_json();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["request_rate"], 10.0);
    assert_eq!(json["burstiness"], "inf");
    assert_eq!(json["label"], "rack 7/night");
    assert!(json["max_concurrency"].is_null());
    assert_eq!(json["gpu"], "H100");
    // The result overwrites a pair of the same key, as in vLLM's dictionary, and no key stands twice.
    assert_eq!(json["duration"], 0.1);
    assert_eq!(text.matches("\"duration\"").count(), 1);
    assert_eq!(keys(&text)[7], "gpu");

    assert_eq!(run().file_name(), "vllm-infqps-concurrency3-gpt-oss-120b-20260801-120000.json");
    let json = parsed(&by_default(run(), &[], VllmDetail::Brief));
    assert_eq!(json["request_rate"], "inf");
    assert!(json["label"].is_null());
}

#[test]
fn a_ramp_has_its_own_name_and_fields() {
    let (start, end) = (PerSec::new(1.0), PerSec::new(20.0));
    let mut ramp = run();
    ramp.request_rate =
        VllmRequestRate::Ramp { strategy: VllmRampStrategy::Exponential, start, end };
    assert_eq!(
        ramp.file_name(),
        "vllm-ramp-up-exponential-1qps-20qps-concurrency3-gpt-oss-120b-20260801-120000.json"
    );
    let json = parsed(&by_default(ramp, &[], VllmDetail::Brief));
    assert_eq!(json["request_rate"], "inf");
    assert_eq!(json["ramp_up_strategy"], "exponential");
    assert_eq!((&json["ramp_up_start_rps"], &json["ramp_up_end_rps"]), (&json!(1.0), &json!(20.0)));
}

#[test]
fn queue_times_need_a_cap_and_their_sum_a_rate_too() {
    let all = "ttft,client_queue_time,e2el_including_client_queue";
    let has = |run: VllmRun| {
        let json = parsed(&result(run, all, "99"));
        let key = |key: &str| json.get(key).is_some();
        (key("mean_client_queue_time_ms"), key("mean_e2el_including_client_queue_ms"))
    };
    assert_eq!(has(run()), (true, false));
    let mut limited = run();
    limited.request_rate = VllmRequestRate::Limited(PerSec::new(1.0));
    assert_eq!(has(limited.clone()), (true, true));
    limited.max_concurrency = None;
    assert_eq!(has(limited), (false, false));
}

#[test]
fn the_block_is_vllms() {
    let golden = "\
============ Serving Benchmark Result ============
Successful requests:                     2
Failed requests:                         1
Maximum request concurrency:             3
Benchmark duration (s):                  0.10
Total input tokens:                      20
Total generated tokens:                  6
Request throughput (req/s):              20.00
Request goodput (req/s):                 10.00
Output token throughput (tok/s):         60.00
Peak output token throughput (tok/s):    60.00
Peak concurrent requests:                3.00
Total token throughput (tok/s):          260.00
---------------Time to First Token----------------
Mean TTFT (ms):                          59.50
Median TTFT (ms):                        59.50
P99 TTFT (ms):                           98.21
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          7.50
Median TPOT (ms):                        7.50
P99 TPOT (ms):                           7.50
---------------Inter-token Latency----------------
Mean ITL (ms):                           15.00
Median ITL (ms):                         15.00
P99 ITL (ms):                            19.90
==================================================";
    assert_eq!(result(run(), "itl,ttft,tpot", "99").block(), golden);
}

/// What is not known is no 0, neither alone nor in a sum; vLLM's file knows numbers only.
#[test]
fn prompts_of_unknown_length_are_told() {
    let known = tape(0, &[(20, 1), (30, 1)]);
    let mut unknown = known.clone();
    (unknown.usage, unknown.requested.input_tokens) = (None, None);
    let result = by_default(run(), &[known, unknown], VllmDetail::Brief);
    let block = result.block();
    assert!(block.contains("Total input tokens:                      -\n"), "{block}");
    assert!(block.contains("Total token throughput (tok/s):          -\n"), "{block}");
    let last = block.lines().last().expect("a block has lines");
    assert!(last.starts_with("Input tokens are not known of 1 of 2 successful requests"), "{last}");
    assert_eq!(parsed(&result)["total_input_tokens"], json!(10));
}

/// Replies of one token have no pace and no gaps; vLLM writes 0.0, and not the -0.0 of an empty sum.
#[test]
fn an_empty_sample_is_zero_without_a_sign() {
    let result = by_default(run(), &[tape(0, &[(20, 1)])], VllmDetail::Brief);
    let (block, json) = (result.block(), result.to_json());
    assert!(block.contains("Mean TPOT (ms):                          0.00"), "{block}");
    assert!(json.contains(r#""mean_itl_ms":0.0,"median_itl_ms":0.0,"std_itl_ms":0.0"#), "{json}");
}

#[test]
fn a_wrong_selection_is_told_what_would_be_right() {
    let error = VllmSelection::parse("ttft,speed", "99").unwrap_err().to_string();
    assert!(error.starts_with("`speed` is not a metric: use any of ttft"), "{error}");
    for wrong in ["x", "-1", "100.1", "NaN"] {
        let error = VllmSelection::parse("ttft", wrong).unwrap_err().to_string();
        assert!(error.contains(wrong), "{error}");
    }
}

proptest! {
    #![proptest_config(crate::cases(256))]
    #[test]
    fn the_peaks_keep_their_bounds(
        requests in prop::collection::vec((0..5_000_u64, 1..2_000_u64, 1..50_u32), 1..40)
    ) {
        let tapes: Vec<Tape> = requests.iter()
            .map(|&(sent, took, tokens)| tape(sent, &[(sent + took, tokens)]))
            .collect();
        let result = by_default(run(), &tapes, VllmDetail::Brief);
        prop_assert_eq!(result.num_prompts(), tapes.len() as u64);
        let json = parsed(&result);
        let mean = json["output_throughput"].as_f64().unwrap();
        // The mean went through text, which may round it.
        prop_assert!(result.peak_output_tokens_per_s().get() >= mean * (1.0 - 1e-12));
        // At no request's start are more in flight than the peak, and at one there are as many.
        let in_flight = |at: u64| requests.iter().filter(|r| r.0 <= at && at < r.0 + r.1).count() as u64;
        let peak = requests.iter().map(|r| in_flight(r.0)).max().unwrap_or(0);
        prop_assert_eq!(result.peak_concurrency(), peak);
    }
}

#[test]
fn a_probe_is_beside_the_figures_and_in_none_of_them() {
    let tapes = tapes();
    let mut probe = tapes[0].clone();
    probe.part = RequestPurpose::Probe;
    let mut lost = Tape {
        outcome: Outcome::Failed(Failure::new(FailureClass::Status, "made by hand")),
        ..probe.clone()
    };
    lost.arrivals.clear();
    let result = |tapes: &[&Tape]| {
        let (all, none) = (VllmSelection::default(), GoodputGoals::default());
        VllmResult::of(run(), tapes.iter().copied(), &all, &none, VllmDetail::Full)
    };
    let (beside, alone) = (result(&[&tapes[0], &probe, &lost]), result(&[&tapes[0]]));
    assert_eq!(beside.block(), alone.block());
    let json = |of: &VllmResult| of.to_json();
    let latency = tapes[0].last_output().unwrap().since(Stamp::EPOCH).unwrap().as_millis_f64();
    let figures = format!(
        "\"rtfx\":0.0,\"probe_completed\":1,\"probe_failed\":1,\"probe_median_e2el_ms\":{latency:?},\
         \"probe_p99_e2el_ms\":{latency:?},\"probe_max_e2el_ms\":{latency:?},"
    );
    assert_eq!(json(&beside), json(&alone).replace("\"rtfx\":0.0,", &figures));
}
