//! `fizeau sweep`, over HTTP against the embedded engine.

use fizeau::core::Nanos;

use crate::stand::{HOWEVER_BUSY, Scratch, fixed, json, run};

#[test]
fn the_embedded_engine_is_swept_over_http() {
    let scratch = Scratch::new("sweep");
    let out = scratch.path("run");
    let ended = run(&[
        "sweep",
        "--levels",
        "4,1,16",
        "--isl",
        "32",
        "--osl",
        "12",
        "--num-prompts",
        "100",
        "--level-seconds",
        "60",
        "--slo",
        "p99 e2el<60s",
        "--out",
        &out,
        HOWEVER_BUSY[0],
        HOWEVER_BUSY[1],
    ]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sweep = json(format!("{out}/sweep.json"));
    assert_eq!(sweep["schema"], "fizeau.sweep/2");
    assert_eq!(sweep["setup"]["engine"]["kind"], "simulated");
    let levels = sweep["levels"].as_array().unwrap();
    let loads: Vec<u64> =
        levels.iter().map(|level| level["load"]["concurrency"].as_u64().unwrap()).collect();
    assert_eq!(loads, [1, 4, 16], "rising, whatever the order given");
    for (level, name) in
        levels.iter().zip(["concurrency-0001", "concurrency-0004", "concurrency-0016"])
    {
        assert_eq!(level["requests"]["completed"], 100);
        assert_eq!(level["tokens"]["output"], 1_200);
        let share = level["speed_of_light"]["share"]["output_tokens_per_s"].as_f64().unwrap();
        assert!(share > 0.0 && share < 1.0, "{share}");
        let summary = json(format!("{out}/{name}/summary.json"));
        assert_eq!(summary["metrics"], level["metrics"]);
        let tapes = std::fs::read_to_string(format!("{out}/{name}/tapes.jsonl")).unwrap();
        assert_eq!(tapes.lines().count(), 100);
    }
    assert!(sweep["operating_point"]["level"].is_number());
    assert!(!sweep["frontier"].as_array().unwrap().is_empty());
    let page = std::fs::read_to_string(format!("{out}/report.html")).unwrap();
    assert!(page.contains("data-chart=\"frontier\"") && page.contains("simulated"));
    assert!(
        !page.contains("src=\"http") && !page.contains("href=\"http"),
        "the page is whole in itself"
    );
    for words in [
        "The engine was simulated",
        "Requests/s against p99 E2EL",
        "Operating point",
        "report.html",
    ] {
        assert!(ended.out.contains(words), "{}", ended.out);
    }
    // A pipe gets text alone, and a line a level.
    assert!(!format!("{ended:?}").contains("\\u{1b}"), "{ended:?}");
    assert_eq!(ended.err.lines().filter(|line| line.contains("/3] concurrency")).count(), 3);
    // Its model is kept by name alone.
    let again = run(&["report", &out, "--json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&again.out).unwrap(), sweep);
}

#[test]
fn a_goal_that_was_asked_for_and_missed_is_exit_code_1() {
    let (server, scratch) = (fixed(Nanos::from_millis(2), Nanos::ZERO), Scratch::new("missed"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let line = "sweep --model m --levels 1 --isl 8 --osl 4 --num-prompts 5";
    let mut words: Vec<&str> = line.split_whitespace().chain(HOWEVER_BUSY).collect();
    words.extend(["--slo", "max ttft<1ns", "--base-url", &url, "--out", &out]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.contains("no level meets"), "{}", ended.out);
}
