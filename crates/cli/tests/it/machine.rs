//! This machine, measured part by part. Nothing here asks how fast it is.

use crate::stand::{Scratch, json, run};

#[test]
fn a_machine_is_measured_kept_and_shown_again() {
    let scratch = Scratch::new("probe");
    let out = scratch.path("a");
    let ended = run(&["probe", "compute", "--seconds", "1", "--out", &out]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("peak arithmetic f32"), "{}", ended.out);
    assert!(ended.out.contains("Are these figures right? Verdict: "), "{}", ended.out);
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80), "{}", ended.out);
    let document = json(format!("{out}/probe.json"));
    assert_eq!(document["schema"], "fizeau.probe/2");
    let rows = document["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["measured"].to_string().contains("samples")), "{document}");
    let page = std::fs::read_to_string(format!("{out}/probe.html")).unwrap();
    assert!(page.contains("peak arithmetic, f32"), "{page}");
    let again = run(&["probe", "show", &out]);
    assert_eq!(again.out, ended.out);
    assert_eq!(run(&["probe", "--out", &out]).code, Some(2), "it has a probe already");
    // A program that was killed has kept what it had measured, whole lines of it.
    std::fs::remove_file(format!("{out}/probe.json")).unwrap();
    let kept = format!("{out}/measurements.jsonl");
    let lines = std::fs::read_to_string(&kept).unwrap();
    std::fs::write(&kept, &lines[..lines.len() - 9]).unwrap();
    let cut = run(&["probe", "show", &out, "--json"]);
    let cut: serde_json::Value = serde_json::from_str(&cut.out).unwrap();
    assert_eq!(cut["rows"].as_array().unwrap().len(), rows.len() - 1);
}

#[test]
fn machines_are_shown_side_by_side() {
    let scratch = Scratch::new("probes");
    let (a, b) = (scratch.path("a"), scratch.path("b"));
    for out in [&a, &b] {
        let ended = run(&["probe", "compute", "--seconds", "1", "--out", out]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    // The same machine under another name.
    let file = format!("{b}/probe.json");
    let mut other = json(&file);
    other["host"]["node"] = "another".into();
    std::fs::write(&file, other.to_string()).unwrap();
    let compared = run(&["probe", "compare", &a, &b]);
    assert!(compared.out.starts_with("operation"), "{compared:?}");
    let fleet = run(&["probe", "fleet", &a, &b, "--fail-below", "0.001%"]);
    assert_eq!(fleet.code, Some(0), "{fleet:?}");
    assert!(fleet.out.contains("2 machines"), "{}", fleet.out);
    let failed = run(&["probe", "fleet", &a, &b, "--fail-below", "99999%"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let wrong = run(&["probe", "compare", &a, "no-such-file"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.err.contains("no-such-file"), "{}", wrong.err);
}

#[test]
fn what_no_device_has_is_one_line() {
    let ended = run(&["probe", "collective", "--device", "cpu"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(3), ""), "{ended:?}");
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    assert!(ended.err.contains("collective: no device that is measured here has it"), "{ended:?}");
}

/// Half of a device makes no device file, and it is said which half is missing.
#[test]
fn what_a_device_file_lacks_is_said() {
    let scratch = Scratch::new("half");
    let out = scratch.path("a");
    let ended = run(&["probe", "compute", "--device", "cpu", "--seconds", "1", "--out", &out]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let why = "no device file is written: of cpu, the bandwidth of its memory was not measured";
    assert!(ended.err.contains(why), "{}", ended.err);
}

const SMALL: &str = r#"{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
    "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 256, "torch_dtype": "bfloat16"}"#;

/// What a probe of a model measures stands beside the bound of each operator, of the same deployment and load alone.
#[test]
fn operators_stand_beside_what_was_measured_of_them() {
    let scratch = Scratch::new("operators");
    let (out, model) = (scratch.path("a"), scratch.path("config.json"));
    std::fs::write(&model, SMALL).unwrap();
    let asked =
        ["--model-config", &model, "--tp", "2", "--isl", "32", "--osl", "8", "--concurrency", "4"];
    let parts = ["probe", "memory", "compute", "gemm", "attention", "--device", "cpu"];
    let kept = ["--seconds", "4", "--out", &out];
    let ended = run(&[&parts[..], &asked, &kept].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sol = |more: &[&str]| run(&[&["sol", "--hardware", &out][..], &asked, more].concat());
    let shown = sol(&[]);
    assert!(shown.out.contains("Measured on cpu of "), "{shown:?}");
    assert!(shown.out.contains("Not measured of decode: all_reduce, 2 ranks, "), "{shown:?}");
    assert!(shown.out.lines().all(|line| line.chars().count() <= 80), "{}", shown.out);
    let document: serde_json::Value = serde_json::from_str(&sol(&["--json"]).out).unwrap();
    let decode = document["measured_operators"]["decode"].as_array().unwrap();
    let term = |part: &str| decode.iter().find(|term| term["part"] == part).unwrap();
    for part in ["projections", "attention", "dense", "head"] {
        assert!(term(part)["share_of_bound"].as_f64().unwrap() > 0.0, "{part}: {decode:?}");
    }
    assert_eq!(term("collectives")["measured_ms"], serde_json::Value::Null);
    let elsewhere = run(&["sol", "--model-config", &model, "--hardware", "l4", "--probe", &out]);
    assert_eq!(elsewhere.code, Some(2), "{elsewhere:?}");
    assert!(elsewhere.err.contains("none of its devices is NVIDIA L4"), "{elsewhere:?}");
    let nothing = run(&["probe", "gemm", "--tp", "2"]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
    assert!(nothing.err.contains("--model-config: name the model"), "{nothing:?}");
}
