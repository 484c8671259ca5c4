//! A search by several processes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fizeau::core::{Nanos, Tokens};
use fizeau::sim::http::ServerConfig;
use fizeau::sim::{Engine, EngineConfig, StepLoad};
use serde_json::Value;

use super::{free_port, tapes, together};
use crate::stand::{Scratch, json, serve};

/// Requests of a level.
const LEVEL: usize = 24;

/// Four requests at a time, 20 ms a step: with more in flight they wait.
fn narrow() -> fizeau::sim::http::ServerHandle {
    let config = EngineConfig::new(4, Tokens::new(100_000));
    let step = |_: &StepLoad| Nanos::from_millis(20);
    serve(ServerConfig::new(Engine::new(config, step).unwrap()))
}

#[test]
fn a_search_tries_loads_and_ends_with_one_answer_of_all() {
    let scratch = Scratch::new("shards-search");
    let server = narrow();
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let meeting = format!("127.0.0.1:{}", free_port());
    let line = "search --model m --over concurrency --from 2 --to 24 --slo p90\u{a0}e2el<250ms --num-prompts 24 --num-warmups 2 --isl 8 --osl 6 \
                --max-runs 6 --confirm 0 --level-seconds 60";
    let words: Vec<String> =
        line.split_ascii_whitespace().map(|word| word.replace('\u{a0}', " ")).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.extend(["--base-url", &url, "--out", &out]);
    let ended = together(&words, 2, &meeting);
    assert!(ended.iter().all(|ended| ended.code == Some(0)), "{ended:#?}");
    let said = &ended[0].out;
    assert!(said.contains("2 of 2 shards began within") && said.contains("\n1/2 "), "{said}");
    let document = json(Path::new(&out).join("search.json"));
    let levels = document["levels"].as_array().unwrap();
    let loads: BTreeSet<u64> =
        levels.iter().filter_map(|level| level["load"]["concurrency"].as_u64()).collect();
    assert!(loads.len() >= 2, "{document}");
    assert!(document["ending"].is_string(), "{document}");
    let folders: Vec<String> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("tapes.jsonl").exists())
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    assert_eq!(folders.len(), levels.len(), "{folders:?}");
    for folder in folders {
        let sent = tapes(&folder);
        let ids: BTreeSet<u64> = sent.iter().map(|tape| tape.request.0).collect();
        assert_eq!((sent.len(), ids.len()), (LEVEL, LEVEL), "{folder}");
        let shards = json(Path::new(&folder).join("summary.json"))["shards"]["health"].clone();
        let own = shards.as_array().unwrap().iter().map(|one| one["sent"].as_u64().unwrap());
        // In a closed loop each has those of its slots, of which the first shard has one more where they are an odd number.
        let slots = json(Path::new(&folder).join("summary.json"))["load"]["concurrency"].as_u64();
        let first =
            (0..LEVEL as u64).filter(|n| (n % slots.unwrap_or(2)).is_multiple_of(2)).count() as u64;
        let share = [first, LEVEL as u64 - first];
        assert_eq!(own.collect::<Vec<u64>>(), share, "{folder}: {shards}");
    }
    // What was tried follows from what came of it, level for level, which is read again from the tapes of all.
    let again = crate::stand::run(&["report", &out, "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&again.out).unwrap(), document, "{}", again.err);
}
