//! `fizeau ab`: two servers in turns.

use std::process::Stdio;
use std::sync::Mutex;
use std::sync::mpsc;

use fizeau::core::Nanos;
use fizeau::record::StoredRun;

use crate::interrupt::interrupt;
use crate::stand::{
    Ended, HOWEVER_BUSY, Scratch, fixed, fizeau, json, reply, run, scripted, stream_of,
};

const SMALL: &str = "--model m --random-input-len 4 --random-output-len 4 --num-prompts 3 --num-warmups 1 \
                     --max-concurrency 1 --settle 0s";

/// The program between `a` and `b`, with more flags.
fn words<'a>(a: &'a str, b: &'a str, more: &'a str) -> Vec<&'a str> {
    let mut words = vec!["ab", "--a", a, "--b", b];
    words.extend(SMALL.split_whitespace().chain(HOWEVER_BUSY).chain(more.split_whitespace()));
    words
}

#[test]
fn a_toggle_reads_the_page_of_one_server_in_the_turns_of_b_alone() {
    let server = fixed(Nanos::from_millis(2), Nanos::from_millis(1));
    let (url, scratch) = (server.base_url(), Scratch::new("ab-toggle"));
    let out = scratch.path("run");
    let mut words = vec!["ab", "--a", &url, "--toggle", "scrape", "--rounds", "5", "--out", &out];
    words.extend(SMALL.split_whitespace().chain(HOWEVER_BUSY));
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let told =
        |turn: &str| json(format!("{out}/{turn}/summary.json"))["telemetry"]["server"].is_object();
    let run = StoredRun::open(&out).unwrap();
    let turns: Vec<String> = run.levels().iter().map(|turn| turn.name().to_owned()).collect();
    assert_eq!(turns.len(), 10);
    for turn in turns {
        assert_eq!(told(&turn), turn.starts_with('b'), "{turn}");
    }
    // Where there is no page both sides would be alike.
    let bare = scripted(|_| Some(stream_of(4)));
    let mut words = vec!["ab", "--a", &bare, "--toggle", "scrape", "--rounds", "5"];
    words.extend(SMALL.split_whitespace());
    let refused = crate::stand::run(&words);
    assert!(refused.err.contains("both sides would be alike"), "{refused:?}");
}

fn answer_of<'a>(ab: &'a serde_json::Value, figure: &str) -> &'a serde_json::Value {
    let figures = ab["comparison"]["figures"].as_array().unwrap();
    &figures.iter().find(|row| row["figure"] == figure).unwrap()["answer"]
}

#[test]
fn a_server_with_longer_gaps_is_worse_and_everything_is_kept() {
    let (a, b) = (
        fixed(Nanos::from_millis(5), Nanos::from_millis(2)),
        fixed(Nanos::from_millis(5), Nanos::from_millis(20)),
    );
    let scratch = Scratch::new("ab");
    let out = scratch.path("run");
    let (a, b) = (a.base_url(), b.base_url());
    let goals = ["--slo", "p50 tpot<1s"];
    let more = format!("--rounds 5 --a-name old --b-name new --fail-on-worse --out {out}");
    let ended = run(&[&words(&a, &b, &more)[..], &goals].concat());
    assert_eq!(ended.code, Some(1), "worse, and that was to fail: {ended:?}");
    let kept = "keeps the goals: p50 TPOT < 1000 ms: met";
    for words in ["A  old: http://", "B  new: http://", &format!("A {kept}"), &format!("B {kept}")]
    {
        assert!(ended.out.contains(words), "{}", ended.out);
    }
    let place = |words| ended.out.find(words).unwrap_or_else(|| panic!("{words}: {}", ended.out));
    let order = ["Answer: ", "Are these figures right? Verdict: ", "Are they enough to publish? "];
    assert!(order.map(place).is_sorted(), "{}", ended.out);
    // A busy machine can make the first token later too, so that it is named before the gaps.
    let (_, answer) = ended.out.split_once("B is worse in").expect("an answer");
    assert!(
        answer.split(';').next().is_some_and(|worse| worse.contains("p50 TPOT")),
        "{}",
        ended.out
    );
    let table = ended.out.lines().filter(|line| !line.contains("http") && !line.contains("folder"));
    assert!(table.clone().all(|line| line.chars().count() <= 80), "{}", ended.out);
    let ab = json(format!("{out}/ab.json"));
    assert_eq!(ab["schema"], "fizeau.ab/2");
    assert_eq!(answer_of(&ab, "p50 tpot"), "worse");
    assert_eq!(ab["requests"]["paired_requests"], 15);
    let firsts: Vec<&str> =
        ab["rounds"].as_array().unwrap().iter().map(|r| r["first"].as_str().unwrap()).collect();
    assert_eq!(firsts, ["a", "b", "a", "b", "a"]);
    let run = json(format!("{out}/run.json"));
    assert_eq!(run["ab"]["rounds"], 5);
    assert_eq!(run["ab"]["prompts"], "same");
    assert_eq!(run["levels"].as_array().unwrap().len(), 10);
    // Read back, it shows what it came to, and the turns of B are those of B's endpoint.
    let brief = crate::stand::run(&["report", &out]).out;
    assert!(!brief.contains("b-01: m at ") && brief.contains(order[1]), "{brief}");
    let judged = crate::stand::run(&["report", &out, "--slo", "ttft<1s"]);
    assert!(judged.code == Some(2) && judged.err.contains("--slo: ab.json"), "{judged:?}");
    let shown = crate::stand::run(&["report", &out, "-v"]).out;
    let row = shown.lines().find(|line| line.starts_with("  p50 tpot ms ")).unwrap();
    assert!(row.ends_with("  worse"), "{shown}");
    assert!(shown.contains(&format!("b-01: m at {b}/")), "{shown}");
    // Each turn is a level as any other, and both sides of a round were asked the same.
    let stored = StoredRun::open(&out).unwrap();
    let names: Vec<&str> = stored.levels().iter().map(fizeau::record::StoredLevel::name).collect();
    assert_eq!(names.join(" "), "a-01 a-02 a-03 a-04 a-05 b-01 b-02 b-03 b-04 b-05");
    for level in stored.levels() {
        assert_eq!(level.tapes().unwrap().map(Result::unwrap).count(), 3, "{}", level.name());
        assert_eq!(json(level.path().join("summary.json"))["requests"]["completed"], 3);
    }
}

#[test]
fn a_server_against_itself_gets_prompts_of_its_own_for_each_side_and_no_answer() {
    let server = fixed(Nanos::from_millis(5), Nanos::from_millis(1));
    let scratch = Scratch::new("aa");
    let out = scratch.path("run");
    let url = server.base_url();
    // With such an alpha nothing but a real difference is found.
    let more = format!("--rounds 5 --alpha 1e-9 --fail-on-worse --json --out {out}");
    let ended = run(&words(&url, &url, &more));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("A and B have the same address"), "{}", ended.err);
    let ab: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(ab, json(format!("{out}/ab.json")));
    assert_eq!(answer_of(&ab, "p50 ttft"), "no detectable difference");
    assert_eq!(json(format!("{out}/run.json"))["ab"]["prompts"], "own_by_side");
}

#[test]
fn an_invalid_round_is_said_and_left_out() {
    // One request to check; then four a turn, of which those of the second round fail.
    let a = fixed(Nanos::from_millis(1), Nanos::from_millis(1));
    let b = scripted(|n| {
        let is_second = (5..9).contains(&n);
        Some(match is_second {
            true => reply("500 Internal Server Error", "text/plain", "no"),
            false => stream_of(4),
        })
    });
    let scratch = Scratch::new("ab-invalid");
    let out = scratch.path("run");
    let a = a.base_url();
    let ended = run(&words(&a, &b, &format!("--rounds 6 --out {out}")));
    assert_eq!(ended.code, Some(1), "a round is invalid: {ended:?}");
    assert!(ended.out.contains("Left out: round 2: B is invalid: "), "{}", ended.out);
    let ab = json(format!("{out}/ab.json"));
    assert_eq!(ab["comparison"]["rounds"], 5);
    let counts: Vec<bool> =
        ab["rounds"].as_array().unwrap().iter().map(|r| r["counts"].as_bool().unwrap()).collect();
    assert_eq!(counts, [true, false, true, true, true, true]);
}

#[test]
fn an_interrupted_run_keeps_its_rounds_and_gives_no_answer() {
    // B hangs in its second turn, which is when the interrupt comes.
    let (told, hung) = mpsc::channel();
    let told = Mutex::new(told);
    let a = fixed(Nanos::from_millis(1), Nanos::from_millis(1));
    let b = scripted(move |n| {
        if n < 7 {
            return Some(stream_of(4));
        }
        told.lock().unwrap().send(()).unwrap();
        None
    });
    let scratch = Scratch::new("ab-interrupted");
    let out = scratch.path("run");
    let (a, more) = (a.base_url(), format!("--rounds 5 --out {out}"));
    let child = fizeau(&words(&a, &b, &more))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    hung.recv().unwrap();
    interrupt(&child);
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.out.contains("No answer: 1 of 5 rounds count"), "{}", ended.out);
    let ab = json(format!("{out}/ab.json"));
    let rounds = ab["rounds"].as_array().unwrap();
    // B goes first in the second round, so that A had no turn there.
    assert_eq!(rounds.len(), 2);
    assert_eq!((&rounds[0]["counts"], &rounds[1]["counts"]), (&true.into(), &false.into()));
    assert_eq!(rounds[1]["b"]["status"], "partial");
    assert!(rounds[1]["a"].is_null() && ab["comparison"].is_null());
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_measured() {
    let server = fixed(Nanos::from_millis(1), Nanos::from_millis(1));
    let url = server.base_url();
    let scratch = Scratch::new("ab-refused");
    let out = scratch.path("run");
    let nobody = "http://127.0.0.1:1";
    let cases = [
        (&*url, "--rounds 4", 2, "--rounds: 4 are too few: give at least 5"),
        (&url, "--base-url http://x", 2, "an A/B run has two servers; use --a URL and --b URL"),
        (&url, "--settle soon", 2, "--settle soon: it must be a number with a unit (ns"),
        (&url, "--metrics ttft", 2, "--metrics: metric `ttft`: say which statistic"),
        (&url, "--alpha 2", 2, "--alpha: "),
        (&url, "--smallest 1", 2, "--smallest: "),
        (&url, "--probe-request-rate 3", 2, "have a probe stream; leave the flag out"),
        (
            &url,
            "--dataset-name vllm-random --salt-sides",
            2,
            "--salt-sides has no effect with --dataset-name vllm-random",
        ),
        (nobody, "", 3, "http://127.0.0.1:1/v1/completions: "),
    ];
    for (b, more, code, message) in cases {
        let ended = run(&words(&url, b, &format!("{more} --out {out}")));
        assert_eq!(ended.code, Some(code), "{more}: {ended:?}");
        assert!(ended.err.contains(message), "{more}: {}", ended.err);
    }
    assert!(scratch.files().is_empty());
}
