//! The part of one shard, read by itself: the endpoint had more load than it shows.

use std::fs;
use std::path::Path;

use fizeau_metrics::{Validity, Verdict, VerdictConcern, VerdictReason};
use fizeau_record::{ShardHealth, StoredError, StoredRun, SweepEnding, TestedReplica, shard_alone};
use serde_json::{Value, json};

use crate::crash::copied;
use crate::reading::fixture;

fn change(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut document: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    change(&mut document);
    fs::write(path, document.to_string()).unwrap();
}

const ALONE: &str =
    "this is the part of shard 0/2 alone: the endpoint had the load of all 2 shards";

#[test]
fn a_part_by_itself_is_suspect_and_no_plan_takes_it() {
    let run = StoredRun::open(fixture("shard-0")).unwrap();
    let level = run.report().unwrap().levels()[0].clone();
    assert_eq!(level.validity.verdict, Verdict::Suspect);
    let reasons: Vec<_> = level.validity.reasons.iter().map(|one| &*one.text).collect();
    assert_eq!(reasons.last(), Some(&ALONE));
    let refused = TestedReplica::read(fixture("shard-0")).unwrap_err();
    assert!(matches!(refused, StoredError::Part { .. }), "{refused}");
    let text = refused.to_string();
    for part in ["runs/shard-0 is the part of shard 0/2 alone", "the whole run", "merge the parts"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Parts that were merged are no part.
    let merged = StoredRun::open(fixture("merged")).unwrap();
    let merged = merged.whole().unwrap();
    let reasons = merged.report().unwrap().levels()[0].validity.reasons.clone();
    assert!(reasons.iter().all(|one| !one.text.contains("alone")), "{reasons:?}");
}

/// That it is a part alone is nothing that its client could help, and does not weigh against all parts together.
#[test]
fn what_weighs_against_a_part_alone_weighs_not_against_the_whole() {
    let run = StoredRun::open(fixture("shard-0")).unwrap();
    let level = run.report().unwrap().levels()[0].clone();
    let worst = |validity| {
        let health = ShardHealth::of("0/2");
        health.of_level(&level.summary, &level.client.watch, &validity).worst
    };
    let mut alone = Validity::of(shard_alone("0/2".parse().unwrap()).into_iter().collect());
    assert_eq!((alone.verdict, worst(alone.clone())), (Verdict::Suspect, None));
    alone.add(VerdictReason::new(Verdict::Suspect, VerdictConcern::Client, "late"));
    assert_eq!(worst(alone).map(|worst| worst.text).as_deref(), Some("late"));
    assert_eq!(shard_alone("0/1".parse().unwrap()), None);
}

/// Two levels of which one slot each fell to the shard were two loads of the endpoint.
#[test]
fn levels_of_a_part_are_no_repeats_and_its_sweep_is_not_unfinished() {
    let part = copied("part", "sweep");
    change(&part.join("run.json"), |run| run["shard"] = "0/2".into());
    for level in ["rate-00040.000", "rate-00040.000-2"] {
        change(&part.join(level).join("summary.json"), |of| of["load"] = json!({"concurrency": 1}));
    }
    fs::remove_file(part.join("sweep.json")).unwrap();
    let run = StoredRun::open(&part).unwrap();
    let report = run.report().unwrap();
    assert!(report.repeats().is_empty(), "{:?}", report.repeats());
    assert_eq!((report.levels().len(), report.ending()), (4, SweepEnding::Complete));
    for level in report.levels() {
        assert!(level.validity.reasons.iter().any(|one| one.text == ALONE), "{:?}", level.folder);
    }
    let reader = run.reader().unwrap();
    let read = reader.together(reader.levels().unwrap()).unwrap();
    assert_eq!((read.one_a_load().len(), read.is_search), (4, false));
    // One level of it is as much a part.
    let level = StoredRun::open(part.join("concurrency-0001")).unwrap();
    assert!(matches!(level.whole(), Err(StoredError::Part { .. })));
    fs::remove_dir_all(part).unwrap();
}

/// The folder that holds parts is no run, and the run above it not what was named.
#[test]
fn a_folder_of_parts_says_what_to_name_instead() {
    let whole = copied("of-parts", "bench");
    for (name, of) in [("0-of-2", "shard-0"), ("1-of-2", "shard-1")] {
        fs::create_dir_all(whole.join("shards").join(name)).unwrap();
        for file in ["run.json", "tapes.jsonl"] {
            let to = whole.join("shards").join(name).join(file);
            fs::copy(fixture(of).join(file), to).unwrap();
        }
    }
    let refused = StoredRun::open(whole.join("shards")).unwrap_err().to_string();
    assert!(refused.contains("shards: parts of a run of several shards"), "{refused}");
    assert!(refused.contains("each of them: ") && refused.ends_with("shards/*"), "{refused}");
    StoredRun::open(&whole).unwrap();
    fs::remove_dir_all(whole).unwrap();
}
