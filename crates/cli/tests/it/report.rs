//! `fizeau report`: a stored run again, by our definitions and by those of others.

use std::fs;

use fizeau::core::Nanos;
use fizeau::sim::http::ServerHandle;
use serde_json::{Value, json};

use crate::stand::{HOWEVER_BUSY, Scratch, fixed, json, run};

/// A run of 120 requests over 4 slots, two of the words of `line` more; its folder.
fn measured(server: &ServerHandle, scratch: &Scratch, line: &str) -> String {
    let (url, out) = (server.base_url(), scratch.path("run"));
    let lengths = "--random-input-len 8 --random-output-len 6 --num-prompts 120";
    let mut arguments = vec!["bench", "--model", "m", "--base-url", &url, "--out", &out];
    arguments.extend(HOWEVER_BUSY);
    arguments.extend(lengths.split(' ').chain(line.split_whitespace()));
    let ended = run(&arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    out
}

fn quick() -> ServerHandle {
    fixed(Nanos::from_millis(4), Nanos::from_micros(500))
}

/// What a report prints, read as JSON.
fn printed(arguments: &[&str]) -> Value {
    let ended = run(&[&["report"], arguments, &["--json"]].concat());
    assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
    serde_json::from_str(&ended.out).unwrap()
}

fn shown(arguments: &[&str]) -> String {
    let ended = run(&[&["report"], arguments].concat());
    assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
    ended.out
}

#[test]
fn all_of_a_summary_comes_back_from_the_tapes() {
    let (server, scratch) = (quick(), Scratch::new("report-same"));
    for (name, line) in [
        ("closed", "--max-concurrency 4 --goodput ttft:500 tpot:50 or e2el:2000"),
        ("open", "--request-rate 400 --warmup 20 --cooldown 100ms"),
        ("capped", "--request-rate 400 --max-concurrency 4"),
    ] {
        let scratch = Scratch::new(&format!("report-same-{name}"));
        let out = measured(&server, &scratch, line);
        let summary = fs::read_to_string(format!("{out}/summary.json")).unwrap();
        let ended = run(&["report", &out, "--json"]);
        assert_eq!(ended.out, summary, "{line}");
        let text = shown(&[&out]);
        assert!(text.starts_with("m at http://") && text.contains("Successful requests"), "{text}");
        assert!(text.contains("= Fizeau, ") && text.contains("TTFT from schedule"), "{text}");
    }
    // Other goals and another window than the run's.
    let out = measured(&server, &scratch, "--max-concurrency 4 --goodput ttft:500");
    let again = printed(&[&out, "--warmup", "30", "--goodput", "ttft:0.001"]);
    assert_eq!(again["throughput"]["good_share"], 0.0);
    assert_eq!(json(format!("{out}/summary.json"))["throughput"]["good_share"], 1.0);
    assert_eq!(again["metrics"], json(format!("{out}/summary.json"))["metrics"]);
}

#[test]
fn the_goals_of_a_level_are_judged_again_and_planned_for() {
    let scratch = Scratch::new("report-slo");
    let simulate = |name: &str, slo: &str| {
        let out = scratch.path(name);
        let line = "simulate --random-input-len 32 --random-output-len 8 --num-prompts 200 --max-concurrency 8";
        let mut arguments: Vec<&str> = line.split(' ').collect();
        arguments.extend(["--slo", slo, "--out", &out]);
        (run(&arguments), out)
    };
    for (name, slo, code) in [("met", "p99 ttft<60s", 0), ("missed", "p99 ttft<1ms", 1)] {
        let (ended, out) = simulate(name, slo);
        assert_eq!(ended.code, Some(code), "{ended:?}");
        let goal =
            |text: &str| text.lines().find(|line| line.starts_with("p99 TTFT")).map(str::to_owned);
        let again = run(&["report", &out]);
        assert_eq!((again.code, goal(&again.out)), (Some(code), goal(&ended.out)), "{again:?}");
        assert!(goal(&ended.out).is_some(), "{ended:?}");
        assert_eq!(run(&["report", &out, "--markdown"]).code, Some(code));
        let page = fs::read_to_string(format!("{out}/report.html")).unwrap();
        assert!(!page.contains("no goal given"));
        let plan = run(&["plan", "--from", &out, "--rate", "10", "--gpus-per-replica", "1"]);
        assert!(matches!(plan.code, Some(0 | 1)) && plan.out.contains("ttft"), "{plan:?}");
        assert!(json(format!("{out}/run.json"))["slo"].as_str().unwrap().starts_with("p99 ttft<"));
    }
}

#[test]
fn a_run_is_judged_by_goals_that_it_did_not_have() {
    let scratch = Scratch::new("report-other-slo");
    let lengths = "--random-input-len 32 --random-output-len 8 --num-prompts 100";
    let simulated = |name: &str, line: &str| {
        let out = scratch.path(name);
        let line = format!("{line} {lengths} --slo e2el<60s --out {out}");
        let ended = run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        out
    };
    let runs = [
        simulated("bench", "simulate --max-concurrency 8"),
        simulated("sweep", "simulate --levels 1,4"),
    ];
    for out in &runs {
        for (slo, code) in [("ttft<60s", 0), ("ttft<1us", 1)] {
            for form in [&[][..], &["--markdown"], &["--json"]] {
                let again = run(&[&["report", out, "--slo", slo], form].concat());
                assert_eq!(again.code, Some(code), "{again:?}");
            }
            let text = run(&["report", out, "--slo", slo]).out;
            assert!(text.contains("TTFT") && !text.contains("E2EL < 60"), "{text}");
        }
        // Its own goals are still those that it was run with.
        assert_eq!(run(&["report", out]).code, Some(0));
        assert!(json(format!("{out}/run.json"))["slo"].as_str().unwrap().contains("e2el"));
    }
    let search = simulated("search", "simulate --search concurrency --to 4");
    for (line, named) in [
        (["report", &search, "--slo", "ttft<1s"], "--slo: the loads of a search"),
        (["report", &runs[0], "--slo", "ttft:500"], "--slo ttft:500: this is a goal for each"),
        (["report", &runs[0], "--slo", "abc"], "--slo: "),
    ] {
        let refused = run(&line);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains(named), "{}", refused.err);
    }
}

#[test]
fn a_table_in_a_file_takes_nothing_from_the_report() {
    let scratch = Scratch::new("report-both");
    let (out, csv, page) = (scratch.path("run"), scratch.path("c.csv"), scratch.path("page.html"));
    let line = "simulate --random-input-len 32 --random-output-len 8 --num-prompts 20 --max-concurrency 2 --out";
    let mut arguments: Vec<&str> = line.split(' ').collect();
    arguments.push(&out);
    assert_eq!(run(&arguments).code, Some(0));
    let table = format!("--csv={csv}");
    assert_eq!(printed(&[&out, &table])["schema"], json(format!("{out}/summary.json"))["schema"]);
    assert!(fs::read_to_string(&csv).unwrap().lines().count() == 2);
    assert_eq!(run(&["report", &out, &table, "--html", &page]).code, Some(0));
    assert!(fs::exists(&page).unwrap());
    for other in [&["--json"][..], &["--markdown"], &["--html", &page]] {
        let refused = run(&[&["report", &out, "--csv"], other].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains("both go to standard output"), "{}", refused.err);
    }
}

#[test]
fn a_sweep_and_each_of_its_levels_come_back() {
    let (server, scratch) = (quick(), Scratch::new("report-sweep"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let line = "--levels 1,4 --isl 8 --osl 6 --num-prompts 20 --threshold cpu-invalid=1 lateness-invalid=600s";
    let mut arguments = vec!["sweep", "--model", "m", "--base-url", &url, "--out", &out];
    arguments.extend(line.split(' '));
    let ended = run(&arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sweep = fs::read_to_string(format!("{out}/sweep.json")).unwrap();
    assert_eq!(run(&["report", &out, "--json"]).out, sweep);
    let level = format!("{out}/concurrency-0004");
    let summary = fs::read_to_string(format!("{level}/summary.json")).unwrap();
    assert_eq!(run(&["report", &level, "--json"]).out, summary);
    let table = shown(&[&out]);
    assert!(ended.out.contains(table.trim_end()), "{table}\n\n{}", ended.out);
    assert!(shown(&[&out, "--explain", "ttft"]).contains("level concurrency-0004"));
}

#[test]
fn other_tools_say_of_the_same_tapes_what_they_would_have_said() {
    let (server, scratch) = (quick(), Scratch::new("report-as"));
    let out = measured(&server, &scratch, "--max-concurrency 4");
    let text = shown(&[&out, "--as", "vllm,aiperf", "-v"]);
    for words in
        ["Serving Benchmark Result", "AIPerf 0.13.0", "time_to_first_token.p99", "mean_tpot_ms"]
    {
        assert!(text.contains(words), "{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    let all = printed(&[&out, "--as", "all"]);
    assert_eq!(all["schema"], "fizeau.peers/1");
    let tools = all["levels"][0]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 10);
    let figure = |tool: &str, name: &str| {
        let tool = tools.iter().find(|one| one["tool"] == tool).unwrap();
        let mut figures = tool["figures"].as_array().unwrap().iter();
        figures.find(|figure| figure["name"] == name).unwrap().clone()
    };
    // One token an event: one TPOT under three names, which takes what came with the first token for later ones; and one peak
    // that is none.
    let tpot = figure("vllm", "mean_tpot_ms");
    assert_eq!(tpot["ours"], "tpot");
    let mean = json(format!("{out}/summary.json"))["metrics"]["tpot_ms"]["mean"].as_f64().unwrap();
    for (tool, name) in [
        ("vllm", "mean_tpot_ms"),
        ("aiperf", "inter_token_latency.avg"),
        ("guidellm", "successful.inter_token_latency_ms.mean"),
    ] {
        let found = figure(tool, name);
        for (key, expected) in [("value", &tpot["value"]), ("ours_value", &json!(mean))] {
            let (value, expected) = (found[key].as_f64().unwrap(), expected.as_f64().unwrap());
            assert!((value - expected).abs() < 1e-9 * mean, "{found} {expected}");
        }
        assert!(found["value"].as_f64().unwrap() <= mean * (1.0 + 1e-9), "{found} {mean}");
    }
    let peak = figure("vllm", "max_concurrent_requests");
    assert!(peak["ours_value"].as_f64().unwrap() <= 4.0, "{peak}");
    assert!(peak["value"].as_f64().unwrap() > 4.0, "{peak}");
}

#[test]
fn a_word_is_explained_with_a_run_and_without() {
    let (server, scratch) = (quick(), Scratch::new("report-explain"));
    let out = measured(&server, &scratch, "--max-concurrency 4");
    for word in ["ttft", "concurrency", "percentiles", "failures"] {
        let (with, without) = (shown(&[&out, "--explain", word]), shown(&["--explain", word]));
        for text in [&with, &without] {
            assert!(text.contains("\nFizeau: ") && text.contains("\nevalscope"), "{text}");
            assert!(text.contains("differs: ") && text.contains("\nvllm-rs"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
        assert_ne!(with, without);
    }
    let explained = printed(&[&out, "--explain", "ttft"]);
    let ours = &explained["levels"][0]["ours"]["figures"][0];
    let mean = json(format!("{out}/summary.json"))["metrics"]["ttft_ms"]["mean"].as_f64().unwrap();
    assert!((ours["value"].as_f64().unwrap() - mean).abs() < 1e-9 * mean, "{ours} {mean}");
    assert_eq!(printed(&["--explain", "tpot"])["tools"].as_array().unwrap().len(), 10);
}

#[test]
fn percentiles_by_another_rule_stand_beside_the_linear_ones() {
    let (server, scratch) = (quick(), Scratch::new("report-rules"));
    let out = measured(&server, &scratch, "--max-concurrency 4");
    let line = ["--percentile-rule", "floor-index", "--percentiles", "50,99,99.9"];
    let table = &printed(&[&[&*out], &line[..]].concat())["levels"][0];
    assert_eq!(table["rule"], "floor-index");
    let ttft = table["ttft_ms"].as_array().unwrap();
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(ttft[1]["linear"], summary["metrics"]["ttft_ms"]["p99"]);
    // Of 120 values floor-index takes the one at index 118, linear what lies between 117 and 118.
    assert!(ttft[1]["value"].as_f64() >= ttft[1]["linear"].as_f64(), "{ttft:?}");
    assert_eq!(ttft[2]["value_reason"], "needs 1000 values, has 120");
    let text = shown(&[&[&*out], &line[..]].concat());
    assert!(text.contains("E2EL (scheduled)") && text.contains("needs 1000 values"), "{text}");
}

#[test]
fn what_a_killed_run_left_is_used_and_the_rest_said() {
    let (server, scratch) = (quick(), Scratch::new("report-cut"));
    let out = measured(&server, &scratch, "--max-concurrency 4");
    let tapes = format!("{out}/tapes.jsonl");
    let whole = fs::read(&tapes).unwrap();
    fs::write(&tapes, &whole[..whole.len() - 40]).unwrap();
    fs::remove_file(format!("{out}/summary.json")).unwrap();
    let ended = run(&["report", &out, "--json"]);
    assert!(ended.err.contains("119 whole tapes are used"), "{}", ended.err);
    let summary: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(summary["requests"]["sent"], 119);
    assert_eq!(summary["status"], "partial");
    assert_eq!(summary["load"]["concurrency"], 4);
    assert!(summary["metrics"]["ttft_ms"]["p99"].is_number());
}

#[test]
fn a_finished_run_whose_tapes_were_cut_is_finished_no_more() {
    let (server, scratch) = (quick(), Scratch::new("report-cut-late"));
    let out = measured(&server, &scratch, "--max-concurrency 4");
    let tapes = format!("{out}/tapes.jsonl");
    let whole = fs::read(&tapes).unwrap();
    fs::write(&tapes, &whole[..whole.len() - 40]).unwrap();
    let report = |view: &[&str]| -> Value {
        let ended = run(&[&["report", &out, "--json"], view].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        serde_json::from_str(&ended.out).unwrap()
    };
    let summary = report(&[]);
    assert_eq!(
        (&summary["status"], &summary["validity"]["verdict"]),
        (&"partial".into(), &"suspect".into())
    );
    let reason = summary["status_reason"].as_str().unwrap();
    assert!(reason.contains("119 whole tapes are used, "), "{reason}");
    let text = run(&["report", &out]).out;
    let status = text.lines().skip_while(|line| !line.starts_with("Status:"));
    let status: Vec<&str> = status.take(2).collect();
    assert!(status[0].ends_with(" partial") && status[1].contains("cut in mid-line"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for view in [["--as", "vllm"], ["--explain", "ttft"], ["--percentiles", "50"]] {
        assert_eq!(report(&view)["levels"][0]["cut"]["whole_tapes"], 119, "{view:?}");
    }
}

#[test]
fn levels_that_are_lost_since_are_named() {
    let (server, scratch) = (quick(), Scratch::new("report-lost"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let line = "--levels 1,2,4 --isl 4 --osl 4 --num-prompts 3";
    let mut arguments = vec!["sweep", "--model", "m", "--base-url", &url, "--out", &out];
    arguments.extend(HOWEVER_BUSY);
    arguments.extend(line.split(' '));
    assert_eq!(run(&arguments).code, Some(0));
    let folder = |name: &str| format!("{out}/concurrency-{name}");
    let left_out = || {
        let text = shown(&[&out]);
        let page = fs::read_to_string(format!("{out}/report.html")).unwrap();
        let line = text.lines().find(|line| line.starts_with("Left out: "));
        let line = line.map(|line| line.trim_start_matches("Left out: ").to_owned());
        assert!(line.as_ref().is_none_or(|line| page.contains(line)), "{line:?}");
        line
    };
    assert_eq!(left_out(), None);
    fs::remove_file(folder("0002") + "/tapes.jsonl").unwrap();
    assert_eq!(left_out().as_deref(), Some("2 (its folder has no tapes.jsonl)"));
    fs::remove_dir_all(folder("0002")).unwrap();
    assert_eq!(left_out().as_deref(), Some("2 (its folder is not there)"));
    let one = shown(&[&folder("0004")]);
    assert!(!one.contains("Left out"), "a level by itself misses none: {one}");
    fs::remove_dir_all(folder("0001")).unwrap();
    assert_eq!(left_out().as_deref(), Some("1, 2 (its folder is not there)"));
    let sweep = printed(&[&out]);
    assert_eq!(sweep["unmeasured"][0]["reason"], "its folder is not there");
}

#[test]
fn the_cap_is_the_runs_own_whatever_its_folder_is_called() {
    let (server, scratch) = (quick(), Scratch::new("report-named"));
    let out = measured(&server, &scratch, "--max-concurrency 4");
    let named = scratch.path("concurrency-0016");
    fs::rename(&out, &named).unwrap();
    assert!(shown(&[&named]).contains("Maximum request concurrency:             4\n"));
    // A run that had no summary has its plan.
    fs::remove_file(format!("{named}/summary.json")).unwrap();
    let ended = run(&["report", &named]);
    assert!(ended.out.contains("Maximum request concurrency:             4\n"), "{}", ended.out);
}

#[test]
fn what_was_to_be_known_comes_back_and_a_summary_of_another_schema_is_refused() {
    let (server, scratch) = (quick(), Scratch::new("report-until"));
    let (url, out) = (server.base_url(), scratch.path("run"));
    let line = "bench --model m --random-input-len 8 --random-output-len 6 --num-prompts 40 --max-concurrency 4 \
                --threshold lateness-invalid=600s cpu-invalid=1";
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--until", "p99 e2el ci=1%", "--base-url", &url, "--out", &out]);
    assert_eq!(run(&arguments).code, Some(1));
    let ended = run(&["report", &out, "--json"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let path = format!("{out}/summary.json");
    let summary = fs::read_to_string(&path).unwrap();
    assert_eq!(ended.out, summary);
    assert!(run(&["report", &out]).out.contains("Until p99 e2el ci=1%:"));
    fs::write(&path, summary.replace("fizeau.summary/2", "fizeau.summary/3")).unwrap();
    let ended = run(&["report", &out, "--as", "vllm"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("`fizeau.summary/3`"), "{}", ended.err);
}

#[test]
fn what_is_no_run_or_cannot_be_read_is_named() {
    let (server, scratch) = (quick(), Scratch::new("report-bad"));
    let out = measured(&server, &scratch, "--max-concurrency 4");
    let nowhere = scratch.path("nowhere");
    fs::create_dir_all(scratch.path("empty")).unwrap();
    let empty = scratch.path("empty");
    let cases: [(&[&str], &[&str]); 7] = [
        (&["report"], &["RUN"]),
        (&["report", &nowhere], &["nowhere"]),
        (&["report", &empty], &["run.json"]),
        (&["report", &out, "--as", "curl"], &["curl", "inference-perf"]),
        (&["report", &out, "--explain", "latency"], &["latency", "goodput"]),
        (&["report", &out, "--percentiles", "101"], &["--percentiles", "101"]),
        (&["report", &out, "--goodput", "ttft"], &["--goodput", "ttft"]),
    ];
    for (arguments, words) in cases {
        let ended = run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {ended:?}");
        for word in words {
            assert!(ended.err.contains(word), "{arguments:?}: no `{word}` in: {}", ended.err);
        }
    }
    let run_json = format!("{out}/run.json");
    let text = fs::read_to_string(&run_json).unwrap();
    fs::write(&run_json, text.replace("fizeau.run/2", "fizeau.run/9")).unwrap();
    let ended = run(&["report", &out]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.err.contains("fizeau.run/9") && ended.err.contains("fizeau.run/2"),
        "{}",
        ended.err
    );
}
