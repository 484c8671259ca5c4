//! A run's folder of which a file was cut: read as far as it is whole and said to be a part, or refused with the file and the place.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fizeau_core::Tape;
use fizeau_metrics::Verdict;
use fizeau_record::{LevelReport, LevelStatus, StoredRun, SweepReport};

/// Each file is cut at about so many places besides those that are sure to be tried. JSON is refused wherever it is cut, since what it
/// begins with is closed by its last byte, so that a few places stand for all; a line of tapes is another matter.
const PLACES: usize = 24;

/// A run in virtual time, copied to a folder of this name, with a device of its own.
fn copied(name: &str) -> PathBuf {
    let from = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/runs/what-if/configuration-01"
    ));
    let to = std::env::temp_dir().join(format!("fizeau-record-{name}-{}", std::process::id()));
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
    let device = include_str!("../../../roofline/data/devices/h100-sxm.toml");
    fs::write(to.join("device.toml"), device).unwrap();
    let text = fs::read_to_string(to.join("run.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["device_file_bytes"] = device.len().into();
    fs::write(to.join("run.json"), serde_json::to_string_pretty(&document).unwrap() + "\n")
        .unwrap();
    to
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn read(folder: &Path) -> Result<SweepReport, String> {
    let run = StoredRun::open(folder).map_err(|error| error.to_string())?;
    run.report().map_err(|error| error.to_string())
}

/// Where a file is cut: at the ends of its lines and right beside them where it has few lines, and at even steps.
fn places(text: &[u8]) -> BTreeSet<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let ends: Vec<usize> = ends.collect();
    let few = if ends.len() <= PLACES { &ends[..] } else { &[] };
    let beside = few.iter().flat_map(|end| [*end, end + 1, end + 2]);
    let steps = (0..text.len()).step_by((text.len() / PLACES).max(1));
    beside.chain(steps).filter(|at| *at < text.len()).collect()
}

/// That a level of which the first `bytes` of its tapes are there shows the figures of the whole tapes among them, and says so.
fn is_a_part(level: &LevelReport, text: &[u8], bytes: usize) {
    let text = std::str::from_utf8(text).unwrap();
    let lines = text.lines().scan(0, |end, line| {
        *end += line.len();
        let is_whole = *end <= bytes;
        *end += 1;
        Some((line, is_whole))
    });
    let tapes: Vec<Tape> = lines
        .filter(|(_, is_whole)| *is_whole)
        .map(|(line, _)| serde_json::from_str(line).unwrap())
        .collect();
    let of_tapes = LevelReport::of_tapes(level.load, &tapes);
    assert_eq!(level.summary.requests.sent, tapes.len() as u64, "at {bytes}");
    assert_eq!(level.summary.metrics, of_tapes.summary.metrics, "at {bytes}");
    if tapes.len() < text.lines().count() {
        assert!(matches!(level.status, LevelStatus::Partial { .. }), "at {bytes}: {level:?}");
        assert_ne!(level.validity.verdict, Verdict::Valid, "at {bytes}");
    }
}

#[test]
fn a_folder_cut_anywhere_is_read_as_a_part_or_refused_by_file_and_place() {
    let folder = copied("cut");
    let whole = read(&folder).unwrap().to_json().unwrap();
    for path in files(&folder) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read(&path).unwrap();
        let is_unread = name.ends_with(".hdr");
        let places = if is_unread { BTreeSet::from([text.len() / 2]) } else { places(&text) };
        for bytes in places {
            fs::write(&path, &text[..bytes]).unwrap();
            match read(&folder) {
                Err(error) => {
                    let place = ["line ", "byte"].iter().any(|word| error.contains(word));
                    assert!(error.contains(&name) && place, "{name} at {bytes}: {error}");
                    assert_ne!(name, "tapes.jsonl", "whole tapes are read, at {bytes}: {error}");
                }
                Ok(report) if name == "tapes.jsonl" => is_a_part(&report.levels()[0], &text, bytes),
                // Nothing reads it again, or nothing but the end of its last line is missing.
                Ok(report) => {
                    assert!(is_unread || text[bytes..] == *b"\n", "{name} at {bytes}");
                    assert_eq!(report.to_json().unwrap(), whole, "{name} at {bytes}");
                }
            }
        }
        fs::write(&path, text).unwrap();
    }
    assert_eq!(read(&folder).unwrap().to_json().unwrap(), whole);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn tapes_that_lack_whole_lines_or_have_more_are_not_what_was_summed_up() {
    let folder = copied("lines");
    let tapes = folder.join("concurrency-0001/tapes.jsonl");
    let text = fs::read_to_string(&tapes).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let more = [&lines[..], &lines[..1]].concat();
    for (kept, said) in [
        (&lines[..6], "tapes.jsonl is cut between lines: 6 whole tapes are used, and there were 8"),
        (&more[..], "tapes.jsonl is longer than its summary.json says: 9 tapes, not 8"),
    ] {
        fs::write(&tapes, kept.concat()).unwrap();
        let report = read(&folder).unwrap();
        let LevelStatus::Partial { reason } = &report.levels()[0].status else { panic!("{said}") };
        assert!(reason.contains(said), "{reason}");
        let run = StoredRun::open(&folder).unwrap();
        assert!(run.levels()[0].each_tape(|_| ()).unwrap().is_some(), "{said}");
    }
    fs::remove_dir_all(folder).unwrap();
}
