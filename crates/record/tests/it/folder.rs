use fizeau_core::{RequestId, Stamp, Tape, TapeSink};
use fizeau_record::{FolderError, RunFolder};

/// A folder of this test's own, removed when it is over.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let unique = format!("fizeau-record-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(unique))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tape(id: u64) -> Tape {
    Tape { request: RequestId(id), ..Tape::sent_at(Stamp::EPOCH) }
}

#[test]
fn tapes_are_in_the_file_as_soon_as_it_is_flushed() {
    let scratch = Scratch::new("tapes");
    let folder = RunFolder::create(&scratch.0).unwrap();
    let mut file = folder.tapes().unwrap();
    for id in 0..3 {
        file.record(&tape(id)).unwrap();
        file.flush().unwrap();
        // Read while the file is still open for writing: what a killed run would leave.
        let text = std::fs::read_to_string(folder.path().join("tapes.jsonl")).unwrap();
        let last: Tape = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(last, tape(id));
        assert!(text.ends_with('\n'));
    }
}

#[test]
fn tapes_that_come_without_a_pause_are_written_in_whole_lines_and_none_is_lost() {
    let scratch = Scratch::new("flood");
    let folder = RunFolder::create(&scratch.0).unwrap();
    let mut file = folder.tapes().unwrap();
    let read = || std::fs::read_to_string(folder.path().join("tapes.jsonl")).unwrap();
    for id in 0..1_000 {
        file.record(&tape(id)).unwrap();
    }
    let early = read();
    assert!(!early.is_empty() && early.ends_with('\n'), "{} bytes", early.len());
    drop(file);
    let ids = read().lines().map(|l| serde_json::from_str::<Tape>(l).unwrap().request.0).collect();
    let ids: Vec<u64> = ids;
    assert_eq!(ids, (0..1_000).collect::<Vec<_>>());
}

#[test]
fn a_folder_that_holds_a_run_is_refused() {
    let scratch = Scratch::new("occupied");
    let folder = RunFolder::create(&scratch.0).unwrap();
    RunFolder::create(&scratch.0).expect("an empty folder may be taken");
    folder.write_json("run.json", &serde_json::json!({"schema": "test"})).unwrap();
    let error = RunFolder::create(&scratch.0).unwrap_err();
    assert!(matches!(error, FolderError::Occupied(_)));
    assert!(error.to_string().contains("already holds a run"), "{error}");
}

#[test]
fn documents_are_written_whole_and_leave_nothing_aside() {
    let scratch = Scratch::new("whole");
    let folder = RunFolder::create(&scratch.0).unwrap();
    folder.write_text("report.html", "<p>first</p>").unwrap();
    folder.write_text("report.html", "<p>second</p>").unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.path().join("report.html")).unwrap(),
        "<p>second</p>"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_path_that_cannot_be_made_is_named() {
    let scratch = Scratch::new("file");
    std::fs::write(&scratch.0, "a file, not a folder").unwrap();
    let error = RunFolder::create(scratch.0.join("inside")).unwrap_err();
    assert!(error.to_string().contains("inside"), "{error}");
    std::fs::remove_file(&scratch.0).unwrap();
}
