//! What prompts are made of reaches the engine's prefix cache.

use serde_json::Value;

use super::simulate;
use crate::stand::{Scratch, json};

/// The summary of a simulation.
fn summary(name: &str, line: &str) -> Value {
    let scratch = Scratch::new(name);
    let out = scratch.path("run");
    let ended = simulate(line, &out);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    json(format!("{out}/summary.json"))
}

/// The cached share of all prompt tokens.
fn hit_share(summary: &Value) -> f64 {
    summary["tokens"]["cached_share"].as_f64().unwrap_or_else(|| panic!("{}", summary["tokens"]))
}

const SHARED: &str = "--random-prefix-len 960 --random-input-len 64 --random-output-len 4 --num-prompts 100 --max-concurrency 1";

#[test]
fn a_shared_prefix_is_found_again_and_spares_time() {
    let cold = summary("simulate-cold", SHARED);
    let warm = summary("simulate-warm", &format!("{SHARED} --enable-prefix-caching"));
    let share = hit_share(&warm);
    assert!(share > 0.9 && share < 0.94, "{share}");
    assert!(
        cold["tokens"]["cached_share"].is_null(),
        "an engine without a cache says nothing of one"
    );
    let ttft = |of: &Value| of["metrics"]["ttft_ms"]["p50"].as_f64().unwrap();
    assert!(ttft(&warm) < 0.6 * ttft(&cold), "{} {}", ttft(&warm), ttft(&cold));
    assert_eq!(warm["validity"]["verdict"], "valid", "{}", warm["validity"]);
}

#[test]
fn later_turns_find_what_was_said_before() {
    let line = "--turns 4 --random-input-len 96 --random-output-len 64 --num-prompts 100 --max-concurrency 2 \
                --enable-prefix-caching";
    let turns = summary("simulate-turns", line);
    // Of four prompts of 96, 256, 416 and 576 tokens the last three find the one before and its reply: 160, 320 and 480 of
    // them, but for what does not fill a block.
    let (found, all) = (160.0 + 320.0 + 480.0, 96.0 + 256.0 + 416.0 + 576.0);
    let share = hit_share(&turns);
    assert!(share < found / all && share > found / all - 0.05, "{share} of {}", found / all);
}

#[test]
fn prompts_that_share_nothing_find_nothing() {
    let line = "--random-input-len 256 --random-output-len 4 --num-prompts 100 --max-concurrency 4 --enable-prefix-caching";
    assert_eq!(hit_share(&summary("simulate-none", line)), 0.0);
}
