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
    assert!(page.contains("\"quantiles\":{\"") && !page.contains(": no tapes were read."));
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

/// Of few requests of a Poisson process the gaps come out short or long: the line of a level says at which rate they left.
#[test]
fn a_level_whose_requests_left_at_another_rate_says_both() {
    let scratch = Scratch::new("sweep-sent");
    let server = fixed(Nanos::from_millis(2), Nanos::from_millis(1));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let line = format!(
        "sweep --model m --base-url {url} --out {out} --rates 30 --num-prompts 6 --num-warmups 0 --isl 8 --osl 2"
    );
    let ended = run(&line.split_whitespace().chain(HOWEVER_BUSY).collect::<Vec<_>>());
    let told = ended.err.lines().find_map(|line| line.split_once("asked 30 requests/s, sent "));
    let sent = told.and_then(|(_, rest)| rest.split_once(": completed ")).map(|(sent, _)| sent);
    let sent: f64 = sent.unwrap_or_default().parse().unwrap_or_else(|_| panic!("{ended:?}"));
    assert!((sent / 30.0 - 1.0).abs() > 0.1, "{ended:?}");
}

#[test]
fn a_cap_that_no_rate_of_a_sweep_can_have_is_refused() {
    let ended = run(&["sweep", "--max-concurrency", "8", "--rates", "1,2"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.starts_with("error: --max-concurrency: a sweep caps no rate; "), "{ended:?}");
    let both = run(&["sweep", "--max-concurrency", "8", "--levels", "4"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}
