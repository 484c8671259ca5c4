//! A run's folder of which a file was cut: read as far as it is whole and said to be a part, or refused with the file and the place.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fizeau_core::{Nanos, Stamp, Tape};
use fizeau_metrics::Verdict;
use fizeau_record::{
    ImportedLevel, LevelReport, LevelStatus, LevelTelemetry, NamedRun, RunFolder, RunInputError,
    ScrapedPages, ServingDevices, StoredError, StoredRun, StoredTapes, SweepReport,
    TelemetryWindows,
};
use fizeau_telemetry::{
    ClientWindow, Fetch, ForwardPass, ForwardPassLine, History, Page, ScrapeReport, Window,
};

/// A whole folder is read with each of its files cut at about so many places, besides those that are sure to be tried. Each file by
/// itself is cut at every byte, below.
const PLACES: usize = 24;

/// A file that is not longer is cut at each byte.
const SHORT: usize = 512;

/// A stored run, copied to a folder of this name.
pub(crate) fn copied(name: &str, run: &str) -> PathBuf {
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs");
    let from = Path::new(runs).join(run);
    let to = std::env::temp_dir().join(format!("fizeau-record-{name}-{}", std::process::id()));
    for file in files(&from) {
        let target = to.join(file.strip_prefix(&from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
    to
}

/// A run in virtual time, copied, with a device of its own.
fn simulated(name: &str) -> PathBuf {
    let to = copied(name, "what-if/configuration-01");
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

fn open(folder: &Path) -> Result<StoredRun, StoredError> {
    StoredRun::open(folder)
}

fn read(folder: &Path) -> Result<SweepReport, String> {
    open(folder).and_then(|run| run.report()).map_err(|error| error.to_string())
}

/// Where a file is cut: anywhere if it is short; else at the ends of its lines and right beside them where it has few lines, and at
/// even steps.
fn places(text: &[u8]) -> BTreeSet<usize> {
    if text.len() <= SHORT {
        return (0..text.len()).collect();
    }
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let ends: Vec<usize> = ends.collect();
    let few = if ends.len() <= PLACES { &ends[..] } else { &[] };
    let beside = few.iter().flat_map(|end| [*end, end + 1, end + 2]);
    let steps = (0..text.len()).step_by((text.len() / PLACES).max(1));
    beside.chain(steps).filter(|at| *at < text.len()).collect()
}

/// That an error names the file that was cut, and the place.
pub(crate) fn assert_named(error: &str, name: &str, bytes: usize) {
    let place = ["line ", "byte"].iter().any(|word| error.contains(word));
    assert!(error.contains(name) && place, "{name} at {bytes}: {error}");
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
    assert_eq!(level.client.stamps.is_none(), tapes.is_empty(), "at {bytes}");
    if tapes.len() < text.lines().count() {
        assert!(matches!(level.status, LevelStatus::Partial { .. }), "at {bytes}: {level:?}");
        assert_ne!(level.validity.verdict, Verdict::Valid, "at {bytes}");
    }
}

#[test]
fn a_folder_cut_anywhere_is_read_as_a_part_or_refused_by_file_and_place() {
    let folder = simulated("cut");
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
                    assert_named(&error, &name, bytes);
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
    let folder = simulated("lines");
    let tapes = folder.join("concurrency-0001/tapes.jsonl");
    let text = fs::read_to_string(&tapes).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let other = lines[7].replacen("\"request\":7", "\"request\":70", 1);
    let more = [&lines[..], &[&*other]].concat();
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

#[test]
fn tapes_that_are_cut_at_any_byte_are_the_whole_ones_before_it() {
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs");
    let level = Path::new(runs).join("what-if/configuration-01/concurrency-0001");
    let text = fs::read(level.join("tapes.jsonl")).unwrap();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    // A line, and each beginning of the next one: what comes before is read in the same way.
    for two in lines.windows(2) {
        let both = two.concat();
        for end in two[0].len()..=both.len() {
            let mut tapes = StoredTapes::new("tapes.jsonl", &both[..end]).counted(Some(2));
            let whole = tapes.by_ref().map(Result::unwrap).count();
            let cut = tapes.cut().map(|cut| (cut.whole, cut.rest_bytes));
            // But for the end of its last line nothing is missing.
            let is_whole = end + 1 >= both.len();
            let rest = (end - two[0].len()) as u64;
            let expected = if is_whole { (2, None) } else { (1, Some((1, rest))) };
            assert_eq!((whole, cut), expected, "at {end}");
        }
    }
}

#[test]
fn a_level_that_was_killed_shows_what_is_left_of_its_tapes() {
    let folder = copied("killed", "killed");
    let path = folder.join("concurrency-0002/tapes.jsonl");
    let text = fs::read(&path).unwrap();
    for bytes in places(&text) {
        fs::write(&path, &text[..bytes]).unwrap();
        let report = read(&folder).unwrap();
        let of_it = |level: &&LevelReport| level.folder.as_deref() == Some("concurrency-0002");
        let level = report.levels().iter().find(of_it).unwrap();
        assert!(matches!(level.status, LevelStatus::Partial { .. }), "at {bytes}");
        is_a_part(level, &text, bytes);
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Every beginning of a document, by how many bytes it has of it, without the fields and containers before it that are whole: who
/// reads from left to right has them behind him, and all places of a long document are tried in the time of a short one.
fn beginnings(text: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let (mut open, mut at) = (Vec::<&[u8]>::new(), 0);
    text.split_inclusive(|byte| *byte == b'\n').flat_map(move |line| {
        let above = open.concat();
        let words = line.trim_ascii();
        if words.ends_with(b"{") || words.ends_with(b"[") {
            open.push(line);
        } else if words.starts_with(b"}") || words.starts_with(b"]") {
            open.pop();
        }
        let before = at;
        at += line.len();
        (0..line.len()).map(move |cut| (before + cut, [&above, &line[..cut]].concat()))
    })
}

/// Reads a document again, and says whether it is there.
type Reads = Box<dyn Fn() -> Result<bool, RunInputError>>;

/// A stored folder, a document in it, and what reads that.
type DocumentCase = (&'static str, &'static str, fn(PathBuf) -> Reads);

/// What reads a document of a run that was opened while it was whole.
fn of_run(
    folder: &Path,
    reads: impl Fn(&StoredRun) -> Result<bool, StoredError> + 'static,
) -> Reads {
    let run = open(folder).unwrap();
    Box::new(move || Ok(reads(&run)?))
}

#[test]
fn documents_of_every_kind_are_refused_wherever_they_are_cut() {
    let all: [DocumentCase; 8] = [
        ("ab", "ab.json", |path| of_run(&path, |run| Ok(run.ab()?.is_some()))),
        ("search", "search.json", |path| of_run(&path, |run| Ok(run.search()?.is_some()))),
        ("imported", "imported.json", |path| {
            Box::new(move || Ok(ImportedLevel::read(&path)?.is_some()))
        }),
        ("merged", "run.json", |path| Box::new(move || Ok(open(&path).map(|_| true)?))),
        ("what-if", "whatif.json", |path| {
            let is_named = |run: NamedRun| !run.name.starts_with("configuration");
            Box::new(move || Ok(NamedRun::within(&path, None)?.into_iter().all(is_named)))
        }),
        ("what-if/configuration-01", "concurrency-0001/level.json", |path| {
            of_run(&path, |run| Ok(run.levels()[0].plan()?.is_some()))
        }),
        ("what-if/configuration-01", "concurrency-0001/summary.json", |path| {
            of_run(&path, |run| Ok(run.levels()[0].summary()?.is_some()))
        }),
        ("what-if/configuration-01", "sweep.json", |path| {
            let level = open(&path).unwrap().report().unwrap().levels()[0].clone();
            of_run(&path, move |run| run.is_rest(&level).map(|_| true))
        }),
    ];
    std::thread::scope(|scope| {
        for case in all {
            scope.spawn(move || is_refused_wherever_it_is_cut(case));
        }
    });
}

fn is_refused_wherever_it_is_cut((run, name, reads): DocumentCase) {
    let folder = copied(&format!("kinds-{}", name.replace('/', "-")), run);
    let path = folder.join(name);
    let name = path.file_name().unwrap().to_str().unwrap();
    let text = fs::read(&path).unwrap();
    let reads = reads(folder.clone());
    assert!(reads().unwrap(), "{name}");
    // What is whole but for its last line end has all that it needs only where nothing is left out.
    let parts = beginnings(&text).filter(|(bytes, _)| bytes + 1 < text.len());
    let at = |bytes: usize| (bytes, text[..bytes].to_vec());
    let whole = places(&text).into_iter().chain([text.len() - 1]).map(at);
    for (bytes, beginning) in parts.chain(whole) {
        fs::write(&path, &beginning).unwrap();
        match reads() {
            Err(error) => assert_named(&error.to_string(), name, bytes),
            Ok(_) => assert!(text[bytes..] == *b"\n", "{name} at {bytes}"),
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_a_speed_of_light_is_computed_from_is_refused_wherever_it_is_cut() {
    let folder = simulated("reference");
    for name in ["device.toml", "model-config.json"] {
        let path = folder.join(name);
        let text = fs::read(&path).unwrap();
        for bytes in 0..text.len() {
            fs::write(&path, &text[..bytes]).unwrap();
            match open(&folder).and_then(|run| run.reader().map(|_| ())) {
                Err(error) => assert_named(&error.to_string(), name, bytes),
                Ok(()) => assert!(text[bytes..] == *b"\n", "{name} at {bytes}"),
            }
        }
        fs::write(&path, text).unwrap();
    }
    fs::remove_dir_all(folder).unwrap();
}

/// That of a file of lines that is cut at any byte those are read which are whole.
fn has_its_whole_lines(path: &Path, count: impl Fn() -> Result<usize, StoredError>) {
    let text = fs::read(path).unwrap();
    for bytes in 0..=text.len() {
        fs::write(path, &text[..bytes]).unwrap();
        // Of the last one nothing but its end may be missing.
        let is_end = |at: usize| text.get(at) == Some(&b'\n');
        let lines = (0..=bytes).filter(|at| is_end(*at)).count();
        assert_eq!(count().unwrap(), lines, "{} at {bytes}", path.display());
    }
}

/// What only a chart needs keeps nobody from the figures: its whole lines are read, and that some are missing is noted.
#[test]
fn pages_of_metrics_that_are_cut_are_noted() {
    let folder = simulated("pages");
    let level = RunFolder::again(folder.join("concurrency-0001"));
    let mut history = History::new();
    for at in [7, 9] {
        let at = Stamp::EPOCH + Nanos::from_millis(at);
        let page = Page::read(format!("up {}\n", at.as_nanos()).as_bytes(), None).unwrap();
        history.record(Fetch { requested: at, answered: at }, &page);
    }
    let report = ScrapeReport { history, ..ScrapeReport::default() };
    let pages = [ScrapedPages { address: "http://a/metrics".to_owned(), report }];
    level.write_telemetry(&pages).unwrap();
    let windows = TelemetryWindows {
        level: Window::alone(Stamp::EPOCH, Stamp::EPOCH + Nanos::from_secs(1)),
        steady: None,
        interval: Nanos::from_secs(1),
        devices: ServingDevices::Unknown,
        unread: &[],
    };
    let said = LevelTelemetry::of(&pages, windows, &ClientWindow::default());
    let mut whole = read(&folder).unwrap().levels()[0].clone();
    whole.telemetry = Some(Box::new(said));
    level.write_summary(&whole).unwrap();
    let path = level.path().join("telemetry.jsonl");
    let text = fs::read(&path).unwrap();
    let run = open(&folder).unwrap();
    let stored = &run.levels()[0];
    has_its_whole_lines(&path, || stored.telemetry().map(|lines| lines.len()));
    let passes = [1, 2].map(|at| {
        let pass = ForwardPass { counter_id: at, ..ForwardPass::default() };
        ForwardPassLine { source: 0, at: Stamp::from_nanos(at), pass }
    });
    level.write_forward_passes(&passes).unwrap();
    let steps = level.path().join("forward-pass.jsonl");
    has_its_whole_lines(&steps, || stored.forward_passes().map(|lines| lines.len()));
    fs::remove_file(steps).unwrap();
    let ends: Vec<usize> = (0..text.len()).filter(|at| text[*at] == b'\n').collect();
    assert_eq!(ends.len(), 2);
    for bytes in [0, ends[0] / 2, ends[0], ends[0] + 1, ends[1] - 1, ends[1], text.len()] {
        fs::write(&path, &text[..bytes]).unwrap();
        let report = read(&folder).unwrap();
        let lines = ends.iter().filter(|end| **end <= bytes).count();
        let notes = &report.levels()[0].validity.notes;
        let said = format!("telemetry.jsonl was cut or edited: it has {lines} of 2 lines");
        let is_noted = notes.iter().any(|note| note.starts_with(&said));
        assert_eq!(is_noted, lines < 2, "at {bytes}: {notes:?}");
        assert_eq!(report.levels()[0].summary, whole.summary, "at {bytes}");
    }
    fs::write(&path, b"{}\n").unwrap();
    let error = read(&folder).unwrap_err();
    assert_named(&error, "telemetry.jsonl", 3);
    assert!(!error.contains("column"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}
