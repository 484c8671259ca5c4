//! What a folder of a run is opened as, and files of results.

use std::fs;
use std::path::{Path, PathBuf};

use fizeau_metrics::Thresholds;
use fizeau_record::{
    ImportedRun, OpenedRun, ResultFile, ResultFileMode, RunFolder, StoredRun, SweepReport,
};

use crate::folder::Scratch;
use crate::imported::imported_level;

fn fixture(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs")).join(name)
}

#[test]
fn a_run_with_tapes_is_opened_whole_and_one_without_as_its_figures() {
    let Ok(OpenedRun::Tapes(bench)) = OpenedRun::open(&fixture("bench")) else {
        panic!("it has tapes")
    };
    assert_eq!(bench.unseen().unwrap(), None);
    let Ok(OpenedRun::Tapes(imported)) = OpenedRun::open(&fixture("imported")) else {
        panic!("it was imported with tapes")
    };
    assert!(imported.unseen().unwrap().is_some());
    let scratch = Scratch::new("opened-figures");
    let folder = RunFolder::claim(&scratch.0).unwrap();
    let figures = ImportedRun::new("theirs", vec![imported_level(4, &[("output_tps", 10.0)])]);
    figures.write(&folder).unwrap();
    assert!(!figures.checklist().rows().is_empty());
    assert!(matches!(OpenedRun::open(&scratch.0), Ok(OpenedRun::Figures(_))));
    assert!(OpenedRun::open(&scratch.0.join("elsewhere")).is_err());
    folder.check().unwrap();
    fs::remove_dir_all(&scratch.0).unwrap();
    let gone = folder.check().unwrap_err().to_string();
    assert!(gone.starts_with(&format!("cannot write {}", scratch.0.display())), "{gone}");
}

#[test]
fn a_client_needs_more_only_where_a_level_pressed_it_beyond_its_limits() {
    let report = StoredRun::open(fixture("bench")).unwrap().report().unwrap();
    let limits = Thresholds::default();
    let busy = |cpu_share: f64| {
        let mut level = report.levels()[0].clone();
        level.client.watch.cpu_share = Some(cpu_share);
        level
    };
    let need = |levels| SweepReport::new(report.setup().clone(), levels, None).client_need(&limits);
    assert_eq!(need(vec![busy(0.0)]), None);
    let hardest = need(vec![busy(0.0), busy(0.99)]).unwrap();
    assert_eq!(hardest.cpu_share, Some(0.99));
    assert!(hardest.threads > hardest.measured);
}

#[test]
fn a_result_is_tried_before_and_written_whole_or_behind_what_is_there() {
    let scratch = Scratch::new("result-file");
    fs::create_dir_all(&scratch.0).unwrap();
    let path = scratch.0.join("result.json");
    let file = ResultFile::prepare(&path, ResultFileMode::Append).unwrap();
    assert!(!path.exists(), "it was only tried");
    file.write("one").unwrap();
    file.write("two").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    let file = ResultFile::prepare(&path, ResultFileMode::Replace).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    file.write("three").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "three");
    assert!(ResultFile::prepare(scratch.0.join("no/such"), ResultFileMode::Replace).is_err());
}
