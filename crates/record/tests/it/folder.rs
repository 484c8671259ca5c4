use fizeau_core::{LoadKind, RequestId, Stamp, Tape, TapeSink};
use fizeau_record::{FolderError, LevelReport, RunFolder};

/// A folder of this test's own, removed when it is over.
pub(crate) struct Scratch(pub(crate) std::path::PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
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

#[test]
fn a_folder_has_one_writer_who_is_named_and_a_dead_ones_lock_is_no_obstacle() {
    let scratch = Scratch::new("held");
    let lock = scratch.0.join(".lock");
    let held = RunFolder::claim(&scratch.0).unwrap();
    let own = format!("is in use: process {}", std::process::id());
    for refused in [RunFolder::claim(&scratch.0), RunFolder::claim_again(&scratch.0)] {
        let error = refused.unwrap_err();
        assert!(matches!(error, FolderError::Held { .. }), "{error}");
        assert!(error.to_string().contains(&own), "{error}");
    }
    // Whoever has a clone still writes.
    let page = held.clone();
    held.write_text("run.json", "{}").unwrap();
    // Another one that writes is what matters, not that a run is there.
    assert!(RunFolder::claim(&scratch.0).unwrap_err().to_string().contains(&own));
    drop(held);
    assert!(RunFolder::claim_again(&scratch.0).unwrap_err().to_string().contains(&own));
    drop(page);
    assert!(!lock.exists());
    assert!(matches!(RunFolder::claim(&scratch.0), Err(FolderError::Occupied(_))));
    // What a process that was killed leaves behind, longer than what is written over it.
    std::fs::write(&lock, format!("process 1 on {}\n", "a-host".repeat(99))).unwrap();
    let again = RunFolder::claim_again(&scratch.0).unwrap();
    assert!(RunFolder::claim_again(&scratch.0).unwrap_err().to_string().contains(&own));
    drop(again);
    assert!(!lock.exists() && scratch.0.join("run.json").exists());
}

#[test]
fn of_threads_that_want_a_folder_at_once_one_at_a_time_has_it() {
    let scratch = Scratch::new("race");
    std::fs::create_dir(&scratch.0).unwrap();
    let owner = scratch.0.join("owner");
    let want = || {
        for _ in 0..100 {
            let Ok(_held) = RunFolder::claim_again(&scratch.0) else { continue };
            let alone = std::fs::File::options().write(true).create_new(true).open(&owner);
            assert!(alone.is_ok(), "two have it");
            std::fs::remove_file(&owner).unwrap();
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(want))));
    assert!(!scratch.0.join(".lock").exists());
}

#[test]
fn a_folder_that_nothing_came_of_is_given_back() {
    let scratch = Scratch::new("back");
    drop(RunFolder::claim(&scratch.0).unwrap());
    assert!(!scratch.0.exists());
    std::fs::create_dir(&scratch.0).unwrap();
    drop(RunFolder::claim(&scratch.0).unwrap());
    assert!(scratch.0.exists(), "it lay there before");
}

#[test]
fn a_run_of_which_nothing_was_sent_leaves_its_folder_to_the_next() {
    let scratch = Scratch::new("withdrawn");
    let out = scratch.0.join("deep/out");
    let folder = RunFolder::claim(&out).unwrap();
    folder.write_text("run.json", "{}").unwrap();
    folder.level("concurrency-0001").unwrap().write_text("summary.json", "{}").unwrap();
    folder.clone().withdraw();
    drop(folder);
    assert!(!scratch.0.exists(), "folders that were made for it go too");
    std::fs::create_dir_all(out.join("shards")).unwrap();
    std::fs::write(out.join("notes"), "mine").unwrap();
    let folder = RunFolder::claim(&out).unwrap();
    folder.write_text("run.json", "{}").unwrap();
    folder.withdraw();
    assert!(!out.join("run.json").exists());
    assert!(out.join("notes").exists() && out.join("shards").exists(), "they lay there before");
    // Nobody claimed it, and a run that is gone on with has what was measured.
    folder.write_text("run.json", "{}").unwrap();
    RunFolder::again(&out).withdraw();
    drop(folder);
    RunFolder::claim_again(&out).unwrap().withdraw();
    assert!(out.join("run.json").exists());
}

#[test]
fn a_folder_that_could_be_written_is_left_as_it_was() {
    let scratch = Scratch::new("writable");
    RunFolder::check_writable(&scratch.0.join("deep/out")).unwrap();
    assert!(!scratch.0.exists());
    std::fs::create_dir(&scratch.0).unwrap();
    RunFolder::check_writable(&scratch.0).unwrap();
    assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 0);
    let file = scratch.0.join("file");
    std::fs::write(&file, "").unwrap();
    let refused = RunFolder::check_writable(&file).unwrap_err();
    assert!(matches!(refused, FolderError::NotAFolder(_)), "{refused}");
    assert!(RunFolder::check_writable(&file.join("below")).is_err());
}

#[test]
fn a_folder_that_is_removed_in_mid_run_is_named_and_not_made_again() {
    let scratch = Scratch::new("removed");
    let folder = RunFolder::create(&scratch.0).unwrap();
    let mut tapes = folder.tapes().unwrap();
    tapes.record(&tape(1)).unwrap();
    std::fs::remove_dir_all(&scratch.0).unwrap();
    tapes.flush().unwrap();
    let level = LevelReport::of_tapes(LoadKind::Concurrency.at(1.0), [&tape(1)]);
    let errors =
        [folder.write_summary(&level).unwrap_err(), folder.level("concurrency-0002").unwrap_err()];
    for error in errors {
        let is_named = error.to_string().contains(&*scratch.0.to_string_lossy());
        assert!(matches!(error, FolderError::Io { .. }) && is_named, "{error}");
    }
    assert!(!scratch.0.exists());
}

/// A file system that nobody may write to, whoever asks: not even root makes a folder there.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_folder_is_named_before_anything_is_measured() {
    let readonly = std::path::Path::new("/proc/fizeau-run");
    let error = RunFolder::claim(readonly).unwrap_err();
    assert!(matches!(error, FolderError::Io { .. }), "{error}");
    assert!(error.to_string().contains("/proc/fizeau-run"), "{error}");
    let error = RunFolder::check_writable(readonly).unwrap_err();
    assert!(error.to_string().contains("cannot write /proc/fizeau-run"), "{error}");
    // There already, and nothing can be written into it: what is to say who holds it is at fault, and nothing stays.
    let error = RunFolder::claim_again("/proc/self").unwrap_err();
    assert!(matches!(error, FolderError::Io { .. }), "{error}");
    assert!(error.to_string().contains("/proc/self/.lock"), "{error}");
}

/// On a disk that is full from the first byte on, who holds a folder cannot be written: it is let go again.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_whose_holder_cannot_be_named_is_not_left_locked() {
    let scratch = Scratch::new("unnamed");
    std::fs::create_dir(&scratch.0).unwrap();
    let lock = scratch.0.join(".lock");
    std::os::unix::fs::symlink("/dev/full", &lock).unwrap();
    let error = RunFolder::claim(&scratch.0).unwrap_err();
    assert!(matches!(error, FolderError::Io { .. }), "{error}");
    assert!(lock.symlink_metadata().is_err(), "{error}");
    assert_eq!(RunFolder::claim(&scratch.0).unwrap().path(), scratch.0);
}

/// What has no room left is written aside first, so that the file of that name stays as it was.
#[cfg(target_os = "linux")]
#[test]
fn a_document_that_finds_no_room_leaves_the_one_before_it() {
    let scratch = Scratch::new("full");
    let folder = RunFolder::create(&scratch.0).unwrap();
    folder.write_text("summary.json", "before").unwrap();
    let aside = scratch.0.join(".summary.json.part");
    std::os::unix::fs::symlink("/dev/full", &aside).unwrap();
    let error = folder.write_text("summary.json", "after").unwrap_err();
    assert!(error.to_string().contains("summary.json: No space left"), "{error}");
    assert_eq!(std::fs::read_to_string(scratch.0.join("summary.json")).unwrap(), "before");
    assert!(!aside.exists());
}

#[test]
fn a_level_that_is_set_aside_is_there_under_a_name_that_no_level_has() {
    let scratch = Scratch::new("aside");
    let folder = RunFolder::create(&scratch.0).unwrap();
    for aside in ["concurrency-0008-partial", "concurrency-0008-partial-2"] {
        folder.set_aside("concurrency-0008").expect("nothing is there");
        let level = scratch.0.join("concurrency-0008");
        std::fs::create_dir(&level).unwrap();
        std::fs::write(level.join("tapes.jsonl"), aside).unwrap();
        folder.set_aside("concurrency-0008").unwrap();
        assert!(!level.exists());
        let kept = std::fs::read_to_string(scratch.0.join(aside).join("tapes.jsonl")).unwrap();
        assert_eq!(kept, aside);
    }
}

#[test]
fn a_name_that_another_run_took_gets_the_next_number() {
    let scratch = Scratch::new("unused");
    let name = |path: std::path::PathBuf| path.file_name().unwrap().to_owned();
    let next = || name(RunFolder::unused(&scratch.0, "run"));
    for expected in ["run", "run-2", "run-3"] {
        assert_eq!(next(), expected);
        std::fs::create_dir_all(scratch.0.join(expected)).unwrap();
    }
    std::fs::remove_dir(scratch.0.join("run-2")).unwrap();
    assert_eq!(next(), "run-2");
}

#[test]
fn records_of_steps_are_a_line_each() {
    let scratch = Scratch::new("passes");
    let folder = RunFolder::create(&scratch.0).unwrap();
    let line = |counter: u64| {
        serde_json::from_value(serde_json::json!({
            "source": 0, "at_ns": counter, "worker_id": "a", "dp_rank": 0, "counter_id": counter,
            "wall_time": 0.02, "scheduled_requests": {}, "queued_requests": {},
        }))
        .unwrap()
    };
    folder.write_forward_passes(&[line(1), line(2)]).unwrap();
    let text = std::fs::read_to_string(scratch.0.join("forward-pass.jsonl")).unwrap();
    let counters: Vec<u64> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["counter_id"].as_u64().unwrap())
        .collect();
    assert_eq!(counters, [1, 2]);
}
