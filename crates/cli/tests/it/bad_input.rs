//! Each kind of bad input: one clear line, the right exit code, and nothing left behind that looks like a result.

use std::path::Path;
use std::process::Command;

use crate::stand::{Ended, Scratch, fizeau, reply, run, scripted, serve};
use fizeau::sim::Scenario;
use fizeau::sim::http::ServerConfig;

const USAGE: Option<i32> = Some(2);
const ENDPOINT: Option<i32> = Some(3);

/// Runs `fizeau bench` for a few requests and expects it to fail so.
fn refused(extra: &[&str], code: Option<i32>, words: &[&str]) -> Ended {
    let scratch = Scratch::new(&format!("refused-{:x}", hash(extra)));
    let (out, dir) = (scratch.path("run"), scratch.path(""));
    let mut arguments =
        vec!["bench", "--model", "m", "--num-prompts", "3", "--random-input-len", "8"];
    arguments.extend([
        "--random-output-len",
        "4",
        "--save-result",
        "--result-dir",
        &dir,
        "--out",
        &out,
    ]);
    // Of a flag that comes twice the later counts.
    arguments.extend(extra);
    let ended = run(&arguments);
    assert_eq!(ended.code, code, "{arguments:?}: {ended:?}");
    for word in words {
        assert!(ended.err.contains(word), "{arguments:?}: no `{word}` in: {}", ended.err);
    }
    let results = scratch.files();
    assert!(!results.iter().any(|name| name.ends_with(".json")), "{results:?}");
    let left = Path::new(&out).exists();
    assert!(!left, "{arguments:?} left a run's folder");
    ended
}

fn hash(words: &[&str]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn one_line(ended: &Ended) {
    let lines: Vec<&str> = ended.err.lines().collect();
    assert_eq!(lines.len(), 1, "{}", ended.err);
    assert!(lines[0].starts_with("error: "), "{}", ended.err);
}

#[test]
fn numbers_that_make_no_sense_are_refused_before_anything_is_sent() {
    // Nothing listens there; a wrong number must be found first.
    let nowhere = ["--base-url", "http://127.0.0.1:9"];
    let cases: [(&[&str], &[&str]); 11] = [
        (&["--num-prompts", "0"], &["--num-prompts", "at least 1"]),
        (&["--timeout", "0"], &["--timeout", "0 seconds"]),
        (&["--idle-timeout", "-1"], &["--idle-timeout", "-1"]),
        (&["--request-rate", "-1"], &["--request-rate -1", "above 0"]),
        (&["--request-rate", "0"], &["--request-rate 0", "inf"]),
        (&["--request-rate", "NaN"], &["--request-rate NaN"]),
        (&["--max-concurrency", "0"], &["--max-concurrency 0", "at least 1"]),
        (&["--burstiness", "-2", "--request-rate", "1"], &["--burstiness -2"]),
        (&["--random-input-len", "0"], &["input", "0"]),
        (&["--random-range-ratio", "1.5"], &["ratio", "1.5"]),
        (&["--goodput", "speed:3"], &["speed", "ttft_scheduled, first_visible, tpot, itl_p99"]),
    ];
    for (extra, words) in cases {
        let extra: Vec<&str> = nowhere.iter().chain(extra).copied().collect();
        one_line(&refused(&extra, USAGE, words));
    }
}

#[test]
fn names_that_are_unknown_are_refused_with_those_that_are_known() {
    let nowhere = "http://127.0.0.1:9";
    let base = ["--base-url", nowhere];
    let with = |extra: &[&'static str]| -> Vec<&'static str> { extra.to_vec() };
    let cases = [
        (with(&["--backend", "tgv"]), vec!["--backend", "tgv", "llama.cpp"]),
        (with(&["--dataset-name", "sharegtp"]), vec!["--dataset-name sharegtp", "random"]),
        (with(&["--percentile-metrics", "tfft"]), vec!["tfft", "ttft"]),
        (with(&["--endpoint", "v1/completions"]), vec!["--endpoint", "begin with `/`"]),
        (with(&["--header", "no-value"]), vec!["--header", "NAME=VALUE"]),
        (with(&["--extra-body", "{\"stream\": false}"]), vec!["--extra-body", "stream"]),
        (with(&["--tokenizer", "no/such/tokenizer.json"]), vec!["--tokenizer", "tokenizer.json"]),
        (
            with(&["--threshold", "lateness=5ms"]),
            vec!["--threshold", "lateness", "lateness-suspect"],
        ),
    ];
    for (extra, words) in cases {
        let extra: Vec<&str> = base.iter().copied().chain(extra).collect();
        one_line(&refused(&extra, USAGE, &words));
    }
    one_line(&refused(&["--base-url", "127.0.0.1:9"], USAGE, &["--base-url", "http://"]));
}

/// A model of the Hub has a tokenizer where its cache has one, and else the command that loads it.
#[test]
fn a_tokenizer_of_the_hub_is_looked_for_in_its_cache() {
    let scratch = Scratch::new("hub-cache");
    let cache = scratch.path("hub");
    let words = ["--model", "m", "--base-url", "http://127.0.0.1:9", "--tokenizer", "org/tiny"];
    let ended = || -> Ended {
        let mut command = fizeau(&[&["bench"], &words[..]].concat());
        command.env("HF_HUB_CACHE", &cache).output().unwrap().into()
    };
    let missing = ended();
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let told = "`hf download org/tiny tokenizer.json` puts it there";
    assert!(missing.err.contains(told) && missing.err.contains(&cache), "{}", missing.err);
    let model = format!("{cache}/models--org--tiny");
    std::fs::create_dir_all(format!("{model}/refs")).unwrap();
    std::fs::create_dir_all(format!("{model}/snapshots/1849")).unwrap();
    std::fs::write(format!("{model}/refs/main"), "1849").unwrap();
    std::fs::write(format!("{model}/snapshots/1849/tokenizer.json"), "{}").unwrap();
    let found = ended();
    assert!(found.err.contains("not a tokenizer.json of Hugging Face"), "{}", found.err);
}

/// Before anything is sent: nothing listens there, which is not even found out.
#[test]
fn too_few_file_descriptors_are_refused_with_the_command_that_mends_it() {
    let ended = |limit: &str| -> Ended {
        let line = format!(
            "ulimit {limit} && exec \"$0\" bench --model m --base-url http://127.0.0.1:9 --max-concurrency 200"
        );
        let fizeau = env!("CARGO_BIN_EXE_fizeau");
        Command::new("sh").args(["-c", &line, fizeau]).output().unwrap().into()
    };
    let refused = ended("-n 80");
    assert_eq!(refused.code, USAGE, "{refused:?}");
    one_line(&refused);
    assert!(
        refused.err.contains("at most 80 can be had: as root, run `ulimit -Hn 2"),
        "{refused:?}"
    );
    // What may be raised is.
    let raised = ended("-Sn 80 && ulimit -Hn 1000");
    assert_eq!(raised.code, ENDPOINT, "{raised:?}");
}

/// A run at a rate wants room for what the rate needs, not for all its requests at a time.
#[test]
fn an_open_loop_at_a_low_rate_needs_few_file_descriptors() {
    let line = "ulimit -Sn 200 && exec \"$0\" bench --model m --base-url http://127.0.0.1:9 --request-rate 4 --threads 2";
    let fizeau = env!("CARGO_BIN_EXE_fizeau");
    let ended: Ended = Command::new("sh").args(["-c", line, fizeau]).output().unwrap().into();
    assert_eq!(ended.code, ENDPOINT, "{ended:?}");
    assert!(ended.err.contains("note: if the server falls far behind the rate"), "{ended:?}");
}

#[test]
fn wrong_arguments_are_found_before_an_endpoint_is_asked_what_it_is() {
    // Nothing listens there: a probe would say so.
    let base = ["--backend", "auto", "--base-url", "http://127.0.0.1:9"];
    let cases: [(&[&str], &[&str]); 4] = [
        (&["--metadata", "x"], &["--metadata x", "KEY=VALUE"]),
        (&["--dataset-name", "sharegpt"], &["--dataset-name"]),
        (&["--extra-body", "["], &["--extra-body"]),
        (&["--threshold", "cpu=1"], &["--threshold"]),
    ];
    for (extra, words) in cases {
        let extra: Vec<&str> = base.iter().copied().chain(extra.iter().copied()).collect();
        one_line(&refused(&extra, USAGE, words));
    }
    refused(&base, ENDPOINT, &["Is the server up"]);
    for extra in [["--dataset-name", "sharegpt"], ["--extra-body", "["]] {
        let arguments: Vec<&str> = ["sweep"].into_iter().chain(base).chain(extra).collect();
        assert_eq!(run(&arguments).code, USAGE, "{arguments:?}");
    }
}

/// A port that is named is an endpoint, and one that cannot be used is found before the client is measured.
#[test]
fn an_endpoint_that_cannot_be_used_is_not_calibrated_for() {
    let ended = refused(&["--calibrate", "--port", "9"], ENDPOINT, &["http://127.0.0.1:9"]);
    assert!(!ended.out.contains("ceiling"), "{ended:?}");
}

#[test]
fn a_model_config_and_a_device_are_checked_before_anything_is_sent() {
    let scratch = Scratch::new("configs");
    let base = ["--base-url", "http://127.0.0.1:9"];
    let written = |name: &str, text: &str| {
        let path = scratch.path(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let good = concat!(env!("CARGO_MANIFEST_DIR"), "/../roofline/data/models/llama-3.1-8b.json");
    let (missing, garbage) = (scratch.path("missing.json"), written("garbage.json", "{\"hidden"));
    let partial = written("partial.json", "{\"architectures\": [\"LlamaForCausalLM\"]}");
    let cases: [(&str, &str, &[&str]); 4] = [
        (&missing, "h100-sxm", &["missing.json"]),
        (&garbage, "h100-sxm", &["garbage.json"]),
        (&partial, "h100-sxm", &["partial.json", "hidden_size"]),
        (good, "h100-smx", &["--hardware", "h100-smx", "h100-sxm"]),
    ];
    for (config, hardware, words) in cases {
        let mut extra = base.to_vec();
        extra.extend(["--model-config", config, "--hardware", hardware]);
        one_line(&refused(&extra, USAGE, words));
    }
}

#[test]
fn an_endpoint_that_cannot_be_used_is_one_line_and_exit_code_3() {
    let says = |status: &'static str, body: &'static str| {
        scripted(move |_| Some(reply(status, "application/json", body)))
    };
    let cases = [
        ("http://127.0.0.1:9".to_owned(), vec!["127.0.0.1:9", "refused", "is this its address?"]),
        (
            says("401 Unauthorized", r#"{"error":{"message":"no key"}}"#),
            vec!["401", "no key", "FIZEAU_API_KEY"],
        ),
        (
            says("404 Not Found", r#"{"detail":"Not Found"}"#),
            vec!["404", "--model (m)", "--endpoint"],
        ),
        (says("500 Internal Server Error", "oops"), vec!["500", "oops", "log"]),
        (
            scripted(|_| Some(reply("200 OK", "text/event-stream", "data: {\"choices\":\x01\n\n"))),
            vec!["malformed", "--backend"],
        ),
        (scripted(|_| Some("ssh-2.0 not http\r\n\r\n".to_owned())), vec!["--backend"]),
        (
            scripted(|_| Some(reply("200 OK", "application/json", r#"{"choices":[]}"#))),
            vec!["stream", "--backend"],
        ),
        (
            scripted(|_| Some(reply("200 OK", "text/event-stream", "data: [DONE]\n\n"))),
            vec!["empty"],
        ),
    ];
    for (url, words) in cases {
        one_line(&refused(&["--base-url", &url], ENDPOINT, &words));
    }
}

#[test]
fn a_wrong_model_name_is_told() {
    let engine = Scenario::llama_3_1_8b_h100().unwrap().engine();
    let server = serve(ServerConfig::new(engine).with_model("right-name"));
    let url = server.base_url();
    let ended = refused(&["--base-url", &url], ENDPOINT, &["404", "--model (m)"]);
    one_line(&ended);
}

#[test]
fn a_sweep_is_as_strict() {
    let scratch = Scratch::new("strict-sweep");
    let out = scratch.path("out");
    let cases: [(&[&str], Option<i32>, &str); 6] = [
        (&["--levels", "0,1"], USAGE, "--levels"),
        (&["--slo", "p99 ttfft<500ms"], USAGE, "ttfft"),
        (&["--level-seconds", "-3"], USAGE, "--level-seconds"),
        (&["--num-prompts", "0"], USAGE, "--num-prompts"),
        (&["--base-url", "http://127.0.0.1:9"], USAGE, "--model"),
        (&["--base-url", "http://127.0.0.1:9", "--model", "m"], ENDPOINT, "refused"),
    ];
    for (extra, code, word) in cases {
        let mut arguments = vec!["sweep", "--out", &out];
        arguments.extend(extra);
        let ended = run(&arguments);
        assert_eq!(ended.code, code, "{extra:?}: {ended:?}");
        assert!(ended.err.contains(word), "{extra:?}: {}", ended.err);
        assert!(!Path::new(&out).exists(), "{extra:?}");
    }
}

#[test]
fn a_negative_count_is_refused_by_the_name_of_its_flag() {
    let ended = run(&["bench", "--model", "m", "--num-prompts", "-1"]);
    assert_eq!(ended.code, USAGE, "{ended:?}");
    let words = "--num-prompts -1: give a whole number of at least 1";
    assert!(ended.err.contains(words), "{}", ended.err);
}

#[test]
fn a_folder_that_cannot_be_made_is_found_before_anything_is_sent() {
    let scratch = Scratch::new("no-folder");
    let file = scratch.path("file");
    std::fs::write(&file, "").unwrap();
    for command in ["bench", "sweep"] {
        // Nothing listens there: to send anything would be exit code 3.
        let line = [command, "--base-url", "http://127.0.0.1:9", "--model", "m"];
        let mut words = line.to_vec();
        words.extend(["--out", &file]);
        let ended = run(&words);
        assert_eq!(ended.code, USAGE, "{ended:?}");
        assert!(ended.err.contains("--out"), "{}", ended.err);
        one_line(&ended);
    }
}

/// What is looked for is named, and how to come by it.
#[test]
fn a_folder_or_a_name_without_what_is_wanted_says_what_would_be_right() {
    let scratch = Scratch::new("wanted");
    let folder = scratch.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let here = "http://127.0.0.1:9 --model m --hardware h100-sxm --model-config";
    for (line, said) in [
        (
            format!("sol --model-config llama-3.1-8b --hardware {folder}"),
            "this folder has no device.toml; `fizeau probe memory compute --out DIR` measures this machine and writes one",
        ),
        (format!("probe --import {folder}"), "this is a folder; name the files in it"),
        (
            format!("bench --max-concurrency 1 --base-url {here} nobodys-model"),
            "`fizeau models` lists the built-in models",
        ),
        (
            format!("sweep --base-url {here} nobodys-model"),
            "`fizeau models` lists the built-in models",
        ),
    ] {
        let ended = run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, Some(2), "{line}: {}", ended.err);
        assert!(ended.err.contains(said), "{line}: {}", ended.err);
    }
    for line in ["bench --ur http://127.0.0.1:9", "probe cpu"] {
        let ended = run(&line.split(' ').collect::<Vec<_>>());
        assert!(!ended.err.contains("similar"), "{line}: {}", ended.err);
    }
}

#[test]
fn a_file_that_is_named_and_cannot_be_made_is_exit_code_2() {
    let scratch = Scratch::new("no-file");
    let (file, new) = (scratch.path("file"), scratch.path("new.json"));
    std::fs::write(&file, "").unwrap();
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs");
    let (run_, shards) = (format!("{runs}/simulated"), [0, 1].map(|n| format!("{runs}/shard-{n}")));
    let printed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/probe/babelstream.csv");
    let calibrate = "calibrate --base-url http://127.0.0.1:9 --model m --model-config llama-3.1-8b --hardware h100-sxm";
    let lines = [
        (format!("compare {run_} {run_}"), "--out"),
        (format!("compare {run_} {run_}"), "--junit"),
        (format!("diagnose {run_}"), "--html"),
        (format!("diagnose {run_}"), "--svg"),
        (format!("report {run_}"), "--html"),
        (format!("report {run_} {run_}"), "--html"),
        (format!("probe show {printed}"), "--html"),
        (format!("probe show {printed}"), "--svg"),
        (format!("probe fleet {printed} {printed}"), "--html"),
        (format!("probe --import {printed}"), "--out"),
        (format!("convert {run_} --to vllm"), "--out"),
        (format!("merge {} {}", shards[0], shards[1]), "--out"),
        (format!("{calibrate} --out-dir {}", scratch.path("runs")), "--out"),
        (format!("{calibrate} --out {new}"), "--out-dir"),
    ];
    // Below a file there is no room for another.
    let below = format!("{file}/x");
    for (line, flag) in lines {
        let ended = run(&line.split(' ').chain([flag, &below]).collect::<Vec<_>>());
        assert_eq!(ended.code, USAGE, "{line} {flag}: {ended:?}");
        assert!(ended.err.contains(flag), "{line} {flag}: {ended:?}");
        one_line(&ended);
    }
    // Nor is a folder made for a file that is written alone.
    let nowhere = format!("{}/x", scratch.path("gone"));
    let line = format!("compare {run_} {run_} --out {nowhere}");
    assert_eq!(run(&line.split(' ').collect::<Vec<_>>()).code, USAGE);
    assert!(!Path::new(&new).exists(), "an empty file is no calibration");
}

#[test]
fn an_unknown_flag_is_exit_code_2_and_help_is_0() {
    assert_eq!(run(&["bench", "--hf-split", "train"]).code, USAGE);
    assert_eq!(run(&["bench", "--help"]).code, Some(0));
    assert_eq!(run(&[]).code, USAGE);
}
