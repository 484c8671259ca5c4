//! `fizeau bench` against the simulated engine.

use std::process::Stdio;

use serde_json::Value;

use crate::stand::{
    HOWEVER_BUSY, Scratch, fizeau, json, reply, run, scripted, simulated, stream_of,
};

/// The command line of vLLM's documentation, cut to a size for a test.
fn vllm_line<'a>(url: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    let line = "bench --model openai/gpt-oss-120b --backend vllm --endpoint /v1/completions --dataset-name random \
                --random-input-len 25 --random-output-len 8 --num-prompts 40 --max-concurrency 16 --save-result";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", url]);
    words.extend(HOWEVER_BUSY);
    words.extend(rest);
    words
}

/// The keys that vLLM 0.33.0's Python client writes by default, in its order.
const KEYS: [&str; 37] = [
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
    "duration",
    "completed",
    "failed",
    "total_input_tokens",
    "total_output_tokens",
    "request_throughput",
    "request_goodput",
    "output_throughput",
    "total_token_throughput",
    "latencies",
    "queue_times",
    "max_output_tokens_per_s",
    "max_concurrent_requests",
    "rtfx",
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
    "",
];

#[test]
fn a_vllm_command_line_runs_unchanged_and_writes_vllms_json() {
    let (server, scratch) = (simulated(), Scratch::new("vllm"));
    let (url, dir) = (server.base_url(), scratch.path(""));
    let ended = run(&vllm_line(&url, &["--result-dir", &dir]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let files = scratch.files();
    let [name] = files.as_slice() else { panic!("{files:?}") };
    assert!(name.starts_with("vllm-infqps-concurrency16-gpt-oss-120b-"), "{name}");
    let text = std::fs::read_to_string(scratch.path(name)).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    // serde_json's map sorts its keys: the order is checked in the text.
    let mut at = 0;
    for key in KEYS.iter().filter(|key| !key.is_empty()) {
        let found = text.find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("no {key}: {text}"));
        assert!(found >= at, "{key} is out of order");
        at = found;
    }
    assert_eq!(result.as_object().unwrap().len(), KEYS.len() - 1);
    assert_eq!(result["completed"].as_u64().unwrap() + result["failed"].as_u64().unwrap(), 40);
    assert_eq!(result["num_prompts"], 40);
    assert_eq!(result["total_input_tokens"], 40 * 25);
    assert_eq!(result["total_output_tokens"], 40 * 8);
    assert_eq!(result["request_rate"], "inf");
    assert!(result["request_goodput"].is_null());
    assert!(result["max_concurrent_requests"].as_f64().unwrap() <= 16.0);
    for line in [
        "Serving Benchmark Result",
        "Successful requests:                     40",
        "Mean TTFT (ms)",
    ] {
        assert!(ended.out.contains(line), "{}", ended.out);
    }
}

#[test]
fn serve_after_bench_goodput_detail_and_metadata_are_vllms_too() {
    let (server, scratch) = (simulated(), Scratch::new("detail"));
    let (url, dir) = (server.base_url(), scratch.path(""));
    let mut words = vllm_line(
        &url,
        &[
            "--result-dir",
            &dir,
            "--result-filename",
            "r.json",
            "--save-detailed",
            "--metadata",
            "rig=a",
            "run=7",
        ],
    );
    words.insert(1, "serve");
    words.extend(["--goodput", "ttft:60000", "e2el:60000", "--metric-percentiles", "50,99.9"]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result = json(scratch.path("r.json"));
    assert_eq!((&result["rig"], &result["run"]), (&"a".into(), &"7".into()));
    assert_eq!(result["request_goodput"], result["request_throughput"]);
    assert!(result["p99.9_ttft_ms"].is_number() && result["p50_itl_ms"].is_number());
    for key in
        ["input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors"]
    {
        assert_eq!(result[key].as_array().unwrap().len(), 40, "{key}");
    }
    assert!(result["output_lens"].as_array().unwrap().iter().all(|n| n == 8));
    assert!(!result["generated_texts"][0].as_str().unwrap().is_empty());
}

#[test]
fn the_runs_folder_holds_what_the_block_says() {
    let (server, scratch) = (simulated(), Scratch::new("folder"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../roofline/data/models/llama-3.1-8b.json");
    let line = "bench --model m --random-input-len 25 --random-output-len 8 --num-prompts 120 --max-concurrency 20 \
                --endpoint /v1/chat/completions --hardware h100-sxm -v";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &url, "--out", &out, "--model-config", config]);
    words.extend(["--threads", "3", "--threshold", "cpu-suspect=0.8", HOWEVER_BUSY[1]]);
    words.extend(["--goodput", "ttft:60000", "e2el:60000", "or", "itl_p99:0.0001"]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(summary["schema"], "fizeau.summary/2");
    assert_eq!(summary["requests"]["completed"], 120);
    assert_eq!(summary["tokens"]["output"], 960);
    assert_eq!(summary["tokens"]["source"], "continuous_usage");
    assert_eq!(summary["goodput"]["goals"], "ttft:60000 e2el:60000 or itl_p99:0.0001");
    let good = |group: usize| summary["goodput"]["groups"][group]["good"].as_u64();
    assert_eq!((good(0), good(1)), (Some(120), Some(0)));
    assert_eq!(summary["throughput"]["good_share"], 1.0);
    assert!(ended.out.contains("group 1, all of it:                    100 %"), "{ended:?}");
    assert!(!ended.out.contains("Request goodput"), "vLLM has no such goals");
    for words in
        ["  server: ", "preemptions 0", "; tokens agree", "TTFT, client / server / gap (ms):"]
    {
        assert!(ended.out.contains(words), "{words}: {ended:?}");
    }
    assert_eq!(summary["output"]["visible_tokens"], 960);
    // A reply that a busy machine reads at once has no rate of its own.
    let with_rate = summary["rates"]["user_tokens_per_s"]["n"].as_u64().unwrap();
    assert!((60..=120).contains(&with_rate), "{with_rate}");
    assert!(summary["metrics"]["ttft_ms"]["p99"].is_number());
    assert!(summary["metrics"]["ttft_ms"]["p999"].is_null());
    assert!(summary["metrics"]["ttft_ms"]["p999_reason"].as_str().unwrap().contains("1000"));
    let share = summary["speed_of_light"]["share"]["output_tokens_per_s"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.0, "{share}");
    let tapes = std::fs::read_to_string(format!("{out}/tapes.jsonl")).unwrap();
    assert_eq!(tapes.lines().count(), 120);
    let run = json(format!("{out}/run.json"));
    assert_eq!(run["setup"]["endpoint"]["path"], "/v1/chat/completions");
    let client =
        serde_json::json!({"threads": 3, "thresholds": ["cpu-suspect=0.8", HOWEVER_BUSY[1]]});
    assert_eq!(run["client"], client);
    assert_eq!(run["goodput"].as_array().map(Vec::len), Some(4));
    assert_eq!(summary["client"]["threads"], 3);
    let files = &summary["client"]["headroom"]["file_descriptors"];
    assert!(files["needed"].as_u64().unwrap() >= 20 && files["limit"].is_number(), "{files}");
    let kept = std::fs::read(format!("{out}/model-config.json")).unwrap();
    assert_eq!(kept, std::fs::read(config).unwrap());
    for name in ["ttft.hdr", "itl.hdr", "e2el.hdr"] {
        assert!(
            std::fs::read_to_string(format!("{out}/{name}")).unwrap().contains("HIST"),
            "{name}"
        );
    }
    let again = run_into(&words);
    assert_eq!(again.0, Some(2), "a folder that holds a run is refused");
    assert!(again.1.contains("already holds a run"), "{}", again.1);
}

fn run_into(words: &[&str]) -> (Option<i32>, String) {
    let ended = run(words);
    (ended.code, ended.err)
}

#[test]
fn failures_are_counted_by_class_and_never_averaged_in() {
    // The endpoint is checked with one request; from then on every third one fails.
    let url = scripted(|n| {
        Some(if n > 0 && n % 3 == 0 {
            reply("500 Internal Server Error", "text/plain", "out of luck")
        } else {
            stream_of(8)
        })
    });
    let scratch = Scratch::new("failures");
    let out = scratch.path("run");
    let line = "bench --model m --random-input-len 4 --random-output-len 8 --num-prompts 30 --max-concurrency 2 \
                --num-warmups 0";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &url, "--out", &out]);
    let ended = run(&words);
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(summary["requests"]["completed"], 20, "{ended:?}");
    assert_eq!(summary["requests"]["by_class"]["status"], 10);
    assert_eq!(summary["metrics"]["ttft_ms"]["n"], 20);
    assert_eq!(summary["validity"]["verdict"], "suspect");
    assert!(ended.out.contains("Failed requests:                         10"), "{}", ended.out);
    let note = "/metrics: there is no page of metrics (status 404)";
    assert_eq!(ended.err.matches(note).count(), 1, "{}", ended.err);
    // This host alone is told of.
    let told = &summary["telemetry"];
    assert!(told.get("server").is_none() && told["sources"] == serde_json::json!([]), "{told}");
    assert_eq!(told["host"].is_object(), cfg!(target_os = "linux"), "{told}");
}

#[test]
fn a_run_in_which_nothing_completes_is_invalid_and_exit_code_1() {
    let url = scripted(|n| {
        Some(if n == 0 { stream_of(8) } else { reply("503 Busy", "text/plain", "busy") })
    });
    let line = "bench --model m --random-input-len 4 --random-output-len 8 --num-prompts 5 --num-warmups 0";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &url]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.contains("invalid"), "{}", ended.out);
}

#[test]
fn who_closes_the_pipe_loses_nothing() {
    let url = scripted(|_| Some(stream_of(4)));
    let scratch = Scratch::new("pipe");
    let (out, result) = (scratch.path("run"), scratch.path("result.jsonl"));
    let line = "bench --model m --random-input-len 4 --random-output-len 4 --num-prompts 3";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    // To append is to save, as in vLLM.
    words.extend(["--base-url", &url, "--out", &out, "--append-result"]);
    words.extend(["--result-filename", &result]);
    words.extend(HOWEVER_BUSY);
    let mut child = fizeau(&words).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(summary["requests"]["completed"], 3);
    assert_eq!(json(&result)["completed"], 3);
    let run = json(format!("{out}/run.json"));
    assert_eq!(
        (&run["levels"][0]["requests"], &run["levels"][0]["warmup_requests"]),
        (&3.into(), &1.into())
    );
}

#[cfg(feature = "tiktoken")]
#[test]
fn a_tokenizer_makes_prompts_of_exact_length_and_counts_where_the_server_does_not() {
    // A server that streams three chunks and no usage.
    let chunk =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"text\":\"{text}\"}}]}}\n\n");
    let body =
        format!("{}{}{}data: [DONE]\n\n", chunk("one two"), chunk(" three"), chunk(" four five"));
    let url = scripted(move |_| Some(reply("200 OK", "text/event-stream", &body)));
    let scratch = Scratch::new("tiktoken");
    let out = scratch.path("run");
    let line = "bench --model m --random-input-len 50 --random-output-len 5 --num-prompts 4 --tokenizer \
                tiktoken:o200k_base";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &url, "--out", &out]);
    let ended = run(&words);
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(summary["tokens"]["source"], "tokenizer", "{ended:?}");
    assert_eq!(summary["tokens"]["output"], 4 * 5);
    assert_eq!(summary["tokens"]["input"], 4 * 50);
    assert_eq!(summary["tokens"]["events"], 4 * 3);
    let tapes = std::fs::read_to_string(format!("{out}/tapes.jsonl")).unwrap();
    assert!(!tapes.contains("three"), "the text was only kept to be counted");
}
