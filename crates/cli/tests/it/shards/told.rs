//! What goes wrong at one shard reaches the others in its words, and leaves nothing in the way of the next try.

use std::fs;
use std::path::Path;

use fizeau::core::Nanos;

use super::faults::under_way;
use super::{bench, ends, free_port, process, start, together};
use crate::interrupt::interrupt;
use crate::stand::{Ended, Scratch, fixed, run};

const NOWHERE: &str = "http://127.0.0.1:9";

/// Two shards of one run, of which each has an endpoint of its own.
fn at(urls: [&str; 2], out: &str) -> Vec<Ended> {
    let meeting = format!("127.0.0.1:{}", free_port());
    let one = |(index, url): (usize, &str)| {
        start(process(&bench(url, out, &["--max-concurrency", "4"]), index, 2, &meeting))
    };
    ends(urls.into_iter().enumerate().map(one).collect())
}

fn with<'a>(line: &[&'a str], more: [&'a str; 2]) -> Vec<&'a str> {
    line.iter().copied().chain(more).collect()
}

#[test]
fn an_endpoint_that_one_shard_cannot_use_is_told_to_the_others() {
    let scratch = Scratch::new("shards-endpoint");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let url = format!("http://{}", server.addr());
    for refused in [0, 1] {
        let out = scratch.path(&refused.to_string());
        let mut urls = [&*url; 2];
        urls[refused] = NOWHERE;
        let ended = at(urls, &out);
        assert_eq!(ended[refused].code, Some(3), "{refused}: {:?}", ended[refused]);
        let other = &ended[1 - refused];
        assert_eq!(other.code, Some(2), "{refused}: {other:?}");
        let whose = if refused == 0 { "shard 0: " } else { "shard 1/2 on " };
        assert!(other.err.contains(whose) && other.err.contains("127.0.0.1:9"), "{}", other.err);
        assert!(!other.err.contains("fizeau merge"), "nothing was measured: {}", other.err);
        assert!(!Path::new(&out).join("run.json").exists());
    }
}

/// A folder that one shard cannot take keeps nobody from trying again.
#[test]
fn a_run_of_which_nothing_was_sent_is_not_in_the_way_of_the_next() {
    let scratch = Scratch::new("shards-again");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let occupied = Path::new(&out).join("shards/1-of-2");
    fs::create_dir_all(&occupied).unwrap();
    fs::write(occupied.join("run.json"), "{}").unwrap();
    for ended in at([&url; 2], &out) {
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains("shards/1-of-2 already holds a run"), "{}", ended.err);
    }
    assert!(occupied.join("run.json").exists(), "it was there before");
    let left = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["shards"]);
    assert!(!Path::new(&out).join("shards/0-of-2").exists());
    fs::remove_file(occupied.join("run.json")).unwrap();
    for ended in at([&url; 2], &out) {
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, ended.out);
    }
}

/// Nobody is waited for by who cannot write what all of them would measure.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_found_before_anybody_is_waited_for() {
    let line = bench(NOWHERE, "/proc/fizeau-run", &["--shard-timeout", "1h"]);
    let meeting = format!("127.0.0.1:{}", free_port());
    let ended = ends(vec![start(process(&line, 0, 2, &meeting))]).remove(0);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("cannot write /proc/fizeau-run"), "{}", ended.err);
}

#[cfg(unix)]
#[test]
fn a_run_that_is_called_off_at_shard_0_is_called_off_at_all() {
    let scratch = Scratch::new("shards-interrupted");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let children = under_way(&scratch, &url, &out, &[]);
    interrupt(&children[0]);
    let codes: Vec<_> = ends(children).into_iter().map(|ended| ended.code).collect();
    assert_eq!(codes, [Some(130), Some(130)]);
}

/// By how many a sweep was begun is how many go on with it, and each is told so.
#[test]
fn a_sweep_goes_on_by_as_many_as_began_it() {
    let scratch = Scratch::new("shards-as-many");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("run"));
    let words = "sweep --model m --levels 1,2 --num-prompts 12 --num-warmups 2 --random-input-len 8 --random-output-len 6 --base-url";
    let line: Vec<&str> = words.split(' ').chain([&*url]).collect();
    let meet = || format!("127.0.0.1:{}", free_port());
    let begun = with(&line, ["--out", &out]);
    for ended in together(&begun, 2, &meet()) {
        assert_eq!(ended.code, Some(0), "{}\n{}", ended.err, ended.out);
    }
    let resumed = with(&line, ["--resume", &out]);
    let alone = run(&resumed);
    assert_eq!(alone.code, Some(2), "{alone:?}");
    let says = "2 shards measured this run, and 1 client would go on with it";
    assert!(alone.err.contains(says), "{}", alone.err);
    let first = ends(vec![start(process(&resumed, 0, 3, &meet()))]).remove(0);
    assert_eq!(first.code, Some(2), "{first:?}");
    let says = "2 shards measured this run, and 3 shards would go on with it";
    assert!(first.err.contains(says), "nobody is waited for: {}", first.err);
    // A part that is torn is not whole, whatever its summary says.
    let tapes = Path::new(&out).join("shards/1-of-2/concurrency-0002/tapes.jsonl");
    let text = fs::read_to_string(&tapes).unwrap();
    fs::write(&tapes, &text[..text.len() / 2]).unwrap();
    for ended in together(&resumed, 2, &meet()) {
        assert_eq!(ended.code, Some(5), "{ended:?}");
        for named in ["shard 1/2", "the level concurrency-0002", "are cut"] {
            assert!(ended.err.contains(named), "{named}: {}", ended.err);
        }
    }
    // A part is not what its endpoint did, and says so.
    let part = format!("{out}/shards/0-of-2");
    let report = run(&["report", &part, "--json"]);
    assert!(report.out.contains("\"suspect\""), "{}", report.out);
    assert!(report.out.contains("this is the part of shard 0/2 alone"), "{}", report.out);
    for command in [&["plan", "--rate", "9", "--slo", "p99 e2el<1s", "--from"][..], &["pareto"]] {
        let refused = run(&[command, &[&part]].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains("0-of-2 is the part of shard 0/2 alone"), "{}", refused.err);
    }
}
