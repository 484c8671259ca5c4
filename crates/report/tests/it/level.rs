//! `summary.json` and the block below vLLM's.

use fizeau_core::{
    Arrival, Channel, FailureClass, LevelLoad, Millis, Nanos, PerSec, Stamp, Tape, TokenSource,
};
use fizeau_metrics::{
    ClientCeiling, ClientWatch, Distribution, GoodputGoals, LevelSummary, LevelTally,
    PercentileResolution, ResourceNeed, SystemHeadroom, Verdict, VerdictConcern, VerdictReason,
};
use fizeau_record::{LevelReport, LevelStatus, SpeedOfLight, UntilPrecise};
use fizeau_report::Shown;
use serde_json::{Value, json};

use crate::sample;

fn parsed(level: &LevelReport) -> Value {
    serde_json::from_str(&level.to_json().unwrap()).unwrap()
}

#[test]
fn the_summary_has_the_schemas_parts() {
    let json = parsed(&sample::level(64));
    assert_eq!(json["schema"], "fizeau.summary/2");
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
    let tpot = speed["bound"]["tpot_alone_ms"].as_f64().unwrap();
    assert!((4.48..4.50).contains(&tpot), "{tpot}");
    assert_eq!(speed["bound"]["limited_by"], "weight_traffic");
    let measured = json["throughput"]["output_tokens_per_s"].as_f64().unwrap();
    let bound = speed["bound"]["output_tokens_per_s"].as_f64().unwrap();
    let share = speed["share"]["output_tokens_per_s"].as_f64().unwrap();
    assert!((share - measured / bound).abs() < 1e-12);
    let expected = speed["expected"]["output_tokens_per_s"].as_f64().unwrap();
    assert!(expected < bound && expected > 0.9 * bound, "{expected} of {bound}");
    assert_eq!(speed["expected"]["limited_by"]["decode"], "weights");
    // Each token takes 5.06 ms.
    let decode = speed["phases"]["decode"].as_f64().unwrap();
    let step = speed["phases"]["decode_step_ms"].as_f64().unwrap();
    assert!((decode - step / 5.06).abs() < 1e-6, "{decode} {step}");
    assert_eq!(speed["phases"]["prefill"], speed["share"]["ttft"]);
    assert!(speed["impossible"].is_null());
    let fill = speed["cache_fill"].as_f64().unwrap();
    assert!(fill > 0.0 && fill < 0.01, "{fill}");
}

#[test]
fn what_was_not_measured_has_no_share_and_a_reason() {
    let mut level = sample::level(1);
    if let SpeedOfLight::Known(light) = &mut level.speed_of_light {
        light.shares.tpot_alone = None;
        light.expected = Err("it does not fit".to_owned());
    }
    let speed = &parsed(&level)["speed_of_light"];
    assert!(speed["share"]["tpot"].is_null() && speed["expected"].is_null());
    assert!(speed["share"]["tpot_reason"].is_string());
    assert_eq!(speed["expected_reason"], "it does not fit");
}

/// One request of four minutes is not none.
#[test]
fn slow_rates_are_not_shown_as_nothing() {
    let mut level = sample::level(1);
    level.summary.throughput.requests_per_s = PerSec::new(0.004);
    let block = Shown(&level).block(fizeau_report::Verbosity::Full);
    let line = block.lines().find(|line| line.starts_with("Request throughput")).unwrap();
    assert!(line.contains(" 0.0040 "), "{line}");
}

/// An engine with fewer slots than requests decodes faster than a step with all of them would take.
#[test]
fn what_stands_as_bound_of_tpot_does_not_grow_with_the_load() {
    let bound = |n| parsed(&sample::level(n))["speed_of_light"]["bound"].clone();
    let (one, many) = (bound(1), bound(128));
    assert_eq!(one["tpot_alone_ms"], many["tpot_alone_ms"]);
    assert!(many["full_batch_step_ms"].as_f64() > many["tpot_alone_ms"].as_f64());
}

#[test]
fn what_is_unknown_is_null_with_a_reason() {
    let mut level = sample::level(1);
    level.speed_of_light =
        SpeedOfLight::Absent { reason: "no model configuration was given".to_owned() };
    level.status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    level.summary = LevelSummary::of(&[], &GoodputGoals::default());
    level.load = LevelLoad::Rate(PerSec::new(2.5));
    let json = parsed(&level);
    assert!(json["speed_of_light"].is_null());
    assert_eq!(json["speed_of_light_reason"], "no model configuration was given");
    assert_eq!(json["status"], "partial");
    assert_eq!(json["status_reason"], "interrupted");
    assert_eq!(json["load"], json!({"requests_per_s": 2.5}));
    assert!(json["metrics"]["ttft_ms"]["p50"].is_null());
    assert!(json["metrics"]["ttft_ms"]["p50_reason"].is_string());
}

/// Who reads only `client` sees the whole proof.
#[test]
fn the_client_has_its_whole_proof_in_one_place() {
    let mut level = sample::level(64);
    level.client.watch.ceiling =
        Some(ClientCeiling { streams: 64, tokens_per_s: PerSec::new(1_000_000.0), on_time: None });
    level.client.watch.headroom = Some(SystemHeadroom {
        file_descriptors: Some(ResourceNeed { needed: 100, limit: 1024 }),
        ports: None,
    });
    let client = &parsed(&level)["client"];
    assert_eq!(client["threads"], 2);
    assert_eq!(client["stamps"], "kernel");
    assert_eq!(client["cpu_share"], 0.21);
    assert_eq!(client["run_delay_share"], 0.01);
    assert_eq!(client["connections_fresh"], 64);
    assert_eq!(client["send_lateness_ms"], json!({"p50": 0.035, "p99": 0.05, "max": 0.05}));
    assert_eq!(client["read_lag_ms"]["max"], 0.015);
    assert_eq!(client["connection_wait_ms"]["max"], 0.0);
    assert_eq!(client["headroom"]["file_descriptors"], json!({"needed": 100, "limit": 1024}));
    assert!(client["headroom"]["ports_reason"].is_string());
    assert_eq!(client["ceiling"]["streams"], 64);
    assert_eq!(client["ceiling"]["tokens_per_s"], 1_000_000.0);
    assert!(client["ceiling"]["on_time_reason"].is_string());
    let share = level.summary.throughput.output_tokens_per_s.get() / 1e6;
    assert_eq!(client["ceiling_share"].as_f64(), Some(share));

    level.client.watch = ClientWatch::default();
    let client = &parsed(&level)["client"];
    for absent in ["cpu_share", "run_delay_share", "headroom", "ceiling", "ceiling_share"] {
        assert!(client[absent].is_null(), "{absent}");
        assert!(client[format!("{absent}_reason")].is_string(), "{absent}");
    }
}

#[test]
fn the_block_shows_what_else_there_is_to_prove() {
    let mut level = sample::level(64);
    level.client.watch.ceiling =
        Some(ClientCeiling { streams: 64, tokens_per_s: PerSec::new(10_000.0), on_time: None });
    level.summary.metrics.connection_wait = Distribution::of([0.0, 3.5].map(Millis::new));
    level.summary.metrics.itl.resolution = PercentileResolution::Folded;
    let block = Shown(&level).block(fizeau_report::Verbosity::Full);
    for line in [
        "Connection wait p50/p99/max (ms):        1.75 / - / 3.50",
        "Share of the client's own ceiling:       34 % of 10000 tok/s",
        "P99 ITL, gap of tokens (ms):             6.92 (within 0.05 %)",
        "P99 ICL, gap of chunks (ms):             6.92\n",
    ] {
        assert!(block.contains(line), "{line}\n{block}");
    }
    assert!(block.lines().all(|line| line.chars().count() <= 80), "{block}");
}

#[test]
fn the_block_shows_what_met_each_goal() {
    let block = |goals: &str| {
        let goals: GoodputGoals = goals.parse().unwrap();
        let mut level = sample::level(1);
        let mut tally = LevelTally::new(&goals).of_closed_loop();
        sample::tapes(64).iter().for_each(|tape| tally.add(tape));
        level.summary = tally.summary();
        let block = Shown(&level).block(fizeau_report::Verbosity::Full);
        assert!(block.lines().all(|line| line.chars().count() <= 80), "{block}");
        block
    };
    let one = block("ttft:325.6 e2el:9000");
    for line in [
        "Goodput (req/s):                         44.5  [30.4, 58.6]\n",
        "Goodput share of all sent:               52 %  [45 %, 58 %]\n",
        "\n  ttft:325.6                             52 %\n",
        "\n  e2el:9000                              98 %\n",
    ] {
        assert!(one.contains(line), "{line}\n{one}");
    }
    let groups = block("ttft:325.6 e2el:9000 or tpot:1");
    for line in [
        "\n  group 1, all of it:                    52 %\n    ttft:325.6 ",
        "\n  group 2, all of it:                    0 %\n    tpot:1 ",
    ] {
        assert!(groups.contains(line), "{line}\n{groups}");
    }
    assert!(!block("").contains("Goodput"));
}

/// Of a schedule some of the same requests left too late to keep the limit from there, which vLLM's goodput does not see.
#[test]
fn the_block_of_an_open_loop_has_goodput_by_both_clocks() {
    let goals: GoodputGoals = "ttft:325.6 e2el:9000".parse().unwrap();
    let mut level = sample::level(1);
    level.summary = LevelSummary::of(&sample::tapes(64), &goals);
    let block = Shown(&level).block(fizeau_report::Verbosity::Brief);
    let lines = "Goodput share of all sent:               47 %  [41 %, 53 %]\n  if counted from sending:               52 %\n";
    assert!(block.contains(lines), "{block}");
}

#[test]
fn the_block_keeps_reasoning_apart() {
    let mut tapes = sample::tapes(1);
    for tape in &mut tapes {
        for (i, arrival) in tape.arrivals.iter_mut().enumerate() {
            arrival.channel = if i < 30 { Channel::Reasoning } else { Channel::Visible };
            (arrival.bytes, arrival.chars) = (5, 4);
        }
    }
    let mut level = sample::level(1);
    level.summary = LevelSummary::of(&tapes, &GoodputGoals::default());
    let block = Shown(&level).block(fizeau_report::Verbosity::Full);
    // Eight replies of 40 tokens, 5.06 ms apart, in 1.73 s.
    for line in [
        "Tokens of reasoning/of the rest:         240 / 80\n",
        "Time spent reasoning p50/p99/max (ms):   152 / - / 152\n",
        "Visible text (chars/s):                  185\n",
    ] {
        assert!(block.contains(line), "{line}\n{block}");
    }
}

#[test]
fn an_embedding_has_a_latency_and_no_tokens() {
    let mut tape = Tape::sent_at(Stamp::EPOCH);
    let at = Stamp::EPOCH + Nanos::from_millis(7);
    tape.arrivals = vec![Arrival::tokens(at, 0, Channel::Embedding)];
    tape.token_source = TokenSource::Tokenless;
    let mut level = sample::level(1);
    level.summary = LevelSummary::of([&tape], &GoodputGoals::default());
    let metrics = &parsed(&level)["metrics"];
    assert_eq!(metrics["e2el_ms"]["p50"], 7.0);
    for absent in
        ["ttft_ms", "ttft_scheduled_ms", "first_visible_ms", "tpot_ms", "itl_ms", "icl_ms"]
    {
        assert_eq!(metrics[absent]["p50_reason"], "the replies have no tokens", "{absent}");
    }
    let block = Shown(&level).block(fizeau_report::Verbosity::Full);
    assert!(block.contains("Median E2EL to the embedding (ms):       7.00"), "{block}");
    assert!(!block.contains("TTFT") && !block.contains("Decode"), "{block}");
}

#[test]
fn what_is_longer_than_a_figure_is_broken_at_80_columns() {
    let mut level = sample::level(128);
    let long = "so many words that they do not fit, ".repeat(9);
    level.validity.notes = vec![long.clone()];
    level.validity.reasons =
        vec![VerdictReason::new(Verdict::Suspect, VerdictConcern::Client, long.clone())];
    level.speed_of_light = SpeedOfLight::Absent { reason: long };
    let block = Shown(&level).block(fizeau_report::Verbosity::Full);
    assert!(block.lines().all(|line| line.chars().count() <= 80), "{block}");
    assert_eq!(block.split_whitespace().filter(|word| *word == "fit,").count(), 27);
}

#[test]
fn the_block_says_what_vllms_does_not() {
    let golden = "\
============ Fizeau, [95 % intervals] ============
Median TTFT from send (ms):              18.94  [CI needs 30 requests]
P99 TTFT from send (ms):                 - (needs 100 values, has 8)
Median TTFT from schedule (ms):          18.97  [CI needs 30 requests]
P99 TTFT from schedule (ms):             - (needs 100 values, has 8)
Median TPOT after first event (ms):      5.06  [CI needs 30 requests]
P99 TPOT after first event (ms):         - (needs 100 values, has 8)
Median E2EL to last token (ms):          216.28  [CI needs 30 requests]
P99 E2EL to last token (ms):             - (needs 100 values, has 8)
Median ICL, gap of chunks (ms):          5.06
P99 ICL, gap of chunks (ms):             5.06
Median ITL, gap of tokens (ms):          5.06
P99 ITL, gap of tokens (ms):             5.06
Request throughput (req/s):              4.64  [CI needs 30 requests]
Output throughput (tok/s):               185.45  [CI needs 30 requests]
Tokens counted by:                       token ids (exact)
Tokens per chunk:                        1.00
Prefill p50/p10 (tok/s per request):     13203 / -
Decode p50/p10 (tok/s per request):      198 / -
In flight mean/p50/p90/peak:             1.0 / 1 / 1 / 2
Peak output tok/s:                       187 (over 0.86 s)
Steady part:                             - (needs 100 requests, has 8)
Prompt tokens requested:                 250 each
Prompt tokens seen:                      not reported
Output tokens requested:                 40 each
Output tokens seen:                      40 each
Client threads:                          2
Arrivals stamped by:                     kernel
Send lateness p50/p99/max (ms):          0.034 / - / 0.050
Read lag p50/p99/max (ms):               0.012 / 0.015 / 0.015
CPU of the busiest thread:               21 %
CPU starvation:                          1.0 %
Connections made/replaced meanwhile:     1 / 0
Speed of light (output tok/s):           223
Share of it reached:                     83 %
Share reached in prefill:                24 %
Share reached in decode:                 89 %
Limited by:                              weight traffic
Expected, roofline model (output tok/s): 222
Are these figures right? Verdict:        valid
==================================================";
    assert_eq!(Shown(&sample::level(1)).block(fizeau_report::Verbosity::Full), golden);
    let failed = Shown(&sample::level(128)).block(fizeau_report::Verbosity::Full);
    assert!(failed.contains("\nFailed by class:                         8 connect\n"), "{failed}");
    let suspect = Shown(&sample::level(64)).block(fizeau_report::Verbosity::Full);
    assert!(suspect.contains("suspect\n  suspect: 1.6 % of requests failed"), "{suspect}");
}

#[test]
fn the_block_shows_intervals_and_how_well_a_figure_is_known() {
    let tapes = sample::tapes(1).into_iter().cycle().take(400);
    let tapes: Vec<Tape> = tapes.collect();
    let mut level = sample::level(1);
    level.summary = LevelSummary::of(&tapes, &GoodputGoals::default());
    let mut tally = LevelTally::new(&GoodputGoals::default());
    tapes.iter().for_each(|tape| tally.add(tape));
    let outcomes = tally.precision(&"output_tps ci=50%, p999 ttft ci=1%".parse().unwrap());
    level.until = Some(UntilPrecise { is_reached: false, outcomes });
    let block = Shown(&level).block(fizeau_report::Verbosity::Full);
    let is_interval = |line: &str| line.contains("  [") && line.ends_with(']');
    let with = |name: &str| block.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(is_interval(with("Median TTFT from schedule (ms):")), "{block}");
    assert!(!is_interval(with("Median ITL, gap of tokens (ms):")), "{block}");
    assert!(with("Until output_tps ci=50%:").ends_with("% after 400 requests"), "{block}");
    let missing = with("Until p999 ttft ci=1%:");
    assert!(missing.ends_with("not reached: needs about 1000, has 400"), "{block}");
    assert!(block.lines().all(|line| line.chars().count() <= 80), "{block}");
    assert!(block.is_ascii(), "{block}");
    let json = serde_json::from_str::<Value>(&level.to_json().unwrap()).unwrap();
    assert_eq!(json["until"]["goals"][1]["half_width_reason"], "needs about 1000, has 400");
    // What was reached at a look may be a little less well known once the last requests are in.
    let outcomes = tally.precision(&"output_tps ci=0.0001%".parse().unwrap());
    level.until = Some(UntilPrecise { is_reached: true, outcomes });
    let block = Shown(&level).block(fizeau_report::Verbosity::Full);
    let line = block.lines().find(|line| line.starts_with("Until output_tps")).unwrap();
    assert!(line.contains(" reached: at the end +-") && line.ends_with(" % (n=400)"), "{line}");
}

#[test]
fn in_brief_it_takes_no_more_than_fifteen_lines() {
    for (concurrency, words) in [
        (1, "Share of speed of light (output tok/s): "),
        (64, "suspect: "),
        (128, "Failed by class: "),
    ] {
        let block = Shown(&sample::level(concurrency)).block(fizeau_report::Verbosity::Brief);
        assert!(block.lines().count() <= 15, "{block}");
        assert!(
            block.contains("P99 TTFT from schedule (ms): ") && block.contains("Verdict: "),
            "{block}"
        );
        assert!(!block.contains("Client threads"), "{block}");
        assert!(block.contains(words), "{block}");
    }
    let mut level = sample::level(64);
    let text = "the client sent later than scheduled: p99 101.0 ms (limit 100 ms)";
    level.validity.reasons = (0..4)
        .map(|n| format!("{text}{n}; {}", "so it is explained, ".repeat(20)))
        .map(|text| VerdictReason::new(Verdict::Suspect, VerdictConcern::Client, text))
        .collect();
    level.validity.notes = vec!["a long note ".repeat(20); 5];
    let block = Shown(&level).block(fizeau_report::Verbosity::Brief);
    assert!(block.lines().count() <= 15, "{block}");
    assert!(block.contains("(limit 100 ms)1\n  and 3 more (-v shows them)\n"), "{block}");
    assert!(!block.contains("explained"), "{block}");
}

/// What changed figures is said whole even in brief.
#[test]
fn what_was_sent_again_is_a_finding() {
    let mut level = sample::level(1);
    level.client.connections_replaced = 2;
    level.validity.notes.extend(level.client.sent_again());
    let block = Shown(&level).block(fizeau_report::Verbosity::Brief).replace("\n   ", "");
    let finding = "finding: 2 requests were sent again because the server closed an idle";
    assert!(block.contains(finding) && block.contains("include the failed try"), "{block}");
}

#[test]
fn what_the_client_called_off_is_no_failure() {
    let mut level = sample::level(128);
    let called_off = level.summary.requests.by_class.insert(FailureClass::Cancelled, 3);
    assert_eq!(called_off, None);
    let block = Shown(&level).block(fizeau_report::Verbosity::Full);
    assert!(block.contains("\nCancelled by the client:                 3\n"), "{block}");
    assert!(!block.contains("cancelled"), "{block}");
}
