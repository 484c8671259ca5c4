//! Shards of one run that are not whole.

use std::fs;

use fizeau_record::{LevelStatus, MissingShards, RunFolder, ShardHealth, ShardMerge, ShardRecord};

use crate::crash::{assert_named, copied, places};

#[test]
fn what_a_shard_lacks_is_refused_or_said() {
    let shards = ["shard-0", "shard-1"].map(|run| copied(run, run));
    let merge = || ShardMerge::of(&shards, None, MissingShards::Refused, &mut |_| ());
    let health = ShardHealth { shard: "1/2".to_owned(), ..ShardHealth::default() };
    let record = ShardRecord { meeting: "m".to_owned(), ..ShardRecord::of_health(health) };
    let path = RunFolder::again(&shards[1]).write_shard(&record).unwrap();
    merge().unwrap();
    let text = fs::read(&path).unwrap();
    for bytes in places(&text) {
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
    fs::remove_file(&path).unwrap();

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
