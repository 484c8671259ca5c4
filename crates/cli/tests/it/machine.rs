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
    let failed = run(&["probe", "fleet", &a, &b, "--fail-below", "100%"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let alone = run(&["probe", "fleet", &a]);
    assert_eq!(alone.code, Some(2), "{alone:?}");
    assert!(alone.err.contains("name two or more machines"), "{}", alone.err);
    // Several devices of one machine are a fleet too.
    let mut several = json(format!("{a}/probe.json"));
    let rows = several["rows"].as_array().unwrap().clone();
    let on = |device: &str| {
        let mut rows = rows.clone();
        rows.iter_mut().for_each(|row| row["measured"]["device"] = device.into());
        rows
    };
    several["rows"] = ["gpu0", "gpu1"].map(on).concat().into();
    let node = scratch.path("node");
    std::fs::create_dir(&node).unwrap();
    std::fs::write(format!("{node}/probe.json"), several.to_string()).unwrap();
    let devices = run(&["probe", "fleet", &node, "--fail-below", "95%"]);
    assert_eq!(devices.code, Some(0), "{devices:?}");
    assert!(devices.out.contains("2 devices of 1 machine, "), "{}", devices.out);
    let not_a_share = run(&["probe", "fleet", &a, &b, "--fail-below", "95"]);
    assert_eq!(not_a_share.code, Some(2), "{not_a_share:?}");
    // One folder that cannot be read is named, and the others are compared.
    let lost = scratch.path("lost");
    for (flags, code) in [(&[][..], Some(0)), (&["--fail-below", "0.001%"], Some(1))] {
        let rest = run(&[&["probe", "fleet", &a, &lost, &b], flags].concat());
        assert_eq!(rest.code, code, "{rest:?}");
        assert!(rest.out.contains("2 machines"), "{}", rest.out);
        assert!(rest.out.contains(&format!("! {lost}: there is no such file")), "{}", rest.out);
        assert_eq!(rest.out.contains("Not passed: "), code == Some(1), "{}", rest.out);
    }
    let nothing = run(&["probe", "fleet", &a, &lost]);
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(2), ""), "{nothing:?}");
    assert!(nothing.err.contains(&lost), "{}", nothing.err);
    // What was not measured twice is no fleet, and no acceptance test of one is passed.
    let latencies = scratch.path("latencies");
    let ended =
        run(&["probe", "latency", "--device", "cpu", "--seconds", "1", "--out", &latencies]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for flags in [&[][..], &["--fail-below", "95%"]] {
        let unlike = run(&[&["probe", "fleet", &a, &latencies], flags].concat());
        assert_eq!((unlike.code, unlike.out.as_str()), (Some(2), ""), "{unlike:?}");
        assert!(unlike.err.contains("no operation was measured of two"), "{}", unlike.err);
        assert!(unlike.err.contains(&format!("{latencies} has ")), "{}", unlike.err);
    }
    let compared = run(&["probe", "compare", &a, &latencies]);
    assert!(compared.out.starts_with("No operation was measured of both."), "{compared:?}");
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

const DEPLOYED: [&str; 8] = ["--tp", "2", "--isl", "32", "--osl", "8", "--concurrency", "4"];

/// A probe takes the words of the speed of light for how a model is deployed, and measures its shapes.
#[test]
fn a_model_is_measured_as_it_is_deployed() {
    let scratch = Scratch::new("deployed");
    let model = scratch.path("config.json");
    std::fs::write(&model, SMALL).unwrap();
    let asked =
        ["probe", "gemm", "--device", "cpu", "--seconds", "1", "--json", "--model-config", &model];
    let formats = ["--dp", "2", "--weights", "fp8", "--kv", "fp8"];
    let ended = run(&[&asked[..], &DEPLOYED, &formats].concat());
    let document: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let first = &document["rows"][0]["measured"]["operation"];
    let shape = [&first["shape"]["m"], &first["shape"]["n"], &first["shape"]["k"]];
    assert_eq!(first["role"], "qkv", "{ended:?}");
    assert_eq!(
        shape.map(|count| count.as_u64().unwrap()),
        [2, 64, 64],
        "half of the sequences, half of the heads"
    );
    for (wrong, said) in [
        (["--tp", "2"], "--model-config: name the model"),
        (["--weights", "fp99"], "no format is named"),
    ] {
        let model = ["--model-config", &model];
        let named = if wrong[0] == "--tp" { &[][..] } else { &model[..] };
        let ended = run(&[&["probe", "gemm"][..], named, &wrong].concat());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(said), "{ended:?}");
    }
}

/// What was measured of a model's shapes stands beside the bound of each operator.
#[test]
fn operators_stand_beside_what_was_measured_of_them() {
    let scratch = Scratch::new("operators");
    let [out, model, measured] =
        ["a", "config.json", "operators.json"].map(|name| scratch.path(name));
    std::fs::write(&model, SMALL).unwrap();
    // Queries, keys and values as well as the way down; the output; gate and up as well as the head.
    let row = |(n, k): (u64, u64)| {
        format!(
            r#"{{"op": {{"type": "gemm", "args": {{"m": 4, "n": {n}, "k": {k}, "dtype_a": "bf16", "dtype_b": "bf16",
                "dtype_out": "bf16"}}}}, "metrics": {{"latency_us": 1.0}}, "status": "ok"}}"#
        )
    };
    let rows = [(64, 64), (64, 32), (128, 64)].map(row).join(",");
    let document = format!(
        r#"{{"schema_version": "1", "run": {{"operatorx_version": "1", "hostname": "node7"}}, "rows": [{rows}]}}"#
    );
    std::fs::write(&measured, document).unwrap();
    let kept = run(&["probe", "--import", &measured, "--hardware", "h100-sxm", "--out", &out]);
    assert_eq!(kept.code, Some(0), "{kept:?}");
    let sol = |device: &str, more: &[&str]| {
        let system = ["sol", "--model-config", &model, "--hardware", device, "--probe", &out];
        run(&[&system[..], &DEPLOYED, more].concat())
    };
    let shown = sol("h100-sxm", &[]);
    assert!(shown.out.contains("Measured on gpu0 of node7, ms"), "{shown:?}");
    assert!(
        shown.out.contains("Not measured of decode: attention decode, 4 x 1 queries"),
        "{shown:?}"
    );
    assert!(shown.out.lines().all(|line| line.chars().count() <= 80), "{}", shown.out);
    let document: serde_json::Value =
        serde_json::from_str(&sol("h100-sxm", &["--json"]).out).unwrap();
    let decode = document["measured_operators"]["decode"].as_array().unwrap();
    let term = |part: &str| decode.iter().find(|term| term["part"] == part).unwrap();
    for (part, micros) in [("projections", 4.0), ("dense", 4.0), ("head", 1.0)] {
        let [measured, bound, share] = ["measured_ms", "bound_ms", "share_of_bound"]
            .map(|field| term(part)[field].as_f64().unwrap());
        assert!((measured * 1e3 - micros).abs() < 1e-9, "{part}: {decode:?}");
        assert!((share - bound / measured).abs() < 1e-12, "{part}: {decode:?}");
    }
    for part in ["attention", "collectives"] {
        assert_eq!(term(part)["measured_ms"], serde_json::Value::Null);
        assert!(!term(part)["not_measured"].as_array().unwrap().is_empty());
    }
    let elsewhere = sol("l4", &[]);
    assert_eq!(elsewhere.code, Some(2), "{elsewhere:?}");
    assert!(elsewhere.err.contains("none of its devices is NVIDIA L4"), "{elsewhere:?}");
}
