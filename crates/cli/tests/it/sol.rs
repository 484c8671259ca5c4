//! `fizeau sol`: a query, and a file of them.

mod asked;
mod fit;
mod views;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};

use crate::stand::{Ended, Scratch, fizeau, run};

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../roofline/data/models");

fn config(model: &str) -> String {
    format!("{MODELS}/{model}.json")
}

/// What `fizeau sol --points -` makes of `lines`.
fn points(lines: &str, flags: &[&str]) -> Ended {
    let mut command = fizeau(&[&["sol", "--points", "-"], flags].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines = lines.to_owned();
    // Answers come while lines are still on their way. A child that refuses its flags reads none of them.
    let asking = thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let ended = child.wait_with_output().unwrap().into();
    let _ = asking.join().unwrap();
    ended
}

fn answers(ended: &Ended) -> Vec<Value> {
    ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The answer to one line that can be answered.
fn point(fields: &Value) -> Value {
    let ended = points(&fields.to_string(), &[]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
    let [answer] = &answers(&ended)[..] else { panic!("{}", ended.out) };
    answer.clone()
}

/// The only error of a line.
fn error(fields: &Value) -> String {
    let ended = points(&fields.to_string(), &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.out);
    let [answer] = &answers(&ended)[..] else { panic!("{}", ended.out) };
    let message = answer["error"].as_str().unwrap().to_owned();
    assert!(ended.err.contains(&message), "{}", ended.err);
    message
}

fn llama() -> Value {
    json!({
        "model_config": config("llama-3.1-8b"), "hardware": "h100-sxm",
        "isl": 2048, "osl": 256, "concurrency": 32,
    })
}

/// The line with one field more, or another value for it.
fn llama_with(name: &str, value: impl Into<Value>) -> Value {
    let mut fields = llama();
    fields[name] = value.into();
    fields
}

/// Worked out by hand in the documentation of `System::bound_figures`: Llama-3.1-8B in bf16 on one H100 SXM.
#[test]
fn a_line_is_answered_with_the_figures_worked_out_by_hand() {
    let answer = point(&llama());
    let counts = json!({"total": 8_030_261_248_u64, "active": 8_030_261_248_u64, "streamed": 7_504_658_432_u64});
    assert_eq!(answer["params"], counts);
    assert_eq!(answer["weight_bytes"], 16_060_522_496_u64);
    assert_eq!(answer["kv_bytes_per_token"], 131_072);
    assert_eq!(answer["running_batch"], 32);
    let rounded = |way: &str, name: &str| format!("{:.1}", answer[way][name].as_f64().unwrap());
    assert_eq!(rounded("bound", "ttft_ms"), "29.1");
    assert_eq!(rounded("bound", "requests_per_s"), "17.4");
    // By hand 11.6 in turns and 17.4 overlapped, without the traffic of activations.
    assert_eq!(rounded("expected", "requests_per_s"), "12.0");
    assert_eq!(rounded("expected", "tpot_ms"), "10.3");
    let limits = json!({"prefill": "compute", "decode": "weights"});
    assert_eq!((&answer["limited_by"], &answer["warnings"]), (&limits, &json!([])));
}

#[test]
fn an_absent_field_and_a_null_are_the_default() {
    let bare = json!({"model_config": config("llama-3.1-8b"), "hardware": "h100-sxm"});
    let mut full = bare.clone();
    let defaults = [("tp", 1), ("pp", 1), ("ep", 1), ("dp", 1), ("replicas", 1), ("isl", 1024)];
    for (name, value) in
        defaults.into_iter().chain([("osl", 128), ("concurrency", 1), ("cached", 0)])
    {
        full[name] = value.into();
    }
    let mut nulls = full.clone();
    for (name, value) in nulls.as_object_mut().unwrap() {
        if name != "model_config" && name != "hardware" {
            *value = Value::Null;
        }
    }
    nulls["weights"] = Value::Null;
    nulls["kv"] = Value::Null;
    assert_eq!(point(&bare), point(&full));
    assert_eq!(point(&bare), point(&nulls));
    // As a program writes it that keeps every number as a floating-point one.
    let mut floats = full;
    floats["isl"] = json!(1024.0);
    assert_eq!(point(&bare), point(&floats));
}

#[test]
fn flags_are_the_defaults_of_lines() {
    let flags =
        ["--model-config", &config("llama-3.1-8b"), "--hardware", "h100-sxm", "--isl", "2048"];
    let ended = points(r#"{"osl": 256, "concurrency": 32}"#, &flags);
    assert_eq!(answers(&ended), [point(&llama())]);
}

/// Each changes what it is about, on the command line as in a line, and is not confused with others of the same file.
#[test]
fn an_engine_may_be_said_to_go_about_it_otherwise() {
    let experts = json!({
        "model_config": "qwen3-235b-a22b", "hardware": "h200-sxm", "tp": 1, "dp": 8, "ep": 8,
        "isl": 16384, "osl": 256, "cached": 1024, "concurrency": 256,
    });
    let cases = [
        ("prefix", "own", "max_batch"),
        ("routing", "strict", "expected"),
        ("routing", "skewed:1.5", "expected"),
        ("overlap", "two-batches", "expected"),
        ("exchange", "all-gather", "expected"),
    ];
    let mut lines = experts.to_string();
    for (field, value, _) in cases {
        let mut line = experts.clone();
        line[field] = value.into();
        lines.push_str(&format!("\n{line}"));
    }
    let all = answers(&points(&lines, &[]));
    for ((field, value, seen), other) in cases.iter().zip(&all[1..]) {
        assert_ne!(all[0][seen], other[seen], "{field} {value}: {other}");
        let by_flag = points(&experts.to_string(), &[&format!("--{field}"), value]);
        assert_eq!(answers(&by_flag), std::slice::from_ref(other), "{field} {value}");
    }
}

#[test]
fn every_line_is_answered_in_its_place() {
    let mut lines = String::new();
    for concurrency in 1..=2000 {
        match concurrency % 10 {
            0 => writeln!(lines, "{{\"concurrency\": {concurrency}").unwrap(),
            5 => writeln!(lines, "\n{}", llama_with("concurrency", 0)).unwrap(),
            _ => writeln!(lines, "{}", llama_with("concurrency", concurrency)).unwrap(),
        }
    }
    let ended = points(&lines, &[]);
    let answers = answers(&ended);
    assert_eq!(answers.len(), 2000);
    let mut last = 0.0;
    for (answer, concurrency) in answers.iter().zip(1..) {
        if concurrency % 5 == 0 {
            assert!(answer["error"].is_string(), "{concurrency}: {answer}");
            continue;
        }
        let running = answer["running_batch"].as_f64().unwrap();
        let most = answer["max_batch"].as_f64().unwrap();
        assert_eq!(running, f64::from(concurrency).min(most));
        assert!(running >= last);
        last = running;
    }
    assert_eq!(ended.code, Some(2));
    let said = "400 of 2000 lines could not be answered, the first is line 6: concurrency is 0";
    assert!(ended.err.contains(said), "{}", ended.err);
}

#[test]
fn an_answer_comes_before_the_next_line_is_asked() {
    let mut command = fizeau(&["sol", "--points", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut ask, answer) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answer = BufReader::new(answer).lines();
    for concurrency in [1, 2] {
        writeln!(ask, "{}", llama_with("concurrency", concurrency)).unwrap();
        let line: Value = serde_json::from_str(&answer.next().unwrap().unwrap()).unwrap();
        assert_eq!(line["running_batch"], concurrency);
    }
    drop(ask);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_is_wrong_with_a_line_is_said_in_its_place() {
    let cases = [
        (json!({"hardware": "h100-sxm"}), "model_config is missing"),
        (json!({"model_config": config("llama-3.1-8b")}), "hardware is missing"),
        (llama_with("isl", 0), "isl is 0; it must be from 1"),
        (llama_with("isl", -3), "isl is -3; it must be a whole number"),
        (llama_with("osl", 12.5), "osl is 12.5; it must be a whole number"),
        (llama_with("concurrency", "many"), "concurrency must be a whole number"),
        (
            llama_with("cached", 2048),
            "cached is 2048; it must be less than the prompt's 2048 tokens",
        ),
        (llama_with("hardware", 5), "hardware must be a text"),
        (llama_with("hardware", "h100-smx"), "did you mean \"h100-sxm\"?"),
        (llama_with("kv", "fp3"), "fp3"),
        (llama_with("prefix", "mine"), "prefix is `mine`; it must be shared or own"),
        (llama_with("routing", "skewed:x"), "routing `skewed:x`: it must be even, strict"),
        (llama_with("weights", "fp3"), "fp3"),
        (
            llama_with("tp", 3),
            "tensor parallelism of 3 does not divide the 32 attention heads; 2 or 4 would",
        ),
        (llama_with("tp", 0), "tensor parallelism is 0"),
        (llama_with("tp", 5_000_000_000_u64), "tp is 5000000000"),
        (llama_with("model_config", "no/such/config.json"), "no/such/config.json"),
        (json!([1]), "not a JSON object"),
    ];
    for (line, wanted) in cases {
        let message = error(&line);
        assert!(message.contains(wanted), "{line}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn a_field_that_is_not_known_is_named() {
    let answer = point(&llama_with("concurency", 32));
    assert_eq!(answer["warnings"], json!(["concurency is not a known field and is ignored"]));
}

#[test]
fn what_is_wrong_on_the_command_line_is_one_line() {
    let path = config("llama-3.1-8b");
    let cases: [(&[&str], &str); 6] = [
        (&[], "--model-config is missing; it takes a name"),
        (&["--model-config", &path], "--hardware is missing; it takes a name"),
        (&["--model-config", &path, "--hardware", "h100-sxm", "--isl", "0"], "--isl 0: give"),
        (
            &["--model-config", &path, "--hardware", "h100-sxm", "--context", "0"],
            "--context 0: give a whole number of tokens from 2",
        ),
        (&["--model-config", &path, "--hardware", "h100-sxm", "--batch", "0"], "--batch 0: give"),
        (&["--points", "no/such/file"], "no/such/file"),
    ];
    for (flags, wanted) in cases {
        let ended = run(&[&["sol"], flags].concat());
        assert_eq!(ended.code, Some(2), "{flags:?}");
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        assert!(ended.err.contains(wanted), "{}", ended.err);
    }
}

#[test]
fn no_model_on_any_device_is_expected_to_beat_its_bound() {
    let models =
        ["deepseek-v3", "gpt-oss-120b", "qwen3-next-80b-a3b", "nemotron-h-56b", "llama-3.1-70b"];
    let devices = ["h200-sxm", "b200-sxm", "mi355x", "gaudi3", "tpu-v7x", "trainium2"];
    let mut lines = String::new();
    for model in models {
        for device in devices {
            for (tp, concurrency) in [(1, 1), (8, 1), (8, 64)] {
                let line = json!({
                    "model_config": model, "hardware": device, "tp": tp, "concurrency": concurrency,
                    "isl": 3000, "osl": 300, "weights": "fp8",
                });
                writeln!(lines, "{line}").unwrap();
            }
        }
    }
    let answers = answers(&points(&lines, &[]));
    assert_eq!(answers.len(), models.len() * devices.len() * 3);
    let mut answered = 0;
    for answer in answers.iter().filter(|answer| answer.get("error").is_none()) {
        let figure = |way: &str, name: &str| answer[way][name].as_f64().unwrap();
        for name in ["ttft_ms", "tpot_ms"] {
            assert!(figure("bound", name) <= figure("expected", name) * (1.0 + 1e-9), "{answer}");
        }
        for name in ["output_tokens_per_s", "requests_per_s"] {
            assert!(figure("bound", name) * (1.0 + 1e-9) >= figure("expected", name), "{answer}");
        }
        answered += 1;
    }
    assert!(answered > 60, "{answered}");
}

#[test]
fn flags_that_would_do_nothing_are_refused() {
    let lines = [
        "--points - --draft 3",
        "--points - --json",
        "--points - --batch 3",
        "--curve --price 2",
        "--curve --context 100",
        "--acceptance 0.5",
        "--max-devices 3",
        "--batch 2 --concurrency 3",
    ];
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(run(&[&["sol"], &words[..]].concat()).code, Some(2), "{line}");
    }
}

#[test]
fn a_file_is_read_as_well_as_standard_input() {
    let scratch = Scratch::new("sol-points");
    let path = scratch.path("points.jsonl");
    // Without a newline at its end.
    std::fs::write(&path, llama().to_string()).unwrap();
    let ended = run(&["sol", "--points", &path]);
    assert_eq!((ended.code, answers(&ended)), (Some(0), vec![point(&llama())]));
}
