//! `fizeau plan`: from a table or a run to replicas and devices.

use std::fs;

use serde_json::Value;

use crate::stand::{Ended, Scratch, run};

const CURVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/plan/curve.csv");
const OWNED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/plan/owned.toml");

/// `fizeau plan` for 100 requests/s.
fn plan(words: &[&str]) -> Ended {
    run(&[&["plan", "--rate", "100"], words].concat())
}

fn json(words: &[&str]) -> Value {
    let ended = plan(&[words, &["--json"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.out).unwrap()
}

/// What was printed, on one line.
fn words(ended: &Ended) -> String {
    ended.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Goals, devices and price.
const GOALS: [&str; 8] = [
    "--slo",
    "p99 ttft<=500ms, goodput>0.9",
    "--gpus-per-replica",
    "8",
    "--headroom",
    "0.2",
    "--gpu-hour",
    "2.50",
];

#[test]
fn a_table_gives_replicas_devices_and_money() {
    let words = [&["--from", CURVE, "--spare", "1"], &GOALS[..]].concat();
    let ended = plan(&words);
    let remedy =
        "note: Speed of light: not computed; add --model-config NAME and --hardware NAME\n";
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), remedy), "{ended:?}");
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80), "{}", ended.out);
    for text in ["A replica carries 14.0 requests/s", "9 + 1", "200.00", "\n  0.75 ", "as given"] {
        assert!(ended.out.contains(text), "{text}: {}", ended.out);
    }
    let plan = &json(&words)["plans"][0];
    // 100 / (14 x 0.8) = 8.9; 80 devices at 2.50 are 200 dollars for 90 million output tokens an hour.
    assert_eq!(plan["likely"]["devices"], 80);
    let million = plan["likely"]["usd_per_million_output_alone"]["low"].as_f64().unwrap();
    assert!((million - 200.0 / 90.0).abs() < 1e-9, "{million}");
}

#[test]
fn kinds_of_device_stand_side_by_side() {
    let owned = format!("owned={CURVE},gpus=8,tco={OWNED}");
    let rented = format!("rented={CURVE},gpus=8,gpu-hour=2.5");
    let words = ["--from", &rented, "--from", &owned, "--slo", "p99 ttft<=500ms"];
    let ended = plan(&words);
    assert!(ended.out.contains("* owned"), "{}", ended.out);
    let json = json(&words);
    assert_eq!(json["cheapest"], "owned");
    let price = json["plans"][1]["usd_per_device_hour"]["low"].as_f64().unwrap();
    assert!((price - 1.1).abs() < 1e-9, "{price}");
}

#[test]
fn a_table_with_a_model_is_held_against_the_speed_of_light() {
    let from = format!("h100={CURVE},gpus=1,gpu-hour=2,hardware=h100-sxm");
    let json =
        json(&["--from", &from, "--slo", "p99 ttft<=500ms", "--model-config", "llama-3.1-8b"]);
    let light = &json["plans"][0]["speed_of_light"];
    let share = light["share_of_cost"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.0, "{light}");
}

/// Levels of a closed loop, simulated: the run says its device, whose price is a published one, and its lengths.
#[test]
fn a_sweep_is_planned_from() {
    let scratch = Scratch::new("plan-sweep");
    let out = scratch.path("sweep");
    let swept = run(&[
        "simulate",
        "--levels",
        "1,8,32,96",
        "--model-config",
        "llama-3.1-8b",
        "--hardware",
        "h100-sxm",
        "--random-input-len",
        "200",
        "--random-output-len",
        "50",
        "--out",
        &out,
    ]);
    assert_eq!(swept.code, Some(0), "{swept:?}");
    let json = json(&["--from", &out, "--slo", "p99 ttft<300ms", "--goals", "p99 ttft<600ms"]);
    let plan = &json["plans"][0];
    assert!(plan["nearest_tested"]["concurrency"].is_u64(), "{plan}");
    assert!(plan["price_from"].as_str().unwrap().contains("20"), "{plan}");
    assert_eq!(
        plan["usd_per_device_hour"]["low"], plan["usd_per_device_hour"]["high"],
        "the lowest of the published"
    );
    assert!(plan["speed_of_light"]["share_of_replica"].as_f64().unwrap() < 1.0, "{plan}");
    assert!(plan["likely"]["usd_per_million_input"]["low"].is_f64(), "{plan}");
    assert_eq!(plan["other_goals"].as_array().unwrap().len(), 1);
    let bursts = plan["bursts"]["reason"].as_str().unwrap();
    assert_eq!(bursts, "how bursty they will be is not given");
    let ended = plan_of_bursts(&out, &[]);
    assert!(words(&ended).contains("since there is no calibration of the engine"), "{}", ended.out);
}

fn plan_of_bursts(from: &str, more: &[&str]) -> Ended {
    plan(&[&["--from", from, "--slo", "p99 ttft<300ms", "--burstiness", "0.25"], more].concat())
}

/// A calibration says how the simulated engine steps; burstier arrivals then cost replicas.
#[test]
fn bursts_take_more_replicas_where_a_calibration_says_how_many() {
    let scratch = Scratch::new("plan-bursts");
    let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/measurements/serving.csv");
    let all = fs::read_to_string(published).unwrap();
    let (header, rows) = all.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().step_by(20).collect();
    let (some, calibration) = (scratch.path("measured.csv"), scratch.path("calibration.json"));
    fs::write(&some, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let fitted = run(&["sol", "--fit", &some, "--out", &calibration]);
    assert_eq!(fitted.code, Some(0), "{fitted:?}");

    let from = format!("h100={CURVE},gpus=1,gpu-hour=2,hardware=h100-sxm");
    let model = ["--model-config", "llama-3.1-8b", "--calibration", &calibration];
    let ended = plan_of_bursts(&from, &[&model[..], &["--json"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    let bursts = &json["plans"][0]["bursts"];
    assert_eq!(bursts["accounted"], true, "{bursts}");
    let factor = bursts["factor"].as_f64().unwrap();
    assert!(factor > 0.2 && factor < 1.0, "{bursts}");
    // Shared by several replicas, a burst is less of one for each; but for what chance makes of a p99.
    let pooled = bursts["pooled_requests_per_s_per_replica"].as_f64().unwrap();
    let alone = bursts["under_bursts_requests_per_s"].as_f64().unwrap();
    assert!(pooled > 0.97 * alone, "{bursts}");
}

/// What ships for an engine changes the plan, for the engine that is named; without it there is the plan of the load alone.
#[test]
fn what_ships_for_an_engine_changes_the_plan() {
    let from = format!("h100={CURVE},gpus=1,gpu-hour=2,hardware=h100-sxm");
    let planned = |more: &[&str]| -> Value {
        let words = [&["--model-config", "llama-3.1-8b"][..], more, &["--json"]].concat();
        let ended = plan_of_bursts(&from, &words);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let mut document: Value = serde_json::from_str(&ended.out).unwrap();
        document["plans"][0].take()
    };
    let carried = |plan: &Value| plan["likely"]["devices"].as_u64().unwrap();
    let shipped = planned(&["--engine", "vllm"]);
    assert_eq!(shipped["bursts"]["accounted"], true, "{shipped}");
    assert!(shipped["bursts"]["engine"].as_str().unwrap().contains("vllm"), "{shipped}");
    let none = planned(&["--engine", "vllm", "--calibration", "none"]);
    assert_eq!(none["bursts"]["accounted"], false, "{none}");
    assert!(none["bursts"]["reason"].as_str().unwrap().contains("no calibration"), "{none}");
    assert!(carried(&shipped) > carried(&none), "{shipped} {none}");
    assert_eq!(none["likely"], planned(&[])["likely"]);
    // Another engine steps otherwise.
    let other = planned(&["--engine", "sglang"]);
    assert_ne!(other["bursts"]["factor"], shipped["bursts"]["factor"], "{other}");
}

#[test]
fn goals_that_cannot_be_met_end_with_what_could() {
    let with = |slo: &str| {
        plan(&["--from", CURVE, "--gpus-per-replica", "8", "--gpu-hour", "2", "--slo", slo])
    };
    let unmet = with("p99 ttft<100ms");
    assert_eq!(unmet.code, Some(1), "{unmet:?}");
    let said = words(&unmet);
    assert!(
        said.contains("the nearest that could be met: p99 TTFT at most 200 ms at 4 requests/s"),
        "{said}"
    );
    let lacking = with("p50 e2el<2s");
    assert_eq!(lacking.code, Some(1), "{lacking:?}");
    assert!(
        words(&lacking).contains("no level has that figure; there are p99 ttft"),
        "{}",
        lacking.out
    );
}

#[test]
fn of_one_load_that_keeps_the_goals_the_replicas_are_an_upper_limit() {
    let scratch = Scratch::new("plan-upper");
    let path = scratch.path("one.csv");
    fs::write(&path, "rate,p99_ttft_ms\n6,120\n").unwrap();
    let flags = ["--from", &path, "--gpus-per-replica", "2", "--slo", "p99 ttft<500ms"];
    let ended = plan(&flags);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let said = words(&ended);
    assert!(said.contains("the replicas below are an upper limit"), "{said}");
    assert!(said.contains("replicas at most "), "{said}");
    // Nobody knows what a device costs, and nobody is asked to make a price up.
    assert!(said.contains("Price: none is known"), "{said}");
    assert!(!said.contains("USD an hour"), "{said}");
    let json = plan(&[&flags[..], &["--json"]].concat());
    let document: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(document["plans"][0]["usd_per_device_hour"], Value::Null);
    assert_eq!(document["plans"][0]["price_from"], "no price is known");
}

#[test]
fn a_column_says_how_many_devices_a_replica_takes() {
    let scratch = Scratch::new("plan-devices");
    let path = scratch.path("curve.csv");
    let plan_of = |text: &str, more: &[&str]| {
        fs::write(&path, text).unwrap();
        plan(&[&["--from", &path, "--slo", "p99 ttft<500ms", "--json"], more].concat())
    };
    let curve = "rate,p99_ttft_ms,devices\n6,120,2\n9,700,2\n";
    let ended = plan_of(curve, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(document["plans"][0]["devices_per_replica"], 2, "{document}");
    assert_eq!(plan_of(curve, &["--gpus-per-replica", "2"]).out, ended.out);
    for (text, more, said) in [
        (
            curve,
            &["--gpus-per-replica", "8"][..],
            "--gpus-per-replica 8: curve.csv says itself, in",
        ),
        (
            "rate,p99_ttft_ms,devices\n6,120,2\n9,700,4\n",
            &[],
            "column devices: 4, and 2 in a row before",
        ),
        ("rate,p99_ttft_ms,devices\n6,120,0.5\n", &[], "column devices: 0.5; it must be a whole"),
    ] {
        let ended = plan_of(text, more);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(said), "{said}: {}", ended.err);
    }
}

#[test]
fn wrong_flags_and_files_are_named() {
    let scratch = Scratch::new("plan-wrong");
    let csv = |text: &str| {
        let path = scratch.path("curve.csv");
        fs::write(&path, text).unwrap();
        path
    };
    let refused = |words: &[&str], text: &str| {
        let ended = plan(words);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(text), "{text}: {}", ended.err);
    };
    let good = ["--gpus-per-replica", "8", "--gpu-hour", "2", "--slo", "p99 ttft<1s"];
    let with = |from: &str, text: &str| refused(&[&["--from", from], &good[..]].concat(), text);
    with("nowhere.csv", "--from nowhere.csv: there is no such folder or file");
    with(
        &csv("latency\n3\n"),
        "a table with one of the columns rate, requests_per_s or concurrency",
    );
    with(
        &csv("rate,p99_ttft_ms\n3,fast\n"),
        "row 0 (line 2): column p99_ttft_ms: `fast` is not a number",
    );
    with(&csv("rate,p99_ttft_ms\n-3,5\n"), "row 0 (line 2): column rate: -3; it must be above 0");
    with(&csv("rate,p99_ttft_ms\n3\n"), "row 0 (line 2) has 1 field and the header 2");
    with(&csv("rate\n"), "there is no row; give one for each load");
    with(
        &csv("concurrency,p99_ttft_ms\n3,5\n"),
        "beside concurrency it needs a column requests_per_s",
    );
    with(&format!("{CURVE},gpus=0"), "write a whole number from 1 on");
    with(&format!("{CURVE},price=3"), "the keys are gpus, gpu-hour, hardware, tco");
    // What the file says itself is not what a flag says.
    let lengths = csv("rate,p99_ttft_ms,prompt_tokens\n3,5,512\n");
    let asked = [&["--from", &lengths][..], &good, &["--input-len", "4096"]].concat();
    refused(&asked, "says itself that they were 512 tokens; leave the flag out");
    refused(
        &[&["--from", CURVE][..], &good, &["--input-len", "0"]].concat(),
        "--input-len 0: give",
    );
    let from = ["--from", CURVE];
    refused(&[&from[..], &good, &["--headroom", "1"]].concat(), "--headroom: the headroom is 1");
    refused(
        &[&from[..], &good, &["--rate", "0"]].concat(),
        "--rate: the rate is 0 requests/s, and must be above 0",
    );
    refused(&[&from[..], &good, &["--burstiness", "0"]].concat(), "--burstiness: ");
    refused(&[&from[..], &good[2..]].concat(), "--gpus-per-replica: say how many");
    refused(&[&from[..], &good[..4]].concat(), "--slo: name the goals");
    refused(&[&from[..], &from[..], &good].concat(), "two sources are called curve.csv");
}

/// A run of levels at rates, some of them too much, in virtual time.
fn open_loop(scratch: &Scratch, name: &str, slo: &str, more: &[&str]) -> String {
    let out = scratch.path(name);
    let words =
        ["simulate", "--rates", "4,8,16,32,64", "--num-prompts", "300", "--goodput", "ttft:400"];
    let engine =
        ["--model-config", "llama-3.1-8b", "--hardware", "h100-sxm", "--random-input-len", "200"];
    let rest = ["--random-output-len", "50", "--slo", slo, "--out", &out];
    let ran = run(&[&words[..], &engine, &rest, more].concat());
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    out
}

/// A run's own table says what the run says: goodput is a rate in it, and the load what was asked for.
#[test]
fn a_table_of_a_run_gives_the_plan_of_the_run() {
    let scratch = Scratch::new("plan-table");
    let folder = open_loop(&scratch, "run", "p99 tpot<9ms", &[]);
    let table = run(&["pareto", &folder, "--table"]);
    assert_eq!(table.code, Some(0), "{table:?}");
    let csv = scratch.path("levels.csv");
    fs::write(&csv, &table.out).unwrap();
    for slo in ["p99 tpot<9ms", "goodput>0.95", "goodput_per_s>3, p99 ttft<200ms"] {
        let of = |from: &str| {
            let from = format!("same={from},gpus=1,gpu-hour=2");
            let ended = plan(&["--from", &from, "--slo", slo, "--json"]);
            let json: Value = serde_json::from_str(&ended.out).unwrap();
            json["plans"][0].clone()
        };
        let (by_table, by_folder) = (of(&csv), of(&folder));
        for key in ["nearest_tested", "breaks_first", "no_plan_reason", "may_be_higher"] {
            assert_eq!(by_table[key], by_folder[key], "{slo}: {key}");
        }
        let carried = |plan: &Value| plan["requests_per_s_per_replica"]["value"].as_f64();
        let (by_table, by_folder) = (carried(&by_table), carried(&by_folder));
        assert!(
            (by_table.unwrap() / by_folder.unwrap() - 1.0).abs() < 1e-6,
            "{slo} {by_table:?} {by_folder:?}"
        );
    }
}

#[test]
fn what_a_table_cannot_mean_is_refused() {
    let scratch = Scratch::new("plan-columns");
    let refused = |table: &str, slo: &str| {
        let csv = scratch.path("curve.csv");
        fs::write(&csv, table).unwrap();
        let ended =
            plan(&["--from", &csv, "--slo", slo, "--gpus-per-replica", "1", "--gpu-hour", "2"]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        ended.err
    };
    let same = refused("rate,p99_ttft,p99_ttft_ms\n1,2,3\n", "p99 ttft<9ms");
    assert!(same.contains("columns p99_ttft and p99_ttft_ms mean the same"), "{same}");
    for slots in ["2.5", "0.5", "4294967296"] {
        let table = format!("concurrency,requests_per_s,p99_ttft_ms\n{slots},1,2\n");
        let wrong = refused(&table, "p99 ttft<9ms");
        assert!(wrong.contains("whole number from 1 to 4294967295"), "{wrong}");
    }
    // More than a share can be: good requests per second, so that nothing is known of the share.
    let csv = scratch.path("rates.csv");
    fs::write(&csv, "rate,goodput\n4,3.9\n8,5\n").unwrap();
    let ended = plan(&[
        "--from",
        &csv,
        "--slo",
        "goodput>0.9",
        "--gpus-per-replica",
        "1",
        "--gpu-hour",
        "2",
    ]);
    assert!(words(&ended).contains("no level has that figure"), "{ended:?}");
}

#[test]
fn runs_of_different_goals_need_one_for_all() {
    let scratch = Scratch::new("plan-goals");
    let [one, other] = [("one", "p99 ttft<300ms"), ("other", "p99 ttft<600ms")]
        .map(|(name, slo)| open_loop(&scratch, name, slo, &[]));
    let ended = plan(&["--from", &one, "--from", &other]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    for part in ["one was run for", "p99 ttft<300ms", "other for", "p99 ttft<600ms"] {
        assert!(ended.err.contains(part), "{part}: {}", ended.err);
    }
    let ended = plan(&["--from", &one, "--from", &other, "--slo", "p99 ttft<600ms"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_column_that_a_plan_reads_nothing_of_is_said() {
    let scratch = Scratch::new("plan-unused");
    let table = scratch.path("tested.csv");
    fs::write(&table, "rate,rps,p99_ttft_ms,hardware\n4,4,200,h100-sxm\n8,8,900,h100-sxm\n")
        .unwrap();
    let ended = plan(&["--from", &table, "--slo", "p99 ttft<500ms", "--gpus-per-replica", "1"]);
    let note = "note: --from tested.csv: the column rps is not used; did you mean requests_per_s?";
    assert!(ended.err.contains(note) && !ended.err.contains("hardware is not"), "{ended:?}");
}
