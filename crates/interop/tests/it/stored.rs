//! Stored runs as other tools see them: their levels read again, and files of other tools made of them.

use std::path::Path;

use fizeau_interop::{
    ExportSource, ExtraTallies, ForeignFile, ForeignFormats, LevelTapes, Peer, RereadLevel,
};
use fizeau_record::StoredRun;

fn open(name: &str) -> StoredRun {
    let runs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs"));
    StoredRun::open(runs.join(name)).unwrap()
}

#[test]
fn a_run_that_is_exported_and_imported_has_its_requests() {
    let run = open("bench");
    let source = ExportSource::read(run.path()).unwrap();
    assert!(source.cut().is_empty());
    let levels = source.levels();
    let format = ForeignFormats::named("vllm").unwrap();
    let files = format.export(&levels).unwrap();
    let files = files.iter().map(|file| ForeignFile::new(&file.name, &file.bytes)).collect();
    let again = ForeignFormats::import(files, None).unwrap();
    let completed = levels[0].tapes.iter().filter(|tape| tape.is_success()).count();
    assert_eq!(again[0].counts.completed, completed as u64);
    assert!(completed > 0);
}

#[test]
fn a_level_is_read_again_with_what_is_asked_for() {
    let run = open("bench");
    let reader = run.reader().unwrap();
    let stored = &run.levels()[0];
    let plain = RereadLevel::read(&reader, stored, ExtraTallies::default()).unwrap();
    assert!(plain.vllm.is_none() && plain.read.report.detail.is_none());
    let detailed = RereadLevel::read(&reader, stored, ExtraTallies::DETAIL).unwrap();
    assert!(detailed.vllm.is_none() && detailed.read.report.detail.is_some());
    let mut wanted = ExtraTallies::default();
    wanted.vllm = true;
    let block = RereadLevel::read(&reader, stored, wanted).unwrap().vllm.unwrap().block();
    let all = LevelTapes::read(&reader, stored).unwrap();
    assert_eq!(all.vllm().block(), block);
    assert_eq!(all.peers(&[Peer::VllmPython]).len(), 1);
}
