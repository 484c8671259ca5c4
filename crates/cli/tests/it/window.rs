//! The measured part of a run, and runs that send more than is served.

use fizeau::core::Nanos;
use serde_json::Value;

use crate::stand::{Scratch, fixed, json, run};

/// Runs `bench` with prompts of 8 tokens; gives what it said and its summary.
fn bench(name: &str, rest: &[&str]) -> (String, Value, Value) {
    let server = fixed(Nanos::from_millis(4), Nanos::from_micros(500));
    let (url, scratch) = (server.base_url(), Scratch::new(name));
    let out = scratch.path("run");
    let mut words = vec!["bench", "--model", "m", "--base-url", &url, "--out", &out, "-v"];
    words.extend(["--random-input-len", "8", "--random-output-len", "4"]);
    words.extend(rest);
    let ended = run(&words);
    assert!(ended.code.is_some_and(|code| code < 2), "{ended:?}");
    let folder = std::path::Path::new(&out);
    (ended.out, json(folder.join("summary.json")), json(folder.join("run.json")))
}

#[test]
fn a_window_that_was_asked_for_stands_beside_the_whole_run() {
    let rest =
        ["--num-prompts", "40", "--max-concurrency", "4", "--warmup", "10", "--cooldown", "5"];
    let (said, summary, run) = bench("window", &rest);
    let windowed = &summary["windowed"];
    assert_eq!((&windowed["warmup"], &windowed["cooldown"]), (&"10".into(), &"5".into()));
    let window = &windowed["window"];
    assert_eq!(window["kind"], "requested");
    // The window ends with the sending of the first request that is cut, which is no more in it.
    assert_eq!(
        [&window["cut_front"], &window["sent"], &window["cut_back"]],
        [&Value::from(10), &Value::from(25), &Value::from(5)]
    );
    assert_eq!(window["metrics"]["ttft_ms"]["n"], 25);
    assert_eq!(summary["metrics"]["ttft_ms"]["n"], 40);
    assert_eq!(summary["throughput"]["window"], "whole_run");
    let line = "Part requested:                          25 of 40 in ";
    assert!(
        said.contains(line) && said.contains("  Excluded first/last:                   10 / 5\n"),
        "{said}"
    );
    let asked = serde_json::json!({"warmup": "10", "cooldown": "5"});
    assert_eq!(run["levels"][0]["window"], asked);
    // A closed loop: the cap is never exceeded, and nothing is said of saturation.
    let peak = summary["over_time"]["in_flight"]["peak"].as_u64().unwrap();
    assert!((1..=4).contains(&peak), "{peak}");
    assert!(summary["saturation"].is_null() && summary["saturation_reason"].is_string());
    let peak = summary["over_time"]["peak_output_tokens_per_s"].as_f64().unwrap();
    assert!(peak >= summary["throughput"]["output_tokens_per_s"].as_f64().unwrap());
}

/// Two slots of some 5 ms serve four hundred a second at most; a thousand are asked for.
#[test]
fn an_open_loop_that_sends_more_than_is_served_is_suspect() {
    let rest = ["--num-prompts", "300", "--request-rate", "1000", "--max-concurrency", "2"];
    let (said, summary, _) = bench("saturated", &rest);
    assert_eq!(summary["saturation"]["verdict"], "saturated", "{}", summary["saturation"]);
    let reasons = summary["validity"]["reasons"].as_array().unwrap();
    let text = |reason: &Value| reason["text"].as_str().unwrap().to_owned();
    let saturated = reasons.iter().find(|reason| text(reason).starts_with("saturated: "));
    assert_eq!(saturated.unwrap()["verdict"], "suspect");
    assert!(said.contains("Saturated:                               yes"), "{said}");
}

#[test]
fn a_window_that_cannot_be_read_is_refused() {
    for flag in ["--warmup", "--cooldown"] {
        let ended = run(&["bench", "--model", "m", "--base-url", "http://127.0.0.1:9", flag, "5d"]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(flag) && ended.err.contains("30s"), "{}", ended.err);
    }
    let help = run(&["bench", "--help"]).out;
    assert!(help.contains("--warmup <auto|N|Ns>") && help.contains("--num-warmups"), "{help}");
}
