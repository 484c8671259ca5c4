//! What a newcomer stumbles over: servers that take text alone, a reply that is broken once, a name that the server does not know, and
//! flags of other tools.

use std::sync::atomic::{AtomicU64, Ordering};

use fizeau::core::Nanos;
use fizeau::sim::FixedTiming;
use fizeau::sim::http::ServerConfig;

use crate::stand::{Ended, Scratch, fixed, json, reply, run, scripted, serve, stream_of};

fn bench(url: &str, rest: &[&str]) -> Ended {
    let line = "bench --num-prompts 4 --num-warmups 0 --random-input-len 16 --random-output-len 4";
    let words: Vec<&str> = line.split_whitespace().chain(["--base-url", url]).collect();
    run(&[&words[..], rest].concat())
}

fn timing() -> FixedTiming {
    FixedTiming::new(Nanos::from_millis(1), Nanos::from_micros(100))
}

#[test]
fn a_server_that_refuses_token_ids_is_sent_text() {
    let server = serve(ServerConfig::new(timing()).with_model("m").with_text_prompts());
    let url = server.base_url();
    let scratch = Scratch::new("text-prompts");
    for (name, rest) in [
        ("named", &["--model", "m", "--backend", "openai"][..]),
        ("auto", &["--backend", "auto"][..]),
    ] {
        let out = scratch.path(name);
        let ended = bench(&url, &[rest, &["--out", &out]].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.err.contains("text input must be of type `str`"), "{}", ended.err);
        assert!(ended.err.contains("all prompts are sent as text"), "{}", ended.err);
        let summary = json(format!("{out}/summary.json"));
        assert_eq!(summary["requests"]["completed"], 4, "{summary}");
        // The server counts them.
        assert_eq!(summary["tokens"]["input"], 4 * 16, "{summary}");
    }
    // A model that it does not have is still one clear line.
    let wrong = bench(&url, &["--model", "other"]);
    assert_eq!(wrong.code, Some(3), "{wrong:?}");
    assert!(wrong.err.contains("Check --base-url, --model (other)"), "{}", wrong.err);
}

#[test]
fn a_reply_that_is_broken_once_is_asked_for_again() {
    let asked = AtomicU64::new(0);
    let broken = || reply("200 OK", "text/event-stream", "data: {\"choices\":[{\"te");
    let once = scripted(move |_| {
        let first = asked.fetch_add(1, Ordering::Relaxed) == 0;
        Some(if first { broken() } else { stream_of(4) })
    });
    let ended = bench(&once, &["--model", "m"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("the first reply was broken"), "{}", ended.err);
    let always = scripted(move |_| Some(broken()));
    let ended = bench(&always, &["--model", "m"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.err.contains("Two replies in a row"), "{}", ended.err);
    assert!(!ended.err.contains("Check --backend"), "{}", ended.err);
}

#[test]
fn a_server_that_takes_any_name_says_which_model_it_has() {
    let any = fixed(Nanos::from_millis(1), Nanos::from_micros(100));
    let ended = bench(&any.base_url(), &["--model", "mistyped"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let note = "note: the server answers to `";
    assert!(ended.err.contains(note) && ended.err.contains("mistyped"), "{}", ended.err);
    let named = serve(ServerConfig::new(timing()).with_model("m"));
    let ended = bench(&named.base_url(), &["--model", "m"]);
    assert!(!ended.err.contains(note), "{}", ended.err);
}

#[test]
fn flags_of_vllm_are_honoured_ignored_or_answered_in_a_sentence() {
    let server = serve(ServerConfig::new(timing()).with_model("m"));
    let url = server.base_url();
    let scratch = Scratch::new("vllm-flags");
    let out = scratch.path("run");
    let taken = "--model m --logprobs 2 --skip-tokenizer-init --random-batch-size 1 --plot-timeline \
                 --timeline-itl-thresholds 25,50 --plot-dataset-stats --tokenizer-mode auto --request-id-prefix x-";
    let words: Vec<&str> = taken.split_whitespace().chain(["--out", &out]).collect();
    let ended = bench(&url, &words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(json(format!("{out}/run.json"))["sampling"]["logprobs"], 2);
    for (line, said) in [
        ("--profile", "use --profile-level 1"),
        ("--use-beam-search", "leave the flag out"),
        ("--random-batch-size 8", "each request has one prompt"),
        ("--dataset-name hf", "--dataset-name custom"),
        ("--dataset-name random-mm", "--dataset-name openai-batch"),
    ] {
        let words: Vec<&str> = ["--model", "m"].into_iter().chain(line.split(' ')).collect();
        let ended = bench(&url, &words);
        assert_eq!(ended.code, Some(2), "{line}: {ended:?}");
        assert!(ended.err.contains(said), "{line}: {}", ended.err);
    }
    let help = run(&["bench", "--help"]).out;
    for listed in ["Compatibility", "--request-id-prefix", "--tokenizer-mode", "Ignored: "] {
        assert!(help.contains(listed), "{listed}");
    }
}

#[test]
fn sessions_that_begin_at_a_rate_are_called_sessions() {
    let ended = run(&[
        "simulate",
        "--turns",
        "3",
        "--request-rate",
        "10",
        "--num-prompts",
        "30",
        "--isl",
        "100",
        "--osl",
        "10",
        "-v",
    ]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for said in ["Session starts/s requested/planned/sent:", "30 requests/s in 10.0 sessions/s"] {
        assert!(ended.out.contains(said), "{}", ended.out);
    }
}

#[test]
fn a_swept_rate_is_one_of_requests() {
    let scratch = Scratch::new("swept-rate");
    let out = scratch.path("run");
    let line = "simulate --turns 3 --rates 10 --level-seconds 60 --isl 100 --osl 10 --checklist";
    let ended = run(&line.split(' ').chain(["--out", &out]).collect::<Vec<_>>());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("10 requests/s in 3.33 sessions/s"), "{}", ended.out);
}

/// All tokens of a step agree on their experts at the bound, which no router does.
#[test]
fn a_mixture_of_experts_is_held_against_even_routing() {
    let scratch = Scratch::new("even-routing");
    let out = scratch.path("run");
    let line = "simulate --model-config gpt-oss-120b --hardware b200-sxm --isl 256 --osl 64 --num-prompts 256 \
                --max-concurrency 64";
    let words: Vec<&str> = line.split_whitespace().chain(["--out", &out]).collect();
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("Share of speed of light at even routing:"), "{}", ended.out);
    let light = &json(format!("{out}/summary.json"))["speed_of_light"];
    let (even, bound) = (&light["even_routing"], &light["bound"]);
    let rate = |of: &serde_json::Value| of["output_tokens_per_s"].as_f64().unwrap();
    assert!(2.0 * rate(even) < rate(bound), "{light}");
    assert!(even["share"].as_f64().unwrap() > 2.0 * rate(&light["share"]), "{light}");
}

/// A run of an H100 is faster than an L4 can be.
#[test]
fn a_diagnosis_of_what_no_device_can_do_ends_with_1() {
    let run_of = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated");
    let ended = run(&["diagnose", run_of, "--hardware", "l4"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.contains("Impossible: ") && !ended.out.contains("Try first"), "{ended:?}");
    assert_eq!(run(&["diagnose", run_of]).code, Some(0));
}
