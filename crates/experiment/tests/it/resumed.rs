//! What is gone on with of a sweep that was broken off.

use std::fs;
use std::path::Path;

use fizeau_experiment::ResumedLevels;
use fizeau_record::StoredRun;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let into = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &into);
        } else {
            fs::copy(entry.path(), into).unwrap();
        }
    }
}

#[test]
fn a_finished_level_whose_tapes_are_cut_is_measured_again() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/sweep");
    let folder = std::env::temp_dir().join(format!("fizeau-resumed-{}", std::process::id()));
    copy(&stored, &folder);
    let whole = ResumedLevels::read(&StoredRun::open(&folder).unwrap(), &mut ()).unwrap();
    assert!(whole.cut().is_empty());
    let tapes = folder.join("concurrency-0001/tapes.jsonl");
    let text = fs::read(&tapes).unwrap();
    fs::write(&tapes, &text[..text.len() - 10]).unwrap();
    let read = ResumedLevels::read(&StoredRun::open(&folder).unwrap(), &mut ()).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(read.cut(), ["concurrency-0001"]);
    assert_eq!(read.len() + 1, whole.len());
}
