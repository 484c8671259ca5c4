//! Records of an engine's steps, against the engine's own truth.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::stand::{Ended, HOWEVER_BUSY, Scratch, fizeau, json, run};

/// `fizeau serve` with its steps published, as a process of its own.
struct Serving {
    child: Child,
    url: String,
    passes: String,
}

impl Serving {
    /// With these words besides.
    fn new(more: &[&str]) -> Self {
        let mut words =
            vec!["serve", "--port", "0", "--forward-pass-metrics-port", "0", "--until-stdin-ends"];
        words.extend(more);
        let mut command = fizeau(&words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut after = |words: &str| {
            let line = lines.find(|line| line.contains(words)).unwrap();
            line.split_once(words).unwrap().1.to_owned()
        };
        let url = after("serving model (any name) on ");
        let passes = after("forward passes at ");
        Self { child, url, passes }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}

fn lines(path: String) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const MODEL: [&str; 4] = ["--model-config", "llama-3.1-8b", "--hardware", "h100-sxm"];

/// Every record of a level comes, at some thousand steps a second, and together they are just what was asked.
#[test]
fn records_are_all_there_and_count_what_was_asked() {
    let server = Serving::new(&[&MODEL[..], &["--time-scale", "8"]].concat());
    let scratch = Scratch::new("passes");
    let out = scratch.path("run");
    let line =
        "bench --model m --isl 100 --osl 60 --num-prompts 40 --max-concurrency 4 --num-warmups 2";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &server.url, "--out", &out, "--forward-pass", &server.passes]);
    words.extend(HOWEVER_BUSY);
    words.extend(MODEL);
    words.push("-v");
    let ended = run(&words);
    assert!(ended.out.contains("steps: "), "{ended:?}");
    let passes = lines(format!("{out}/forward-pass.jsonl"));
    let sum = |part: &str, field: &str| {
        passes.iter().map(|line| line[part][field].as_u64().unwrap()).sum::<u64>()
    };
    let telemetry = &json(format!("{out}/summary.json"))["telemetry"];
    let source = &telemetry["pass_sources"][0];
    assert_eq!(source["lost"], 0, "{source}");
    assert_eq!(source["passes"], passes.len());
    assert_eq!(telemetry["steps"]["steps"], passes.len());
    // Forty prompts of a hundred tokens, of which no beginning is shared; the first token comes with the prompt.
    assert_eq!(sum("scheduled_requests", "sum_prefill_tokens"), 40 * 100);
    assert_eq!(sum("scheduled_requests", "num_decode_requests"), 40 * 59);
    let contexts: u64 = 40 * (101..160).sum::<u64>();
    assert_eq!(sum("scheduled_requests", "sum_decode_kv_tokens"), contexts);
    // No number is left out, and none is there twice.
    let counted: Vec<u64> =
        passes.iter().map(|line| line["counter_id"].as_u64().unwrap()).collect();
    assert!(counted.windows(2).all(|two| two[0] + 1 == two[1]), "{counted:?}");
    let again = run(&["report", &out, "--json"]);
    assert_eq!(again.out, std::fs::read_to_string(format!("{out}/summary.json")).unwrap());
}

/// The records in the folder of a level of `requests`, each of so many prompt and output tokens, are those of its own requests, all of
/// them: neither of its warm-up nor of the level before. Gives how many there are.
fn holds_its_own_steps(folder: &str, requests: u64, [prompt, output]: [u64; 2]) -> usize {
    let passes = lines(format!("{folder}/forward-pass.jsonl"));
    let sum = |field: &str| {
        passes.iter().map(|line| line["scheduled_requests"][field].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(sum("sum_prefill_tokens"), requests * prompt, "{folder}");
    assert_eq!(sum("num_decode_requests"), requests * (output - 1), "{folder}");
    let telemetry = &json(format!("{folder}/summary.json"))["telemetry"];
    assert_eq!(telemetry["pass_sources"][0]["lost"], 0, "{folder}");
    assert_eq!(telemetry["steps"]["steps"], passes.len(), "{folder}");
    let shares = telemetry["witnesses"]["shares"].as_array().unwrap();
    assert!(shares.iter().any(|told| told["witness"] == "forward_passes"), "{folder}: {shares:?}");
    passes.len()
}

/// What `line` comes to at a server whose steps are published, with a folder.
fn measured(scratch: &Scratch, line: &str) -> (Ended, String) {
    let server = Serving::new(&[&MODEL[..], &["--time-scale", "4"]].concat());
    let out = scratch.path("run");
    let sizes = "--model m --isl 50 --osl 20 --num-prompts 12 --num-warmups 2";
    let mut words: Vec<&str> = line.split_whitespace().chain(sizes.split_whitespace()).collect();
    words.extend(["--base-url", &server.url, "--out", &out, "--forward-pass", &server.passes]);
    words.extend(HOWEVER_BUSY);
    words.extend(MODEL);
    (run(&words), out)
}

#[test]
fn each_level_of_a_sweep_has_its_own_steps() {
    let scratch = Scratch::new("passes-sweep");
    let (ended, out) = measured(&scratch, "sweep --levels 1,4 --slo e2el<60s");
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    let [alone, four] = ["0001", "0004"]
        .map(|slots| holds_its_own_steps(&format!("{out}/concurrency-{slots}"), 12, [50, 20]));
    // Four at once share their steps.
    assert!(alone >= 12 * 20 && four < alone, "{alone} and {four} steps");
    let sweep = json(format!("{out}/sweep.json"));
    let steps = sweep["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| &level["telemetry"]["steps"]["steps"]);
    assert_eq!(steps.collect::<Vec<_>>(), [alone, four]);
    let again = run(&["report", &out, "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&again.out).unwrap(), sweep);
}

#[test]
fn each_level_of_a_search_has_its_own_steps() {
    let scratch = Scratch::new("passes-search");
    let line = "search --over concurrency --from 1 --to 4 --max-runs 3 --confirm 0 --slo e2el<60s";
    let (ended, out) = measured(&scratch, line);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    let run = fizeau::record::StoredRun::open(&out).unwrap();
    let levels: Vec<String> =
        run.levels().iter().map(|level| format!("{out}/{}", level.name())).collect();
    assert!(!levels.is_empty(), "{ended:?}");
    for level in levels {
        holds_its_own_steps(&level, 12, [50, 20]);
    }
}

/// What a level is told of at a server of `layout`, with the verdict's notes.
fn told(name: &str, layout: &[&str]) -> (Value, Value) {
    let server = Serving::new(&[&MODEL[..], layout].concat());
    let scratch = Scratch::new(name);
    let out = scratch.path("run");
    let line =
        "bench --model m --isl 100 --osl 40 --num-prompts 24 --max-concurrency 8 --num-warmups 0";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &server.url, "--out", &out, "--forward-pass", &server.passes]);
    words.extend(HOWEVER_BUSY);
    words.extend(MODEL);
    words.extend(layout);
    let ended = run(&words);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    let again = run(&["report", &out, "--json"]);
    assert_eq!(again.out, std::fs::read_to_string(format!("{out}/summary.json")).unwrap());
    let mut summary = json(format!("{out}/summary.json"));
    (summary["telemetry"].take(), summary["validity"]["notes"].take())
}

/// Each group of attention tells of its own batch, and is held against its own share of the devices.
#[test]
fn ranks_are_held_against_their_own_share() {
    let (telemetry, notes) = told("passes-ranks", &["--dp", "2"]);
    let steps = &telemetry["steps"];
    assert_eq!(steps["ranks"], 2, "{telemetry}");
    assert_eq!(steps["steps"], telemetry["pass_sources"][0]["passes"]);
    let share = steps["share"].as_f64().unwrap();
    assert!(share > 0.2 && share <= 1.0, "{steps}");
    assert_eq!(telemetry["server"]["engines"], 2);
    let shares = telemetry["witnesses"]["shares"].as_array().unwrap();
    assert!(shares.iter().all(|told| told["witness"] != "forward_passes"), "{shares:?}");
    assert!(!notes.to_string().contains("forward-pass"), "{notes}");
}

#[test]
fn of_a_pipeline_it_is_said_that_nobody_knows_the_bound_of_a_stage() {
    let (telemetry, notes) = told("passes-stages", &["--pp", "2"]);
    assert_eq!(telemetry["steps"], Value::Null);
    let passes = &telemetry["pass_sources"][0]["passes"];
    let note = format!(
        "{passes} forward-pass records are not compared with a bound: of 2 pipeline stages an engine times one, and does not say which \
         layers it has"
    );
    assert!(notes.as_array().unwrap().iter().any(|told| told == &note), "{notes}");
    // A device has the work of one stage.
    let shares = telemetry["witnesses"]["shares"].as_array().unwrap();
    let counters = shares.iter().find(|told| told["witness"] == "engine_counters").unwrap();
    assert!(counters["share"].as_f64().unwrap() <= 1.0, "{shares:?}");
}

#[test]
fn where_nobody_publishes_nothing_is_sent() {
    let server = Serving::new(&MODEL);
    let wrong = server.url.strip_prefix("http://").unwrap();
    let words = ["bench", "--base-url", &server.url, "--model", "m", "--num-prompts", "1"];
    let ended = run(&[&words[..], &["--forward-pass", wrong]].concat());
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("--forward-pass"), "{ended:?}");
}
