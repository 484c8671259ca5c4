//! Shards that are put together.

use std::fs;
use std::path::Path;

use fizeau::core::{Nanos, Tape};
use serde_json::{Value, json};

use crate::stand::{Scratch, fixed, json, run};

/// Measures `shards` of a plan of 60 requests, one after another, with `more` on the command line.
fn measured(scratch: &Scratch, shards: &[&str], more: &[&str]) -> Vec<String> {
    let server = fixed(Nanos::from_millis(2), Nanos::from_micros(200));
    let url = format!("http://{}", server.addr());
    let measure = |shard: &&str| {
        let out = scratch.path(&format!("shard-{}", shard.replace('/', "-of-")));
        let line = "bench --model m --num-prompts 60 --num-warmups 0 --random-input-len 8 --random-output-len 6 \
                    --salt 7 --goodput ttft:500 --threshold lateness-invalid=100s,cpu-invalid=1";
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend(["--base-url", &url, "--shard", shard, "--out", &out]);
        arguments.extend(more);
        let ended = run(&arguments);
        assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.err);
        out
    };
    shards.iter().map(measure).collect()
}

fn merge(runs: &[String], out: &str, more: &[&str]) -> crate::stand::Ended {
    let mut arguments = vec!["merge", "--out", out];
    arguments.extend(runs.iter().map(String::as_str));
    arguments.extend(more);
    run(&arguments)
}

fn tapes(folder: &str) -> Vec<Tape> {
    let text = fs::read_to_string(Path::new(folder).join("tapes.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn document(folder: &str, name: &str) -> Value {
    json(Path::new(folder).join(name))
}

/// Changes a JSON file.
fn change(folder: &str, name: &str, change: impl FnOnce(&mut Value)) {
    let mut value = document(folder, name);
    change(&mut value);
    fs::write(Path::new(folder).join(name), value.to_string()).unwrap();
}

#[test]
fn shards_become_one_run_on_one_axis_of_time() {
    let scratch = Scratch::new("merge");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--request-rate", "600"]);
    let out = scratch.path("all");
    let ended = merge(&runs, &out, &[]);
    assert!(matches!(ended.code, Some(0)), "{}", ended.err);
    assert!(ended.out.contains("Successful requests:                     60"), "{}", ended.out);
    assert!(ended.out.contains("2 runs merged: "), "{}", ended.out);

    let (summary, record) = (document(&out, "summary.json"), document(&out, "run.json"));
    assert_eq!(summary["requests"]["sent"], 60);
    assert_eq!(summary["load"]["requests_per_s"], 600.0);
    assert_eq!(summary["requested"]["arrivals"], json!({"rate_per_s": 600.0, "cv_squared": 1.0}));
    assert_eq!(summary["throughput"]["good_share"], 1.0);
    let merged = record["merged"].as_array().unwrap();
    assert_eq!(merged.iter().map(|one| &one["shard"]).collect::<Vec<_>>(), ["0/2", "1/2"]);
    assert!(record["shard"].is_null());

    // The second shard began after the first had ended, and its tapes say so.
    let first = document(&runs[0], "run.json")["epoch_unix_ns"].as_u64().unwrap();
    let second = document(&runs[1], "run.json")["epoch_unix_ns"].as_u64().unwrap();
    assert_eq!(record["epoch_unix_ns"], first);
    assert_eq!(merged[1]["put_later_ns"], second - first);
    let mut expected = tapes(&runs[0]);
    expected.extend(tapes(&runs[1]).into_iter().map(|mut tape| {
        tape.put_later(Nanos::from_nanos(second - first));
        tape
    }));
    let mut found = tapes(&out);
    found.sort_by_key(|tape| tape.request);
    expected.sort_by_key(|tape| tape.request);
    assert!(found == expected, "tapes differ");
    for log in ["ttft.hdr", "itl.hdr", "e2el.hdr"] {
        let text = fs::read_to_string(Path::new(&out).join(log)).unwrap();
        let own = fs::read_to_string(Path::new(&runs[0]).join(log)).unwrap();
        let [all, first] = [text, own].map(|log| log.lines().last().unwrap().to_owned());
        assert!(all != first && all.contains(",HIST"), "{all}");
    }
    let again = merge(&runs, &out, &[]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("already holds a run"), "{}", again.err);
    assert!(summary["validity"].to_string().contains("after"), "{}", summary["validity"]);
    reads_back(&out);
}

/// What a merge found is found again when its run is read.
fn reads_back(out: &str) {
    let summary = fs::read_to_string(Path::new(out).join("summary.json")).unwrap();
    assert_eq!(run(&["report", out, "--json"]).out, summary);
    let verdict = json(Path::new(out).join("summary.json"))["validity"]["verdict"].clone();
    assert_eq!(verdict, "suspect");
}

#[test]
fn what_is_no_shards_of_one_run_is_refused_by_its_fields() {
    let scratch = Scratch::new("merge-differing");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--max-concurrency", "4"]);
    let out = scratch.path("all");
    change(&runs[1], "run.json", |record| {
        record["plan"]["seed"] = 99.into();
        record["goodput"] = json!([]);
    });
    let refused = merge(&runs, &out, &[]);
    assert_eq!(refused.code, Some(2));
    for field in ["seed: 0 and 99", "goal of single requests: ", "--force"] {
        assert!(refused.err.contains(field), "{field}: {}", refused.err);
    }
    assert!(!Path::new(&out).exists());
    let forced = merge(&runs, &out, &["--force"]);
    assert_eq!(forced.code, Some(0), "{}", forced.err);
    assert!(
        forced.err.contains("note: ") && forced.err.contains("seed: 0 and 99"),
        "{}",
        forced.err
    );
    let summary = document(&out, "summary.json");
    assert_eq!(summary["load"]["concurrency"], 4);
    assert!(summary["requested"]["arrivals"].is_null());
    assert_eq!(summary["validity"]["verdict"], "suspect");
    let kept = [&summary["validity"]["reasons"], &document(&out, "run.json")["merged_though"]];
    assert!(kept.iter().all(|kept| kept.to_string().contains("seed: 0 and 99")), "{kept:?}");
    reads_back(&out);
}

/// The speed of light of the whole would be that of the first shard's device.
#[test]
fn shards_of_other_devices_or_models_are_refused() {
    let scratch = Scratch::new("merge-devices");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--max-concurrency", "4"]);
    let keep = |run: &str, name: &str, text: &str| {
        fs::write(Path::new(run).join(name), text).unwrap();
    };
    keep(&runs[0], "device.toml", "name = \"one\"");
    let out = scratch.path("all");
    assert_eq!(merge(&runs, &out, &[]).code, Some(0), "one of them may have none");
    keep(&runs[1], "device.toml", "name = \"other\"");
    let out = scratch.path("differing");
    let refused = merge(&runs, &out, &[]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("each has another device.toml"), "{}", refused.err);
    keep(&runs[1], "device.toml", "name = \"one\"");
    keep(&runs[0], "model-config.json", "{}");
    keep(&runs[1], "model-config.json", "[]");
    let refused = merge(&runs, &out, &[]);
    assert!(refused.err.contains("each has another model-config.json"), "{}", refused.err);
}

#[test]
fn shards_that_come_twice_are_refused_and_missing_ones_are_said() {
    let scratch = Scratch::new("merge-shares");
    let runs = measured(&scratch, &["0/3", "2/3"], &["--max-concurrency", "4"]);
    let twice = merge(&[runs[0].clone(), runs[0].clone()], &scratch.path("twice"), &[]);
    assert_eq!(twice.code, Some(2));
    assert!(twice.err.contains("shard 0/3: the same requests would count"), "{}", twice.err);
    assert!(twice.err.contains("missing shards: 1/3, 2/3; name their folders"), "{}", twice.err);
    let out = scratch.path("all");
    let refused = merge(&runs, &out, &[]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    let says = ["shards are missing: 1/3; the 2 of 3 that are here", "--allow-missing-shards"];
    assert!(says.iter().all(|text| refused.err.contains(text)), "{}", refused.err);
    assert!(!Path::new(&out).exists());
    let missing = merge(&runs, &out, &["--allow-missing-shards"]);
    assert_eq!(missing.code, Some(0), "{}", missing.err);
    assert!(missing.err.contains("1/3 missing"), "{}", missing.err);
    // Two and one of the four slots.
    assert_eq!(document(&out, "summary.json")["load"]["concurrency"], 3);
}

#[test]
fn shards_that_do_not_speak_to_the_endpoint_alike_are_refused() {
    let scratch = Scratch::new("merge-spoken");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--max-concurrency", "4"]);
    let other = |pointer: &str, value: Value, says: &str| {
        let before = document(&runs[1], "run.json");
        change(&runs[1], "run.json", |record| *record.pointer_mut(pointer).unwrap() = value);
        let refused = merge(&runs, &scratch.path("all"), &[]);
        assert_eq!(refused.code, Some(2), "{pointer}: {}", refused.err);
        assert!(refused.err.contains(says), "{says}: {}", refused.err);
        change(&runs[1], "run.json", |record| *record = before);
    };
    let version = format!("version: {} and 9.9.9", env!("CARGO_PKG_VERSION"));
    other("/version", "9.9.9".into(), &version);
    other("/setup/tool/version", "9.9.9".into(), &version);
    other("/setup/endpoint/path", "/generate".into(), "route: /v1/completions and /generate");
    other("/setup/endpoint/backend", "sglang".into(), "kind of server: vllm and sglang");
    other("/setup/endpoint/connections/lifetime", "one request".into(), "kept and one request");
    other("/setup/endpoint/connections/stamps", "user".into(), "kernel if available and user");
}

#[test]
fn a_request_that_two_shards_sent_is_named_with_both_files() {
    let scratch = Scratch::new("merge-repeated");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--max-concurrency", "4"]);
    let [own, other] = [&runs[0], &runs[1]].map(|run| Path::new(run).join("tapes.jsonl"));
    let theirs = fs::read_to_string(&other).unwrap();
    let mut lines: Vec<String> =
        fs::read_to_string(&own).unwrap().lines().map(str::to_owned).collect();
    lines[7] = theirs.lines().nth(3).unwrap().to_owned();
    fs::write(&own, lines.join("\n") + "\n").unwrap();
    let request = serde_json::from_str::<Tape>(&lines[7]).unwrap().request;
    let out = scratch.path("all");
    let ended = merge(&runs, &out, &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains(&format!("request {request} is also in ")), "{}", ended.err);
    for file in [own, other] {
        assert!(ended.err.contains(file.to_str().unwrap()), "{}: {}", file.display(), ended.err);
    }
    assert!(!Path::new(&out).join("summary.json").exists());
}

#[test]
fn it_is_one_run_in_whatever_order_shards_are_merged() {
    let scratch = Scratch::new("merge-order");
    let runs = measured(&scratch, &["0/3", "1/3", "2/3"], &["--max-concurrency", "4"]);
    let [a, b, c] = &runs[..] else { panic!("{runs:?}") };
    let (two, later, all) = (scratch.path("two"), scratch.path("later"), scratch.path("all"));
    let first = merge(&[a.clone(), b.clone()], &two, &["--allow-missing-shards"]);
    assert!(first.err.contains("2/3 missing"), "{}", first.err);
    assert_eq!(document(&two, "run.json")["shard"], "0/3, 1/3");
    let twice = merge(&[two.clone(), b.clone()], &scratch.path("twice"), &[]);
    assert_eq!(twice.code, Some(2), "{}", twice.err);
    assert!(twice.err.contains("is shard 1/3: the same requests would count"), "{}", twice.err);
    let then = merge(&[two, c.clone()], &later, &[]);
    assert!(!then.err.contains("missing"), "{}", then.err);
    merge(&runs, &all, &[]);
    // The last of them first, and the others in one that was merged before.
    let (ends, turned) = (scratch.path("ends"), scratch.path("turned"));
    merge(&[c.clone(), b.clone()], &ends, &["--allow-missing-shards"]);
    merge(&[ends, a.clone()], &turned, &[]);
    for other in [&later, &turned] {
        assert!(tapes(other) == tapes(&all), "tapes differ");
        assert_eq!(document(other, "run.json"), document(&all, "run.json"));
        let [own, whole] = [other, &all].map(|run| document(run, "summary.json"));
        for (field, value) in whole.as_object().unwrap() {
            assert_eq!(&own[field], value, "{field}");
        }
    }
    let health = document(&all, "summary.json")["shards"]["health"].clone();
    assert!(health.as_array().unwrap().iter().all(|one| one["tail_share"].is_number()), "{health}");
    let all = document(&all, "run.json");
    assert!(all["shard"].is_null());
    let cap = |run: &Value| run["levels"][0]["max_in_flight"].clone();
    assert_eq!(cap(&all), 4);
    let threads = |run: &Value| run["client"]["threads"].as_u64().unwrap();
    assert_eq!(threads(&all), 3 * threads(&document(a, "run.json")));
    let again = run(&["report", &scratch.path("all")]);
    assert!(again.out.contains("Maximum request concurrency:             4\n"), "{}", again.out);
}

#[test]
fn shards_that_did_not_run_together_are_suspect_and_an_hour_apart_refused() {
    let scratch = Scratch::new("merge-apart");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--max-concurrency", "4"]);
    let epoch = document(&runs[0], "run.json")["epoch_unix_ns"].as_u64().unwrap();
    let begin = |seconds: u64| {
        change(&runs[1], "run.json", |record| {
            record["epoch_unix_ns"] = (epoch + seconds * 1_000_000_000).into();
        });
    };
    begin(100);
    let out = scratch.path("apart");
    assert_eq!(merge(&runs, &out, &[]).code, Some(0));
    let validity = document(&out, "summary.json")["validity"].clone();
    assert_eq!(validity["verdict"], "suspect");
    assert!(validity.to_string().contains("shard-1-of-2 began "), "{validity}");
    begin(4000);
    let out = scratch.path("absurd");
    let refused = merge(&runs, &out, &[]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("shard-1-of-2 began 4000.000 s after"), "{}", refused.err);
    assert_eq!(merge(&runs, &out, &["--force"]).code, Some(0));
}

#[test]
fn the_same_level_of_two_sweeps_is_one_level_with_its_own_cap() {
    let scratch = Scratch::new("merge-level");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--max-concurrency", "8"]);
    // As a sweep that was killed in its second level leaves it.
    let level = |run: &String| {
        change(run, "run.json", |record| {
            let mut other = record["levels"][0].clone();
            other["max_in_flight"] = 2.into();
            record["levels"].as_array_mut().unwrap().insert(0, other);
        });
        let level = Path::new(run).join("concurrency-0004");
        fs::create_dir(&level).unwrap();
        fs::rename(Path::new(run).join("tapes.jsonl"), level.join("tapes.jsonl")).unwrap();
        level.to_str().unwrap().to_owned()
    };
    let levels: Vec<String> = runs.iter().map(level).collect();
    let out = scratch.path("all");
    let ended = merge(&levels, &out, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.contains("Maximum request concurrency:             8\n"), "{}", ended.out);
    assert_eq!(document(&out, "run.json")["levels"].as_array().unwrap().len(), 1);
    assert_eq!(document(&out, "summary.json")["load"]["concurrency"], 8);
}

#[test]
fn a_shard_without_a_request_takes_nothing_from_the_others() {
    let scratch = Scratch::new("merge-idle");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--max-concurrency", "4"]);
    fs::write(Path::new(&runs[1]).join("tapes.jsonl"), "").unwrap();
    change(&runs[1], "summary.json", |summary| {
        summary["requests"]["sent"] = 0.into();
        let reasons =
            json!([{"verdict": "invalid", "about": "workload", "text": "nothing was sent"}]);
        summary["validity"] = json!({"verdict": "invalid", "reasons": reasons, "notes": []});
    });
    let out = scratch.path("all");
    let ended = merge(&runs, &out, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_ne!(document(&out, "summary.json")["validity"]["verdict"], "invalid");
}

#[test]
fn a_killed_shard_gives_what_is_whole_and_the_merged_run_is_partial() {
    let scratch = Scratch::new("merge-killed");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--max-concurrency", "4"]);
    let killed = Path::new(&runs[1]);
    let text = fs::read(killed.join("tapes.jsonl")).unwrap();
    fs::write(killed.join("tapes.jsonl"), &text[..text.len() - 9]).unwrap();
    fs::remove_file(killed.join("summary.json")).unwrap();
    let out = scratch.path("all");
    let ended = merge(&runs, &out, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("cut in mid-line: 29 whole tapes are used"), "{}", ended.err);
    let summary = document(&out, "summary.json");
    assert_eq!(summary["requests"]["sent"], 59);
    assert_eq!(summary["status"], "partial");
    assert_eq!(summary["validity"]["verdict"], "suspect");
    let reason = summary["status_reason"].as_str().unwrap();
    assert!(reason.starts_with("1 of 2 shards did not finish; "), "{reason}");
    assert!(reason.contains("cut in mid-line: 29 whole tapes are used"), "{reason}");
}

#[test]
fn a_merged_run_is_no_better_than_its_worst_shard() {
    let scratch = Scratch::new("merge-worst");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--max-concurrency", "4"]);
    change(&runs[1], "summary.json", |summary| {
        let reasons = json!([{"verdict": "suspect", "about": "workload", "text": "odd"}, {"verdict": "invalid", "about": "workload", "text": "broken"}]);
        summary["validity"] = json!({"verdict": "invalid", "reasons": reasons, "notes": []});
        summary["client"]["cpu_share"] = 0.75.into();
    });
    let out = scratch.path("all");
    let ended = merge(&runs, &out, &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    let summary = document(&out, "summary.json");
    assert_eq!(summary["validity"]["verdict"], "invalid");
    assert!(summary["validity"].to_string().contains("shard 1/2: broken"), "{summary}");
    assert_eq!(summary["client"]["cpu_share"], 0.75);
}

#[test]
fn runs_without_an_epoch_are_put_together_at_their_first_release() {
    let scratch = Scratch::new("merge-old");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--request-rate", "600"]);
    for run in &runs {
        change(run, "run.json", |record| {
            record.as_object_mut().unwrap().remove("epoch_unix_ns");
        });
    }
    let out = scratch.path("all");
    let ended = merge(&runs, &out, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("epoch_unix_ns"), "{}", ended.err);
    let first = |folder: &str| tapes(folder).iter().map(|tape| tape.marks.released).min();
    assert_eq!(first(&out), first(&runs[0]).max(first(&runs[1])));
    assert!(document(&out, "run.json")["epoch_unix_ns"].is_null());
}

#[test]
fn broken_tapes_and_other_versions_leave_no_folder() {
    let scratch = Scratch::new("merge-broken");
    let runs = measured(&scratch, &["0/2", "1/2"], &["--max-concurrency", "4"]);
    let tapes = Path::new(&runs[1]).join("tapes.jsonl");
    let text = fs::read_to_string(&tapes).unwrap();
    fs::write(&tapes, text.replacen("\"marks\"", "\"remarks\"", 3)).unwrap();
    let out = scratch.path("all");
    let ended = merge(&runs, &out, &[]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.err.contains("tapes.jsonl: line 1 is not the record of a request (a tape)"),
        "{}",
        ended.err
    );
    assert!(!Path::new(&out).exists());
    change(&runs[0], "run.json", |record| record["tapes_schema"] = "fizeau.tapes/9".into());
    let ended = merge(&runs, &out, &[]);
    assert_eq!(ended.code, Some(2));
    for version in ["`fizeau.tapes/9`", "`fizeau.tapes/2`"] {
        assert!(ended.err.contains(version), "{}", ended.err);
    }
}
