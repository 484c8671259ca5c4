//! `run.json` and vLLM's file say what was asked, not less.

use serde_json::{Value, json};

use crate::stand::{Scratch, json as read, run};
use crate::workload::{FIXTURES, bench, quick};

const SHORT: &str = "--num-prompts 6 --random-output-len 4";

#[test]
fn a_shared_prefix_is_part_of_the_length_that_was_asked() {
    let (server, scratch) = (quick(), Scratch::new("asked-prefix"));
    for (number, name) in ["random", "vllm-random"].into_iter().enumerate() {
        let line = format!(
            "{SHORT} --max-concurrency 1 --dataset-name {name} --random-prefix-len 640 --random-input-len 64"
        );
        let ran = bench(&server, &scratch, &format!("{number}"), &line);
        let input = &ran.run["lengths"]["input"];
        let asked = json!({"law": "64 behind a prefix of 640", "p50": 704, "p90": 704});
        assert_eq!(*input, asked, "{line}");
        assert_eq!(ran.summary["lengths"]["prompt"]["requested"]["p50"], 704.0, "{line}");
    }
}

#[test]
fn a_data_set_is_recorded_with_its_file_and_what_flags_changed() {
    let (server, scratch) = (quick(), Scratch::new("asked-data"));
    let path = format!("{FIXTURES}/datasets/prompts.jsonl");
    let line = format!(
        "--num-prompts 4 --max-concurrency 2 --dataset-name custom --dataset-path {path} --custom-output-len 9"
    );
    let ran = bench(&server, &scratch, "custom", &line);
    let dataset = &ran.run["plan"]["dataset"];
    assert_eq!((&dataset["name"], &dataset["path"]), (&json!("custom"), &json!(path)));
    assert_eq!(dataset["multi_turn"], false);
    assert_eq!(dataset["output_tokens"], 9);
    assert_eq!(ran.run["lengths"]["output"], json!({"law": "9", "p50": 9, "p90": 9}));
    let bytes = std::fs::read(&path).unwrap();
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!(dataset["checksum"], format!("{sum:016x}"));
}

#[test]
fn conversations_are_recorded_as_sessions_with_turns_and_think_time() {
    let (server, scratch) = (quick(), Scratch::new("asked-turns"));
    let line = "--num-prompts 12 --random-input-len 20 --random-output-len 4 --request-rate 100 --turns 3 \
                --think-time exp:0.001 --endpoint /v1/chat/completions";
    let ran = bench(&server, &scratch, "turns", line);
    assert_eq!(
        ran.run["setup"]["workload"]["arrivals"],
        "Poisson, 100 sessions a second; turns: 3, think time exponential, mean 0.001 s"
    );
    // Four sessions of three turns: three requests for each arrival.
    assert_eq!(ran.summary["load"], json!({"requests_per_s": 300.0}));
    let input = json!({"law": "each turn 20"});
    assert_eq!(ran.run["lengths"]["input"], input);
}

#[test]
fn the_levels_of_a_sweep_say_their_seeds() {
    let (server, scratch) = (quick(), Scratch::new("asked-levels"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let line = format!(
        "sweep --model m --base-url {url} --out {out} --levels 1,2 --num-prompts 4 --isl 20 --osl 4"
    );
    let ended = run(&line.split_whitespace().collect::<Vec<_>>());
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    let levels = read(format!("{out}/run.json"))["levels"].clone();
    let seeds: Vec<u64> = (0..2).map(|level| levels[level]["seed"].as_u64().unwrap()).collect();
    assert_ne!(seeds[0], seeds[1], "{levels}");
}

#[test]
fn vllms_file_has_a_mean_rate_for_laws_of_ours_and_figures_for_probes() {
    let (server, scratch) = (quick(), Scratch::new("asked-vllm"));
    let cases = [
        ("--burst on=400,off=0,on-s=0.1,off-s=0.1", 200.0),
        ("--diurnal mean=300,swing=0.5,period-s=0.2 --probe-request-rate 200", 300.0),
        // Five gaps, from 0.01 s to 0.06 s.
        ("--request-rate-series 100:1,200:1", 100.0),
    ];
    for (number, (line, rate)) in cases.into_iter().enumerate() {
        let file = scratch.path(&format!("{number}.json"));
        let line = format!("{SHORT} {line} --save-result --result-filename {file}");
        bench(&server, &scratch, &format!("{number}"), &line);
        let result = read(&file);
        assert_eq!(result["request_rate"], rate, "{line}");
        let has_probe = line.contains("--probe-request-rate");
        assert_eq!(result.get("probe_completed").is_some(), has_probe, "{line}");
        assert!(!has_probe || result["probe_max_e2el_ms"].as_f64() > Some(0.0), "{result}");
        assert_eq!(result["completed"], Value::from(6));
    }
}
