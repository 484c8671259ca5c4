//! What the program writes and prints keeps to the JSON Schemas in docs/schema.

#[path = "../../../report/tests/it/schema/validator.rs"]
mod validator;

use std::fs::{read_dir, read_to_string};

use fizeau::core::Nanos;
use serde_json::Value;

use crate::stand::{Ended, Scratch, fixed, json, run};

/// The schema of that name.
fn schema(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema");
    json(format!("{folder}/{name}.schema.json"))
}

/// Holds a document against the schema of that name.
pub(crate) fn keeps_to(name: &str, document: &Value, whose: &str) {
    holds(&schema(name), document, whose, name);
}

fn holds(schema: &Value, document: &Value, whose: &str, name: &str) {
    let errors = validator::errors(schema, document);
    assert!(errors.is_empty(), "{whose} against {name}.schema.json: {errors:#?}");
}

/// Every document in a run's folder, and every tape; how many there were.
fn all_keep_to(folder: &str) -> usize {
    let mut checked = 0;
    for entry in read_dir(folder).unwrap() {
        let path = entry.unwrap().path().to_str().unwrap().to_owned();
        let file = path.rsplit('/').next().unwrap();
        match file {
            "run.json" | "level.json" | "summary.json" | "sweep.json" | "ab.json"
            | "search.json" | "whatif.json" | "imported.json" => {
                keeps_to(file.trim_end_matches(".json"), &json(&path), &path);
                checked += 1;
            }
            "tapes.jsonl" => {
                let tape = schema("tape");
                for line in read_to_string(&path).unwrap().lines() {
                    holds(&tape, &serde_json::from_str(line).unwrap(), &path, "tape");
                }
                checked += 1;
            }
            _ if std::path::Path::new(&path).is_dir() => checked += all_keep_to(&path),
            _ => {}
        }
    }
    checked
}

fn simulate(scratch: &Scratch, line: &str, slo: &str) -> String {
    let out = scratch.path("run");
    let mut words = vec!["simulate", "--out", &out];
    words.extend(line.split_whitespace());
    if !slo.is_empty() {
        words.extend(["--slo", slo]);
    }
    let ended = run(&words);
    assert!(matches!(ended.code, Some(0 | 1)), "{line}: {ended:?}");
    out
}

fn printed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Command lines of `fizeau simulate`, with what stands in quotes after `--slo`, and how many documents each leaves.
const SIMULATED: [(&str, &str, &str, usize); 8] = [
    ("closed", "--max-concurrency 4 --num-prompts 60", "", 2),
    ("open", "--request-rate 20 --num-prompts 300 --goodput ttft:500 or e2el:9000", "", 2),
    ("sessions", "--turns 3 --max-concurrency 4 --num-prompts 40", "", 2),
    ("light", "--model-config llama-3.1-8b --hardware h100-sxm --num-prompts 120", "", 2),
    ("sweep", "--levels 1,8 --num-prompts 120", "p99 ttft<1s..2s, mean tpot<20ms", 5),
    ("rates", "--rates 4,40 --num-prompts 300 --repeats 2", "", 9),
    ("search", "--search rate --num-prompts 200 --confirm 20", "mean tpot<10ms", 4),
    ("whatif", "--tp 1,2 --levels 1,4 --num-prompts 60", "", 11),
];

#[test]
fn of_simulated_levels_and_sweeps() {
    for (name, line, slo, least) in SIMULATED {
        let scratch = Scratch::new(&format!("schemas-{name}"));
        let checked = all_keep_to(&simulate(&scratch, line, slo));
        assert!(checked >= least, "{name}: {checked} documents");
    }
}

#[test]
fn of_what_is_printed() {
    let scratch = Scratch::new("schemas-printed");
    let out = simulate(&scratch, "--levels 1,8 --num-prompts 120", "");
    keeps_to("sweep", &printed(&run(&["report", &out, "--json"])), "report --json");
    let one = format!("{out}/concurrency-0008");
    keeps_to("summary", &printed(&run(&["report", &one, "--json"])), "report --json");
    let line = ["compare", &format!("{out}/concurrency-0001"), &one, "--force", "--json"];
    keeps_to("compare", &printed(&run(&line)), "compare --json");
    let slo = ["--rate", "20", "--slo", "mean ttft<60s", "--gpu-hour", "2", "--json"];
    let plan = run(&[&["plan", "--from", &out], &slo[..]].concat());
    keeps_to("plan", &printed(&plan), "plan --json");
}

#[test]
fn of_measured_runs() {
    let scratch = Scratch::new("schemas-measured");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out, ab) = (server.base_url(), scratch.path("bench"), scratch.path("ab"));
    let lengths = ["--random-input-len", "8", "--random-output-len", "6", "--num-prompts", "60"];
    let bench = ["bench", "--model", "m", "--base-url", &url, "--out", &out];
    assert!(matches!(run(&[&bench, &lengths[..]].concat()).code, Some(0 | 1)));
    assert!(all_keep_to(&out) >= 3, "run.json, summary.json and the tapes");
    let sides = ["ab", "--a", &url, "--b", &url, "--model", "m", "--out", &ab, "--rounds", "5"];
    let ended = run(&[&sides, &lengths[..]].concat());
    assert!(all_keep_to(&ab) >= 5, "{ended:?}");
}
