//! `--fit` and `--calibration`: from measured levels to predictions.

use std::fs;

use serde_json::{Value, json};

use super::{answers, config, llama, points};
use crate::stand::{Ended, Scratch, json, run};

const PUBLISHED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/measurements/serving.csv");

/// Every twentieth of the published levels.
fn some(scratch: &Scratch) -> String {
    let all = fs::read_to_string(PUBLISHED).unwrap();
    let (header, rows) = all.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().step_by(20).collect();
    let path = scratch.path("measured.csv");
    fs::write(&path, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    path
}

fn fitted(scratch: &Scratch) -> (Ended, String) {
    let calibration = scratch.path("calibration.json");
    let ended = run(&["sol", "--fit", &some(scratch), "--out", &calibration]);
    (ended, calibration)
}

#[test]
fn a_fit_says_how_good_it_is_and_writes_a_calibration() {
    let scratch = Scratch::new("sol-fit");
    let (ended, calibration) = fitted(&scratch);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let count = "note: --fit: 5 of 70 levels are left out: 5 with an unclear parallel layout\n";
    assert!(ended.err.contains(count), "{}", ended.err);
    assert!(ended.out.starts_with("Fitted on 65 levels of 3 models on 4 devices\n"));
    for text in ["b200-sxm, vllm", "time per kernel", "TPOT, model left out of the fit"] {
        assert!(ended.out.contains(text), "{text} is not in\n{}", ended.out);
    }
    let widest = ended.out.lines().filter(|line| !line.starts_with("Written")).map(str::len).max();
    assert!(widest.unwrap() <= 80, "{}", ended.out);
    let file = json(&calibration);
    assert_eq!((&file["schema"], &file["levels"]), (&json!("fizeau.calibration/2"), &json!(65)));
}

#[test]
fn a_calibration_adds_predictions_with_intervals() {
    let scratch = Scratch::new("sol-calibration");
    let (_, calibration) = fitted(&scratch);
    let of = |engine: Value, hardware: &str| {
        let mut point = llama();
        point["engine"] = engine;
        point["hardware"] = hardware.into();
        let ended = points(&point.to_string(), &["--calibration", &calibration]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        answers(&ended).remove(0)
    };
    let known = of(json!("vllm"), "h100-sxm");
    let calibrated = &known["calibrated"];
    for name in ["ttft_ms", "tpot_ms", "output_tokens_per_s", "requests_per_s"] {
        let [low, value, high] = ["low", "value", "high"].map(|key| calibrated[name][key].as_f64());
        assert!(low.unwrap() < value.unwrap() && value < high, "{calibrated}");
    }
    assert!(calibrated["tpot_ms"]["low"].as_f64() >= known["bound"]["tpot_ms"].as_f64());
    assert_eq!(calibrated["constants_of"], "h100-sxm, vllm");
    // No other engine was measured on it.
    assert_eq!(of(json!(null), "h100-sxm")["calibrated"]["constants_of"], "h100-sxm, vllm");

    let other = of(json!("sglang"), "h100-sxm");
    let warning = "the calibration has no measurements of sglang on h100-sxm: constants are those of the device";
    assert!(other["warnings"].as_array().unwrap().contains(&json!(warning)), "{other}");
    let new = of(json!("vllm"), "mi300x");
    assert_eq!(new["calibrated"]["constants_of"], "all devices, vllm");
    let width = |answer: &Value| {
        let tpot = &answer["calibrated"]["tpot_ms"];
        tpot["high"].as_f64().unwrap() / tpot["low"].as_f64().unwrap()
    };
    assert!(width(&new) >= width(&known), "a device that was not measured is less sure");
}

#[test]
fn what_is_far_from_all_that_was_fitted_is_refused() {
    let scratch = Scratch::new("sol-far");
    let (_, calibration) = fitted(&scratch);
    let mut point = llama();
    point["isl"] = 120_000.into();
    point["concurrency"] = 1.into();
    let ended = points(&point.to_string(), &["--calibration", &calibration]);
    let answer = answers(&ended).remove(0);
    let refused = answer["calibrated"]["refused"].as_str().unwrap();
    assert!(refused.starts_with("no prediction: 120128 tokens of context"), "{refused}");
    assert!(answer["bound"]["tpot_ms"].as_f64().unwrap() > 0.0, "the bound stands");
}

#[test]
fn a_person_sees_the_prediction_beside_bound_and_expectation() {
    let scratch = Scratch::new("sol-view");
    let (_, calibration) = fitted(&scratch);
    let model = config("llama-3.1-8b");
    let query = ["sol", "--model-config", &model, "--hardware", "h100-sxm", "--engine", "vllm"];
    let ended = run(&[&query[..], &["--calibration", &calibration]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.contains("calibrated on h100-sxm, vllm"), "{}", ended.out);
    // What it would not predict is not passed over.
    for more in [["--context", "4096"], ["--curve", "batch"], ["--batch", "1000000"]] {
        let ended = run(&[&query[..], &["--calibration", &calibration], &more].concat());
        assert_eq!(ended.code, Some(2), "{more:?}: {}", ended.out);
        assert!(ended.err.contains("--calibration"), "{more:?}: {}", ended.err);
        // Nor is it where the constants ship.
        let ended = run(&[&query[..], &more].concat());
        assert_eq!(ended.code, Some(0), "{more:?}: {}", ended.err);
        let said = ended.out + &ended.err;
        assert!(said.contains("nothing is predicted of the engine"), "{more:?}: {said}");
    }
}

#[test]
fn an_engine_is_predicted_with_what_ships() {
    let flags = "sol --model-config gpt-oss-120b --hardware h100-sxm --tp 2 --concurrency 16";
    let ran = |more: &str| run(&format!("{flags} {more}").split_whitespace().collect::<Vec<_>>());
    let ended = ran("--engine vllm --explain-calibration");
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
    let words = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "calibrated on h100-sxm, vllm",
        "published levels of vllm on h100-sxm (unseen families: TPOT off by",
        "; TTFT off by",
        "; output tokens/s off by",
        "Models left out of the fit, all devices and engines: TPOT off by",
        "InferenceX",
        "constants of h100-sxm, vllm",
        "time per kernel us",
    ] {
        assert!(words.contains(said), "{said} is not in\n{}", ended.out);
    }
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80), "{}", ended.out);

    let of_all = ran("--engine vllm --explain-calibration --json");
    let document: Value = serde_json::from_str(&of_all.out).unwrap();
    assert_eq!(document["calibrated"]["constants_of"], "h100-sxm, vllm");
    for off in ["tpot_left_out", "ttft_left_out", "output_tokens_per_s_left_out"] {
        assert!(document["calibration"][off]["mean"].as_f64().unwrap() > 0.0, "{off}: {document}");
    }
    let constants = document["constants"].as_object().unwrap();
    let shares = constants.values().filter_map(|constant| constant["tpot_share"].as_f64());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9, "{document}");

    for without in ["--engine vllm --calibration none", ""] {
        let ended = ran(without);
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{without}");
        assert!(!ended.out.to_lowercase().contains("calibrat"), "{without}: {}", ended.out);
    }
    assert!(ran("--engine own").out.contains("no calibration ships for own on h100-sxm"));
    assert_eq!(ran("--explain-calibration").code, Some(2));
}

#[test]
fn measured_figures_are_explained() {
    let ran = |more: &str| {
        let flags = "sol --model-config llama-3.1-70b --hardware h100-sxm --tp 4 --weights fp8 --isl 2048 --osl 256 \
                     --concurrency 16";
        run(&flags.split_whitespace().chain(more.split_whitespace()).collect::<Vec<_>>())
    };
    let ended = ran("--engine vLLM --measured tpot:60,ttft:9000");
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
    for said in ["your prefill runs at 0.", "your decoding runs at 0.", "arithmetic reached"] {
        assert!(ended.out.contains(said), "{said} is not in\n{}", ended.out);
    }
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80), "{}", ended.out);

    let ended = ran("--engine vllm --measured tpot:60 --json");
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    let tpot = &document["measured"]["tpot_ms"];
    assert_eq!((&tpot["measured"], &tpot["is_expected"]), (&60.0.into(), &false.into()));
    assert_eq!(tpot["remedies"][0]["input"], "decode_pace");

    // A share is that of the bound in the table above.
    let ended = ran("--measured tpot:12.5,e2el:9000,output_tps:150 --json");
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    let (bound, measured) = (&document["bound"], &document["measured"]);
    let share = |key: &str| measured[key]["bound_share"].as_f64().unwrap();
    assert!((share("tpot_ms") - bound["tpot_ms"].as_f64().unwrap() / 12.5).abs() < 1e-6);
    let rate = bound["output_tokens_per_s"].as_f64().unwrap();
    assert!((share("output_tokens_per_s") - 150.0 / rate).abs() < 1e-6);
    let whole = bound["ttft_ms"].as_f64().unwrap() + 255.0 * bound["tpot_ms"].as_f64().unwrap();
    assert!((share("e2el_ms") - whole / 9000.0).abs() < 1e-6);

    // Without an engine the bound alone is asked.
    let ended = ran("--measured tpot:1");
    assert!(ended.out.contains("bandwidth of"), "{}", ended.out);
    assert_eq!(ran("--measured tpot:fast").code, Some(2));
}

#[test]
fn a_simulated_engine_takes_what_ships() {
    let scratch = Scratch::new("sol-simulated");
    let ran = |engine: &str| {
        let flags = "simulate --num-prompts 8 --random-output-len 4 --max-concurrency 2 --engine";
        let out = scratch.path(engine);
        let words = flags.split(' ').chain([engine, "--out", &out]);
        run(&words.collect::<Vec<_>>())
    };
    let ended = ran("own");
    assert_eq!(ended.code, Some(2), "{}", ended.out);
    assert!(ended.err.contains("no calibration ships for it on h100-sxm"), "{}", ended.err);
    assert!(matches!(ran("vllm").code, Some(0 | 1)));
}

#[test]
fn lines_that_cannot_be_used_are_named_and_the_rest_is_fitted() {
    let scratch = Scratch::new("sol-lines");
    let path = some(&scratch);
    let mut text = fs::read_to_string(&path).unwrap();
    let row = |model: &str, hardware: &str, concurrency: &str| {
        format!("{model},{hardware},vllm,1,fp8,fp8,1,1,1,1,1,1024,1024,{concurrency},,20\n")
    };
    text.push_str(&row("my/own", "h100-sxm", "4"));
    text.push_str(&row("openai/gpt-oss-120b", "h1000", "4"));
    text.push_str(&row("openai/gpt-oss-120b", "h100-sxm", "four"));
    fs::write(&path, &text).unwrap();
    let calibration = scratch.path("calibration.json");
    let ended = run(&["sol", "--fit", &path, "--out", &calibration]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.out.starts_with("Fitted on 65 levels"), "{}", ended.out);
    assert!(ended.err.contains("8 of 73 levels are left out: "), "{}", ended.err);
    for reason in ["1 not usable", "1 of an unknown model", "1 on an unknown device"] {
        assert!(ended.err.contains(reason), "{reason}: {}", ended.err);
    }
    assert!(ended.err.contains("line 74: concurrency is `four`"), "{}", ended.err);
    assert!(ended.err.contains("say where with --model my/own=FILE"), "{}", ended.err);

    let own = format!("my/own={}", config("llama-3.1-8b"));
    let text = text.lines().take(72).collect::<Vec<_>>().join("\n");
    fs::write(&path, text).unwrap();
    let ended = run(&["sol", "--fit", &path, "--out", &calibration, "--model", &own]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.contains("my/own"), "{}", ended.out);
}

#[test]
fn a_file_that_is_no_calibration_is_refused() {
    let scratch = Scratch::new("sol-no-calibration");
    let path = scratch.path("calibration.json");
    fs::write(&path, "{}").unwrap();
    let ended = points(&llama().to_string(), &["--calibration", &path]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("it must be `fizeau.calibration/2`"), "{}", ended.err);
    let ended = run(&["sol", "--fit", &path, "--points", "-"]);
    assert_eq!(ended.code, Some(2), "one or the other");
}

#[test]
fn a_run_of_our_own_is_fitted() {
    let scratch = Scratch::new("sol-own-run");
    let level = |concurrency: u64, verdict: &str| {
        json!({
            "load": {"concurrency": concurrency},
            "validity": {"verdict": verdict},
            "requests": {"completed": 10},
            "tokens": {"input": 5120, "output": 2560},
            "metrics": {"tpot_ms": {"mean": 6.0 + 0.05 * concurrency as f64}, "ttft_ms": {"mean": 30.0}},
        })
    };
    let mut levels: Vec<Value> = [1, 2, 4, 8, 16].map(|at| level(at, "valid")).to_vec();
    let write = |levels: &[Value]| {
        let setup = json!({"model_config": "llama-3.1-8b", "hardware": "h100-sxm"});
        let sweep = json!({"setup": setup, "levels": levels}).to_string();
        fs::write(scratch.path("sweep.json"), sweep).unwrap();
    };
    write(&levels);
    let (run_folder, calibration) = (scratch.path(""), scratch.path("calibration.json"));
    let fit = || run(&["sol", "--fit", &run_folder, "--engine", "own", "--out", &calibration]);
    let ended = fit();
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
    assert!(ended.out.contains("h100-sxm, own"), "{}", ended.out);

    // Spread as the run was: two ways of it are more than one device of the flags' default could be.
    let kept = json!({"schema": "fizeau.run/1", "speed_of_light": {"tp": 2, "weights": "fp8", "memory_share": 0.8}});
    fs::write(scratch.path("run.json"), kept.to_string()).unwrap();
    let alone = fs::read_to_string(&calibration).unwrap();
    assert_eq!(fit().code, Some(0));
    let spread = fs::read_to_string(&calibration).unwrap();
    assert_ne!(alone, spread);
    fs::remove_file(scratch.path("run.json")).unwrap();
    let words = ["sol", "--fit", &run_folder, "--engine", "own", "--out", &calibration];
    let said = ["--tp", "2", "--weights", "fp8", "--memory-share", "0.8"];
    assert_eq!(run(&[&words[..], &said].concat()).code, Some(0));
    assert_eq!(fs::read_to_string(&calibration).unwrap(), spread);

    levels.push(level(32, "invalid"));
    write(&levels);
    let ended = fit();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(fs::read_to_string(&calibration).unwrap(), alone);
    for said in
        ["concurrency 32: the level is invalid", "1 of 6 levels is left out: 1 invalid; --force"]
    {
        assert!(ended.err.contains(said), "{said}: {}", ended.err);
    }
    // Few levels of one dense model tell nothing of experts and links.
    let borrowed =
        ended.out.split("\n\n").find(|part| part.starts_with("borrowed: h100-sxm, own: "));
    assert!(borrowed.is_some_and(|part| part.contains("experts")), "{}", ended.out);
    let words = ["sol", "--fit", &run_folder, "--engine", "own", "--out", &calibration, "--force"];
    let forced = run(&words);
    assert_eq!((forced.code, forced.err.as_str()), (Some(0), ""), "{}", forced.out);
    assert_ne!(fs::read_to_string(&calibration).unwrap(), alone);
}
