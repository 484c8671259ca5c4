//! Levels of a sweep that tell what they were to be.

use std::fs;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use fizeau_core::LevelLoad;
use fizeau_core::{Nanos, PerSec};
use fizeau_experiment::{LevelSize, LevelSpec};
use fizeau_experiment::{SweepRunner, SweepSpec};
use fizeau_harness::{Cancel, DriveNotice, Observer, SelfWatch, TaskDriver};
use fizeau_record::{LevelRole, RunFolder, StoredRun};
use fizeau_workload::{Lengths, PlanSpec};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use crate::stand::{Paused, Server, paused};

/// The same cases in every run.
fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1862), ..Config::default() }
}

/// A folder that is gone when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fizeau-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn slots(slots: u32) -> LevelLoad {
    LevelLoad::Concurrency(NonZeroU32::new(slots).unwrap())
}

fn any_load() -> impl Strategy<Value = LevelLoad> {
    prop_oneof![
        (1..u32::MAX).prop_map(slots),
        (1..10_000_000_u32).prop_map(|n| LevelLoad::Rate(PerSec::new(f64::from(n) / 1_000.0))),
    ]
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn a_folders_name_gives_load_and_visit_back(load in any_load(), visit in 0..1_000_u32) {
        prop_assert_eq!(LevelLoad::of_folder(&load.folder(visit)), Some((load, visit)));
    }

    #[test]
    fn no_name_is_read_that_would_not_be_given_again(name in "(concurrency|rate|b)-[0-9.]{0,9}(-[0-9a-z]{0,3})?") {
        if let Some((load, visit)) = LevelLoad::of_folder(&name) {
            prop_assert_eq!(load.folder(visit), name);
        }
    }
}

/// Looks whether a file is there when the first request has ended.
struct Looking(PathBuf, Option<String>);

impl Observer for Looking {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::WarmedUp { .. } = notice {
            self.1 = fs::read_to_string(&self.0).ok();
        }
    }
}

#[test]
fn a_folder_tells_what_its_level_was_to_be_before_the_first_request() {
    let scratch = Scratch::new("levels");
    let folder = RunFolder::create(&scratch.0).unwrap();
    folder
        .write_text(
            "run.json",
            r#"{"schema": "fizeau.run/1", "levels": [
                {"load": {"concurrency": 2}, "visit": 0, "requests": 9, "seed": 5, "until": "ci=1%"},
                {"load": {"concurrency": 64}, "visit": 0, "requests": 640}]}"#,
        )
        .unwrap();
    let size = LevelSize::new(NonZeroU64::new(20), None, Some(1));
    let asks = [
        LevelSpec { load: LevelLoad::Rate(PerSec::new(12.34567)), visit: 0, size },
        LevelSpec { load: slots(10_000), visit: 0, size },
        LevelSpec { load: slots(2), visit: 1, size },
        LevelSpec { load: slots(2), visit: 0, size },
    ];
    let workload = PlanSpec { lengths: Lengths::fixed(8, 1), ..PlanSpec::new(1).unwrap() };
    let mut spec = SweepSpec::new([], workload);
    spec.size = size;
    paused(async {
        let time = Paused::new();
        let server = Server::new(&time, Nanos::from_millis(100));
        let cancel = Cancel::new();
        let rig =
            TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let mut sweep = SweepRunner::new(rig, &spec, Some(folder.clone()));
        for ask in asks {
            let path = scratch.0.join(ask.load.folder(ask.visit)).join("level.json");
            let mut looking = Looking(path, None);
            sweep.level(ask, &mut looking).await.unwrap().unwrap();
            assert!(looking.1.unwrap().contains("fizeau.level/1"));
        }
        sweep.sustained(LevelSpec { visit: 2, ..asks[3] }, &mut ()).await.unwrap().unwrap();
    });
    fs::create_dir_all(scratch.0.join("concurrency-0064-partial")).unwrap();
    fs::write(scratch.0.join("concurrency-0064-partial/tapes.jsonl"), "").unwrap();
    let run = StoredRun::open(&scratch.0).unwrap();
    let names: Vec<&str> = run.levels().iter().map(fizeau_record::StoredLevel::name).collect();
    let rising = [
        "concurrency-0002",
        "concurrency-0002-2",
        "concurrency-10000",
        "rate-00012.346",
        "sustained-concurrency-0002",
    ];
    assert_eq!(names, rising, "by load and visit, and nothing that was set aside");
    let levels = &run.document().levels;
    assert_eq!(levels.len(), 6, "two of run.json, one of which was measured, and four more");
    assert_eq!((levels[0].requests, levels[0].until.as_ref()), (20, None));
    assert_eq!(levels[0].seed, Some(spec.workload.seed.of_level(slots(2), 0).0));
    assert_eq!((levels[1].requests, levels[2].visit), (640, Some(1)), "as run.json has it");
    assert_eq!(levels[4].load, Some(LevelLoad::Rate(PerSec::new(12.34567))), "in full");
    assert_eq!(levels[4].arrivals.and_then(|law| law.cv_squared), Some(1.0));
    assert_eq!(levels[5].role, Some(LevelRole::Sustained));
    let one = StoredRun::open(scratch.0.join("concurrency-0002-2")).unwrap();
    assert_eq!((one.levels()[0].name(), one.document().levels.len()), ("concurrency-0002-2", 3));
}
