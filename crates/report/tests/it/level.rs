//! `summary.json` and the block below vLLM's.

use fizeau_metrics::{GoodputGoals, LevelSummary};
use fizeau_report::{LevelReport, LevelStatus, LoadPoint, SpeedOfLight};
use serde_json::{Value, json};

use crate::sample;

fn parsed(level: &LevelReport) -> Value {
    serde_json::from_str(&level.to_json().unwrap()).unwrap()
}

#[test]
fn the_summary_has_the_schemas_parts() {
    let json = parsed(&sample::level(64));
    assert_eq!(json["schema"], "fizeau.summary/1");
    assert_eq!(json["load"], json!({"concurrency": 64}));
    assert_eq!(json["status"], "finished");
    assert_eq!(json["validity"]["verdict"], "suspect");
    assert_eq!(json["requests"]["sent"], 256);
    assert_eq!(json["requests"]["by_class"]["connect"], 4);
    assert_eq!(json["client"]["stamps"], "kernel");
    assert!(json["metrics"]["e2el_ms"]["p99"].as_f64().unwrap() > 500.0);
    let parts = ["tokens", "throughput", "jitter", "version", "speed_of_light"];
    assert!(parts.iter().all(|part| !json[part].is_null()), "{json}");
    assert!(json.get("status_reason").is_none());
}

#[test]
fn the_first_keys_say_what_the_file_is() {
    let text = sample::level(1).to_json().unwrap();
    let keys: Vec<&str> = text.lines().skip(1).take(2).collect();
    assert!(keys[0].starts_with("  \"schema\""), "{keys:?}");
    assert!(keys[1].starts_with("  \"version\""), "{keys:?}");
    assert!(text.ends_with("}\n"));
}

#[test]
fn the_bound_stands_beside_its_share_in_milliseconds() {
    let json = parsed(&sample::level(1));
    let speed = &json["speed_of_light"];
    // Llama-3.1-8B in bf16 on an H100 reads 15 GB at 3.35 TB/s: 4.48 ms a token and a little for the cache.
    let tpot = speed["bound"]["tpot_ms"].as_f64().unwrap();
    assert!((4.48..4.50).contains(&tpot), "{tpot}");
    assert_eq!(speed["bound"]["limited_by"], "weight_traffic");
    let measured = json["throughput"]["output_tokens_per_s"].as_f64().unwrap();
    let bound = speed["bound"]["output_tokens_per_s"].as_f64().unwrap();
    let share = speed["share"]["output_tokens_per_s"].as_f64().unwrap();
    assert!((share - measured / bound).abs() < 1e-12);
    assert!(speed["share"]["tpot"].is_null());
    assert!(speed["share"]["tpot_reason"].is_string());
}

/// An engine with fewer slots than requests decodes faster than a step with all of them would take.
#[test]
fn what_stands_as_bound_of_tpot_does_not_grow_with_the_load() {
    let bound = |n| parsed(&sample::level(n))["speed_of_light"]["bound"].clone();
    let (one, many) = (bound(1), bound(128));
    assert_eq!(one["tpot_ms"], many["tpot_ms"]);
    assert!(many["full_batch_step_ms"].as_f64() > many["tpot_ms"].as_f64());
}

#[test]
fn what_is_unknown_is_null_with_a_reason() {
    let mut level = sample::level(1);
    level.speed_of_light =
        SpeedOfLight::Absent { reason: "no model configuration was given".to_owned() };
    level.status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    level.summary = LevelSummary::of(&[], &GoodputGoals::default());
    level.load = LoadPoint::Rate(fizeau_core::PerSec::new(2.5));
    let json = parsed(&level);
    assert!(json["speed_of_light"].is_null());
    assert_eq!(json["speed_of_light_reason"], "no model configuration was given");
    assert_eq!(json["status"], "partial");
    assert_eq!(json["status_reason"], "interrupted");
    assert_eq!(json["load"], json!({"requests_per_s": 2.5}));
    assert!(json["metrics"]["ttft_ms"]["p50"].is_null());
    assert!(json["metrics"]["ttft_ms"]["p50_reason"].is_string());
}

#[test]
fn the_block_says_what_vllms_does_not() {
    let golden = "\
===================== Fizeau =====================
Median TTFT scheduled (ms):              18.94
P99 TTFT scheduled (ms):                 - (needs 100 values, has 8)
Median E2EL to last token (ms):          216.28
P99 E2EL to last token (ms):             - (needs 100 values, has 8)
Median ICL, gap of chunks (ms):          5.06
P99 ICL, gap of chunks (ms):             5.06
Median ITL, gap of tokens (ms):          5.06
P99 ITL, gap of tokens (ms):             5.06
Tokens counted by:                       token ids (exact)
Tokens per chunk:                        1.00
Arrivals stamped by:                     kernel
Speed of light (output tok/s):           223
Share of it reached:                     83 %
Limited by:                              weight traffic
Verdict:                                 valid
==================================================";
    assert_eq!(sample::level(1).block(), golden);
    let failed = sample::level(128).block();
    assert!(failed.contains("\nFailed by class:                         connect 8\n"), "{failed}");
    let suspect = sample::level(64).block();
    assert!(suspect.contains("suspect\n  suspect: 1.6 % of requests failed"), "{suspect}");
}
