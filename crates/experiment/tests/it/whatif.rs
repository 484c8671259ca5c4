//! Configurations side by side, each a server of its own in a virtual time of its own.

use fizeau_core::Nanos;
use fizeau_experiment::{
    CaseEngine, CaseOutcome, CaseSettings, CaseSpec, EndpointKind, Experiment, ExperimentError,
    ImpossibleCase, LevelSettings, PreparedExperiment, PreparedRun, RunEvent, SweepLoads,
    SweepRates, SweepSettings, Watcher, WhatIfCase, WhatIfError, WhatIfRunner, level_size,
};
use fizeau_harness::{Cancel, SelfWatch, TaskDriver};
use fizeau_record::NotRunReason;

use crate::door::{target, workload};
use crate::stand::{Paused, Server, paused};

/// What all are held to.
const GOALS: &str = "mean e2el<80ms";

/// A server that takes so long for each request.
struct Fixed<'a>(Nanos, &'a Cancel);

impl CaseEngine for Fixed<'_> {
    fn experiment(&self) -> Experiment {
        Experiment::new(target())
    }

    fn devices(&self) -> u64 {
        2
    }

    fn run_prepared<K: EndpointKind>(
        &self,
        prepared: PreparedExperiment<K>,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        paused(async {
            let time = Paused::new();
            let server = Server::new(&time, self.0);
            let rig = TaskDriver {
                transport: &server,
                timer: &time,
                watch: SelfWatch::Off,
                cancel: self.1,
            };
            Box::pin(prepared.run_with(rig, watcher)).await
        })
    }
}

/// A case that has this name.
fn case<'a>(
    name: &str,
    spec: Result<CaseSpec<Fixed<'a>>, ImpossibleCase>,
) -> WhatIfCase<Fixed<'a>> {
    WhatIfCase { settings: vec![("tp".to_owned(), name.to_owned())], spec }
}

fn sweep() -> SweepSettings {
    let mut sweep = SweepSettings::default();
    (sweep.workload, sweep.slo) = (workload(), Some(GOALS.parse().unwrap()));
    sweep.loads = SweepLoads::new(&[1, 2], SweepRates::default()).unwrap();
    sweep.size = level_size(Some(20), None, Some(1)).unwrap();
    sweep
}

fn level() -> CaseSettings {
    let mut level = LevelSettings::default();
    (level.workload, level.max_in_flight) = (workload(), 2.try_into().ok());
    level.workload.requests = 20.try_into().ok();
    CaseSettings::Level(Box::new(level))
}

/// Counts the levels that ended.
struct Levels(usize);

impl Watcher for Levels {
    fn event(&mut self, event: RunEvent) {
        self.0 += usize::from(matches!(event, RunEvent::LevelEnded(_)));
    }
}

#[test]
fn each_case_that_can_run_does_and_the_others_say_why() {
    let cancel = Cancel::new();
    let on =
        |settings, ms| Ok(CaseSpec { settings, engine: Fixed(Nanos::from_millis(ms), &cancel) });
    let mut wrong = sweep();
    wrong.protocol.sustain = Some(Nanos::ZERO);
    let [sweep, wrong] = [sweep(), wrong].map(|sweep| CaseSettings::Sweep(Box::new(sweep)));
    let cases = vec![
        case("1", on(sweep, 100)),
        case("2", Err(ImpossibleCase::new("it does not fit"))),
        case("3", on(wrong, 100)),
        case("4", on(level(), 50)),
    ];
    let slo = GOALS.parse().unwrap();
    let (mut running, mut levels) = (WhatIfRunner::new(cases, slo, cancel.clone()), Levels(0));
    let first = running.next_case(&mut levels).unwrap().unwrap();
    assert!(matches!(first.outcome, CaseOutcome::Sweep(_)));
    assert_eq!((levels.0, first.outcome.page().levels().len()), (2, 2));
    let last = running.next_case(&mut levels).unwrap().unwrap();
    assert!(matches!(last.outcome, CaseOutcome::Level(_)) && last.folder.is_none());
    assert!(running.next_case(&mut levels).unwrap().is_none());
    let report = running.finish().unwrap();
    let devices: Vec<_> = report.variants().iter().map(|variant| variant.devices).collect();
    assert_eq!(devices, [Some(2), None, None, Some(2)]);
    assert_eq!(report.variants()[1].impossible().unwrap(), "tp 2: it does not fit");
    assert!(report.variants()[2].impossible().unwrap().contains("give more than 0"));
    // Of the first no level keeps the goals.
    assert!(report.chosen().iter().all(|chosen| chosen.variant == 3));
    assert_eq!(report.variants()[3].sweep().unwrap().slo(), Some(&GOALS.parse().unwrap()));
}

#[test]
fn a_what_if_of_which_nothing_ran_has_nothing_to_show() {
    let cancel = Cancel::new();
    let run = |cases| {
        let slo = GOALS.parse().unwrap();
        let mut running = WhatIfRunner::new(cases, slo, cancel.clone());
        assert!(running.next_case(&mut ()).unwrap().is_none());
        running.finish()
    };
    let refused = run(vec![
        case("1", Err(ImpossibleCase::new("no"))),
        case("2", Err(ImpossibleCase::new("nor"))),
    ]);
    let reasons = vec!["tp 1: no".to_owned(), "tp 2: nor".to_owned()];
    assert_eq!(refused.unwrap_err(), WhatIfError::Impossible(reasons));
    cancel.cancel();
    let engine = Fixed(Nanos::from_millis(1), &cancel);
    let left = run(vec![case("1", Ok(CaseSpec { settings: level(), engine }))]);
    assert_eq!(left.unwrap_err(), WhatIfError::Interrupted);
    assert_eq!(NotRunReason::Interrupted.to_string(), "not run: interrupted");
}

#[test]
fn a_what_if_without_a_case_says_so() {
    let slo = GOALS.parse().unwrap();
    let mut running = WhatIfRunner::<Fixed<'_>>::new(Vec::new(), slo, Cancel::new());
    assert!(running.next_case(&mut ()).unwrap().is_none());
    let error = running.finish().unwrap_err();
    assert_eq!(error, WhatIfError::Empty);
    assert!(!error.to_string().is_empty());
}
