//! The page of a run: written by the run and by `fizeau report`, with what the tapes show, and of folders that are not what they
//! ought to be.

use std::fs;

use serde_json::Value;

use crate::stand::{Ended, Scratch, json, run};

/// A sweep of the simulated engine in virtual time; its folder.
fn simulated(scratch: &Scratch, name: &str, extra: &str) -> String {
    let out = scratch.path(name);
    let line = "simulate --model-config llama-3.1-8b --hardware h100-sxm --levels 1,4,16 --isl 64 --osl 16 --num-prompts 60";
    let mut words: Vec<&str> = line.split_whitespace().chain(extra.split_whitespace()).collect();
    words.extend(["--out", &out]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{words:?}: {ended:?}");
    out
}

/// One simulated level; its folder.
fn level(scratch: &Scratch, name: &str) -> String {
    let out = scratch.path(name);
    let line = "simulate --model-config llama-3.1-8b --hardware h100-sxm --max-concurrency 4 --random-input-len 64 \
                --random-output-len 16 --num-prompts 60";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--out", &out]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    out
}

fn page(folder: &str) -> String {
    fs::read_to_string(format!("{folder}/report.html")).unwrap()
}

/// `fizeau report` writes the page of `folder` as the run wrote it.
pub(crate) fn comes_back(folder: &str) {
    let written = page(folder);
    fs::remove_file(format!("{folder}/report.html")).unwrap();
    run(&["report", folder]);
    let again = page(folder);
    let same = written.bytes().zip(again.bytes()).take_while(|(one, other)| one == other).count();
    let from = same.saturating_sub(60);
    let around = |text: &str| text.get(from..(same + 90).min(text.len())).map(str::to_owned);
    assert!(written == again, "{folder}: {:?}\n{:?}", around(&written), around(&again));
}

/// Refused in one line with these words.
fn refused(words: &[&str], said: &[&str]) -> Ended {
    let ended = run(words);
    assert_eq!(ended.code, Some(2), "{words:?}: {ended:?}");
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    for word in said {
        assert!(ended.err.contains(word), "{words:?}: no `{word}` in: {}", ended.err);
    }
    ended
}

#[test]
fn a_run_and_its_report_write_the_same_page() {
    let scratch = Scratch::new("page-same");
    for out in [simulated(&scratch, "sweep", ""), level(&scratch, "level")] {
        let written = page(&out);
        assert!(written.starts_with("<!doctype html>") && written.contains("</html>"));
        comes_back(&out);
        fs::remove_file(format!("{out}/report.html")).unwrap();
        let ended = run(&["report", &out]);
        assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
        // A sweep says so with a capital, beside its other lines.
        let said = format!("eport: {out}/report.html");
        assert!(ended.out.contains(&said), "{}", ended.out);
        assert_eq!(page(&out), written);
        // What is for machines or about something else leaves the page alone.
        fs::remove_file(format!("{out}/report.html")).unwrap();
        for view in [&["--json"][..], &["--as", "vllm"], &["--percentiles", "50"]] {
            assert_eq!(run(&[&["report", &*out], view].concat()).code, Some(0));
        }
        assert!(!fs::exists(format!("{out}/report.html")).unwrap());
    }
}

#[test]
fn a_page_goes_where_it_is_told() {
    let scratch = Scratch::new("page-elsewhere");
    let out = level(&scratch, "level");
    let (own, there) = (page(&out), scratch.path("there.html"));
    fs::remove_file(format!("{out}/report.html")).unwrap();
    let ended = run(&["report", &out, "--html", &there, "--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(serde_json::from_str::<Value>(&ended.out).is_ok(), "{}", ended.out);
    assert_eq!(fs::read_to_string(&there).unwrap(), own);
    assert!(!fs::exists(format!("{out}/report.html")).unwrap());
    let nowhere = scratch.path("no/such/folder/page.html");
    refused(&["report", &out, "--html", &nowhere], &["--html", "no/such/folder/page.html"]);
}

#[test]
fn who_may_not_write_has_a_report_all_the_same() {
    let scratch = Scratch::new("page-read-only");
    let out = level(&scratch, "level");
    fs::remove_file(format!("{out}/report.html")).unwrap();
    // A folder in the page's place, since a superuser may write anywhere.
    fs::create_dir(format!("{out}/report.html")).unwrap();
    let ended = run(&["report", &out]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.starts_with("note: no page: ") && ended.err.contains("--html"), "{ended:?}");
    assert!(ended.out.contains("Successful requests") && !ended.out.contains("Report: "));
}

#[test]
fn the_price_is_as_given_or_as_published_and_comes_back() {
    let scratch = Scratch::new("page-price");
    let published = simulated(&scratch, "published", "");
    let given = simulated(&scratch, "given", "--gpu-hour 10");
    let cost = |out: &str| json(format!("{out}/sweep.json"))["operating_cost"].clone();
    let (published_cost, given_cost) = (cost(&published), cost(&given));
    assert!(json(format!("{published}/run.json")).get("gpu_hour_usd").is_none());
    assert_eq!(json(format!("{given}/run.json"))["gpu_hour_usd"], 10.0);
    assert_eq!((&given_cost["price_from"], &given_cost["devices"]), (&"given".into(), &1.into()));
    assert!(published_cost["price_from"].as_str().unwrap().contains("20"), "{published_cost}");
    let number = |cost: &Value, name: &str| cost[name].as_f64().unwrap();
    let hours = number(&given_cost, "device_hours_per_million_output");
    assert_eq!(number(&published_cost, "device_hours_per_million_output"), hours);
    let usd = number(&given_cost, "usd_per_million_output");
    assert!((usd / (10.0 * hours) - 1.0).abs() < 1e-12, "{given_cost}");
    // A million tokens at the level's rate.
    let sweep = json(format!("{given}/sweep.json"));
    let at = &sweep["levels"][given_cost["level"].as_u64().unwrap() as usize];
    let rate = at["throughput"]["output_tokens_per_s"].as_f64().unwrap();
    assert!((hours * 3600.0 * rate / 1e6 - 1.0).abs() < 1e-12, "{given_cost}");
    // The run's own price is there again, and may be overruled.
    let again = |words: &[&str]| -> Value {
        serde_json::from_str(&run(&[&["report", &*given, "--json"], words].concat()).out).unwrap()
    };
    assert_eq!(again(&[])["operating_cost"], given_cost);
    let dearer = &again(&["--gpu-hour", "20"])["operating_cost"];
    assert!((number(dearer, "usd_per_million_output") / usd - 2.0).abs() < 1e-12, "{dearer}");
    for bad in ["0", "-1", "nan", "inf", "cheap"] {
        let ended = run(&["report", &given, "--gpu-hour", bad]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains("--gpu-hour"), "{ended:?}");
    }
}

#[test]
fn several_runs_make_one_page() {
    let scratch = Scratch::new("page-several");
    let (one, two) = (simulated(&scratch, "one", ""), simulated(&scratch, "two", "--seed 7"));
    let there = scratch.path("both.html");
    let ended = run(&["report", &one, &two, "--html", &there]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let said: Vec<&str> = ended.out.lines().collect();
    assert!(said[0].starts_with("one: ") && said[1].starts_with("two: "), "{}", ended.out);
    assert!(said[0].contains("3 levels; run at concurrency 16"), "{}", ended.out);
    assert_eq!(said.last(), Some(&&*format!("Report: {there}")));
    assert!(fs::read_to_string(&there).unwrap().starts_with("<!doctype html>"));
    let listed = run(&["report", &one, &two, "--html", &there, "--checklist"]).out;
    let rows = |text: &str| text.matches("open_loop").count();
    assert_eq!((rows(&ended.out), rows(&listed)), (0, 2), "{listed}");
    refused(&["report", &one, &two, "--json"], &["fizeau compare --json"]);
    refused(&["report", &one, &two, "--as", "vllm"], &["--as takes one run"]);
}

#[test]
fn what_is_no_run_is_said_in_one_line_and_leaves_nothing() {
    let scratch = Scratch::new("page-no-run");
    let folder = scratch.path("photos");
    fs::create_dir_all(&folder).unwrap();
    fs::write(format!("{folder}/cat.jpg"), "meow").unwrap();
    refused(&["report", &folder], &["photos", "is not a run", "run.json"]);
    let file = format!("{folder}/cat.jpg");
    refused(&["report", &file], &["cat.jpg"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_folder_of_mixed_schemas_is_refused_naming_the_file() {
    let scratch = Scratch::new("page-mixed");
    let out = simulated(&scratch, "sweep", "");
    let cases = [
        ("run.json", "fizeau.run/2", "fizeau.run/3"),
        ("run.json", "fizeau.tapes/2", "fizeau.tapes/3"),
        ("sweep.json", "fizeau.sweep/2", "fizeau.sweep/3"),
        ("concurrency-0004/summary.json", "fizeau.summary/2", "fizeau.summary/3"),
        ("concurrency-0004/level.json", "fizeau.level/1", "other.level/1"),
    ];
    for (file, ours, other) in cases {
        let path = format!("{out}/{file}");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace(ours, other)).unwrap();
        refused(&["report", &out], &[file, other, ours]);
        fs::write(&path, text).unwrap();
    }
    let tapes = format!("{out}/concurrency-0004/tapes.jsonl");
    let text = fs::read_to_string(&tapes).unwrap();
    fs::write(&tapes, format!("{{\"a\":1}}\n{text}")).unwrap();
    refused(
        &["report", &out],
        &["concurrency-0004/tapes.jsonl", "line 1 is not the record of a request (a tape)"],
    );
    fs::write(&tapes, text).unwrap();
    assert_eq!(run(&["report", &out]).code, Some(0));
}

#[test]
fn a_run_in_which_nothing_finished_has_a_page_that_says_so() {
    let scratch = Scratch::new("page-nothing");
    let out = level(&scratch, "level");
    fs::write(format!("{out}/tapes.jsonl"), "").unwrap();
    fs::remove_file(format!("{out}/report.html")).unwrap();
    let ended = run(&["report", &out]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let written = page(&out);
    assert!(written.contains("no request was sent"), "{written}");
    assert!(written.contains("invalid"), "{written}");
}
