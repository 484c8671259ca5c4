//! Shards of one run that are not whole.

use std::fs;
use std::path::{Path, PathBuf};

use std::io::BufReader;

use fizeau_core::{Nanos, RequestId, Stamp, Tape};
use fizeau_record::{
    LevelStatus, MergedTapes, MissingShards, RunFolder, ShardHealth, ShardMerge, ShardRecord,
    StoredError, StoredRun, StoredTapes,
};
use serde_json::{Value, json};

use crate::crash::{assert_named, copied};
use crate::reading::as_it_was;

#[test]
fn what_a_shard_lacks_is_refused_or_said() {
    let shards = ["shard-0", "shard-1"].map(|run| copied(run, run));
    let merge = || ShardMerge::of(&shards, None, MissingShards::Refused, &mut |_| ());
    let kept = ["0/2", "1/2"]
        .map(ShardHealth::of)
        .map(|health| ShardRecord { meeting: "m".to_owned(), ..ShardRecord::of_health(health) });
    let write = |at: usize| RunFolder::again(&shards[at]).write_shard(&kept[at]).unwrap();
    let (other, path) = (write(0), write(1));
    merge().unwrap();
    let text = fs::read(&path).unwrap();
    for bytes in 0..text.len() {
        fs::write(&path, &text[..bytes]).unwrap();
        match merge() {
            Err(error) => assert_named(&error.to_string(), "shard.json", bytes),
            Ok(_) => assert_eq!(text[bytes..], *b"\n", "at {bytes}"),
        }
    }
    let text = String::from_utf8(text).unwrap();
    fs::write(&path, text.replace("fizeau.shard/1", "fizeau.shard/2")).unwrap();
    assert!(merge().unwrap_err().to_string().contains("its schema is `fizeau.shard/2`"));
    // One from before it named a schema is read if it fits.
    let is_head = |line: &&str| line.contains("\"schema\":") || line.contains("\"version\":");
    let headless: String = text.split_inclusive('\n').filter(|line| !is_head(line)).collect();
    fs::write(&path, &headless).unwrap();
    merge().unwrap();
    fs::write(&path, headless.replace("\"meeting\"", "\"gathering\"")).unwrap();
    let refused = merge().unwrap_err().to_string();
    assert!(refused.contains("shard.json") && refused.contains("fizeau.shard/1"), "{refused}");
    // Beside one whose clock was read, one of which that is lost is not taken for one that began with it.
    fs::remove_file(&path).unwrap();
    let refused = merge().unwrap_err();
    assert!(refused.can_be_forced(), "{refused}");
    let lost = format!("nothing says in which {} was: it has no shard.json", shards[1].display());
    assert!(refused.to_string().contains(&lost), "{refused}");
    fs::remove_file(&other).unwrap();

    let tapes = shards[1].join("tapes.jsonl");
    let text = fs::read_to_string(&tapes).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&tapes, lines[..lines.len() - 2].concat()).unwrap();
    let out = RunFolder::create(shards[1].join("out")).unwrap();
    let mut notes = Vec::new();
    let mut note = |text: &str| notes.push(text.to_owned());
    let merged = merge().unwrap().write(&out, |_| (), &mut note).unwrap();
    let LevelStatus::Partial { reason } = &merged.report.status else { panic!("it is whole") };
    assert!(reason.contains("tapes.jsonl is cut between lines"), "{reason}");
    assert!(notes.iter().any(|note| note.contains("cut between lines")), "{notes:?}");
    shards.iter().for_each(|shard| fs::remove_dir_all(shard).unwrap());
}

fn document(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A copy of a shard of which `change` makes another.
fn shard(name: &str, of: &str, change: impl Fn(&mut Value, &mut Value)) -> PathBuf {
    let path = copied(name, of);
    let files = ["run.json", "summary.json"].map(|file| path.join(file));
    let [mut run, mut summary] = [0, 1].map(|at| document(&files[at]));
    change(&mut run, &mut summary);
    for (file, value) in files.iter().zip([run, summary]) {
        fs::write(file, serde_json::to_string_pretty(&value).unwrap() + "\n").unwrap();
    }
    path
}

/// What comes of merging `shards`, which end with it.
fn merged(
    name: &str,
    shards: &[PathBuf],
    missing: MissingShards,
    forced_by: Option<&str>,
) -> Value {
    let mut notes = Vec::new();
    let mut note = |text: &str| notes.push(text.to_owned());
    let out =
        std::env::temp_dir().join(format!("fizeau-record-merged-{name}-{}", std::process::id()));
    let merge = ShardMerge::of(shards, forced_by, missing, &mut note);
    let mut tapes = 0;
    let said = merge.and_then(|merge| {
        let folder = RunFolder::create(&out).unwrap();
        let run = merge.write(&folder, |_| tapes += 1, &mut note)?;
        let [run_json, summary] = ["run.json", "summary.json"].map(|file| document(&out.join(file)));
        let parts = ["load", "requested", "status", "validity", "warm_up", "requests", "client", "shards"];
        let parts: Value = parts.map(|part| (part.to_owned(), summary[part].clone())).into_iter().collect();
        let mut files: Vec<String> =
            fs::read_dir(&out).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        Ok(json!({
            "count": merge.count(), "cap": run.cap, "setup": run.setup.endpoint, "tapes": tapes, "files": files,
            "levels": run_json["levels"], "threads": run_json["client"]["threads"], "merged": run_json["merged"],
            "summary": parts,
        }))
    });
    let said = said.unwrap_or_else(|error| {
        json!({
            "refused": error.to_string(), "can_be_forced": error.can_be_forced(),
        })
    });
    shards.iter().chain([&out]).for_each(|folder| drop(fs::remove_dir_all(folder)));
    json!({"merge": name, "notes": notes, "said": said})
}

/// One salt does not make one run of what was measured one after the other.
#[test]
fn shards_of_two_meetings_are_refused_and_forced_have_no_skew() {
    let shards = ["shard-0", "shard-1"].map(|run| copied(&format!("met-{run}"), run));
    let write = |names: [&str; 2]| {
        for (number, (path, name)) in shards.iter().zip(names).enumerate() {
            let mut health = ShardHealth::of(format!("{number}/2"));
            health.sent = 1;
            let begun = Stamp::EPOCH + Nanos::from_secs(5);
            let record = ShardRecord {
                meeting: name.to_owned(),
                start: begun,
                first: Some((begun, begun)),
                ..ShardRecord::of_health(health)
            };
            RunFolder::again(path).write_shard(&record).unwrap();
        }
    };
    let merge = |forced| ShardMerge::of(&shards, forced, MissingShards::Refused, &mut |_| ());
    write(["one", "one"]);
    merge(None).unwrap();
    write(["one", "other"]);
    let refused = merge(None).unwrap_err();
    assert!(refused.can_be_forced(), "{refused}");
    assert!(refused.to_string().contains("in another meeting (one and other)"), "{refused}");
    let out = RunFolder::create(shards[1].join("out")).unwrap();
    let forced = merge(Some("--force")).unwrap().write(&out, |_| (), &mut |_| ()).unwrap();
    let told = forced.report.shards.unwrap();
    assert_eq!((told.start_skew_ms, told.meeting), (None, None));
    assert!(told.doubts.unwrap().iter().any(|doubt| doubt.to_string().contains("another meeting")));
    shards.iter().for_each(|shard| fs::remove_dir_all(shard).unwrap());
}

/// Shards as they are, and such as do not belong together: `FIZEAU_BLESS=1` writes it anew.
#[test]
fn what_is_merged_is_as_it_was() {
    use MissingShards::{Allowed, Refused};
    let as_is = |_: &mut Value, _: &mut Value| ();
    let zero = |name: &str| shard(name, "shard-0", as_is);
    let one = |name: &str| shard(name, "shard-1", as_is);
    let partial = |_: &mut Value, summary: &mut Value| {
        summary["status"] = "partial".into();
        summary["partial_reason"] = "interrupted".into();
    };
    let other = |run: &mut Value, _: &mut Value| {
        run["goodput"] = json!(["ttft:7"]);
        run["levels"][0]["requests"] = 25.into();
        run["client"]["threads"] = 3.into();
    };
    let warm = |run: &mut Value, summary: &mut Value| {
        run["levels"][0]["max_in_flight"] = 5.into();
        summary["warm_up"] = json!({"sent": 3, "failed": 1});
        summary["requests"]["held_back"] = 2.into();
        summary["requests"]["abandoned"] = 1.into();
    };
    let third = |run: &mut Value, _: &mut Value| run["shard"] = "1/3".into();
    let pair = |change: &dyn Fn(&mut Value, &mut Value), names: [&str; 2]| {
        [zero(names[0]), shard(names[1], "shard-1", change)]
    };
    let warmed = [shard("m1", "shard-0", warm), shard("m0", "shard-1", warm)];
    // Files of the reference go along, from the first that has them.
    fs::write(warmed[0].join("model-config.json"), "{}").unwrap();
    fs::write(warmed[1].join("device.toml"), "name = 1").unwrap();
    let devices = [zero("m2"), one("m3")];
    fs::write(devices[0].join("device.toml"), "name = 0").unwrap();
    fs::write(devices[1].join("device.toml"), "name = 1").unwrap();
    let said = [
        merged("both", &warmed, Refused, None),
        merged("one of two", &[zero("m4")], Refused, None),
        merged("one of two, allowed", &[shard("m5", "shard-1", partial)], Allowed, None),
        merged("twice", &[zero("m6"), zero("m7"), one("m8")], Refused, None),
        merged("none", &[], Refused, None),
        merged("other", &pair(&other, ["m9", "m10"]), Refused, None),
        merged("other, forced", &pair(&other, ["m11", "m12"]), Refused, Some("force")),
        merged("of three", &pair(&third, ["m13", "m14"]), Refused, None),
        merged("of other devices", &devices, Refused, None),
    ];
    let text = serde_json::to_string_pretty(&said).unwrap() + "\n";
    let (folder, id) = (std::env::temp_dir().display().to_string(), std::process::id());
    let text = (0..20).fold(text.replace(&format!("{folder}/"), ""), |text, shard| {
        text.replace(&format!("fizeau-record-m{shard}-{id}"), &format!("m{shard}"))
    });
    as_it_was("merging", &text);
}

/// A merge that was forced, and merged again beside nothing else, is as doubtful as it was; one from before doubts were kept has those of
/// its verdict, or says that it holds none that could be judged by.
#[test]
fn what_a_merge_found_outlives_it() {
    let doubts = |summary: &Value| -> Vec<String> {
        let texts = summary["shards"]["doubts"].as_array().unwrap().iter();
        texts.map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let other = |run: &mut Value, _: &mut Value| run["goodput"] = json!(["ttft:7"]);
    let folders = [shard("o0", "shard-0", |_, _| ()), shard("o1", "shard-1", other)];
    let merge = |shards: &[PathBuf], forced_by, out: &str| {
        let merge = ShardMerge::of(shards, forced_by, MissingShards::Refused, &mut |_| ()).unwrap();
        let out = RunFolder::create(shards[0].join(out)).unwrap();
        merge.write(&out, |_| (), &mut |_| ()).unwrap();
        out.path().to_path_buf()
    };
    let once = merge(&folders, Some("force"), "once");
    let first = doubts(&document(&once.join("summary.json")));
    assert!(first[0].starts_with("merged by force: "), "{first:?}");
    let twice = merge(std::slice::from_ref(&once), None, "twice");
    let again = doubts(&document(&twice.join("summary.json")));
    assert!(first.iter().all(|doubt| again.contains(doubt)), "{again:?}");

    let path = once.join("summary.json");
    let reasons = |change: &dyn Fn(&mut Value)| -> Vec<String> {
        let mut summary = document(&path);
        change(&mut summary);
        fs::write(&path, summary.to_string() + "\n").unwrap();
        let run = StoredRun::open(&once).unwrap();
        let levels = run.reader().unwrap().levels().unwrap();
        levels[0].report.validity.reasons.iter().map(|reason| reason.text.clone()).collect()
    };
    let kept =
        reasons(&|summary| drop(summary["shards"].as_object_mut().unwrap().remove("doubts")));
    assert!(kept.contains(&first[0]), "{kept:?}");
    let unknown = reasons(&|summary| summary["validity"]["reasons"] = json!([]));
    let cannot = "whether the merged shards were one load cannot be judged";
    assert!(unknown.iter().any(|reason| reason.starts_with(cannot)), "{unknown:?}");
    folders.iter().for_each(|folder| fs::remove_dir_all(folder).unwrap());
}

/// Each file has requests of these numbers; what comes of all of them, each request once.
fn each_once(name: &str, files: &[&[u64]]) -> (Vec<u64>, Option<[String; 2]>, Option<u64>) {
    let folder = std::env::temp_dir().join(format!("fizeau-record-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let open = |(at, requests): (usize, &&[u64])| {
        let line = |request: &u64| {
            let sent = Stamp::EPOCH + Nanos::from_millis(*request);
            let tape = Tape { request: RequestId(*request), ..Tape::sent_at(sent) };
            serde_json::to_string(&tape).unwrap() + "\n"
        };
        let path = folder.join(format!("{at}.jsonl"));
        fs::write(&path, requests.iter().map(line).collect::<String>()).unwrap();
        let file = BufReader::new(fs::File::open(&path).unwrap());
        (StoredTapes::new(path, file), Nanos::ZERO)
    };
    let all = MergedTapes::new(files.iter().enumerate().map(open)).each_once();
    let (mut came, mut also, mut twice) = (Vec::new(), None, None);
    for tape in all {
        match tape {
            Ok(tape) => came.push(tape.request.0),
            Err(StoredError::Repeated { path, also: other, request }) => {
                let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
                (also, twice) = (Some([name(&path), name(&other)]), Some(request));
            }
            Err(error) => panic!("{error}"),
        }
    }
    fs::remove_dir_all(folder).unwrap();
    (came, also, twice)
}

/// Shards of one run have no request in common: the first that comes again is named, with both files that have it.
#[test]
fn a_request_that_comes_twice_is_named_with_the_files_that_have_it() {
    let (came, also, _) = each_once("each-once", &[&[0, 3], &[1, 4], &[2]]);
    assert_eq!((came, also), (vec![0, 1, 2, 3, 4], None));
    let (came, also, twice) = each_once("in-two", &[&[0, 3], &[1, 4], &[2, 3, 5]]);
    assert_eq!((came, twice), (vec![0, 1, 2, 3], Some(3)), "nothing comes behind it");
    let mut also = also.unwrap();
    also.sort();
    assert_eq!(also, ["0.jsonl", "2.jsonl"]);
    let (came, also, twice) = each_once("in-one", &[&[0, 3], &[1, 1]]);
    assert_eq!((came, twice), (vec![0, 1], Some(1)));
    assert_eq!(also.unwrap(), ["1.jsonl", "1.jsonl"], "no other has it");
}

/// Shards of one division of which one is here twice lack another.
#[test]
fn a_shard_that_is_here_twice_is_refused_with_the_one_that_is_missing() {
    let shards = ["twice-a", "twice-b"].map(|name| copied(name, "shard-0"));
    let merge = ShardMerge::of(&shards, None, MissingShards::Allowed, &mut |_| ());
    let refused = merge.map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("missing shards: 1/2; name their folders"), "{refused}");
    shards.iter().for_each(|shard| fs::remove_dir_all(shard).unwrap());
}

/// A shard that had no slot sent nothing, and counts for none, though its own level has the least load that there is.
#[test]
fn a_shard_that_stood_by_adds_nothing_to_the_load() {
    let with = |slots: u32, load: u32| {
        move |run: &mut Value, summary: &mut Value| {
            run["levels"][0]["max_in_flight"] = slots.into();
            run["setup"]["workload"]["requested"]["arrivals"] = Value::Null;
            summary["load"] = json!({"concurrency": load});
        }
    };
    let shards = [shard("m15", "shard-0", with(1, 1)), shard("m16", "shard-1", with(0, 1))];
    let merged = merged("stood by", &shards, MissingShards::Refused, None);
    let said = &merged["said"];
    assert_eq!(said["summary"]["load"], json!({"concurrency": 1}), "{merged}");
    assert_eq!(said["cap"], 1);
}

/// Probes are none of the requests that the shards' shares are of.
#[test]
fn probes_count_for_no_shard() {
    let shards = [shard("m17", "shard-0", |_, _| ()), shard("m18", "shard-1", |_, _| ())];
    let tapes = shards[0].join("tapes.jsonl");
    let text = fs::read_to_string(&tapes).unwrap();
    let mut probe: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    probe["request"] = 1_000_000.into();
    probe["part"] = "probe".into();
    fs::write(&tapes, format!("{probe}\n{text}")).unwrap();
    for (number, path) in shards.iter().enumerate() {
        let mut health = ShardHealth::of(format!("{number}/2"));
        health.sent = 1;
        let record = ShardRecord { meeting: "m".to_owned(), ..ShardRecord::of_health(health) };
        RunFolder::again(path).write_shard(&record).unwrap();
    }
    let merged = merged("probed", &shards, MissingShards::Refused, None);
    assert_eq!(merged["said"]["summary"]["shards"]["health"][0]["sent"], text.lines().count());
}

/// Files of two parts that were mixed up, and a count that nobody made, are refused; where that is forced, what the tapes have counts.
#[test]
fn a_shard_json_that_is_not_of_its_folder_is_refused() {
    let shards = ["shard-0", "shard-1"].map(|run| copied(&format!("mixed-{run}"), run));
    let write = |names: [&str; 2], sent| {
        for (path, name) in shards.iter().zip(names) {
            let mut health = ShardHealth::of(name);
            health.sent = sent;
            let record = ShardRecord { meeting: "m".to_owned(), ..ShardRecord::of_health(health) };
            RunFolder::again(path).write_shard(&record).unwrap();
        }
    };
    let merge = |forced| ShardMerge::of(&shards, forced, MissingShards::Refused, &mut |_| ());
    write(["0/2", "1/2"], 12);
    merge(None).unwrap();
    write(["1/2", "0/2"], 12);
    let refused = merge(None).unwrap_err();
    assert!(refused.can_be_forced(), "{refused}");
    let said = "its shard.json is of shard 1/2 and its run.json of shard 0/2";
    assert!(refused.to_string().contains(said), "{refused}");
    write(["0/2", "1/2"], 9_999);
    let refused = merge(None).unwrap_err();
    let said = "its shard.json says that 9999 requests were sent, and its summary.json 12";
    assert!(refused.can_be_forced() && refused.to_string().contains(said), "{refused}");
    let out = RunFolder::create(shards[1].join("out")).unwrap();
    let forced = merge(Some("--force")).unwrap().write(&out, |_| (), &mut |_| ()).unwrap();
    let sent: Vec<u64> = forced.report.shards.unwrap().health.iter().map(|one| one.sent).collect();
    assert_eq!(sent, [12, 12]);
    shards.iter().for_each(|shard| fs::remove_dir_all(shard).unwrap());
}
