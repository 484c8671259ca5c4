//! The lines of `docs/workloads.md` do what the page says: each is run, with few requests, against a server in this process.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fizeau::core::Nanos;
use fizeau::sim::FixedTiming;
use fizeau::sim::http::ServerConfig;

use serde_json::Value;

use crate::stand::{Ended, Scratch, fizeau, json, serve};

/// The root of the repository, where a reader stands.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Requests of each run: enough for every kind of request of a mix to come.
const REQUESTS: &str = "12";

/// The words of every command that the page runs against a server.
fn commands() -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/workloads.md")).unwrap();
    let mut is_shell = false;
    let mut commands = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            let needs_tokenizer = line == "```sh tiktoken";
            is_shell = line == "```sh" || (needs_tokenizer && cfg!(feature = "tiktoken"));
        } else if is_shell && let Some(words) = line.strip_prefix("fizeau ") {
            commands.push(words.split_whitespace().map(str::to_owned).collect());
        }
    }
    commands.retain(|words: &Vec<String>| words[0] != "serve");
    commands
}

/// `words` for the server at `url`, cut to a size for a test, with a folder, and however busy the machine is.
fn at<'a>(words: &'a [String], url: &'a str, out: &'a str) -> Vec<&'a str> {
    let mut line: Vec<&str> = words.iter().map(String::as_str).collect();
    let address = line.iter().position(|word| *word == "http://127.0.0.1:8000");
    line[address.unwrap()] = url;
    line.extend(["--num-prompts", REQUESTS, "--num-warmups", "2", "--out", out]);
    line.extend(["--threshold", "lateness-suspect=600s", "lateness-invalid=600s"]);
    line.extend(["read-lag-suspect=600s", "run-delay-suspect=1", "cpu-suspect=1", "cpu-invalid=1"]);
    line.extend(["steal-suspect=1", "merged-suspect=1"]);
    line
}

/// `text` without the indentation of its lines.
fn flush(text: &str) -> String {
    text.lines().flat_map(|line| [line.trim(), "\n"]).collect()
}

#[test]
fn the_code_of_a_page_is_that_of_the_example_that_it_names() {
    let read = |path: &str| std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
    for (page, all) in [("docs/workloads.md", 2), ("docs/embedding.md", 7)] {
        let page = read(page);
        let mut blocks = page.split("```rust\n");
        let mut before = blocks.next().unwrap().to_owned();
        assert_eq!(blocks.clone().count(), all);
        for block in blocks {
            let (block, after) = block.split_once("```").unwrap();
            // The links before a block stay in force until there are others.
            let named = before.split("](..").filter_map(|rest| rest.split_once(".rs)"));
            let named = named.map(|(path, _)| flush(&read(&format!("{path}.rs")[1..])));
            let examples: Vec<String> = named.collect();
            assert!(examples.iter().any(|of| of.contains(&flush(block))), "in no example: {block}");
            match after.contains(".rs)") {
                true => after.clone_into(&mut before),
                false => before.push_str(after),
            }
        }
    }
}

#[test]
fn every_line_of_the_page_of_workloads_runs() {
    let commands = commands();
    assert!(commands.len() > 40, "{}", commands.len());
    let engine = FixedTiming::new(Nanos::from_millis(1), Nanos::from_micros(20));
    let server = serve(ServerConfig::new(engine.with_prefixes(None)));
    let (scratch, url) = (Scratch::new("pages"), server.base_url());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((number, words)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    commands.get(number).map(|words| (number, words))
                } {
                    let out = scratch.path(&format!("{number}"));
                    runs(&at(words, &url, &out), &out);
                }
            });
        }
    });
}

fn runs(words: &[&str], out: &str) {
    let ended: Ended = fizeau(words).current_dir(ROOT).output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{words:?}: {ended:?}");
    if words[0] == "sweep" {
        let sweep = json(format!("{out}/sweep.json"));
        assert_eq!(sweep["levels"].as_array().unwrap().len(), 2, "{words:?}");
        return;
    }
    let summary = json(format!("{out}/summary.json"));
    let requests = if words.contains(&"--shard") { 6 } else { 12 };
    assert_eq!(summary["requests"]["completed"], requests, "{words:?}: {ended:?}");
    assert_eq!(summary["requests"]["failed"], 0, "{words:?}");
    assert!(summary["tokens"]["output"].as_u64().unwrap() > 0, "{words:?}");
    assert_ne!(summary["validity"]["verdict"], "invalid", "{words:?}: {ended:?}");
    // So few requests leave together that some miss the cache that those before them will have filled.
    let reasons = summary["validity"]["reasons"].as_array().unwrap();
    let text = |reason: &Value| reason["text"].as_str().unwrap().to_owned();
    // At 20 µs a token a reply may come in one read.
    let expected = ["the cache supplied", "replies came all at once", "this is the part of shard"];
    let is_expected = |text: String| expected.iter().any(|known| text.contains(known));
    assert!(reasons.iter().map(text).all(is_expected), "{ended:?}");
    let run = json(format!("{out}/run.json"));
    assert!(run["plan"]["seed"].is_number() && run["plan"]["salt"].is_number(), "{words:?}: {run}");
}
