//! `fizeau sol` with speculation, chunks, separate roles, prices, power and goals.

use serde_json::Value;

use crate::stand::{Ended, run};

fn ran(model: &str, more: &[&str]) -> Ended {
    let flags = ["sol", "--model-config", model, "--hardware", "h100-sxm"];
    let load = ["--isl", "2048", "--osl", "256", "--concurrency", "32"];
    run(&[&flags[..], &load, more].concat())
}

fn document(model: &str, more: &[&str]) -> Value {
    let ended = ran(model, &[more, &["--json"]].concat());
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    serde_json::from_str(&ended.out).unwrap()
}

const ALL: [&str; 10] =
    ["--draft", "3", "--chunk", "544", "--price", "2", "--power", "50%", "--disaggregate", "8"];

#[test]
fn each_is_a_part_of_the_document() {
    let document = document("llama-3.1-8b", &ALL);
    let number = |of: &Value| of.as_f64().unwrap();
    // (1 - 0.8^4) / (1 - 0.8)
    assert!((number(&document["speculation"]["bound"]["tokens_per_cycle"]) - 2.952).abs() < 1e-9);
    assert_eq!(document["speculation"]["drafter"], "lookup");
    assert_eq!(document["chunked"]["expected"]["passes_per_prompt"], 4);
    assert_eq!(document["energy"]["limit_watts"], 350.0);
    assert!(number(&document["energy"]["expected"]["prefill_stretch"]) > 1.0);
    assert_eq!(document["cost"]["usd_per_device_hour"]["low"], 2.0);
    let instances = |of: &str| document["disaggregation"][of].as_u64().unwrap();
    assert_eq!(instances("prefill_instances") + instances("decode_instances"), 8);
    for part in ["speculation", "chunked", "energy", "disaggregation"] {
        let rate = |way: &str| number(&document[part][way]["requests_per_s"]);
        assert!(rate("bound") >= rate("expected"), "{part}");
        let tpot = |way: &str| number(&document[part][way]["tpot_ms"]);
        assert!(tpot("bound") <= tpot("expected"), "{part}");
    }
}

#[test]
fn nothing_is_there_that_was_not_asked_for() {
    let document = document("llama-3.1-8b", &[]);
    for part in ["speculation", "chunked", "cost", "energy", "disaggregation"] {
        assert!(document.get(part).is_none(), "{part}");
    }
}

#[test]
fn the_tables_fit_a_terminal() {
    let ended = ran("llama-3.1-8b", &ALL);
    let dated = ran("llama-3.1-8b", &["--price"]);
    for ended in [ended, dated] {
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
        for line in ended.out.lines() {
            assert!(line.chars().count() <= 80 && line == line.trim_end(), "{line}");
        }
        assert!(ended.out.contains("USD for a million tokens"));
    }
}

#[test]
fn a_published_price_says_whose_it_is() {
    let document = document("llama-3.1-8b", &["--price"]);
    let source = document["cost"]["price_source"].as_str().unwrap();
    assert!(source.contains("2026"), "{source}");
    let of = |way: &str| document["cost"][way]["output"].as_f64().unwrap();
    assert!(of("expected_low") < of("expected_high"));
    assert!(of("bound_low") < of("expected_low"));
}

#[test]
fn a_model_with_a_module_for_it_drafts_with_that() {
    let flags =
        ["sol", "--model-config", "deepseek-v3", "--hardware", "h200-sxm", "--tp", "8", "--json"];
    let ended = run(&[&flags[..], &["--draft", "1", "--acceptance", "0.85"]].concat());
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(document["speculation"]["drafter"], "mtp");
    assert!(document["speculation"]["expected"]["gain"].as_f64() > Some(1.0));
}

#[test]
fn a_goal_is_met_by_the_fewest_devices() {
    let found = document("llama-3.1-70b", &["--goal", "tpot:30", "concurrency:32"]);
    assert_eq!(found["schema"], "fizeau.sol-goal/1");
    let fewest = &found["fewest_devices"];
    assert!(fewest["best"]["tpot_ms"].as_f64() <= Some(30.0));
    assert!(fewest["devices"].as_u64() > Some(1));
    assert!(fewest["one_less_lacks"].is_string());

    let ended = ran("llama-3.1-70b", &["--goal", "tpot:0.1", "--most-devices", "4"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("no way over up to 4 h100-sxm meets the goal"), "{}", ended.out);
    assert!(ended.out.contains("do not fit"), "{}", ended.out);
}

#[test]
fn what_is_wrong_is_said_in_a_line() {
    for (flags, says) in [
        (&["--draft", "-1"][..], "--draft"),
        (&["--draft", "many"], "it must be from 0 to 64, or best"),
        (&["--draft", "2", "--acceptance", "1.5"], "the acceptance of drafted token 1 is 1.5"),
        (&["--draft", "2", "--drafter", "mtp"], "the model has no module that drafts"),
        (&["--draft", "2", "--drafter", "nowhere.json"], "--drafter nowhere.json"),
        (&["--chunk", "16"], "leaves no room for a prompt"),
        (&["--disaggregate", "1"], "it takes one of each kind"),
        (&["--price", "cheap"], "--price cheap: it must be US dollars"),
        (&["--price", "0"], "it must be a positive number"),
        (&["--power", "50 horses"], "--power 50 horses: it must be watts"),
        (&["--power", "100"], "it must be above the 140 W"),
        (&["--goal", "tpot=50"], "--goal tpot=50: it must be one of ttft"),
    ] {
        let ended = ran("llama-3.1-8b", flags);
        assert_eq!(ended.code, Some(2), "{flags:?}");
        assert!(ended.err.contains(says), "{flags:?}: {}", ended.err);
    }
}
