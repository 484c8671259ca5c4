//! Runs that were imported from other tools, as `report`, `compare` and `pareto` take them.

use std::path::Path;

use serde_json::Value;

use crate::stand::{Ended, Scratch, json, run};

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/foreign/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A fixture as a run.
fn converted(scratch: &Scratch, input: &str, name: &str) -> String {
    let out = scratch.path(name);
    let ended = run(&["convert", input, "--out", &out]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    out
}

/// A simulated run of three levels.
fn own(scratch: &Scratch) -> String {
    let out = scratch.path("own");
    let line = format!("simulate --isl 64 --osl 8 --num-prompts 100 --out {out} --levels 1,4");
    let ended = run(&line.split_whitespace().collect::<Vec<_>>());
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    out
}

/// The one line that a wrong command line is answered with.
fn refused(ended: &Ended) -> &str {
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
    assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
    &ended.err
}

#[test]
fn what_a_detailed_file_does_not_tell_is_listed_and_is_no_figure() {
    let scratch = Scratch::new("imported-tapes");
    let out = converted(&scratch, &fixture("guidellm.json"), "old");
    let text = run(&["report", &out, "-v"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.out.contains("Not known:\n  when each token came: "), "{}", text.out);
    for made_up in ["P99 ITL", "Connections made", "Client threads", "Median ITL (ms)"] {
        assert!(!text.out.contains(made_up), "{made_up}: {}", text.out);
    }
    let page = std::fs::read_to_string(format!("{out}/report.html")).unwrap();
    assert!(page.contains(">when each token came<"), "{out}");
    assert!(!page.contains("<dt>Seed</dt><dd>0</dd>"), "{out}");
    let markdown = run(&["report", &out, "--markdown"]);
    assert!(markdown.out.contains("Not known:\n\n- when each token came: "), "{}", markdown.out);
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(summary["metrics"]["itl_ms"]["p50"], Value::Null);
    assert!(!summary["not_known"].as_array().unwrap().is_empty());
    // By another tool's definitions as well, gaps that are made up are made up.
    let view = run(&["report", &out, "--as", "guidellm"]);
    assert!(
        view.err.contains("the tapes have made-up values for them, such as gaps between tokens"),
        "{}",
        view.err
    );
    let csv = run(&["report", &out, "--requests-csv"]).out;
    assert!(!csv.contains("reused"), "{csv}");
}

#[test]
fn a_flag_that_takes_requests_is_refused_by_name() {
    let scratch = Scratch::new("imported-flags");
    let out = converted(&scratch, &fixture("vllm-sweep"), "old");
    let cases: [&[&str]; 12] = [
        &["--checklist"],
        &["--gpu-hour", "2"],
        &["--hardware", "h100-sxm"],
        &["--tp", "2"],
        &["--warmup", "10"],
        &["--prefer", "chat"],
        &["--goodput", "ttft:500"],
        &["--as", "vllm"],
        &["--parquet", "there"],
        &["--requests-csv"],
        &["--prometheus"],
        &["--push", "http://127.0.0.1:1"],
    ];
    for flags in cases {
        let ended = run(&[&["report", out.as_str()], flags].concat());
        let wanted = format!("error: {}: {out}: imported without tapes", flags[0]);
        assert!(refused(&ended).starts_with(&wanted), "{}", ended.err);
    }
    // What needs tapes alone is no chart.
    let timeline = run(&["report", &out, "--svg", &scratch.path("c.svg"), "--chart", "timeline"]);
    assert!(refused(&timeline).contains("timeline: nothing to draw"), "{}", timeline.err);
}

#[test]
fn a_row_of_which_nothing_can_be_told_does_not_pass() {
    let scratch = Scratch::new("imported-require");
    let out = converted(&scratch, &fixture("vllm-sweep"), "old");
    let ended = run(&["report", &out, "--require", "client,tail"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let said: Vec<&str> = ended.err.lines().collect();
    assert_eq!(said.len(), 2, "{}", ended.err);
    assert!(said.iter().all(|line| line.starts_with("--require: ")), "{}", ended.err);
    assert_eq!(run(&["report", &out, "--csv", "--require", "client"]).code, Some(1));
    // What is no report is not judged, nor passed unjudged.
    let folder = scratch.path("pictures");
    for [flag, value] in [["--svg", folder.as_str()], ["--as", "vllm"]] {
        let ended = run(&["report", &out, "--require", "all", flag, value]);
        assert_eq!(ended.code, Some(2), "{flag}: {ended:?}");
        assert!(ended.err.contains(&format!("whole run, and {flag} makes none")), "{}", ended.err);
    }
    let other = converted(&scratch, &fixture("sglang.jsonl"), "other");
    let page = scratch.path("page.html");
    let both = run(&["report", &out, &other, "--html", &page, "--require", "client"]);
    assert_eq!(both.code, Some(1), "{both:?}");
    for name in ["old", "other"] {
        assert!(both.err.contains(&format!("--require: {name}: unknown client")), "{}", both.err);
    }
}

#[test]
fn figures_alone_are_markdown_a_table_and_pictures() {
    let scratch = Scratch::new("imported-forms");
    let out = converted(&scratch, &fixture("vllm-sweep"), "old");
    let markdown = run(&["report", &out, "--markdown"]);
    assert_eq!(markdown.code, Some(0), "{markdown:?}");
    assert!(markdown.out.starts_with("### ") && markdown.out.contains("| load |"));
    assert!(markdown.out.contains("\nNot known:\n\n- "), "{}", markdown.out);
    let csv = run(&["report", &out, "--csv"]);
    assert_eq!(csv.code, Some(0), "{csv:?}");
    let table = run(&["pareto", &format!("old={out}"), "--table"]);
    assert_eq!(csv.out, table.out);
    let pictures = scratch.path("pictures");
    let drawn = run(&["report", &out, "--svg", &pictures]);
    assert_eq!(drawn.code, Some(0), "{drawn:?}");
    for chart in ["frontier", "load"] {
        assert!(Path::new(&pictures).join(format!("{chart}.svg")).is_file(), "{chart}");
    }
    assert!(!Path::new(&pictures).join("timeline.svg").exists());
    assert!(drawn.err.contains("note: timeline: nothing to draw"), "{}", drawn.err);
}

#[test]
fn old_results_lie_over_a_run_of_ones_own() {
    let scratch = Scratch::new("imported-beside");
    let old = converted(&scratch, &fixture("vllm-sweep"), "old");
    let lines = converted(&scratch, &fixture("sglang.jsonl"), "lines");
    let own = own(&scratch);
    for runs in [vec![&own, &old, &lines], vec![&old, &own], vec![&old, &lines]] {
        let (page, picture) = (scratch.path("page.html"), scratch.path("frontier.svg"));
        let words: Vec<&str> = runs.iter().map(|run| run.as_str()).collect();
        let ended = run(&[&["report"], &*words, &["--html", &page]].concat());
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
        assert!(ended.out.contains("imported without tapes"), "{}", ended.out);
        assert!(
            ended
                .out
                .contains("These runs were not tested against each other: a run that was imported")
        );
        let page = std::fs::read_to_string(page).unwrap();
        let flags = ["--svg", &picture, "--chart", "frontier"];
        let drawn = run(&[&["report"], &*words, &flags].concat());
        assert_eq!(drawn.code, Some(0), "{drawn:?}");
        let picture = std::fs::read_to_string(&picture).unwrap();
        for path in runs {
            let name = Path::new(path).file_name().unwrap().to_str().unwrap();
            assert!(page.contains(&format!("\"name\":\"{name}\"")), "{name}");
            // Side by side, load by load.
            let is_row = |line: &str| line.split_whitespace().any(|word| word == name);
            assert!(ended.out.lines().any(is_row), "{name}: {}", ended.out);
            assert!(picture.lines().any(|line| line.trim() == name), "{name}");
        }
    }
}

#[test]
fn a_comparison_says_what_a_run_of_figures_lacks() {
    let scratch = Scratch::new("imported-compare");
    let old = converted(&scratch, &fixture("vllm-sweep"), "old");
    let own = own(&scratch);
    let file = format!("{own}/sweep.json");
    for other in [own.as_str(), file.as_str()] {
        let ended = run(&["compare", &old, other]);
        let wanted = format!("{old}: imported without tapes: its figures have no requests");
        assert!(refused(&ended).contains(&wanted), "{}", ended.err);
    }
}

#[test]
fn what_an_import_cannot_know_is_no_difference() {
    let scratch = Scratch::new("imported-untold");
    let (own, file) = (scratch.path("own"), scratch.path("own.json"));
    let line =
        format!("simulate --isl 64 --osl 8 --num-prompts 600 --max-concurrency 4 --out {own}");
    assert!(run(&line.split_whitespace().collect::<Vec<_>>()).code.is_some());
    assert_eq!(run(&["convert", &own, "--to", "vllm", "--out", &file]).code, Some(0));
    let old = converted(&scratch, &file, "old");
    for sides in [[&own, &old], [&old, &own]] {
        let ended = run(&["compare", sides[0], sides[1]]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let note = "was imported from vllm bench serve";
        let flat = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(flat.matches(note).count(), 1, "{}", ended.out);
        assert!(!ended.out.contains("plan."), "{}", ended.out);
    }
    // What both tell and is not the same is refused as ever.
    let text = std::fs::read_to_string(&file).unwrap();
    let other = scratch.path("other.json");
    std::fs::write(&other, text.replace("Llama-3.1-8B", "Llama-3.1-70B")).unwrap();
    let other = converted(&scratch, &other, "other");
    let ended = run(&["compare", &own, &other]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("model: Llama-3.1-8B in A, Llama-3.1-70B in B"), "{}", ended.err);
}

#[test]
fn an_empty_frontier_names_axes_that_have_numbers() {
    let scratch = Scratch::new("imported-axes");
    let old = converted(&scratch, &fixture("vllm.json"), "old");
    let file = scratch.path("vllm.json");
    let mut result = json(fixture("vllm.json"));
    // Lists of single requests would give it again.
    let keep = |key: &String, value: &mut Value| !key.contains("e2el") && !value.is_array();
    result.as_object_mut().unwrap().retain(keep);
    std::fs::write(&file, result.to_string()).unwrap();
    let bare = converted(&scratch, &file, "bare");
    assert_eq!(run(&["pareto", &old]).code, Some(0));
    let ended = run(&["pareto", &bare]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let hint = "; --axes throughput-latency:ttft has numbers";
    assert!(ended.err.contains(hint), "{}", ended.err);
    assert_eq!(run(&["pareto", &bare, "--axes", "throughput-latency:ttft"]).code, Some(0));
}

#[test]
fn nothing_that_a_terminal_would_obey_comes_out_of_a_file() {
    let scratch = Scratch::new("imported-escapes");
    let file = scratch.path("evil.json");
    let mut result = json(fixture("vllm.json"));
    result["model_id"] = "org/a\u{1b}[31mRED\u{7}\u{9b}2J\n b".into();
    std::fs::write(&file, result.to_string()).unwrap();
    let out = converted(&scratch, &file, "old");
    let cases: [&[&str]; 6] = [
        &[],
        &["--csv"],
        &["--requests-csv"],
        &["--markdown"],
        &["--as", "vllm"],
        &["--require=all"],
    ];
    for flags in cases {
        let ended = run(&[&["report", out.as_str()], flags].concat());
        for text in [&ended.err, &ended.out] {
            let obeyed = text.chars().find(|c| c.is_control() && *c != '\n');
            assert!(obeyed.is_none() || flags == ["--csv"], "{flags:?}: {text:?}");
        }
        let obeyed = ended.err.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(obeyed, None, "{flags:?}: {:?}", ended.err);
    }
}

#[test]
fn a_file_is_no_run_and_what_would_be_is_said() {
    let scratch = Scratch::new("imported-file");
    let other = run(&["report", &fixture("vllm.json")]);
    assert!(refused(&other).contains("`fizeau convert "), "{}", other.err);
    let own = own(&scratch);
    let inside = run(&["report", &format!("{own}/sweep.json")]);
    assert!(refused(&inside).contains(&format!("name the folder of its run, {own}")));
}
