//! `--backend auto`.

use fizeau::core::Nanos;
use fizeau::sim::FixedTiming;
use fizeau::sim::http::ServerConfig;

use crate::stand::{
    HOWEVER_BUSY, Scratch, fixed, json, reply, run, scripted_gets, serve, simulated,
};

const AUTO: &str = "bench --backend auto --random-input-len 25 --random-output-len 8 --num-prompts 4 \
                    --max-concurrency 2 --num-warmups 0";

fn line<'a>(url: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    AUTO.split_whitespace()
        .chain(["--base-url", url])
        .chain(HOWEVER_BUSY)
        .chain(rest.iter().copied())
        .collect()
}

#[test]
fn bench_finds_out_what_is_spoken_and_goes_on_with_it() {
    let (server, scratch) = (simulated(), Scratch::new("auto"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let ended = run(&line(&url, &["--model", "any/model", "--out", &out]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for words in [
        "model any/model",
        "vllm at http://",
        "/v1/completions",
        "running usage on each event: exact",
        "honoured: as many tokens as requested",
        "the first event holds a token",
    ] {
        assert!(ended.out.contains(words), "no {words}: {}", ended.out);
    }
    let found = ended.out.lines().skip_while(|line| !line.starts_with("found "));
    assert!(found.take(8).all(|line| line.chars().count() <= 80), "{}", ended.out);
    let document = json(format!("{out}/run.json"));
    assert_eq!(document["setup"]["endpoint"]["backend"], "vllm");
    assert_eq!(document["probed"]["backend"], "vllm");
    assert_eq!(document["probed"]["forced_length"]["is"], "honoured");
    assert_eq!(document["probed"]["token_source"], "continuous_usage");
    assert_eq!(document["probed"]["events_before_first_token"], 0);
    let tapes = std::fs::read_to_string(format!("{out}/tapes.jsonl")).unwrap();
    assert_eq!(tapes.lines().count(), 4, "probing requests are no part of the run");
}

#[test]
fn a_path_narrows_the_choice() {
    let server = simulated();
    let url = server.base_url();
    let ended = run(&line(&url, &["--model", "m", "--endpoint", "/v1/chat/completions"]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("vllm-chat at http://"), "{}", ended.out);
    assert!(ended.out.contains("one without a token"), "{}", ended.out);
}

#[test]
fn the_only_model_is_taken() {
    let timing = FixedTiming::new(Nanos::ZERO, Nanos::ZERO);
    let server = serve(ServerConfig::new(timing).with_model("the/only"));
    let ended = run(&line(&server.base_url(), &[]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("model the/only"), "{}", ended.out);
}

#[test]
fn of_several_models_one_must_be_named() {
    let models = r#"{"data":[{"id":"a/x","owned_by":"vllm"},{"id":"b/y","owned_by":"vllm"}]}"#;
    let url = scripted_gets(move |_| Some(reply("200 OK", "application/json", models)));
    let ended = run(&line(&url, &[]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("--model: the server has 2 models"), "{}", ended.err);
    assert!(ended.err.contains("a/x, b/y"), "{}", ended.err);
}

#[test]
fn what_nothing_fits_cannot_be_used() {
    let url = scripted_gets(|_| Some(reply("404 Not Found", "application/json", "{}")));
    let ended = run(&line(&url, &["--model", "m"]));
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let tried: Vec<&str> = ended.err.lines().filter(|line| line.starts_with("  ")).collect();
    assert!(tried.len() >= 8, "{}", ended.err);
    assert!(tried.iter().all(|line| line.contains("404")), "{}", ended.err);
}

#[test]
fn where_nobody_listens_one_line_says_so() {
    let ended = run(&line("http://127.0.0.1:9", &["--model", "m"]));
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.err.contains("Is the server up"), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
}

#[test]
fn sweep_finds_out_too_and_knows_its_own_engine() {
    let server = fixed(Nanos::ZERO, Nanos::ZERO);
    let (scratch, url) = (Scratch::new("auto-sweep"), server.base_url());
    let small = ["--levels", "1", "--num-prompts", "2", "--isl", "5", "--osl", "4"];
    for (name, rest) in [("remote", vec!["--base-url", &*url, "--model", "m"]), ("own", vec![])] {
        let out = scratch.path(name);
        let words = ["sweep", "--backend", "auto", "--out", &out].into_iter();
        let words: Vec<&str> = words.chain(small).chain(rest).collect();
        let ended = run(&words);
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
        let document = json(format!("{out}/run.json"));
        assert_eq!(document["setup"]["endpoint"]["backend"], "vllm");
        assert_eq!(document["probed"].is_object(), name == "remote");
    }
}
