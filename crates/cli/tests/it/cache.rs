//! What a prefix cache ought to find stands in the record, and what it found is held against that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fizeau::core::Nanos;
use fizeau::sim::FixedTiming;
use fizeau::sim::http::{ServerConfig, ServerHandle};
use serde_json::Value;

use crate::stand::{HOWEVER_BUSY, Scratch, json as read, reply, run, scripted, serve, stream_of};

/// A server of so many milliseconds to the first token, with a prefix cache.
fn server(millis: u64) -> ServerHandle {
    let engine = FixedTiming::new(Nanos::from_millis(millis), Nanos::from_micros(20));
    serve(ServerConfig::new(engine.with_prefixes(None)))
}

/// The words of `line` at `server`, however busy the machine is; gives what was said.
fn fizeau(server: &ServerHandle, out: &str, line: &str) -> String {
    let url = server.base_url();
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--model", "m", "--base-url", &url, "--out", out]);
    arguments.extend(HOWEVER_BUSY);
    let ended = run(&arguments);
    assert!(matches!(ended.code, Some(0)), "{line}: {ended:?}");
    ended.out
}

fn summary(out: &str) -> Value {
    read(format!("{out}/summary.json"))
}

#[test]
fn prompts_of_vllm_that_an_earlier_run_left_are_told() {
    let (server, scratch) = (server(1), Scratch::new("cache-vllm"));
    let line = "bench --dataset-name vllm-random --num-prompts 20 --random-input-len 64 --random-output-len 4 \
                --num-warmups 0";
    let ran = |name: &str, line: &str| {
        let out = scratch.path(name);
        fizeau(&server, &out, line);
        let summary = summary(&out);
        let reasons = summary["validity"]["reasons"].to_string();
        (summary["requested"]["cache"].as_str().unwrap().to_owned(), reasons.contains("cache"))
    };
    assert_eq!(ran("first", line), ("none".to_owned(), false));
    assert_eq!(ran("second", line), ("none".to_owned(), true));
    let reused = format!("{line} --reuse-prompts");
    assert_eq!(ran("reused", &reused), ("reuse".to_owned(), false));
}

#[test]
fn one_turn_alone_repeats_nothing() {
    let (server, scratch) = (server(1), Scratch::new("cache-turn"));
    for (name, flags, cache) in [
        ("one", "--turns 1", "none"),
        ("think", "--turns 1 --think-time 0.1", "none"),
        ("two", "--turns 2", "reuse"),
    ] {
        let out = scratch.path(name);
        let sizes = "--num-prompts 4 --random-input-len 20 --random-output-len 4";
        let route = "--endpoint /v1/chat/completions";
        fizeau(&server, &out, &format!("bench {route} {sizes} {flags}"));
        assert_eq!(summary(&out)["requested"]["cache"], cache, "{flags}");
    }
}

#[test]
fn each_level_of_a_sweep_is_held_against_what_it_sent() {
    let (server, scratch) = (server(5), Scratch::new("cache-levels"));
    let line = "sweep --levels 1,20 --isl 64 --osl 2 --random-prefix-len 64 --slo e2el<60s --num-warmups 0";
    for (name, flags) in
        [("cut", "--level-seconds 0.1"), ("whole", "--level-seconds 60 --num-prompts 150")]
    {
        let out = scratch.path(name);
        fizeau(&server, &out, &format!("{line} {flags}"));
        for level in ["0001", "0020"] {
            let summary = summary(&format!("{out}/concurrency-{level}"));
            let sent = summary["requests"]["sent"].as_u64().unwrap();
            assert!(if name == "cut" { sent > 1 } else { sent == 150 }, "{sent}");
            let asked = summary["requested"]["cached_share"].as_f64();
            let expected = (sent > 1).then(|| (sent - 1) as f64 / sent as f64 / 2.0);
            assert!((asked.unwrap() - expected.unwrap()).abs() < 1e-9, "{asked:?} of {sent}");
        }
    }
}

#[test]
fn a_sweep_says_that_vllm_s_draws_are_not_those_of_its_seed() {
    let (server, scratch) = (server(1), Scratch::new("cache-sweep-vllm"));
    let line = "sweep --levels 1 --num-prompts 3 --isl 20 --osl 2 --slo e2el<60s --dataset-name vllm-random -v";
    let said = fizeau(&server, &scratch.path("out"), line);
    assert!(said.contains("prompts: drawn as vLLM does, from a seed for each level"), "{said}");
}

#[test]
fn hits_that_are_not_judged_are_named() {
    let (server, scratch) = (server(1), Scratch::new("cache-unjudged"));
    let talk = "{\"turns\": [{\"prompt\": \"a\"}, {\"prompt\": \"b\"}]}\n{\"prompt\": \"c\"}\n";
    let path = scratch.path("talk.jsonl");
    std::fs::write(&path, talk).unwrap();
    let route = "bench --endpoint /v1/chat/completions --random-output-len 2 --num-prompts 3";
    for (name, flags, note) in [
        ("turns", "--turns 3 --random-prefix-len 32 --random-input-len 9", "is not verified"),
        ("file", &*format!("--dataset-name custom --dataset-path {path}"), "talk.jsonl has conv"),
    ] {
        let url = server.base_url();
        let line = format!("{route} {flags}");
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        let out = scratch.path(name);
        arguments.extend(["--model", "m", "--base-url", &url, "--out", &out]);
        arguments.extend(HOWEVER_BUSY);
        let ended = run(&arguments);
        assert!(ended.code == Some(0) && ended.err.contains(note), "{flags}: {ended:?}");
    }
}

/// vLLM's and SGLang's ways to empty it are asked for before the level, and a server that has neither ends the run.
#[test]
fn a_cache_is_emptied_or_the_run_ends() {
    let line =
        "bench --model m --isl 4 --osl 4 --num-prompts 3 --max-concurrency 1 --num-warmups 0";
    let bench = |replies: fn(u64) -> String, more: &[&str]| {
        let posts = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&posts);
        let url = scripted(move |number| {
            counted.fetch_add(1, Ordering::SeqCst);
            Some(replies(number))
        });
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words.extend(["--base-url", &url]);
        words.extend(more);
        words.extend(HOWEVER_BUSY);
        (run(&words), posts.load(Ordering::SeqCst))
    };
    let (plain, without) = bench(|_| stream_of(4), &[]);
    let (emptied, with) = bench(|_| stream_of(4), &["--reset-cache"]);
    assert_eq!((plain.code, emptied.code, with), (Some(0), Some(0), without + 1), "{emptied:?}");
    let only_first = |number| match number {
        0 => stream_of(4),
        _ => reply("404 Not Found", "text/plain", ""),
    };
    let (refused, posts) = bench(only_first, &["--reset-cache"]);
    assert_eq!((refused.code, posts), (Some(3), 3), "{refused:?}");
    assert!(refused.err.contains("the prefix cache was not emptied (status 404)"), "{refused:?}");
}
