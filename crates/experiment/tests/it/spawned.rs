//! Experiments in the background, over a server in virtual time: what comes of them, and what is left of those that are called off.

use std::cell::Cell;
use std::convert::Infallible;
use std::sync::mpsc;

use fizeau_core::{LoadKind, Nanos, Release, Request, Tape, Transport};
use fizeau_experiment::{
    AbSettings, CalibrationSettings, EndpointKind, Experiment, ExperimentError, ExperimentHandle,
    LoadSearchSpec, PreparedRun, RoundCount, RunEvent, SearchSettings, SweepLoads, SweepRates,
    Watcher, level_size,
};
use fizeau_harness::{Cancel, SelfWatch, TaskDriver};
use fizeau_record::{
    AbReport, CalibrationEnd, ClientCalibration, SearchPurpose, StoredRun, SweepEnding,
};

use crate::door::{scratch, target, workload};
use crate::stand::{Paused, Server, paused};

/// Where a server stops until somebody has called the experiment off.
struct Halt {
    /// At its request of this number; at none if it is 0.
    at: Cell<u32>,
    halted: mpsc::Sender<()>,
    go: mpsc::Receiver<()>,
    cancel: Cancel,
}

/// A server that may stop.
struct Halting<'a> {
    server: Server<'a>,
    halt: &'a Halt,
}

impl Transport for Halting<'_> {
    type Error = Infallible;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, Infallible> {
        if self.halt.at.get() == 1 {
            self.halt.halted.send(()).unwrap();
            self.halt.go.recv().unwrap();
        }
        self.halt.at.set(self.halt.at.get().saturating_sub(1));
        self.server.send(request, release).await
    }
}

/// What is run in the background.
type Run<K, O> = fn(&Experiment<K>, &Halt, &mut dyn Watcher) -> Result<O, ExperimentError>;

/// Runs `experiment` in the background, and calls it off while its request of the number `at` is sent; 0 for not. Gives how many of its
/// levels ended, and what came of it.
fn spawned<K: Clone + Send + 'static, O: Send + 'static>(
    experiment: Experiment<K>,
    at: u32,
    run: Run<K, O>,
) -> (usize, Result<O, ExperimentError>) {
    let ((halted, is_halted), (let_go, go)) = (mpsc::channel(), mpsc::channel());
    let cancel = Cancel::new();
    let halt = Halt { at: Cell::new(at), halted, go, cancel: cancel.clone() };
    let spawned = experiment.cancel(cancel).spawn_with(move |own, events| run(own, &halt, events));
    let mut spawned = spawned.unwrap();
    if at > 0 {
        is_halted.recv().unwrap();
        spawned.cancel();
        let_go.send(()).unwrap();
    }
    paused(async {
        let mut levels = 0;
        while let Some(event) = spawned.progress.next().await {
            levels += usize::from(matches!(event, RunEvent::LevelEnded(_)));
        }
        (levels, spawned.join().await)
    })
}

/// Measures each endpoint over a server that takes 100 ms for each request.
fn measured<K: EndpointKind>(
    experiment: &Experiment<K>,
    halt: &Halt,
    mut events: &mut dyn Watcher,
) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
    paused(async {
        let time = Paused::new();
        let server = Halting { server: Server::new(&time, Nanos::from_millis(100)), halt };
        let (watch, cancel) = (SelfWatch::Off, &halt.cancel);
        let prepared = experiment.prepare()?;
        let with = prepared.endpoints().iter();
        let with =
            with.map(|_| TaskDriver { transport: &server, timer: &time, watch, cancel }).collect();
        Box::pin(prepared.run_with_each(with, &time, &mut events)).await
    })
}

/// A search that takes levels of 120 requests, and two before them, from 16 requests in flight on.
fn search() -> Experiment<SearchSettings> {
    let slo = "mean e2el<1s".parse().unwrap();
    let mut spec = LoadSearchSpec::new(LoadKind::Concurrency, slo);
    spec.to = Some(64.0);
    let mut search = SearchSettings::new(spec);
    search.levels.workload = workload();
    search.levels.size = level_size(Some(120), None, Some(2)).unwrap();
    search.confirm = None;
    Experiment::new(target()).settings(search)
}

#[test]
fn a_search_in_the_background_finds_what_it_finds_and_keeps_what_it_had_when_called_off() {
    let (levels, outcome) = spawned(search(), 0, measured);
    let report = outcome.unwrap().report;
    assert_eq!((report.levels.len(), report.result.load), (levels, Some(64.0)));

    let folder = scratch("called-off");
    let (levels, outcome) = spawned(search().folder(&folder), 198, measured);
    let outcome = outcome.unwrap();
    // Nothing is concluded of the part of a level, which is kept all the same.
    assert_eq!((levels, outcome.report.levels.len(), outcome.sweep.levels().len()), (2, 1, 2));
    assert_eq!(outcome.report.levels[0].purpose, SearchPurpose::Evaluation);
    for name in ["run.json", "search.json", "sweep.json"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_ab_run_in_the_background_keeps_its_turns_when_called_off() {
    let run = |at| -> (usize, AbReport) {
        let mut ab = AbSettings::new(target(), workload(), RoundCount::new(5).unwrap());
        ab.workload.requests = 20.try_into().ok();
        (ab.max_in_flight, ab.warmups) = (2.try_into().ok(), Some(0));
        let (turns, report) = spawned(Experiment::new(target()).settings(ab), at, measured);
        (turns, report.unwrap())
    };
    let (turns, whole) = run(0);
    assert_eq!((turns, whole.rounds.len()), (10, 5));
    // In the third turn, which is the first one of the second round.
    let (turns, part) = run(50);
    assert_eq!((turns, part.rounds.len(), part.comparison.is_ok()), (3, 2, false));
}

/// A client that is never late, flat out against a server of 10 ms for each request and then against streams of half a second.
fn calibrated(
    experiment: &Experiment<CalibrationSettings<()>>,
    halt: &Halt,
    _: &mut dyn Watcher,
) -> Result<ClientCalibration, ExperimentError> {
    paused(async {
        let time = Paused::new();
        let server = |ms| Halting { server: Server::new(&time, Nanos::from_millis(ms)), halt };
        let (flat, paced) = (server(10), server(540));
        let with = experiment.calibrate_with(|pace, _| {
            let transport = if pace.itl == Nanos::ZERO { &flat } else { &paced };
            Ok(TaskDriver { transport, timer: &time, watch: SelfWatch::Off, cancel: &halt.cancel })
        });
        Box::pin(with).await
    })
}

#[test]
fn a_calibration_in_the_background_goes_over_any_transport_and_ends_when_called_off() {
    let mut settings = CalibrationSettings::new(workload(), ());
    settings.streams = 4;
    let experiment = Experiment::new(target()).settings(settings);
    let found = spawned(experiment.clone(), 0, calibrated).1.unwrap();
    assert!((found.requests_per_s.get() / 400.0 - 1.0).abs() < 0.05, "{found:?}");
    assert_eq!((found.threads, found.streams), (1, 4));
    // Doubled in each of the steps after the first.
    assert_eq!((found.on_time.streams, found.on_time.reached), (64, CalibrationEnd::EndOfSearch));

    let error = spawned(experiment, 100, calibrated).1.unwrap_err();
    assert!(error.to_string().contains("called off"), "{error}");
}

/// A sweep of three levels, of 21 requests each.
fn sweep() -> Experiment {
    let loads = SweepLoads::new(&[1, 2, 4], SweepRates::default()).unwrap();
    let size = level_size(Some(20), None, Some(1)).unwrap();
    Experiment::new(target()).workload(workload()).loads(loads).size(size)
}

#[test]
fn a_sweep_that_was_called_off_says_so_in_its_report_and_in_its_folder() {
    let whole = spawned(sweep(), 0, measured).1.unwrap();
    assert_eq!((whole.ending(), whole.unmeasured().len()), (SweepEnding::Complete, 0));
    assert!(!whole.to_json().unwrap().contains("\"ending\""));

    let folder = scratch("sweep-called-off");
    // In the second level.
    let report = spawned(sweep().folder(&folder), 30, measured).1.unwrap();
    assert_eq!(report.ending(), SweepEnding::Interrupted);
    let [left] = report.unmeasured() else { panic!("{:?}", report.unmeasured()) };
    assert_eq!(left.reason.as_deref(), Some("the run was interrupted"));
    assert!(report.to_json().unwrap().contains("\"ending\": \"interrupted\""));
    let stored = StoredRun::open(&folder).unwrap().report().unwrap();
    assert_eq!((stored.ending(), stored.unmeasured().len()), (SweepEnding::Interrupted, 1));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn who_waits_for_the_outcome_keeps_no_events_and_may_stop_waiting() {
    let ((halted, is_halted), (let_go, go)) = (mpsc::channel(), mpsc::channel());
    let halt = Halt { at: Cell::new(30), halted, go, cancel: Cancel::new() };
    let mut run = sweep().spawn_with(move |own, events| measured(own, &halt, events)).unwrap();
    is_halted.recv().unwrap();
    paused(async {
        let late = tokio::time::timeout(std::time::Duration::from_millis(1), run.join()).await;
        assert!(late.is_err());
        let_go.send(()).unwrap();
        let report = run.join().await.unwrap();
        assert_eq!((report.levels().len(), report.ending()), (3, SweepEnding::Complete));
        assert!(run.join().await.is_err(), "it is given once");
        let ExperimentHandle { mut progress, outcome } = run;
        let mut ended = 0;
        while let Some(event) = progress.next().await {
            ended += usize::from(matches!(event, RunEvent::LevelEnded(_)));
        }
        assert_eq!(ended, 1, "the others came while somebody waited for the outcome alone");
        let canceller = outcome.canceller();
        drop(outcome);
        assert!(canceller.is_cancelled());
    });
}
