//! The commands of the tutorial and of the README are such as the program takes.

use std::path::Path;

use crate::page::{DOCS, steps, words};
use crate::stand::{Scratch, fizeau, run};

/// A sweep that is there, in place of those that the tutorial measures.
const MEASURED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated");
const ENGINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../xtask/engine/cpu-core.toml");

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(DOCS).join(name)).unwrap()
}

/// A server that is not there ends what would measure (3) after the command line was understood, and before anything is sent.
#[test]
fn each_command_of_the_tutorial_is_understood() {
    let scratch = Scratch::new("tutorial");
    let config = format!("{MEASURED}/model-config.json");
    let steps = steps(&page("tutorial.md"));
    assert!(steps.len() >= 7, "{}", steps.len());
    for step in &steps {
        let measures = ["bench", "sweep"].contains(&&*step.words[0]);
        let known = |word: &String| match &**word {
            "$FIZEAU_MODEL_CONFIG" => config.clone(),
            "$FIZEAU_HARDWARE" => ENGINE.to_owned(),
            "$FIZEAU_PRECISION" => "weights f32, KV cache f16".to_owned(),
            run if !measures && run.starts_with("runs/") => MEASURED.to_owned(),
            other => other.to_owned(),
        };
        let line: Vec<String> = step.words.iter().map(known).collect();
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let mut command = fizeau(&line);
        command.current_dir(scratch.path("")).env("FIZEAU_BASE_URL", "http://127.0.0.1:1");
        let ended = command.env("FIZEAU_MODEL", "m").output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(if measures { 3 } else { 0 }), "{line:?}: {said}");
    }
}

/// Its figures are of another machine; what stands before them is what the program prints.
#[test]
fn the_plan_of_the_tutorial_has_the_rows_of_a_plan() {
    let page = page("tutorial.md");
    let plan = page.split("```").find(|block| block.contains("A plan for")).unwrap();
    let line =
        ["plan", "--from", MEASURED, "--rate", "10", "--gpu-hour", "1", "--slo", "p99 ttft<5s"];
    let printed = run(&line).out;
    let rows = plan.lines().skip_while(|line| !line.trim_start().starts_with("expected")).skip(1);
    let labels = rows.filter_map(|row| row.trim().split("  ").next());
    let labels: Vec<&str> = labels.filter(|label| !label.is_empty()).collect();
    assert!(labels.len() >= 5, "{labels:?}");
    for label in labels {
        let is_row = |line: &str| line.trim_start().starts_with(label);
        assert!(printed.lines().any(is_row), "{label}: {printed}");
    }
}

#[test]
fn each_flag_that_the_readme_shows_is_one_of_its_command() {
    let text = page("../README.md").replace("\\\n", " ");
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let lines = text.lines().chain(quoted).filter_map(|line| line.strip_prefix("fizeau "));
    let mut flags = 0;
    for line in lines {
        let line = words(line.split(" # ").next().unwrap_or(line));
        let help = run(&[&line[0], "--help"]).out;
        for flag in line.iter().filter(|word| word.starts_with("--")) {
            assert!(
                help.split([' ', ',', '\n', '[', ']']).any(|word| word == flag),
                "{line:?}: {flag}"
            );
            flags += 1;
        }
    }
    assert!(flags > 20, "{flags}");
}
