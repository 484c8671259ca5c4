//! The checklist at the end of a command, and what `--require` makes of it.

use serde_json::Value;

use crate::stand::{Ended, Scratch, json, run, simulated};

/// Runs `fizeau` with the words of `line`, into the folder `out`.
fn fizeau(line: &str, out: &str) -> Ended {
    let words: Vec<&str> = line.split_whitespace().chain(["--out", out]).collect();
    run(&words)
}

/// Short levels on the embedded engine.
const SWEEP: &str = "sweep --levels 1,2,4 --isl uniform:20-60 --osl uniform:4-12 --num-prompts 100 --level-seconds 60 \
                     --threshold lateness-suspect=600s lateness-invalid=600s run-delay-suspect=1 steal-suspect=1 merged-suspect=1 cpu-suspect=1 cpu-invalid=1";

/// How a row came out in a file's list.
fn outcome<'a>(document: &'a Value, row: &str) -> &'a str {
    let rows = document["checklist"].as_array().unwrap();
    assert_eq!(rows.len(), 14);
    let row = rows.iter().find(|entry| entry["row"] == row).unwrap();
    assert!(!row["evidence"].as_str().unwrap().is_empty(), "{row}");
    row["outcome"].as_str().unwrap()
}

#[test]
fn a_sweep_that_lacks_what_is_required_ends_with_1_and_says_which() {
    let scratch = Scratch::new("require-sweep");
    let out = scratch.path("run");
    let ended = fizeau(&format!("{SWEEP} -v --require rates,duration"), &out);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("--require: fail duration: shortest level "), "{}", ended.err);
    assert!(!ended.err.contains("rates"), "{}", ended.err);
    assert!(
        ended.out.contains(" publish? Checklist: ") && ended.out.contains("\n  fail open_loop: ")
    );
    assert!(!ended.out.contains("pass rates"), "{}", ended.out);
    let sweep = json(format!("{out}/sweep.json"));
    for (row, expected) in [
        ("warm_up", "pass"),
        ("open_loop", "fail"),
        ("tail", "pass"),
        ("lengths", "pass"),
        ("rates", "pass"),
        ("duration", "fail"),
        ("hardware", "simulated"),
        ("precision", "pass"),
        ("phases", "pass"),
        ("speed_of_light", "pass"),
    ] {
        assert_eq!(outcome(&sweep, row), expected, "{row}: {}", sweep["checklist"]);
    }
    assert!(std::fs::read_to_string(format!("{out}/report.html")).unwrap().contains("Checklist: "));

    // The folder gives the same list again, and what is required of it may be another.
    let report = |rest: &[&str]| run(&[&["report", &out], rest].concat());
    let again = report(&["--json", "--require", "tail,lengths,hardware"]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["checklist"], sweep["checklist"]);
    let table = report(&["--csv", "--require", "open-loop"]);
    assert_eq!(table.code, Some(1), "{}", table.err);
    assert!(table.out.starts_with("run,") && table.err.contains("--require: fail open_loop"));
    let all = report(&["--checklist", "--require", "open-loop"]);
    assert_eq!(all.code, Some(1));
    assert!(
        all.out.contains("\n  pass rates: 3 loads: concurrency 1 to concurrency 4"),
        "{}",
        all.out
    );
}

#[test]
fn a_bench_has_the_list_below_the_blocks_and_in_its_file() {
    let (server, scratch) = (simulated(), Scratch::new("require-bench"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let line = format!(
        "bench --base-url {url} --model m --random-input-len 20 --random-output-len 4 --num-prompts 20 --num-warmups 0 \
         --max-concurrency 4 --engine simulated_here --precision fp8_all -v --require hardware,precision"
    );
    let ended = fizeau(&line, &out);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let (_, list) = ended.out.split_once(" publish? Checklist: ").unwrap();
    assert!(
        list.contains("\n  fail warm_up: no warm-up request was sent") && list.contains("Report: "),
        "{list}"
    );
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(outcome(&summary, "hardware"), "pass");
    assert_eq!(outcome(&summary, "precision"), "pass");
    assert_eq!(outcome(&summary, "tail"), "fail");
    assert_eq!(outcome(&summary, "speed_of_light"), "unknown");
    assert_eq!(summary["warm_up"]["sent"], 0);
    // A row of which nothing can be told was not shown.
    let again = run(&["report", &out, "--require", "speed-of-light"]);
    assert_eq!(again.code, Some(1));
    assert!(again.err.starts_with("--require: unknown speed_of_light: "), "{}", again.err);
    let again = run(&["report", &out, "--json"]);
    assert_eq!(again.out, std::fs::read_to_string(format!("{out}/summary.json")).unwrap());
}

#[test]
fn what_does_not_apply_in_virtual_time_is_neither_for_nor_against() {
    let scratch = Scratch::new("require-simulate");
    let line =
        "simulate --random-input-len 32 --random-output-len 8 --num-prompts 120 --request-rate 20";
    let good =
        fizeau(&format!("{line} --require client,hardware,tail,open_loop"), &scratch.path("a"));
    assert_eq!(good.code, Some(0), "{}", good.err);
    assert_eq!(outcome(&json(scratch.path("a/summary.json")), "client"), "simulated");
    let bad = fizeau(&format!("{line} --require all"), &scratch.path("b"));
    assert_eq!(bad.code, Some(1));
    let missed: Vec<&str> = bad.err.lines().collect();
    assert!(missed.iter().any(|line| line.starts_with("--require: fail lengths: ")), "{missed:?}");
    assert!(!bad.err.contains("client") && !bad.err.contains("hardware"), "{missed:?}");
    // Of several configurations each has a list of its own.
    let several = fizeau(&format!("{line} --tp 1,2 --require duration"), &scratch.path("c"));
    assert_eq!(several.code, Some(1));
    assert_eq!(several.err.matches("fail duration").count(), 2, "{}", several.err);
}

#[test]
fn a_name_that_is_no_row_is_refused_before_anything_is_sent() {
    let scratch = Scratch::new("require-unknown");
    let commands = ["bench --model m --base-url http://127.0.0.1:9", "sweep", "simulate"];
    for command in commands {
        let ended = fizeau(&format!("{command} --require client,cleint"), &scratch.path("run"));
        assert_eq!(ended.code, Some(2), "{command}: {ended:?}");
        let list = "`cleint` is no row of the checklist; these are: all, warm_up, open_loop, tail";
        assert!(ended.err.contains(list), "{}", ended.err);
    }
    assert!(scratch.files().is_empty());
}
