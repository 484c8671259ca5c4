//! How a sweep goes on from level to level: both kinds of load, saturation, refinement, repeats, the sustained run, and going
//! on with one that was broken off. In virtual time but for the last, so that every figure is the same each time.

use std::fs;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::mpsc;

use serde_json::{Value, json as value};

use crate::interrupt::interrupt;
use crate::report_page::comes_back;
use crate::stand::{Ended, Scratch, fizeau, json, run, scripted, stream_of};

/// A simulated sweep of short requests into `out`.
fn simulate(out: &str, flags: &str) -> Ended {
    let line = format!("simulate --isl 64 --osl 32 --slo e2el<60s {flags}");
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--out", out]);
    run(&words)
}

/// The loads of the levels in `sweep.json`.
fn loads(sweep: &Value) -> Vec<Value> {
    sweep["levels"].as_array().unwrap().iter().map(|level| level["load"].clone()).collect()
}

/// That `fizeau report` gives `sweep.json` again.
fn is_given_again(out: &str) {
    let mut sweep = json(format!("{out}/sweep.json"));
    let again = run(&["report", out, "--json"]);
    let mut again: Value = serde_json::from_str(&again.out).unwrap();
    // The config lies in the folder then.
    sweep["setup"]["model_config"] = Value::Null;
    again["setup"]["model_config"] = Value::Null;
    // Both are long: that they differ is enough to say.
    assert!(sweep == again, "{out}: report --json gives another sweep.json");
}

#[test]
fn both_curves_come_from_one_command_each_with_its_table() {
    let scratch = Scratch::new("protocol-both");
    let out = scratch.path("run");
    let ended = simulate(&out, "--levels 4,1 --rates 8,2.5 --num-prompts 120 --burstiness inf");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sweep = json(format!("{out}/sweep.json"));
    let rising = [
        value!({"concurrency": 1}),
        value!({"concurrency": 4}),
        value!({"requests_per_s": 2.5}),
        value!({"requests_per_s": 8.0}),
    ];
    assert_eq!(loads(&sweep), rising);
    let open = &sweep["levels"][3];
    assert_eq!(open["requested"]["arrivals"]["rate_per_s"], 8.0);
    assert_eq!(open["requested"]["arrivals"]["cv_squared"], 0.0, "at equal distances");
    assert_eq!(json(format!("{out}/rate-00008.000/level.json"))["arrivals"]["cv_squared"], 0.0);
    let heads = ended.out.lines().filter(|line| line.contains("failed") && line.contains("p50"));
    assert_eq!(heads.count(), 2, "a table for each kind: {}", ended.out);
    assert!(ended.out.contains("2.5/s"), "a rate beside concurrencies has its unit: {}", ended.out);
    assert!(ended.out.lines().all(|line| line.chars().count() <= 120), "{}", ended.out);
    is_given_again(&out);
}

#[test]
fn rates_alone_have_no_closed_loops_and_auto_places_them_by_those() {
    let scratch = Scratch::new("protocol-rates");
    let (alone, auto) = (scratch.path("alone"), scratch.path("auto"));
    assert_eq!(simulate(&alone, "--rates 3,6 --num-prompts 100").code, Some(0));
    let open = [3.0, 6.0].map(|rate| value!({"requests_per_s": rate}));
    assert_eq!(loads(&json(format!("{alone}/sweep.json"))), open);
    is_given_again(&alone);
    assert_eq!(simulate(&auto, "--levels 1,8 --rates auto:3 --num-prompts 100").code, Some(0));
    let sweep = json(format!("{auto}/sweep.json"));
    let most = sweep["levels"][1]["throughput"]["requests_per_s"].as_f64().unwrap();
    let rates = loads(&sweep).into_iter().filter_map(|load| load["requests_per_s"].as_f64());
    let of_most: Vec<f64> = rates.map(|rate| (1e3 * rate / most).round() / 1e3).collect();
    assert_eq!(of_most, [0.1, 0.65, 1.2]);
    is_given_again(&auto);
}

#[test]
fn the_load_is_raised_one_level_beyond_saturation_and_no_further() {
    let scratch = Scratch::new("protocol-stop");
    let (out, all) = (scratch.path("run"), scratch.path("all"));
    // One at a time: more than one in flight only waits.
    let flags = "--levels 1,2,4,8,16 --num-prompts 60 --max-num-seqs 1";
    let ended = simulate(&out, &format!("{flags} --stop-at-saturation"));
    let sweep = json(format!("{out}/sweep.json"));
    assert_eq!(loads(&sweep), [1, 2, 4].map(|slots| value!({"concurrency": slots})));
    let left: Vec<&Value> = sweep["unmeasured"].as_array().unwrap().iter().collect();
    assert_eq!(left.len(), 2);
    assert_eq!(left[0]["concurrency"], 8);
    let reason = left[0]["reason"].as_str().unwrap();
    assert!(reason.contains("saturated from concurrency 1"), "{reason}");
    assert!(ended.out.contains("8, 16 (never measured: saturated"), "{}", ended.out);
    is_given_again(&out);
    simulate(&all, flags);
    assert_eq!(loads(&json(format!("{all}/sweep.json"))).len(), 5, "simulating all costs nothing");
}

#[test]
fn refining_goes_to_the_edge_of_the_goals() {
    let scratch = Scratch::new("protocol-refine");
    let out = scratch.path("run");
    let line = "simulate --isl 64 --osl 32 --levels 1,64 --refine 3 --num-prompts 100";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--slo", "p50 e2el<200ms"]);
    words.extend(["--out", &out]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sweep = json(format!("{out}/sweep.json"));
    let all = loads(&sweep);
    assert_eq!(all.len(), 5, "{all:?}");
    let slots: Vec<u64> = all.iter().map(|load| load["concurrency"].as_u64().unwrap()).collect();
    assert!(slots.is_sorted() && slots.contains(&8), "first the middle: {slots:?}");
    is_given_again(&out);
}

#[test]
fn repeats_are_runs_of_their_own_with_an_interval_across_them() {
    let scratch = Scratch::new("protocol-repeats");
    let out = scratch.path("run");
    let ended = simulate(&out, "--levels 2 --rates 6 --repeats 3 --num-prompts 120");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sweep = json(format!("{out}/sweep.json"));
    assert_eq!(loads(&sweep).len(), 2, "a load is one point");
    let repeats = &sweep["repeats"][1];
    let runs = repeats["runs"].as_array().unwrap();
    let folders: Vec<&str> = runs.iter().map(|run| run["folder"].as_str().unwrap()).collect();
    assert_eq!(folders, ["rate-00006.000", "rate-00006.000-2", "rate-00006.000-3"]);
    let seed = |folder: &str| json(format!("{out}/{folder}/level.json"))["seed"].as_u64().unwrap();
    assert!(seed(folders[0]) != seed(folders[1]), "prompts and instants of their own");
    let mut rates: Vec<f64> =
        runs.iter().map(|run| run["throughput"]["requests_per_s"].as_f64().unwrap()).collect();
    let mean = rates.iter().sum::<f64>() / 3.0;
    assert!((repeats["requests_per_s"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    // R: qt(0.975, 2) is 4.302653.
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    let half = 4.302_653 * (squares / 2.0 / 3.0).sqrt();
    let found = repeats["requests_per_s"]["half_width"].as_f64().unwrap();
    assert!((found / half - 1.0).abs() < 1e-5, "{found} for {half}");
    rates.sort_by(f64::total_cmp);
    let level = &sweep["levels"][1]["throughput"]["requests_per_s"];
    assert_eq!(level.as_f64().unwrap(), rates[1], "the run in the middle stands for all");
    assert!(ended.out.contains("Repeats: means over the runs"), "{}", ended.out);
    is_given_again(&out);
}

#[test]
fn a_sustained_run_is_reported_apart_and_decides_with_the_goal() {
    let scratch = Scratch::new("protocol-sustain");
    let out = scratch.path("run");
    let ended = simulate(&out, "--levels 1,4 --num-prompts 100 --sustain 20");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sweep = json(format!("{out}/sweep.json"));
    assert_eq!(loads(&sweep).len(), 2, "no further point");
    let sustained = &sweep["sustained"];
    assert_eq!(sustained["load"], value!({"concurrency": 4}));
    assert_eq!(sustained["folder"], "sustained-concurrency-0004");
    assert_eq!((&sustained["holds"], &sustained["level"]), (&value!(true), &value!(1)));
    let seconds = sustained["run"]["throughput"]["duration_s"].as_f64().unwrap();
    assert!((20.0..22.0).contains(&seconds), "{seconds}");
    assert!(ended.out.contains("Sustained: concurrency 4 for"), "{}", ended.out);
    is_given_again(&out);
}

#[test]
fn a_sweep_that_was_broken_off_goes_on_where_it_was() {
    // One request to check and six of the first level; the second level's first hangs until the interrupt.
    let (told, hung) = mpsc::channel();
    let told = Mutex::new(told);
    let url = scripted(move |n| {
        if n != 7 {
            return Some(stream_of(4));
        }
        told.lock().unwrap().send(()).unwrap();
        None
    });
    let scratch = Scratch::new("protocol-resume");
    let out = scratch.path("run");
    let line = format!(
        "sweep --model m --levels 1,2 --isl 4 --osl 4 --num-prompts 6 --num-warmups 0 --level-seconds 60 --goodput ttft:60000 --base-url {url}"
    );
    let words = |rest: &[&str]| -> Vec<String> {
        let rest = rest.iter().map(|word| (*word).to_owned());
        line.split_whitespace().map(str::to_owned).chain(rest).collect()
    };
    let first = words(&["--out", &out]);
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let child = fizeau(&first).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    hung.recv().unwrap();
    interrupt(&child);
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let finished = ["level.json", "tapes.jsonl", "summary.json", "e2el.hdr"];
    let kept = |name: &str| fs::read(format!("{out}/concurrency-0001/{name}")).unwrap();
    // A goal may stand there as somebody typed it: it is the same goal.
    let asked = fs::read_to_string(format!("{out}/run.json")).unwrap();
    let asked = asked.replace("ttft:60000", "ttft:60000.0");
    assert!(asked.contains("ttft:60000.0"), "{asked}");
    fs::write(format!("{out}/run.json"), &asked).unwrap();
    let before = finished.map(kept);

    for (flag, other, what) in [
        ("--isl 4", "--isl 5", "the input length was 4"),
        ("--level-seconds 60", "--level-seconds 5", "the time of each level was 60 s"),
    ] {
        let wrong = line.replace(flag, other);
        let wrong: Vec<&str> = wrong.split_whitespace().chain(["--resume", &out]).collect();
        let refused = run(&wrong);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        // What the sweep was begun with can be typed again, or another one be begun.
        for said in ["--resume: ", what, "is 5", flag, "begin another with --out"] {
            assert!(refused.err.contains(said), "{said}: {}", refused.err);
        }
    }

    let other = words(&["--resume", &out, "--slo", "p99 ttft<9s"]);
    let refused = run(&other.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("the goal of levels was none when"), "{}", refused.err);

    // As if it had been begun with more repeats than it goes on with.
    let repeat = format!("{out}/concurrency-0001-2");
    fs::create_dir(&repeat).unwrap();
    for name in finished {
        fs::copy(format!("{out}/concurrency-0001/{name}"), format!("{repeat}/{name}")).unwrap();
    }
    let again = words(&["--resume", &out]);
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    let ended = run(&again);
    assert!(ended.out.contains("resumed: 2 levels are finished"), "{ended:?}");
    assert!(ended.err.contains("concurrency-0001-2 was measured before"), "{ended:?}");
    assert!(fs::metadata(format!("{repeat}-partial/tapes.jsonl")).is_ok());
    let sweep = json(format!("{out}/sweep.json"));
    let levels = sweep["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 2);
    assert!(levels.iter().all(|level| level["status"] == "finished"), "{levels:?}");
    comes_back(&out);
    assert!(fs::metadata(format!("{out}/concurrency-0002-partial/tapes.jsonl")).is_ok());
    assert_eq!(finished.map(kept), before, "byte for byte");
    assert_eq!(fs::read_to_string(format!("{out}/run.json")).unwrap(), asked);
    is_given_again(&out);
}

#[test]
fn what_the_protocol_cannot_be_is_refused() {
    for (flags, said) in [
        ("--rates 0", "--rates"),
        ("--rates 1,x", "x is not a rate"),
        ("--rates auto:1", "2 to 1000"),
        ("--levels 1 --burstiness 2", "--rates"),
        ("--rates 1 --burstiness 0", "--burstiness"),
        ("--levels 1 --sustain 0", "--sustain"),
        ("--refine 3", "--levels or --rates"),
        ("--levels 1 --stop-at-saturation --no-stop", "--no-stop"),
    ] {
        let scratch = Scratch::new("protocol-bad");
        let ended = simulate(&scratch.path("run"), flags);
        assert_eq!(ended.code, Some(2), "{flags}: {ended:?}");
        assert!(ended.err.contains(said), "{flags}: {}", ended.err);
        assert!(scratch.files().is_empty(), "{flags}");
    }
    let nowhere = run(&["sweep", "--levels", "1", "--resume", "/nonexistent-run"]);
    assert_eq!(nowhere.code, Some(2));
    assert!(nowhere.err.contains("--resume"), "{}", nowhere.err);
}
