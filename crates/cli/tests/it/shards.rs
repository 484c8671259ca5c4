//! Runs of several processes: the same answer as of one.

mod faults;
mod full_disk;
mod resumed;
mod search;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fizeau::core::{Nanos, Tape};
use serde_json::Value;

use crate::stand::{Ended, HOWEVER_BUSY, Scratch, fixed, fizeau, json};

/// A port that nobody has.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// The command of the `index`-th of `count` processes, as a launcher starts it.
fn process(line: &[&str], index: usize, count: usize, meeting: &str) -> Command {
    let mut command = fizeau(line);
    command.args(HOWEVER_BUSY).args(["--threads", "1"]);
    command.env("FIZEAU_SHARD_INDEX", index.to_string());
    command.env("FIZEAU_SHARD_COUNT", count.to_string());
    command.env("FIZEAU_RENDEZVOUS", meeting);
    command
}

fn start(mut command: Command) -> Child {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn ends(children: Vec<Child>) -> Vec<Ended> {
    children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect()
}

/// Runs `line` as so many processes.
fn together(line: &[&str], count: usize, meeting: &str) -> Vec<Ended> {
    ends((0..count).map(|index| start(process(line, index, count, meeting))).collect())
}

fn tapes(folder: &str) -> Vec<Tape> {
    let text = fs::read_to_string(Path::new(folder).join("tapes.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What has to be the same, however many processes sent it: all that the load sets, and how many requests each figure is of. How many
/// connections were made and what the kernel stamped is for the host to say, and where the steady part lies for the clock.
fn counts(summary: &Value) -> BTreeMap<String, Value> {
    let whole = ["load", "requested", "requests", "tokens", "warm_up", "status"];
    let whole = whole.map(|name| (format!("/{name}"), summary[name].clone()));
    let mut counts: BTreeMap<String, Value> = whole.into();
    // Whether a short reply is read at once depends on how busy the host is.
    let requests = counts.get_mut("/requests").and_then(Value::as_object_mut);
    requests.map(|requests| requests.remove("at_once"));
    for name in ["visible_tokens", "reasoning_tokens", "by_channel", "tokens_per_event"] {
        counts.insert(format!("/output/{name}"), summary["output"][name].clone());
    }
    for name in ["metrics", "lengths"] {
        sample_sizes(&format!("/{name}"), &summary[name], &mut counts);
    }
    // Of events that are read together the gaps are no figures, and a pace neither.
    let of_host = ["connect", "dns", "tcp", "tls", "network", "read_lag", "itl", "tpot"];
    counts.retain(|path, _| !of_host.iter().any(|name| path.contains(&format!("/{name}_ms/"))));
    counts
}

/// Each `n` under `path`, whose value this is.
fn sample_sizes(path: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        match &**name {
            "n" => drop(found.insert(path, value.clone())),
            _ => sample_sizes(&path, value, found),
        }
    }
}

fn bench<'a>(url: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let line = "bench --model m --num-prompts 48 --num-warmups 6 --random-input-len 8 --random-output-len 6 --salt 7 --seed 3";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", url, "--out", out]);
    words.extend(more);
    words
}

/// What a run counted, and when each of its requests was due.
type CountsAndInstants = (BTreeMap<String, Value>, Vec<(u64, u64)>);

/// 1, 2, 3 and 8 processes send the same requests at the same instants, each once, and report the same counts.
fn is_one_run(name: &str, load: &[&str]) {
    let scratch = Scratch::new(name);
    let mut one: Option<CountsAndInstants> = None;
    for count in [1, 2, 3, 8] {
        let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
        let (url, out) = (format!("http://{}", server.addr()), scratch.path(&count.to_string()));
        let meeting = format!("127.0.0.1:{}", free_port());
        let ended = together(&bench(&url, &out, load), count, &meeting);
        for (index, ended) in ended.iter().enumerate() {
            assert_eq!(ended.code, Some(0), "{index} of {count}: {}\n{}", ended.err, ended.out);
        }
        let (summary, tapes) = (json(Path::new(&out).join("summary.json")), tapes(&out));
        let ids: BTreeSet<u64> = tapes.iter().map(|tape| tape.request.0).collect();
        assert_eq!((tapes.len(), ids.len()), (48, 48), "of {count}");
        // Of an open loop the instants are the plan's, whoever sends.
        let first = tapes.iter().map(|tape| tape.marks.intended).min().unwrap();
        let mut instants: Vec<(u64, u64)> = tapes
            .iter()
            .map(|tape| {
                let after = tape.marks.intended.saturating_since(first);
                (tape.request.0, after.as_nanos() / 2_000_000)
            })
            .collect();
        instants.sort_unstable();
        let counts = counts(&summary);
        let (as_one, schedule) = one.get_or_insert_with(|| (counts.clone(), instants.clone()));
        assert_eq!(&counts, as_one, "of {count}");
        // What follows from a reply leaves when that has come.
        if load.contains(&"--request-rate") && !load.contains(&"--turns") {
            let off = |(a, b): (&(u64, u64), &(u64, u64))| a.0 != b.0 || a.1.abs_diff(b.1) > 5;
            let off = instants.iter().zip(schedule.iter()).find(|pair| off(*pair));
            assert_eq!(off, None, "of {count}");
        }
        if count > 1 {
            let shards = &summary["shards"];
            let health = shards["health"].as_array().unwrap();
            assert_eq!((shards["count"].as_u64(), health.len()), (Some(count as u64), count));
            let sent: u64 = health.iter().map(|one| one["sent"].as_u64().unwrap()).sum();
            assert_eq!(sent, 48);
            let off = |one: &Value| one["clock_uncertainty_ms"].as_f64();
            assert!(health[1..].iter().all(|one| off(one).is_some()), "{shards}");
            assert!(shards["start_skew_uncertainty_ms"].as_f64().is_some(), "{shards}");
            assert!(ended[1].out.contains("the report is at shard 0"), "{}", ended[1].out);
            // Each shard's own part is a run by itself.
            let part = json(Path::new(&out).join(format!("shards/1-of-{count}/run.json")));
            assert_eq!(part["shard"], format!("1/{count}"));
            if count == 2 {
                let part = Path::new(&out).join("shards/1-of-2");
                let again = crate::stand::run(&["report", &part.to_string_lossy(), "--json"]);
                let summary = fs::read_to_string(part.join("summary.json")).unwrap();
                assert!(again.out == summary, "{}\n{summary}", again.out);
            }
        }
        if count == 3 {
            is_the_same_by_hand(&out, &scratch.path("by-hand"), count);
        }
    }
}

/// What shard 0 put together and what `fizeau merge` makes of the shards' folders is one and the same.
fn is_the_same_by_hand(out: &str, merged: &str, count: usize) {
    let parts: Vec<String> = (0..count).map(|i| format!("{out}/shards/{i}-of-{count}")).collect();
    let mut words = vec!["merge", "--out", merged];
    words.extend(parts.iter().map(String::as_str));
    let ended = crate::stand::run(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(tapes(merged) == tapes(out), "tapes differ");
    let [whole, by_hand] = [out, merged].map(|of| json(Path::new(of).join("summary.json")));
    for field in ["shards", "metrics", "throughput", "over_time"] {
        assert_eq!(whole[field], by_hand[field], "{field}");
    }
}

#[test]
fn an_open_loop_is_the_same_of_any_number_of_processes() {
    is_one_run("shards-open", &["--request-rate", "200"]);
}

#[test]
fn a_closed_loop_is_the_same_of_any_number_of_processes() {
    // Fewer slots than processes: two of the eight stand by.
    is_one_run("shards-closed", &["--max-concurrency", "6"]);
}

/// A process with half of the slots has half of the requests: else it would run on alone for as long again.
#[test]
fn processes_send_in_proportion_to_their_slots() {
    let scratch = Scratch::new("shards-slots");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let meeting = format!("127.0.0.1:{}", free_port());
    let ended = together(&bench(&url, &out, &["--max-concurrency", "3"]), 2, &meeting);
    assert!(ended.iter().all(|ended| ended.code == Some(0)), "{ended:?}");
    let sent = |health: &Value| health["sent"].as_u64().unwrap();
    let health = json(Path::new(&out).join("summary.json"))["shards"]["health"].clone();
    let sent: Vec<u64> = health.as_array().unwrap().iter().map(sent).collect();
    assert_eq!(sent, [32, 16]);
    let merged = scratch.path("merged");
    is_the_same_by_hand(&out, &merged, 2);
    assert_eq!(json(Path::new(&merged).join("run.json"))["levels"][0]["max_in_flight"], 3);
}

#[test]
fn conversations_stay_on_one_process() {
    is_one_run("shards-turns", &["--request-rate", "100", "--turns", "3"]);
}

#[test]
fn a_folder_that_all_see_is_a_place_to_meet() {
    let scratch = Scratch::new("shards-folder");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out, meet) =
        (format!("http://{}", server.addr()), scratch.path("out"), scratch.path("meet"));
    fs::create_dir(&meet).unwrap();
    // What an earlier meeting left open is none of this one.
    fs::write(Path::new(&meet).join("open"), "stale").unwrap();
    fs::create_dir(Path::new(&meet).join("meeting-stale")).unwrap();
    let other = scratch.path("other");
    let lines = [&out, &other].map(|out| bench(&url, out, &["--max-concurrency", "4"]));
    let children = lines.iter().enumerate();
    let ended = ends(children.map(|(index, line)| start(process(line, index, 2, &meet))).collect());
    assert!(ended.iter().all(|ended| ended.code == Some(0)), "{ended:?}");
    let note = "the run goes where shard 0 says; this shard's part is in ";
    assert!(!ended[0].err.contains(note) && ended[1].err.contains(note), "{ended:?}");
    assert!(!Path::new(&other).exists());
    assert_eq!(json(Path::new(&out).join("summary.json"))["requests"]["sent"], 48);
}

#[test]
fn a_sweep_goes_from_level_to_level_as_shard_0_decides() {
    let scratch = Scratch::new("shards-sweep");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, meeting) =
        (format!("http://{}", server.addr()), format!("127.0.0.1:{}", free_port()));
    let mut found = Vec::new();
    for count in [1, 3] {
        let out = scratch.path(&count.to_string());
        let line = "sweep --model m --levels 1,4 --rates 50 --num-prompts 30 --num-warmups 2 --isl 8 --osl 6 --refine 1 --level-seconds 20";
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words.extend(["--base-url", &url, "--out", &out]);
        let ended = together(&words, count, &meeting);
        assert!(ended.iter().all(|ended| ended.code == Some(0)), "{ended:#?}");
        let (said, page) = (&ended[0].out, Path::new(&out).join("report.html"));
        let is_shown = said.contains("3 of 3 shards began within") && said.contains("\n2/3 ");
        assert_eq!(is_shown, count == 3, "{said}");
        let page = fs::read_to_string(page).unwrap();
        assert_eq!(page.contains("How did each shard fare?"), count == 3);
        // The server's pages are read by shard 0 alone, for the level of all.
        let has_pages = |of: &str| Path::new(&out).join(of).join("telemetry.jsonl").is_file();
        assert!(has_pages("concurrency-0001"), "of {count}");
        let parts = (0..count).map(|index| format!("shards/{index}-of-{count}/concurrency-0001"));
        assert!(!parts.into_iter().any(|part| has_pages(&part)), "of {count}");
        let sweep = json(Path::new(&out).join("sweep.json"));
        let levels = sweep["levels"].as_array().unwrap();
        let sent = |level: &Value| level["requests"]["sent"].clone();
        found.push(levels.iter().map(sent).collect::<Vec<Value>>());
    }
    // Whether refining adds a level is for the measured figures to say.
    let is_whole = |sent: &Vec<Value>| matches!(sent.len(), 3 | 4) && sent.iter().all(|n| n == 30);
    assert!(found.iter().all(is_whole), "{found:?}");
}

#[test]
fn both_sides_of_an_ab_run_are_measured_by_all() {
    let scratch = Scratch::new("shards-ab");
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let (url, out) = (format!("http://{}", server.addr()), scratch.path("out"));
    let meeting = format!("127.0.0.1:{}", free_port());
    let line = "ab --model m --num-prompts 12 --num-warmups 0 --max-concurrency 4 --isl 8 --osl 6 --rounds 5 --settle 0s";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--a", &url, "--b", &url, "--out", &out]);
    let children = (0..2).map(|index| {
        let mut command = fizeau(&words);
        command.args(HOWEVER_BUSY).args([
            "--shard",
            &format!("{index}/2"),
            "--rendezvous",
            &meeting,
        ]);
        start(command)
    });
    let ended = ends(children.collect());
    assert!(ended.iter().all(|ended| ended.code == Some(0)), "{ended:#?}");
    assert_eq!(tapes(&format!("{out}/b-05")).len(), 12);
    let said = &ended[0].out;
    assert!(said.contains("2 of 2 shards began within") && said.contains("\n1/2 "), "{said}");
    let shards = &json(Path::new(&out).join("ab.json"))["shards"];
    assert!(shards["start_skew_ms"].is_number(), "{shards}");
    let sent = |health: &Value| health["sent"].as_u64().unwrap();
    let sent: Vec<u64> = shards["health"].as_array().unwrap().iter().map(sent).collect();
    assert_eq!(sent, [60, 60], "of both sides in five rounds");
}
