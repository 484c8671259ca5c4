//! `fizeau report --svg` and `--png`: the charts of runs as files.

use std::fs;

use crate::stand::{Ended, Scratch, run};

/// A sweep of the simulated engine in virtual time; its folder.
fn simulated(scratch: &Scratch, name: &str, extra: &[&str]) -> String {
    let out = scratch.path(name);
    let line = "simulate --model-config llama-3.1-8b --hardware h100-sxm --levels 1,4,16 --isl 64 --osl 16 --num-prompts 60";
    let words: Vec<&str> = line.split_whitespace().chain(["--out", &out]).collect();
    let ended = run(&[&words, extra].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    out
}

fn report(words: &[&str]) -> Ended {
    run(&[&["report"], words].concat())
}

/// The names of a folder's files, sorted.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_folder_gets_every_chart_that_has_data() {
    let scratch = Scratch::new("pictures-all");
    let (out, to) = (simulated(&scratch, "run", &[]), scratch.path("deep/pictures"));
    let ended = report(&[&out, "--svg", &to]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
    let all = [
        "timeline",
        "frontier",
        "frontier-tpot",
        "frontier-ttft",
        "interactivity",
        "itl",
        "lengths",
        "load",
        "quantiles",
    ];
    let mut files = all.map(|name| format!("{name}.svg"));
    files.sort_unstable();
    assert_eq!(names(&to), files);
    assert_eq!(ended.out.lines().count(), all.len());
    assert!(ended.out.contains(&format!("svg: {to}/frontier.svg\n")), "{}", ended.out);
    for name in names(&to) {
        let svg = fs::read_to_string(format!("{to}/{name}")).unwrap();
        assert!(
            svg.starts_with("<svg ") && svg.contains("Meta-Llama") | svg.contains("lama-3.1"),
            "{name}"
        );
    }
    // Drawn again they are the same.
    let again = scratch.path("again");
    report(&[&out, "--svg", &again]);
    for name in names(&to) {
        let of = |folder: &str| fs::read(format!("{folder}/{name}")).unwrap();
        assert!(of(&to) == of(&again), "{name}");
    }
}

#[test]
fn one_chart_goes_into_a_file_and_several_runs_over_each_other() {
    let scratch = Scratch::new("pictures-one");
    let (a, b) = (simulated(&scratch, "a", &[]), simulated(&scratch, "b <b>", &["--seed", "7"]));
    let (svg, png) = (scratch.path("one.svg"), scratch.path("one.png"));
    let ended = report(&[&a, &b, "--chart", "frontier-ttft", "--svg", &svg, "--png", &png]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
    assert_eq!(ended.out, format!("svg: {svg}\npng: {png}\n"));
    let drawn = fs::read_to_string(&svg).unwrap();
    assert!(drawn.contains("b &lt;b&gt;") && !drawn.contains("<b>"), "{drawn}");
    assert_eq!(fs::read(&png).unwrap()[..8], *b"\x89PNG\r\n\x1a\n");
}

#[test]
fn what_cannot_be_drawn_is_said_in_a_line() {
    let scratch = Scratch::new("pictures-bad");
    let out = simulated(&scratch, "run", &[]);
    let to = scratch.path("there");
    let refused = |words: &[&str], said: &str| {
        let ended = report(words);
        assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{words:?}: {ended:?}");
        assert!(ended.err.contains(said), "{words:?}: no `{said}` in: {}", ended.err);
    };
    refused(&[&out, "--chart", "frontier"], "--svg FILE or --png FILE");
    refused(&[&out, "--svg", &to, "--chart", "pie"], "frontier-ttft");
    refused(&[&out, "--svg", &to, "--json"], "--json");
    refused(&[&out, "--svg", &to, "--html", &to], "--html");
    refused(&[&out, "--svg", &to, "--csv"], "run the command twice");
    refused(&[&scratch.path("nowhere"), "--svg", &to], "nowhere");
    let file = scratch.path("file");
    fs::write(&file, "").unwrap();
    refused(&[&out, "--svg", &format!("{file}/x"), "--chart", "load"], "--svg");
    assert!(!fs::exists(&to).unwrap());
}
