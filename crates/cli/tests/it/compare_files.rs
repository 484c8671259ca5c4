//! `fizeau compare` of files without their tapes, and what continuous integration gets of a comparison.

use std::fs;

use crate::stand::{Scratch, json, run};

/// A sweep in virtual time on devices of so much power; the same prompts each time.
fn simulated(scratch: &Scratch, name: &str, hardware: &str) -> String {
    let out = scratch.path(name);
    let model = ["simulate", "--model-config", "llama-3.1-8b", "--hardware", hardware];
    let words = [&model[..], &["--levels", "4,16", "--num-prompts", "400"]].concat();
    let ended = run(&[&words[..], &["--no-stop", "--out", &out]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    out
}

#[test]
fn files_are_compared_by_their_intervals_and_a_regression_fails() {
    let scratch = Scratch::new("compare-files");
    let fast = format!("{}/sweep.json", simulated(&scratch, "fast", "h100-sxm"));
    let slow = format!("{}/sweep.json", simulated(&scratch, "slow", "a100-sxm-80"));
    let forward = ["compare", &fast, &slow];
    let ended = run(&forward);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("worse") && ended.out.contains("intervals"), "{}", ended.out);
    assert!(
        ended.out.lines().filter(|line| !line.contains('/')).all(|line| line.chars().count() <= 80),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("hardware: h100-sxm -> a100-sxm-80"), "{}", ended.out);
    for (flags, code) in [
        (&["--fail-on", "regression"][..], 1),
        (&["--fail-on-worse"], 1),
        (&["--fail-on", "never"], 0),
    ] {
        assert_eq!(run(&[&forward[..], flags].concat()).code, Some(code), "{flags:?}");
    }
    let back = run(&["compare", &slow, &fast, "--fail-on", "regression"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    let same = run(&["compare", &fast, &fast, "--fail-on", "regression", "--json"]);
    assert_eq!(same.code, Some(0), "{same:?}");
    let document: serde_json::Value = serde_json::from_str(&same.out).unwrap();
    let table = &document["comparisons"][0]["levels"][0]["comparison"];
    assert_eq!(table["intervals_alone"], true);
    assert_eq!(table["figures"][0]["answer"], "no detectable difference");
}

/// Repeats of a side stand with commas between them; then every figure that is judged has a result.
#[test]
fn repeats_are_compared_run_by_run() {
    let scratch = Scratch::new("compare-repeats");
    let fast = format!("{}/sweep.json", simulated(&scratch, "fast", "h100-sxm"));
    let slow = format!("{}/sweep.json", simulated(&scratch, "slow", "a100-sxm-80"));
    let twice = |file: &str, name: &str| {
        let again = scratch.path(name);
        fs::copy(file, &again).unwrap();
        format!("{file},{again}")
    };
    let (a, b) = (twice(&fast, "fast-again.json"), twice(&slow, "slow-again.json"));
    let junit = scratch.path("junit.xml");
    let words = ["compare", &a, &b, "--fail-on", "regression", "--json", "--junit", &junit];
    let ended = run(&words);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let document: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let table = &document["comparisons"][0]["levels"][0]["comparison"];
    assert_eq!(table["runs"], serde_json::json!([2, 2]));
    assert_eq!(table["figures_decided"], 10, "of both loads");
    let xml = fs::read_to_string(&junit).unwrap();
    assert!(xml.contains("skipped=\"0\"") && !xml.contains("failures=\"0\""), "{xml}");
    let third = twice(&fast, "fast-once-more.json");
    let few = run(&["compare", &a, third.split_once(',').unwrap().1]);
    let words = few.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the first run of each side is compared"), "{words}");
    assert!(words.contains("One run each: a change smaller than this"), "{words}");
}

#[test]
fn a_summary_alone_says_what_it_cannot_know_and_a_folder_may_stand_for_its_file() {
    let scratch = Scratch::new("compare-summary");
    let folder = simulated(&scratch, "run", "h100-sxm");
    let summary = format!("{folder}/concurrency-0004/summary.json");
    let ended = run(&["compare", &folder, &summary]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let words = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("a summary alone does not name its workload and model"), "{words}");
    assert!(words.contains("only loads of both are compared"), "{words}");
}

#[test]
fn files_of_other_workloads_are_refused_and_forced() {
    let scratch = Scratch::new("compare-workloads");
    let one = format!("{}/sweep.json", simulated(&scratch, "one", "h100-sxm"));
    let other = scratch.path("other.json");
    let mut document = json(&one);
    document["setup"]["workload"]["input_tokens"] = "7".into();
    fs::write(&other, document.to_string()).unwrap();
    let ended = run(&["compare", &one, &other]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let words = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("input length: uniform 512 to 1536"), "{words}");
    let forced = run(&["compare", &one, &other, "--force"]);
    assert_eq!(forced.code, Some(0), "{forced:?}");
}

#[test]
fn what_is_no_file_of_a_run_is_refused_in_a_line() {
    let scratch = Scratch::new("compare-bad");
    let good = format!("{}/sweep.json", simulated(&scratch, "run", "h100-sxm"));
    let path = |name: &str, text: &str| {
        let path = scratch.path(name);
        fs::write(&path, text).unwrap();
        path
    };
    for (bad, says) in [
        (path("empty.json", ""), "empty.json"),
        (
            path("other.json", r#"{"schema": "fizeau.plan/1"}"#),
            "`fizeau.plan/1`, not fizeau.summary/2",
        ),
        (path("list.json", "[1, 2]"), "this is not a file of a run"),
        (scratch.path("gone.json"), "gone.json"),
    ] {
        let ended = run(&["compare", &good, &bad]);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.err.contains(says) && ended.err.lines().count() == 1, "{}", ended.err);
    }
}

#[test]
fn markdown_and_junit_say_the_same_as_the_text() {
    let scratch = Scratch::new("compare-forms");
    let fast = simulated(&scratch, "fast", "h100-sxm");
    let slow = simulated(&scratch, "slow", "a100-sxm-80");
    let xml = scratch.path("junit.xml");
    let words = ["compare", &fast, &slow, "--markdown", "--junit", &xml, "--fail-on", "regression"];
    let ended = run(&words);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.starts_with("## Comparison\n\nB is **worse** in "), "{}", ended.out);
    assert!(ended.out.contains("### concurrency 4\n"), "{}", ended.out);
    let xml = fs::read_to_string(xml).unwrap();
    assert!(xml.contains("<testcase classname=\"concurrency 4\" name=\"p50 TTFT\">"), "{xml}");
    assert!(xml.contains("<failure message=\"worse: "), "{xml}");
    let failures = xml.matches("<failure ").count();
    assert!(xml.contains(&format!("failures=\"{failures}\"")), "{xml}");
    let out = scratch.path("compare.json");
    let words = ["compare", &slow, &fast, "--junit", &scratch.path("better.xml"), "--out", &out];
    let passed = run(&words);
    assert_eq!(passed.code, Some(0), "{passed:?}");
    let better = fs::read_to_string(scratch.path("better.xml")).unwrap();
    assert_eq!(json(out)["schema"], "fizeau.comparison/1");
    assert!(better.contains(" failures=\"0\" ") && !better.contains("<failure"), "{better}");
}

#[test]
fn a_report_prints_markdown() {
    let scratch = Scratch::new("report-markdown");
    let folder = simulated(&scratch, "run", "h100-sxm");
    let ended = run(&["report", &folder, "--markdown"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains("**Verdict: ") && ended.out.contains("| conc | req/s |"),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("<details><summary>Checklist"), "{}", ended.out);
    assert_eq!(json(format!("{folder}/sweep.json"))["schema"], "fizeau.sweep/2");
    let both = run(&["report", &folder, "--markdown", "--json"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}
