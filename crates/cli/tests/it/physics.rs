//! The speed of light of runs: which flags say what a server runs on, what is kept of them, and what cannot be.

use fizeau::core::Nanos;
use fizeau::sim::http::ServerHandle;
use serde_json::{Value, json as value};

use crate::stand::{Ended, Scratch, fixed, json, run};

fn config(name: &str) -> String {
    format!("{}/../roofline/data/models/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

/// A server that an 8B model on an H100 could be.
fn plausible() -> ServerHandle {
    fixed(Nanos::from_millis(7), Nanos::from_millis(9))
}

fn bench(server: &ServerHandle, out: &str, line: &str) -> Ended {
    let (url, config) = (server.base_url(), config("llama-3.1-8b"));
    let lengths = "--random-input-len 25 --random-output-len 8 --num-prompts 20 \
                   --threshold lateness-invalid=100s,cpu-invalid=1";
    let mut words = vec!["bench", "--model", "m", "--base-url", &url, "--out", out];
    words.extend(["--model-config", &config, "--hardware", "h100-sxm"]);
    words.extend(lengths.split_whitespace().chain(line.split_whitespace()));
    run(&words)
}

fn again(words: &[&str]) -> Value {
    let ended = run(&[&["report"], words, &["--json"]].concat());
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    serde_json::from_str(&ended.out).unwrap()
}

fn bound(level: &Value, figure: &str) -> f64 {
    level["speed_of_light"]["bound"][figure].as_f64().unwrap()
}

#[test]
fn what_it_ran_on_goes_on_record_and_can_be_said_otherwise_later() {
    let (server, scratch) = (plausible(), Scratch::new("physics"));
    let out = scratch.path("run");
    let flags = "--tp 2 --dp 1 --weights fp8 --kv fp8 --max-num-seqs 64 --max-concurrency 4";
    let ended = bench(&server, &out, flags);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let run_json = json(format!("{out}/run.json"));
    let kept = value!({
        "tp": 2, "pp": 1, "ep": 1, "dp": 1, "replicas": 1, "weights": "fp8", "kv": "fp8",
        "memory_share": 0.9, "max_num_seqs": 64
    });
    assert_eq!(run_json["speed_of_light"], kept);
    let words = "2 devices, TP2; weights fp8; KV cache fp8; at most 64 sequences at once";
    assert_eq!(run_json["setup"]["deployment"], words);
    let summary = json(format!("{out}/summary.json"));
    // 7.50 GB: half of the 15 GB that are read in 16 bits, and the LM head in 16 bits, over 6.7 TB/s.
    let tpot = bound(&summary, "tpot_alone_ms");
    assert!((1.15..1.30).contains(&tpot), "{tpot}");
    assert_eq!(again(&[&out]), summary);

    let wider = bound(&again(&[&out, "--tp", "4"]), "tpot_alone_ms");
    assert!((wider / tpot - 0.5).abs() < 1e-6, "{wider} {tpot}");
    let other = bound(&again(&[&out, "--hardware", "h200-sxm"]), "tpot_alone_ms");
    assert!((other / tpot - 3.35 / 4.917).abs() < 1e-6, "{other} {tpot}");
    let heavier = bound(&again(&[&out, "--weights", "auto"]), "tpot_alone_ms");
    assert!(heavier > 1.8 * tpot, "{heavier} {tpot}");
}

#[test]
fn an_open_loop_is_held_against_what_was_in_flight_on_average() {
    let (server, scratch) = (plausible(), Scratch::new("physics-open"));
    let out = scratch.path("run");
    let ended = bench(&server, &out, "--request-rate 200");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let summary = json(format!("{out}/summary.json"));
    let mean = summary["over_time"]["in_flight"]["mean"].as_f64().unwrap();
    assert!(mean > 1.0, "{summary}");
    assert_eq!(summary["speed_of_light"]["concurrency"].as_f64(), Some(mean.ceil()));
    assert!(summary["speed_of_light"]["share"]["output_tokens_per_s"].is_number());
    assert_eq!(again(&[&out]), summary);
}

/// A server that answers in no time is no 8B model on an H100.
#[test]
fn what_is_faster_than_light_is_invalid_and_says_what_would_have_to_be() {
    let server = fixed(Nanos::from_micros(900), Nanos::from_micros(400));
    let scratch = Scratch::new("physics-beyond");
    let out = scratch.path("run");
    let ended = bench(&server, &out, "--max-concurrency 2");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(summary["validity"]["verdict"], "invalid");
    let reasons = summary["validity"]["reasons"].as_array().unwrap();
    let texts = reasons.iter().map(|reason| reason["text"].as_str().unwrap());
    let text = texts.clone().find(|text| text.contains("beyond the speed of light")).unwrap();
    for word in
        ["one h100-sxm", "devices (not 1)", "TB/s (not 3.35)", "the run is wrong, or one of these"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(summary["speed_of_light"]["impossible"]["times"].as_f64().unwrap() > 1.5);
    // With enough devices it is possible.
    let enough = again(&[&out, "--tp", "32"]);
    assert!(enough["speed_of_light"]["impossible"].is_null(), "{}", enough["speed_of_light"]);
    assert_ne!(enough["validity"]["verdict"], "invalid", "{}", enough["validity"]);
}

#[test]
fn a_sweep_has_the_curve_and_is_declared_wrong_once() {
    let server = fixed(Nanos::from_micros(900), Nanos::from_micros(400));
    let (scratch, url, config) =
        (Scratch::new("physics-sweep"), server.base_url(), config("llama-3.1-8b"));
    let out = scratch.path("run");
    let line = "sweep --model m --levels 1,2 --isl 8 --osl 6 --num-prompts 20 --hardware h100-sxm \
                --threshold cpu-invalid=1 lateness-invalid=600s";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &url, "--out", &out, "--model-config", &config]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let flat = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(flat.matches("measured beyond the speed of light").count(), 1, "{flat}");
    assert!(flat.contains("Left out: 1 and 2 (invalid)"), "{flat}");
    let sweep = json(format!("{out}/sweep.json"));
    let curve = sweep["speed_of_light_curve"].as_array().unwrap();
    assert_eq!((&curve[0]["concurrency"], &curve[1]["concurrency"]), (&value!(1), &value!(2)));
    assert!(curve[0]["bound"]["e2el_ms"].as_f64().unwrap() > 26.0, "six tokens of 4.48 ms each");
    assert_eq!(again(&[&out])["speed_of_light_curve"], sweep["speed_of_light_curve"]);
}

#[test]
fn a_calibration_is_kept_and_stands_beside_bound_and_expectation() {
    let (server, scratch) = (plausible(), Scratch::new("physics-calibrated"));
    let out = scratch.path("run");
    let fitted = scratch.path("fit.json");
    let mut table = "model,hardware,weights,tp,isl,osl,concurrency,ttft_ms,tpot_ms\n".to_owned();
    // What an engine would show that takes the speed of light and a third more, with 40 us for each request.
    for concurrency in [1, 2, 4, 8, 16, 32, 64, 128] {
        for isl in [32, 1024] {
            let tpot = 6.1 + 0.04 * f64::from(concurrency) + 1e-5 * f64::from(concurrency * isl);
            let line = format!("llama-3.1-8b,h100-sxm,bf16,1,{isl},128,{concurrency},40,{tpot}\n");
            table.push_str(&line);
        }
    }
    let csv = scratch.path("levels.csv");
    std::fs::write(&csv, table).unwrap();
    let fit = run(&["sol", "--fit", &csv, "--out", &fitted]);
    assert_eq!(fit.code, Some(0), "{fit:?}");
    let ended = bench(&server, &out, &format!("--max-concurrency 2 --calibration {fitted}"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let summary = json(format!("{out}/summary.json"));
    let calibrated = &summary["speed_of_light"]["calibrated"];
    let figure = |of: &str| calibrated["tpot_ms"][of].as_f64().unwrap();
    assert!(figure("low") < figure("value") && figure("value") < figure("high"), "{calibrated}");
    assert!(figure("value") > bound(&summary, "tpot_alone_ms"));
    std::fs::remove_file(&fitted).unwrap();
    assert_eq!(again(&[&out]), summary, "the calibration is kept with the run");
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_sent() {
    let (small, large) = (config("llama-3.1-8b"), config("llama-3.1-405b"));
    let cases: [(&[&str], &[&str]); 8] = [
        (&["--model-config", &small], &["--hardware", "--model-config"]),
        (&["--hardware", "h100-sxm"], &["--model-config", "--hardware"]),
        (&["--tp", "2"], &["--model-config NAME and --hardware NAME"]),
        (&["--model-config", &small, "--hardware", "h100-sxm", "--tp", "3"], &["3"]),
        (&["--model-config", &small, "--hardware", "h100-sxm", "--weights", "fp9"], &["fp9"]),
        (&["--model-config", &small, "--hardware", "h100-sxm", "--memory-share", "2"], &["share"]),
        (
            &["--model-config", &small, "--hardware", "h100-sxm", "--calibration", "none.json"],
            &["--calibration none.json"],
        ),
        (
            &["--model-config", &large, "--hardware", "h100-sxm", "--tp", "2"],
            &["GB more than", "take 12 devices (TP4 PP3) or 16 (TP16)"],
        ),
    ];
    for (flags, words) in cases {
        let base = ["bench", "--model", "m", "--base-url", "http://127.0.0.1:9"];
        let ended = run(&[&base, flags].concat());
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        for word in words {
            assert!(ended.err.contains(word), "{word}: {}", ended.err);
        }
    }
}

#[test]
fn a_sweep_of_a_built_in_model_is_reported_as_it_was_measured() {
    let scratch = Scratch::new("physics-named");
    let out = scratch.path("run");
    let line = "simulate --levels 1,4 --num-prompts 40 --isl 64 --osl 8 --model-config llama-3.1-8b --hardware h100-sxm";
    let ended = run(&line.split(' ').chain(["--out", &out]).collect::<Vec<_>>());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let measured = json(format!("{out}/sweep.json"));
    assert_eq!(measured["setup"]["model_config"], "llama-3.1-8b");
    assert_eq!(again(&[&out]), measured);
    let page = std::fs::read_to_string(format!("{out}/report.html")).unwrap();
    assert!(!page.contains("model-config.json"), "where a file lies is nobody's concern");
}

#[test]
fn a_run_without_kept_files_is_held_against_its_model_by_name() {
    let (server, scratch) = (plausible(), Scratch::new("physics-by-name"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let line = "bench --model m --model-config llama-3.1-8b --hardware h100-sxm --max-concurrency 4 --random-input-len 25 \
                --random-output-len 8 --num-prompts 20 --threshold lateness-invalid=100s,cpu-invalid=1";
    let words = line.split_whitespace().chain(["--base-url", &url, "--out", &out]);
    let ended = run(&words.collect::<Vec<_>>());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let summary = json(format!("{out}/summary.json"));
    assert!(bound(&summary, "tpot_alone_ms") > 0.0);
    // As a program of somebody's keeps it.
    std::fs::remove_file(format!("{out}/model-config.json")).unwrap();
    let mut run_json = json(format!("{out}/run.json"));
    run_json.as_object_mut().unwrap().remove("speed_of_light");
    std::fs::write(format!("{out}/run.json"), run_json.to_string()).unwrap();
    assert_eq!(again(&[&out]), summary);
}
