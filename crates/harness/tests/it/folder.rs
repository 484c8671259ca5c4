use fizeau_core::{RequestId, Stamp, Tape, TapeSink};
use fizeau_harness::{FolderError, RunFolder};

/// A folder of this test's own, removed when it is over.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let unique = format!("fizeau-harness-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(unique))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn tapes_are_in_the_file_as_soon_as_they_are_recorded() {
    let scratch = Scratch::new("tapes");
    let folder = RunFolder::create(&scratch.0).unwrap();
    let mut file = folder.tapes().unwrap();
    for id in 0..3 {
        let mut tape = Tape::sent_at(Stamp::EPOCH);
        tape.request = RequestId(id);
        file.record(&tape).unwrap();
        // Read while the file is still open for writing: what a killed run would leave.
        let text = std::fs::read_to_string(folder.path().join("tapes.jsonl")).unwrap();
        let last: Tape = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(last, tape);
        assert!(text.ends_with('\n'));
    }
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
