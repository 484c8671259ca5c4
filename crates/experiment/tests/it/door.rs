//! Every kind of experiment is run through one door: prepared, run and kept.

use std::path::PathBuf;

use fizeau_core::{LoadKind, Nanos};
use fizeau_experiment::{
    AbSettings, Experiment, ExperimentError, LevelSettings, LoadSearchSpec, RoundCount, RunEvent,
    SearchSettings, SweepLoads, SweepRates, Watcher, WorkloadSpec, level_size,
};
use fizeau_harness::{Cancel, SelfWatch, TaskDriver};
use fizeau_transport::{Backend, Target};
use fizeau_workload::Lengths;

use crate::stand::{Paused, Server, paused};

pub(crate) fn target() -> Target {
    Target::new("http://127.0.0.1:1", Backend::Vllm, "llama").unwrap()
}

pub(crate) fn workload() -> WorkloadSpec {
    let mut workload = WorkloadSpec::default();
    workload.lengths = Lengths::fixed(8, 1);
    workload
}

pub(crate) fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("fizeau-door-{name}-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&path));
    path
}

/// How many runs were prepared, and how many levels began and ended.
#[derive(Default)]
struct Counts([usize; 3]);

impl Watcher for Counts {
    fn event(&mut self, event: RunEvent) {
        let place = match event {
            RunEvent::Prepared(_) => 0,
            RunEvent::LevelStarted(_) => 1,
            RunEvent::LevelEnded(_) => 2,
            _ => return,
        };
        self.0[place] += 1;
    }
}

/// A sweep of two small levels.
fn sweep() -> Experiment {
    let size = level_size(Some(20), None, Some(1)).unwrap();
    let loads = SweepLoads::new(&[1, 2], SweepRates::default()).unwrap();
    Experiment::new(target()).workload(workload()).loads(loads).size(size)
}

#[test]
fn a_level_goes_through_the_door() {
    paused(async {
        let (time, cancel) = (Paused::new(), Cancel::new());
        let server = Server::new(&time, Nanos::from_millis(100));
        let rig =
            TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let folder = scratch("level");
        let mut level = LevelSettings::default();
        (level.workload, level.max_in_flight) = (workload(), 2.try_into().ok());
        level.workload.requests = 20.try_into().ok();
        let mut counts = Counts::default();
        let experiment = Experiment::new(target()).settings(level).folder(&folder);
        let measured = experiment.run_with(rig, &mut counts).await.unwrap();
        assert_eq!((measured.report.summary.requests.sent, counts.0), (20, [1, 1, 1]));
        assert_eq!(measured.sweep.levels().len(), 1);
        for name in ["run.json", "tapes.jsonl", "summary.json"] {
            assert!(folder.join(name).is_file(), "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    });
}

#[test]
fn a_sweep_goes_through_the_door() {
    paused(async {
        let (time, cancel) = (Paused::new(), Cancel::new());
        let server = Server::new(&time, Nanos::from_millis(100));
        let rig =
            TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let mut counts = Counts::default();
        let report = sweep().run_with(rig, &mut counts).await.unwrap();
        assert_eq!((report.levels().len(), counts.0), (2, [1, 2, 2]));
    });
}

#[test]
fn a_search_goes_through_the_door() {
    paused(async {
        let (time, cancel) = (Paused::new(), Cancel::new());
        let server = Server::new(&time, Nanos::from_millis(100));
        let rig =
            TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let slo = "mean e2el<1s".parse().unwrap();
        let mut spec = LoadSearchSpec::new(LoadKind::Concurrency, slo);
        spec.to = Some(4.0);
        let mut search = SearchSettings::new(spec);
        search.levels.workload = workload();
        search.levels.size = level_size(Some(20), None, Some(1)).unwrap();
        search.confirm = None;
        let mut counts = Counts::default();
        let outcome =
            Experiment::new(target()).settings(search).run_with(rig, &mut counts).await.unwrap();
        assert_eq!(outcome.report.result.load, Some(4.0), "all that it may try is within the goal");
        assert_eq!(counts.0[1], outcome.report.levels.len());
    });
}

#[test]
fn an_ab_run_goes_through_the_door() {
    paused(async {
        let (time, cancel) = (Paused::new(), Cancel::new());
        let server = Server::new(&time, Nanos::from_millis(100));
        let rig = || TaskDriver {
            transport: &server,
            timer: &time,
            watch: SelfWatch::Off,
            cancel: &cancel,
        };
        let mut ab = AbSettings::new(target(), workload(), RoundCount::new(5).unwrap());
        ab.workload.requests = 20.try_into().ok();
        ab.max_in_flight = 2.try_into().ok();
        let mut counts = Counts::default();
        let prepared = Experiment::new(target()).settings(ab).prepare().unwrap();
        assert_eq!(prepared.endpoints().len(), 2);
        let running = prepared.run_with_each(vec![rig(), rig()], &time, &mut counts);
        let report = Box::pin(running).await.unwrap();
        assert_eq!((report.rounds.len(), counts.0), (5, [1, 10, 10]));
    });
}

/// Takes the place of the figures' file as the level begins.
struct Full(PathBuf);

impl Watcher for Full {
    fn event(&mut self, event: RunEvent) {
        if let RunEvent::LevelStarted(_) = event {
            std::fs::create_dir(self.0.join("summary.json")).unwrap();
        }
    }
}

#[test]
fn figures_that_cannot_be_written_are_given_with_the_error() {
    paused(async {
        let (time, cancel) = (Paused::new(), Cancel::new());
        let server = Server::new(&time, Nanos::from_millis(100));
        let rig =
            TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let folder = scratch("full");
        let mut level = LevelSettings::default();
        (level.workload, level.max_in_flight) = (workload(), 2.try_into().ok());
        level.workload.requests = 20.try_into().ok();
        let experiment = Experiment::new(target()).settings(level).folder(&folder);
        let tried = experiment.run_with(rig, &mut Full(folder.clone())).await;
        let Err(ExperimentError::NotKept { measured, why }) = tried else { panic!("{tried:?}") };
        assert!(why.to_string().contains("summary.json"), "{why}");
        assert_eq!(measured.report.summary.requests.completed, 20);
        std::fs::remove_dir_all(&folder).unwrap();
    });
}

#[test]
fn a_folder_is_taken_before_anything_is_sent_and_given_back_if_nothing_came() {
    let folder = scratch("given-back");
    let experiment = Experiment::new(target()).folder(&folder);
    let prepared = experiment.prepare().unwrap();
    assert!(folder.is_dir());
    drop(prepared);
    assert!(!folder.exists());
}
