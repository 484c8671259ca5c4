//! A sweep of several processes that was interrupted, and is gone on with.

use std::fs;
use std::path::Path;

use fizeau::core::Nanos;

use super::{free_port, together};
use crate::stand::{Scratch, fixed, json};

/// What is finished in all parts is not measured again, and what is not is; where a part lacks what is finished, nothing is sent.
#[test]
fn a_sweep_goes_on_where_all_shards_have_what_is_finished() {
    let scratch = Scratch::new("shards-resumed");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("run"));
    let line = |more: [&str; 2]| {
        let words = "sweep --model m --levels 1,2,4 --num-prompts 12 --num-warmups 2 --random-input-len 8 --random-output-len 6";
        let line = words.split_whitespace().chain(["--base-url", &url]).chain(more);
        let line: Vec<&str> = line.collect();
        together(&line, 2, &format!("127.0.0.1:{}", free_port()))
    };
    for ended in line(["--out", &out]) {
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, ended.out);
    }
    let run = Path::new(&out);
    let [finished, cut] = ["concurrency-0001", "concurrency-0004"];
    let tapes = |level: &str| fs::read_to_string(run.join(level).join("tapes.jsonl")).unwrap();
    let before = [finished, cut].map(tapes);
    // As it is where shard 0 is killed in the last level.
    fs::remove_file(run.join("sweep.json")).unwrap();
    fs::remove_file(run.join(cut).join("summary.json")).unwrap();
    for (index, ended) in line(["--resume", &out]).iter().enumerate() {
        assert_eq!(ended.code, Some(0), "{index}: {}\n{}", ended.err, ended.out);
    }
    let after = [finished, cut].map(tapes);
    assert!(before[0] == after[0], "what was finished was measured again");
    assert!(before[1] != after[1], "what was cut was not measured again");
    assert_eq!(json(run.join("sweep.json"))["levels"].as_array().map(Vec::len), Some(3));
    assert!(run.join("shards/1-of-2").join(format!("{cut}-partial")).is_dir());

    fs::remove_file(run.join("shards/1-of-2").join(finished).join("summary.json")).unwrap();
    for ended in line(["--resume", &out]) {
        assert_eq!(ended.code, Some(5), "{}\n{}", ended.err, ended.out);
        let named = ended.err.contains("shard 1/2") && ended.err.contains(finished);
        assert!(named, "{}", ended.err);
    }
}
