//! `fizeau bench --calibrate`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use fizeau::core::Nanos;

use crate::stand::{Scratch, fixed, fizeau, json, run};

/// No lateness is allowed and one stream is the least, so that the search for more is over at its first step.
const SHORT: [&str; 12] = [
    "bench",
    "--calibrate",
    "--random-input-len",
    "25",
    "--random-output-len",
    "20",
    "--max-concurrency",
    "1",
    "--threads",
    "1",
    "--threshold",
    "lateness-suspect=0ms",
];

#[test]
fn a_run_is_held_against_the_ceiling() {
    let (server, scratch) = (fixed(Nanos::ZERO, Nanos::ZERO), Scratch::new("calibrate"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let rest =
        ["ceiling-suspect=0.000001", "--base-url", &url, "--model", "m", "--out", &out, "-v"];
    let words: Vec<&str> = SHORT.into_iter().chain(rest).chain(["--num-prompts", "20"]).collect();
    let ended = run(&words);
    assert!(ended.out.contains("flat out, 1 streams"), "{ended:?}");
    assert!(ended.out.contains("the client ran near its own ceiling"), "{ended:?}");
    let ceiling = &json(format!("{out}/summary.json"))["client"]["ceiling"];
    assert_eq!(ceiling["streams"], 1);
    assert!(ceiling["tokens_per_s"].as_f64().unwrap() > 0.0, "{ceiling}");
    let calibration = &json(format!("{out}/run.json"))["client"]["calibration"];
    assert_eq!(calibration["on_time"]["streams"], 0);
    assert_eq!(calibration["on_time"]["reached"], "limit");
    assert_eq!(calibration["tokens_per_s"], ceiling["tokens_per_s"]);
}

#[test]
fn without_an_endpoint_the_ceiling_is_all() {
    let ended = run(&SHORT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80), "{}", ended.out);
    assert!(ended.out.ends_with("shares the machine with the client\n"), "{}", ended.out);
}

#[test]
fn the_embedded_server_ends_with_whoever_holds_its_input() {
    let arguments = ["serve", "--port", "0", "--ttft-ms", "0", "--itl-ms", "0"];
    let mut server = fizeau(&arguments)
        .arg("--until-stdin-ends")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    assert!(server.try_wait().unwrap().is_none());
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
}
