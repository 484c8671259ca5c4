//! Searches of the simulated engine on both clocks.

use std::fs::read_to_string;

use serde_json::Value;

use crate::report_page::comes_back;
use crate::stand::{Ended, Scratch, json, run};

/// A search in virtual time, of levels so small that it takes a moment.
fn search(out: &str, flags: &[&str]) -> Ended {
    let line = [
        "simulate",
        "--num-prompts",
        "300",
        "--slots",
        "64",
        "--confirm",
        "20",
        "--out",
        out,
        "--search",
    ];
    run(&[&line[..], flags].concat())
}

fn loads(document: &Value) -> Vec<(String, f64)> {
    let levels = document["levels"].as_array().unwrap();
    let load = |level: &Value| {
        let load = level["load"].as_object().unwrap().values().next().unwrap().as_f64().unwrap();
        (level["purpose"].as_str().unwrap().to_owned(), load)
    };
    levels.iter().map(load).collect()
}

#[test]
fn it_finds_a_rate_and_keeps_a_run_that_is_read_again() {
    let scratch = Scratch::new("search-rate");
    let out = scratch.path("run");
    let ended = search(&out, &["rate", "--slo", "mean tpot<10ms", "--tolerance", "15%"]);
    assert!(ended.err.is_empty(), "{}", ended.err);
    comes_back(&out);
    let document = json(format!("{out}/search.json"));
    assert_eq!(document["schema"], "fizeau.search/2");
    assert_eq!(document["over"], "rate");
    assert_eq!(document["ending"], "decided");
    let found = &document["answer"];
    let edge = ["edge_low", "edge", "edge_high"].map(|name| found[name].as_f64().unwrap());
    assert!(edge[0] <= edge[1] && edge[1] <= edge[2], "{edge:?}");
    assert!(edge[2] / edge[0] < 1.33, "{edge:?}");
    let loads = loads(&document);
    assert_eq!(loads[0], ("start".to_owned(), 16.0));
    assert!(document["runs"].as_u64().unwrap() <= 12);
    assert_eq!(
        document["runs"].as_u64().unwrap() as usize,
        loads.iter().filter(|(of, _)| of != "confirm").count()
    );
    assert!(loads.iter().any(|(of, _)| of == "confirm"));
    assert!(ended.out.contains("First to break: mean TPOT < 10 ms"), "{}", ended.out);
    assert!(
        ended.out.lines().all(|line| line.chars().count() <= 80 || line.starts_with("report:"))
    );
    let page = read_to_string(format!("{out}/report.html")).unwrap();
    assert!(page.contains("data-chart=\"frontier\"") && page.contains("\"quantiles\":{\""));
    assert!(!page.contains(": no tapes were read."));
    let sweep = json(format!("{out}/sweep.json"));
    let point = &sweep["operating_point"];
    assert_eq!((&point["load"], &point["chosen_by"]), (&found["load"], &"confirmed".into()));
    let folder = sweep["levels"][point["level"].as_u64().unwrap() as usize]["folder"].clone();
    assert!(folder.as_str().unwrap().starts_with("sustained-"), "{folder}");
    assert!(sweep["levels"][0]["load"]["concurrency"].is_number(), "the closed loop comes first");
    assert!(sweep["sustained"]["run"].is_object());
    let again = run(&["report", &out]);
    assert_eq!(again.code, Some(0), "{again:?}");
    let printed = |text: &str| text.replace(&format!("Report: {out}/report.html\n"), "");
    assert_eq!(printed(&again.out), printed(&ended.out));
    let stored = run(&["report", &out, "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&stored.out).unwrap(), document);
}

/// Short levels of a queue near its capacity look better than long ones.
#[test]
fn the_answer_is_what_the_long_level_confirmed() {
    let scratch = Scratch::new("search-confirmed");
    let out = scratch.path("run");
    let line = ["simulate", "--num-prompts", "300", "--out", &out, "--search", "rate"];
    let ended =
        run(&[&line[..], &["--slo", "p99 ttft<500ms..800ms", "--require", "hardware"]].concat());
    comes_back(&out);
    let document = json(format!("{out}/search.json"));
    let confirmation = &document["confirmation"];
    assert!(!confirmation["missed_at"].as_array().unwrap().is_empty(), "{confirmation}");
    assert_eq!(document["met"], confirmation["met"]);
    if confirmation["met"] == true {
        let found = &document["answer"];
        assert_eq!(found["load"], confirmation["load"]);
        let at = |load: &Value| load["requests_per_s"].as_f64().unwrap();
        assert_eq!(found["edge_low"], found["load"]["requests_per_s"]);
        let missed = confirmation["missed_at"].as_array().unwrap();
        assert!(missed.iter().all(|load| at(load) >= found["edge_high"].as_f64().unwrap()));
    } else {
        assert!(document["answer"].is_null());
    }
    assert!(ended.out.contains("at the tight end"), "{}", ended.out);
    assert!(ended.out.contains("simulated") && !ended.out.contains("measured"), "{}", ended.out);
    assert!(ended.out.contains("Checklist: "), "{}", ended.out);
    assert!(ended.out.contains("Verdict: "), "{}", ended.out);
    assert!(!document["checklist"].is_null());
}

#[test]
fn it_finds_a_concurrency() {
    let scratch = Scratch::new("search-concurrency");
    let out = scratch.path("run");
    let flags =
        ["concurrency", "--slo", "mean tpot<8ms", "--from", "2", "--to", "64", "--confirm", "0"];
    let line = ["simulate", "--search", "--num-prompts", "300", "--out", &out];
    let ended = run(&[&line[..1], &["--search", flags[0]], &line[2..], &flags[1..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    comes_back(&out);
    let document = json(format!("{out}/search.json"));
    let found = document["answer"]["load"]["concurrency"].as_u64().unwrap();
    assert!((2..64).contains(&found), "{found}");
    let words = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, ends) = words.split_once("The goals break between ").unwrap();
    let (low, rest) = ends.split_once(" and ").unwrap();
    let ends = [low, rest.split(' ').next().unwrap()].map(str::parse::<u64>);
    assert!(ends.iter().all(Result::is_ok), "slots are whole: {words}");
    assert_eq!(loads(&document)[0].0, "search", "a range says where to begin");
}

#[test]
fn what_no_load_meets_is_said_with_the_nearest() {
    let scratch = Scratch::new("search-unmet");
    let ended = search(&scratch.path("run"), &["--slo", "p99 ttft<1ms"]);
    assert_eq!(ended.code, Some(1));
    let words = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "a hundredth of the first rate, since no lowest rate was given. The nearest is"
        ),
        "{words}"
    );
}

#[test]
fn what_makes_no_search_is_refused_before_anything_is_sent() {
    let wrong = [
        (&["--slo", "goodput>0.99"][..], "--goodput"),
        (&["--slo", "rps>10"], "a goal that gets worse with load"),
        (&["--from", "9", "--to", "2"], "the lower load comes first"),
        (&["--max-runs", "2"], "at least 3"),
        (&["--tolerance", "0"], "above 0"),
        (&["--confidence", "1"], "confidence is 1"),
    ];
    let scratch = Scratch::new("search-wrong");
    for (flags, said) in wrong {
        for command in [&["search"][..], &["simulate", "--search"]] {
            let out = scratch.path("run");
            let slo = if flags[0] == "--slo" { &[][..] } else { &["--slo", "p99 ttft<500ms"] };
            let ended = run(&[command, flags, slo, &["--out", &out]].concat());
            assert_eq!(ended.code, Some(2), "{command:?} {flags:?}: {ended:?}");
            assert!(ended.err.contains(said), "{flags:?}: {}", ended.err);
            assert!(scratch.files().is_empty());
        }
    }
    for (flags, said) in
        [(&["--slo", "e2el<1s", "--until", "ci=2%"][..], "--tolerance"), (&[], "--slo")]
    {
        let ended = run(&[&["search"], flags].concat());
        assert!(ended.code == Some(2) && ended.err.contains(said), "{ended:?}");
    }
}

/// Over HTTP, with levels so short that the whole takes seconds.
#[test]
fn it_searches_an_endpoint() {
    let scratch = Scratch::new("search-http");
    let out = scratch.path("run");
    let ended = run(&[
        "search",
        "--over",
        "concurrency",
        "--slo",
        "mean e2el<1s",
        "--to",
        "4",
        "--isl",
        "20",
        "--osl",
        "5",
        "--num-prompts",
        "30",
        "--confirm",
        "0",
        "--max-runs",
        "3",
        "--out",
        &out,
    ]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("Best load that kept the goals: 4 in flight"), "{}", ended.out);
    assert_eq!(json(format!("{out}/search.json"))["ending"], "all_good");
}
