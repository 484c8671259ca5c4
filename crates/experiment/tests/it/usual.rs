//! What holds where nothing is said, and what is refused since it would not hold.

use std::num::NonZeroU32;

use fizeau_core::{LoadKind, Nanos, PerSec, Seconds};
use fizeau_experiment::{
    AbSettings, EndpointKind, Experiment, ExperimentError, InputError, InputField, InputHint,
    LEVEL_TIME, LEVEL_TIME_UNTIL_KNOWN, LevelSettings, LevelSize, LoadSearchSpec, RoundCount,
    SearchSettings, SearchStep, StopRule, SweepLoads, SweepRates, SweepSettings, SystemUnderTest,
    WorkloadSpec,
};
use fizeau_record::GoalSource;
use fizeau_workload::ArrivalLaw;

use crate::door::{target, workload};

fn refused<K: EndpointKind>(experiment: &Experiment<K>) -> InputError {
    match experiment.prepare().map(drop) {
        Err(ExperimentError::Input(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn search(over: LoadKind) -> SearchSettings {
    SearchSettings::new(LoadSearchSpec::new(over, "p99 ttft<500ms".parse().unwrap()))
}

fn ab() -> AbSettings {
    AbSettings::new(target(), workload(), RoundCount::new(5).unwrap())
}

#[test]
fn a_sweep_of_which_nothing_is_said_is_the_usual_one() {
    let usual = Experiment::new(target()).prepare().unwrap();
    let sweep = usual.prepared();
    assert_eq!(sweep.settings.protocol.stop, Some(StopRule::default()));
    assert_eq!(sweep.spec.size.time, Some(LEVEL_TIME));
    assert_eq!(sweep.settings.slo, Some(SweepSettings::USUAL_GOALS.parse().unwrap()));
    assert_eq!(sweep.goal_source, GoalSource::Assumed);

    let slo = SweepSettings::USUAL_GOALS.parse().unwrap();
    let until = "p99 ttft ci=10%".parse().unwrap();
    let given = Experiment::new(target()).slo(slo).until(until).prepare().unwrap();
    assert_eq!(given.prepared().goal_source, GoalSource::Given);
    assert_eq!(given.prepared().spec.size.time, Some(LEVEL_TIME_UNTIL_KNOWN));

    // In virtual time nobody waits.
    let simulated = SystemUnderTest::simulated("an engine", "llama");
    let simulated = Experiment::new(target()).system(simulated).prepare().unwrap();
    assert_eq!(simulated.prepared().spec.size.time, None);
}

/// However fast it is served: what ends it is the time that was asked for.
#[test]
fn a_closed_loop_that_ends_by_time_has_requests_until_then() {
    let mut sweep = SweepSettings::default();
    sweep.size.time = Some(Nanos::from_secs(3_600));
    let prepared = Experiment::new(target()).settings(sweep).prepare().unwrap();
    let ask = prepared.prepared().ask(NonZeroU32::MIN.into(), 0);
    assert_eq!(ask.size.requests.unwrap().get(), 16_777_216);
    let mut level = LevelSettings::default();
    level.time = Some(Nanos::from_secs(3_600));
    level.max_in_flight = Some(NonZeroU32::MIN);
    let prepared = Experiment::new(target()).settings(level).prepare().unwrap();
    assert_eq!(prepared.prepared().basis.work.requests().get(), 16_777_216);
}

#[test]
fn arrivals_tell_how_long_a_level_takes_and_a_closed_loop_does_not() {
    let mut level = LevelSettings::default();
    level.workload.requests = 30.try_into().ok();
    level.workload.arrivals = ArrivalLaw::Constant { rate: PerSec::new(10.0) };
    let time = |level: &LevelSettings| {
        let prepared = Experiment::new(target()).settings(level.clone()).prepare().unwrap();
        prepared.prepared().basis.work.arrival_time()
    };
    assert_eq!(time(&level), Some(Seconds::new(3.0)));
    level.workload.arrivals = ArrivalLaw::ClosedLoop;
    level.max_in_flight = 4.try_into().ok();
    assert_eq!(time(&level), None);
}

#[test]
fn a_level_of_a_search_ends_when_its_time_is_up() {
    let first = |settings: SearchSettings| {
        let prepared = Experiment::new(target()).settings(settings).prepare().unwrap();
        match prepared.prepared().search.next() {
            SearchStep::Measure(ask) => ask.size.time,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(first(search(LoadKind::Concurrency)), Some(LEVEL_TIME));
    assert_eq!(first(search(LoadKind::Rate)), Some(LEVEL_TIME));
    let mut within = search(LoadKind::Concurrency);
    within.search.budget = Some(Nanos::from_secs(60));
    assert!(first(within).unwrap() < LEVEL_TIME);
}

#[test]
fn a_closed_loop_is_told_how_many_requests_it_holds() {
    let mut level = LevelSettings::default();
    let error = refused(&Experiment::new(target()).settings(level.clone()));
    assert_eq!((error.field, error.hint), (InputField::MaxConcurrency, Some(InputHint::NeedsLoad)));
    let error = refused(&Experiment::new(target()).settings(ab()));
    assert_eq!(error.hint, Some(InputHint::NeedsLoad));
    level.workload.arrivals = ArrivalLaw::AllAtOnce;
    Experiment::new(target()).settings(level).prepare().unwrap();
}

#[test]
fn what_no_level_can_be_is_refused_before_the_first_request() {
    let rates = [
        SweepRates::Named(vec![PerSec::new(1.0), PerSec::new(0.0)]),
        SweepRates::Auto(0),
        SweepRates::Auto(1),
    ];
    for rates in rates {
        assert_eq!(SweepLoads::new(&[1], rates).unwrap_err().field, InputField::Rates);
    }
    let size = LevelSize::new(None, Some(Nanos::ZERO), None);
    let error = refused(&Experiment::new(target()).size(size));
    assert_eq!(error.field, InputField::LevelSeconds);
    let mut level = LevelSettings::default();
    (level.max_in_flight, level.time) = (2.try_into().ok(), Some(Nanos::ZERO));
    let error = refused(&Experiment::new(target()).settings(level));
    assert_eq!(error.field, InputField::LevelSeconds);
    let mut beyond = search(LoadKind::Concurrency);
    (beyond.search.from, beyond.search.to) = (Some(1e18), Some(1e19));
    let error = refused(&Experiment::new(target()).settings(beyond));
    assert_eq!(error.field, InputField::Start);
}

#[test]
fn what_would_be_lost_is_refused() {
    let said = [
        Experiment::new(target()).slo("p99 ttft<1s".parse().unwrap()),
        Experiment::new(target()).workload(WorkloadSpec::default()),
    ];
    let fields = said.map(|said| refused(&said.settings(SweepSettings::default())).field);
    assert_eq!(fields, [InputField::Slo, InputField::Workload]);
    let settings = SweepSettings::default();
    Experiment::new(target()).settings(settings.clone()).workload(workload()).prepare().unwrap();

    let mut resuming = settings;
    resuming.resume = Some("one".into());
    let error = refused(&Experiment::new(target()).settings(resuming).folder("another"));
    assert_eq!(error.field, InputField::Out);
}

#[test]
fn an_ab_run_in_virtual_time_names_no_address() {
    let simulated = SystemUnderTest::simulated("an engine", "llama");
    let mut ab = ab();
    ab.max_in_flight = 2.try_into().ok();
    let sides = |experiment: Experiment<AbSettings>| {
        let prepared = experiment.prepare().unwrap();
        prepared.prepared().sides.each_ref().map(|side| side.record.base_url.clone())
    };
    let named = sides(Experiment::new(target()).settings(ab.clone()).system(simulated));
    assert_eq!(named, ["a simulated engine in virtual time"; 2]);
    let named = sides(Experiment::new(target()).settings(ab));
    assert_eq!(named, ["http://127.0.0.1:1"; 2]);
}
