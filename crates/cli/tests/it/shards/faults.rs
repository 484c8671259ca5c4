//! What becomes of shards that do not fit together, do not come, die, or cannot keep what they measure.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::Duration;

use fizeau::core::Nanos;

use super::{bench, ends, free_port, process, start, tapes};
use crate::stand::{Scratch, fixed, fizeau, json};

#[test]
fn shards_that_do_not_fit_together_send_nothing_and_say_why() {
    let scratch = Scratch::new("shards-unlike");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let url = format!("http://{}", server.addr());
    // Which process is started with which further words, as the how-many-eth of how many; what both are told, and by which code.
    type Second<'a> = (&'a [&'a str], usize, usize, &'a str);
    let cases: [Second<'_>; 9] = [
        (
            &["--backend", "sglang", "--endpoint", "/generate"],
            1,
            2,
            "route: /v1/completions at shard 0 and /generate at shard 1/2",
        ),
        (&["--user-stamps"], 1, 2, "kernel if available at shard 0 and user at shard 1/2"),
        (&["--new-connection-per-request"], 1, 2, "kept at shard 0 and one request at shard 1/2"),
        (&["--header", "X-Priority=1"], 1, 2, "none at shard 0 and x-priority at shard 1/2"),
        (
            &["--goodput", "ttft:500"],
            1,
            2,
            "nothing was sent:\n  goal of single requests: none at shard 0 and ttft:500 at shard 1/2",
        ),
        (&["--seed", "9"], 1, 2, "seed: 3 at shard 0 and 9 at shard 1/2"),
        (&["--num-prompts", "49"], 1, 2, "requests of level 1: 48 at shard 0 and 49 at shard 1/2"),
        (&[], 1, 3, "is one of 3, and shard 0 one of 2"),
        (&["--random-output-len", "7"], 1, 2, "at shard 0 and"),
    ];
    for (number, (more, index, count, text)) in cases.into_iter().enumerate() {
        let out = scratch.path(&number.to_string());
        let meeting = format!("127.0.0.1:{}", free_port());
        let line = bench(&url, &out, &["--max-concurrency", "4"]);
        let mut other = line.clone();
        other.extend(more);
        let children = vec![
            start(process(&line, 0, 2, &meeting)),
            start(process(&other, index, count, &meeting)),
        ];
        for ended in ends(children) {
            assert_eq!(ended.code, Some(5), "{ended:?}");
            assert!(ended.err.contains(text), "{text}: {}", ended.err);
        }
        assert!(!Path::new(&out).join("tapes.jsonl").exists());
    }
}

#[test]
fn an_index_that_comes_twice_is_refused() {
    let scratch = Scratch::new("shards-twice");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let meeting = format!("127.0.0.1:{}", free_port());
    let line = bench(&url, &out, &["--max-concurrency", "4"]);
    let children = [0, 1, 1].map(|index| start(process(&line, index, 3, &meeting)));
    for ended in ends(children.into()) {
        assert_eq!(ended.code, Some(5), "{ended:?}");
        assert!(ended.err.contains("shard 1/3 is there twice"), "{}", ended.err);
    }
}

#[test]
fn a_second_shard_0_is_refused_by_name_at_both() {
    let scratch = Scratch::new("shards-headed-twice");
    let (out, folder) = (scratch.path("out"), scratch.path("meet"));
    fs::create_dir(&folder).unwrap();
    let line = bench("http://127.0.0.1:9", &out, &["--max-concurrency", "4"]);
    for meeting in [format!("127.0.0.1:{}", free_port()), folder] {
        let children = [0, 0].map(|index| start(process(&line, index, 2, &meeting)));
        for ended in ends(children.into()) {
            assert_eq!(ended.code, Some(5), "{meeting}: {ended:?}");
            assert!(ended.err.contains("shard 0/2 is there twice"), "{}", ended.err);
        }
    }
}

/// Nobody is waited for, whose coming would not help.
#[test]
fn what_one_shard_can_refuse_alone_it_refuses_before_the_others_come() {
    let scratch = Scratch::new("shards-alone");
    let (out, taken) = (scratch.path("out"), scratch.path("taken"));
    let meeting = format!("127.0.0.1:{}", free_port());
    fs::create_dir(&taken).unwrap();
    fs::write(Path::new(&taken).join("run.json"), "{}").unwrap();
    let cases: [(&str, &[&str], &str); 6] = [
        (
            "bench --num-prompts 8 --max-concurrency 2",
            &["--until", "ci=5%"],
            "--until: shards exchange nothing while",
        ),
        ("bench --num-prompts 8", &["--isl", "0"], "the input length is 0 tokens"),
        ("bench --num-prompts 8", &["--out", &taken], "already holds a run"),
        ("bench --num-prompts 8", &["--reset-cache"], "only a single client can empty caches"),
        ("sweep --levels 1", &["--until", "ci=5%"], "--until: shards exchange nothing while"),
        ("sweep --levels 1", &["--out", &taken], "already holds a run"),
    ];
    for (line, more, says) in cases {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words.extend(["--model", "m", "--base-url", "http://127.0.0.1:9", "--shard-timeout", "1h"]);
        words.extend(more);
        if !more.contains(&"--out") {
            words.extend(["--out", &out]);
        }
        let ended = ends(vec![start(process(&words, 0, 2, &meeting))]).remove(0);
        assert!(matches!(ended.code, Some(2 | 3)), "{more:?}: {ended:?}");
        assert!(ended.err.contains(says), "{more:?}: {}", ended.err);
    }
    assert!(!Path::new(&out).exists(), "a folder that nothing came into goes again");
}

#[test]
fn only_a_run_of_one_level_goes_on_without_a_shard() {
    let scratch = Scratch::new("shards-search-missing");
    let (out, meeting) = (scratch.path("out"), format!("127.0.0.1:{}", free_port()));
    // Before anybody is waited for, and of one level too.
    let all =
        "--num-prompts 24 --shard-timeout 1h --allow-missing-shards --base-url http://127.0.0.1:9";
    for line in ["search --over rate --from 20 --to 40 --slo ttft<500ms", "sweep --levels 1"] {
        let line = format!("{line} --model m {all}");
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words.extend(["--out", &out]);
        let ended = ends(vec![start(process(&words, 0, 2, &meeting))]).remove(0);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let says = "--allow-missing-shards: only a run of one level";
        assert!(ended.err.contains(says), "{}", ended.err);
    }
}

#[test]
fn an_address_without_a_port_or_a_host_is_no_folder() {
    for (meeting, says) in [
        ("host:99999", "host:99999: there is no port 99999"),
        ("127.0.0.1:80x", "127.0.0.1:80x: there is no port 80x"),
        (":5000", ":5000: there is no host before the port"),
    ] {
        let line = bench("http://127.0.0.1:9", "out", &["--rendezvous", meeting, "--shard", "0/2"]);
        let ended = crate::stand::run(&line);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(&format!("--rendezvous {says}")), "{}", ended.err);
    }
}

#[test]
fn shards_wait_for_some_time() {
    let line = bench("http://127.0.0.1:9", "out", &["--shard-timeout", "0s", "--shard", "0/2"]);
    let ended = crate::stand::run(&line);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("--shard-timeout") && ended.err.contains("60s"), "{}", ended.err);
}

/// A launcher says who each process is, and nobody where they meet: no flag that nobody gave is blamed.
#[test]
fn processes_of_a_launcher_without_a_place_to_meet_are_told_to_name_one() {
    let url = ["--model", "m", "--base-url", "http://127.0.0.1:9"];
    for words in [&["bench", "--num-prompts", "8", "--max-concurrency", "2"][..], &["sweep"]] {
        let mut command = fizeau(&[words, &url].concat());
        command.env("OMPI_COMM_WORLD_RANK", "0").env("OMPI_COMM_WORLD_SIZE", "2");
        let ended = ends(vec![start(command)]).remove(0);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let says = "error: shard 0/2 has nowhere to meet the others";
        assert!(ended.err.contains(says), "{words:?}: {}", ended.err);
        assert!(ended.err.contains("--rendezvous HOST:PORT"), "{words:?}: {}", ended.err);
    }
}

#[test]
fn a_shard_that_does_not_come_is_named_or_done_without() {
    let scratch = Scratch::new("shards-missing");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let meeting = format!("127.0.0.1:{}", free_port());
    let line = bench(&url, &out, &["--request-rate", "200", "--shard-timeout", "2s"]);
    let alone = ends(vec![start(process(&line, 0, 2, &meeting))]).remove(0);
    assert_eq!(alone.code, Some(4), "{alone:?}");
    assert!(alone.err.contains("shard 1/2 did not come to 127.0.0.1:"), "{}", alone.err);
    let hint = "`fizeau bench --allow-missing-shards` measures with the shards that come";
    assert!(alone.err.contains(hint), "{}", alone.err);
    let lost = ends(vec![start(process(&line, 1, 2, &meeting))]).remove(0);
    assert_eq!(lost.code, Some(4), "{lost:?}");
    assert!(lost.err.contains("shard 0, looked for at 127.0.0.1:"), "{}", lost.err);
    assert!(lost.err.contains("for 2 s: nobody waits there"), "{}", lost.err);
    assert!(!lost.err.contains("--allow-missing-shards"), "without shard 0 there is no run");

    let mut line = line;
    line.push("--allow-missing-shards");
    let fewer = ends(vec![start(process(&line, 0, 2, &meeting))]).remove(0);
    assert_eq!(fewer.code, Some(0), "{fewer:?}");
    assert!(fewer.out.contains("24 of 48 requests, in about"), "{}", fewer.out);
    let configured = fewer.out.lines().find(|line| line.contains("rate configured")).unwrap();
    assert!(configured.contains("100.00"), "{configured}");
    let summary = json(Path::new(&out).join("summary.json"));
    assert_eq!(summary["requests"]["sent"], 24);
    // What half of the shards offered of 200 requests a second.
    assert_eq!(summary["load"]["requests_per_s"], 100.0);
    assert_eq!(summary["requested"]["arrivals"]["rate_per_s"], 100.0);
    let notes = summary["validity"]["notes"].to_string();
    assert!(notes.contains("the shards that took part offered 100 requests/s of 200"), "{notes}");
    let again = crate::stand::run(&["report", &out, "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["load"], summary["load"], "{again}");
    assert_eq!(summary["validity"]["verdict"], "suspect");
    let reasons = summary["validity"]["reasons"].to_string();
    assert!(
        reasons.contains("1 of 2 shards are missing") && reasons.contains("1/2: it did not come"),
        "{reasons}"
    );
}

/// Starts two processes of a level that takes long, and waits until both have sent something.
pub(super) fn under_way(scratch: &Scratch, url: &str, out: &str, more: &[&str]) -> Vec<Child> {
    under_way_at(&format!("127.0.0.1:{}", free_port()), scratch, url, out, more)
}

/// The same, who meet there.
fn under_way_at(
    meeting: &str,
    scratch: &Scratch,
    url: &str,
    out: &str,
    more: &[&str],
) -> Vec<Child> {
    let line = "bench --model m --num-prompts 2000 --num-warmups 0 --random-input-len 8 --random-output-len 6 --salt 7 --request-rate 400";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", url, "--out", out, "--shard-timeout", "20s"]);
    words.extend(more);
    let children: Vec<Child> =
        (0..2).map(|index| start(process(&words, index, 2, meeting))).collect();
    let has_sent = |index: u64| {
        let tapes = Path::new(out).join(format!("shards/{index}-of-2/tapes.jsonl"));
        fs::metadata(tapes).is_ok_and(|file| file.len() > 0)
    };
    while !(has_sent(0) && has_sent(1)) {
        thread::sleep(Duration::from_millis(20));
    }
    let _ = scratch;
    children
}

#[test]
fn a_shard_that_is_killed_is_named_and_what_was_measured_is_kept() {
    let scratch = Scratch::new("shards-killed");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let mut children = under_way(&scratch, &url, &out, &[]);
    children[1].kill().unwrap();
    let ended = ends(children);
    assert_eq!(ended[0].code, Some(4), "{:?}", ended[0]);
    assert!(
        ended[0].err.contains("shard 1/2 on ") && ended[0].err.contains("it is gone"),
        "{}",
        ended[0].err
    );
    assert!(tapes(&format!("{out}/shards/0-of-2")).len() > 500);
    // What shard 0 has says whose part is not in it, and what it came to without.
    let summary = json(Path::new(&out).join("summary.json"));
    assert_eq!(summary["status"], "partial");
    let reason = summary["status_reason"].as_str().unwrap();
    assert!(reason.contains("shard 1/2 on ") && reason.contains("it is gone"), "{reason}");
    assert_eq!(summary["shards"]["missing"], serde_json::json!(["1/2: it is gone"]));
    assert_eq!(summary["shards"]["gone_in_level"], serde_json::json!(["1/2"]));
    // Until it was gone all offered the whole load.
    assert_eq!(summary["load"]["requests_per_s"], 400.0);
    assert_eq!(summary["requested"]["arrivals"]["rate_per_s"], 400.0);
    assert!(ended[0].out.contains("Report: "), "{}", ended[0].out);
    assert!(ended[0].out.contains("partial: shard 1/2 on "), "{}", ended[0].out);
    assert!(Path::new(&out).join("report.html").is_file());
    // It has no load by which anything could be compared with it.
    let compared = crate::stand::run(&["compare", &out, &out]);
    assert_eq!(compared.code, Some(2), "{compared:?}");
    assert!(compared.err.contains("shard 1/2 was gone in the midst"), "{}", compared.err);
    let [own, gone, sent] = by_hand(&out, &scratch.path("merged"));
    assert!(own > 500 && gone > 0 && own + gone == sent, "{own} and {gone} are {sent}");
}

/// The folders of both can still be put together, by the clocks as they were read before the level began, though not as a whole run: how
/// much each had sent, and how much there is.
pub(super) fn by_hand(out: &str, merged: &str) -> [u64; 3] {
    let [one, other] = [0, 1].map(|index| format!("{out}/shards/{index}-of-2"));
    let ended = crate::stand::run(&["merge", &one, &other, "--out", merged]);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    let summary = json(Path::new(merged).join("summary.json"));
    assert_eq!(summary["status"], "partial");
    let (shards, verdict) = (&summary["shards"], &summary["validity"]["verdict"]);
    assert!(shards["meeting"].is_string(), "{shards}");
    let sent = [0, 1].map(|shard| shards["health"][shard]["sent"].as_u64().unwrap());
    assert_ne!(verdict, "valid", "{}", summary["validity"]);
    [sent[0], sent[1], summary["requests"]["sent"].as_u64().unwrap()]
}

#[test]
fn a_shard_that_comes_when_the_run_has_begun_is_refused_by_name() {
    let scratch = Scratch::new("shards-too-late");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, folder) = (format!("http://{}", server.addr()), scratch.path("meet"));
    fs::create_dir(&folder).unwrap();
    let port = format!("127.0.0.1:{}", free_port());
    for (meeting, out) in [(port, scratch.path("by-port")), (folder, scratch.path("by-folder"))] {
        let mut children = under_way_at(&meeting, &scratch, &url, &out, &[]);
        let line = bench(&url, &out, &["--request-rate", "400", "--shard-timeout", "1h"]);
        let late = ends(vec![start(process(&line, 1, 2, &meeting))]).remove(0);
        assert_eq!(late.code, Some(5), "{meeting}: {late:?}");
        let says = "came when the run had begun without it";
        assert!(late.err.contains("shard 1/2 on ") && late.err.contains(says), "{}", late.err);
        children.iter_mut().for_each(|child| child.kill().unwrap());
        ends(children);
    }
}

#[test]
fn shard_0_that_is_gone_leaves_the_others_with_their_parts() {
    let scratch = Scratch::new("shards-headless");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let mut children = under_way(&scratch, &url, &out, &[]);
    children[0].kill().unwrap();
    let ended = ends(children);
    assert_eq!(ended[1].code, Some(4), "{:?}", ended[1]);
    let kept = "shard 0 is gone; what was measured here is in this shard's folder";
    assert!(ended[1].err.contains(kept), "{}", ended[1].err);
    assert!(tapes(&format!("{out}/shards/1-of-2")).len() > 500);
    let [gone, own, sent] = by_hand(&out, &scratch.path("merged"));
    assert!(own > 500 && gone > 0 && own + gone == sent, "{own} and {gone} are {sent}");
}

/// Whoever may not come may not go in the midst: from an instant on that nobody knows less was sent.
#[test]
fn a_level_that_a_shard_left_is_partial_though_shards_may_be_missing() {
    let scratch = Scratch::new("shards-fewer");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let mut children = under_way(&scratch, &url, &out, &["--allow-missing-shards"]);
    children[1].kill().unwrap();
    let ended = ends(children);
    assert_eq!(ended[0].code, Some(4), "{:?}", ended[0]);
    let summary = json(Path::new(&out).join("summary.json"));
    assert_eq!(
        (&summary["status"], &summary["load"]["requests_per_s"]),
        (&"partial".into(), &400.0.into())
    );
    assert_eq!(summary["requests"]["sent"], 1000);
    assert_eq!(summary["shards"]["missing"][0], "1/2: it is gone");
    assert_eq!(summary["validity"]["verdict"], "suspect");
}

#[test]
fn a_shard_of_another_version_is_refused_by_name() {
    let scratch = Scratch::new("shards-version");
    let (out, meeting) = (scratch.path("out"), format!("127.0.0.1:{}", free_port()));
    let line = bench("http://127.0.0.1:9", &out, &["--max-concurrency", "4"]);
    let first = start(process(&line, 0, 2, &meeting));
    let mut other = loop {
        match TcpStream::connect(&meeting) {
            Ok(stream) => break stream,
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    };
    let hello = r#"{"hello":{"version":"fizeau 0.0.0","index":1,"count":2,"host":"old"}}"#;
    writeln!(other, "{hello}").unwrap();
    let mut answer = String::new();
    other.read_to_string(&mut answer).unwrap();
    let text = "shard 1/2 on old is fizeau 0.0.0, and shard 0 is fizeau ";
    assert!(answer.contains("refused") && answer.contains(text), "{answer}");
    let ended = ends(vec![first]).remove(0);
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(ended.err.contains(text), "{}", ended.err);
}

#[test]
fn a_shard_that_is_ready_after_the_instant_that_was_named_says_so_and_sends_nothing() {
    let scratch = Scratch::new("shards-late");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let line = bench(&url, &out, &["--shard", "1/2", "--start-at", "2026-01-01T00:00:00Z"]);
    let ended = crate::stand::run(&line);
    assert_eq!(ended.code, Some(6), "{ended:?}");
    assert!(ended.err.contains("it sent nothing"), "{}", ended.err);
    assert!(!Path::new(&out).exists(), "nothing is in the way of the next try");
}

/// A way to shard 0 at `meeting` on which the instant at which all begin comes long after it has passed. Gives where it begins.
fn late_way_to(meeting: &str) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (address, meeting) = (listener.local_addr().unwrap().to_string(), meeting.to_owned());
    thread::spawn(move || {
        let (mut there, _) = listener.accept().unwrap();
        let mut here = loop {
            match TcpStream::connect(&meeting) {
                Ok(stream) => break stream,
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        };
        let (mut from, mut to) = (there.try_clone().unwrap(), here.try_clone().unwrap());
        thread::spawn(move || {
            // Whoever is gone hears nothing more.
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
        for line in BufReader::new(&mut here).split(b'\n') {
            let Ok(mut line) = line else { break };
            if line.starts_with(br#"{"start":"#) {
                line = br#"{"start":{"at":1}}"#.to_vec();
            }
            line.push(b'\n');
            if there.write_all(&line).is_err() {
                break;
            }
        }
        let _ = there.shutdown(Shutdown::Both);
    });
    address
}

#[test]
fn a_shard_that_hears_too_late_when_to_begin_calls_the_level_off_at_all() {
    let scratch = Scratch::new("shards-late-start");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let meeting = format!("127.0.0.1:{}", free_port());
    let line = bench(&url, &out, &["--max-concurrency", "4"]);
    let late = start(process(&line, 1, 2, &late_way_to(&meeting)));
    for ended in ends(vec![start(process(&line, 0, 2, &meeting)), late]) {
        assert_eq!(ended.code, Some(6), "{ended:?}");
        assert!(ended.err.contains("before its start reached the shard on"), "{}", ended.err);
    }
    let sent = fs::read_to_string(Path::new(&out).join("shards/1-of-2/tapes.jsonl"));
    assert_eq!(sent.unwrap_or_default(), "");
}
