//! A simulated engine as what experiments measure.

use std::num::NonZeroU64;

use fizeau_core::{LoadKind, Nanos, Tokens};
use fizeau_experiment::{
    DraftSpec, InputField, LevelSettings, LoadSearchSpec, RunEvent, RunNote, SearchSettings,
    SimulatedSystem, SimulatedSystemSpec, StepTimeSpec, SweepLoads, SweepRates, SweepSettings,
    Watcher, level_size,
};
use fizeau_harness::Cancel;
use fizeau_roofline::Acceptance;
use fizeau_sim::Overheads;
use fizeau_workload::Lengths;

/// How often it was told that requests were evicted.
#[derive(Default)]
struct Evictions(Vec<NonZeroU64>);

impl Watcher for Evictions {
    fn event(&mut self, event: RunEvent) {
        if let RunEvent::Note(RunNote::Preempted { times }) = event {
            self.0.push(times);
        }
    }
}

fn level() -> LevelSettings {
    let mut level = LevelSettings::default();
    (level.max_in_flight, level.workload.requests) = (4.try_into().ok(), 12.try_into().ok());
    level.workload.lengths = Lengths::fixed(40, 60);
    level
}

#[test]
fn a_full_cache_is_told_and_one_with_room_is_not() {
    for (blocks, is_full) in [(9, true), (0, false)] {
        let mut spec = SimulatedSystemSpec::default();
        spec.config.blocks = blocks;
        let engine = spec.load().unwrap();
        let mut evictions = Evictions::default();
        let measured = engine.run(&engine.experiment().settings(level()), &mut evictions).unwrap();
        assert_eq!(measured.report.summary.requests.completed, 12);
        assert_eq!(evictions.0.len(), usize::from(is_full), "{blocks} blocks: {:?}", evictions.0);
    }
}

/// Their tapes may be large. Where a run has a folder, whoever makes a page reads them there.
#[test]
fn levels_of_a_sweep_and_of_a_search_hold_nothing_of_their_tapes() {
    let engine = SimulatedSystemSpec::default().load().unwrap();
    let mut sweep = SweepSettings::default();
    sweep.workload.lengths = Lengths::fixed(8, 4);
    sweep.loads = SweepLoads::new(&[1, 2], SweepRates::default()).unwrap();
    sweep.size = level_size(Some(32), None, None).unwrap();
    let mut spec = LoadSearchSpec::new(LoadKind::Concurrency, "p99 ttft<10s".parse().unwrap());
    spec.most_levels = 3;
    let mut search = SearchSettings::new(spec);
    (search.levels, search.confirm) = (sweep.clone(), None);
    let sweep = engine.run(&engine.experiment().settings(sweep), &mut ()).unwrap();
    let search = engine.run(&engine.experiment().settings(search), &mut ()).unwrap().sweep;
    for report in [sweep, search] {
        assert!(report.levels().len() >= 2);
        assert!(report.levels().iter().all(|level| level.detail.is_none()));
    }
}

/// Another thread may have it, and each run begins with an engine that nothing was asked of.
#[test]
fn each_run_is_the_same_wherever_it_is() {
    let engine = SimulatedSystemSpec::default().load().unwrap();
    let run = |engine: &SimulatedSystem| {
        engine.run(&engine.experiment().settings(level()), &mut ()).unwrap().report.summary
    };
    let (here, again) = (run(&engine), run(&engine));
    let elsewhere = std::thread::spawn(move || run(&engine)).join().unwrap();
    assert_eq!(
        (&here.metrics.e2el, &here.metrics.ttft),
        (&again.metrics.e2el, &again.metrics.ttft)
    );
    assert_eq!(here.metrics.e2el, elsewhere.metrics.e2el);
}

#[test]
fn a_run_is_called_off_by_its_experiment() {
    let (engine, cancel) = (SimulatedSystemSpec::default().load().unwrap(), Cancel::new());
    cancel.cancel();
    let run = engine.experiment().settings(level()).cancel(cancel);
    assert_eq!(engine.run(&run, &mut ()).unwrap().report.summary.requests.sent, 0);
}

/// What has further to go takes as much longer.
#[test]
fn the_way_to_the_engine_counts() {
    let engine = SimulatedSystemSpec::default().load().unwrap();
    let p50 = |delay| {
        let engine = engine.clone().network_delay(delay);
        let run = engine.experiment().settings(level());
        engine.run(&run, &mut ()).unwrap().report.summary.metrics.ttft.p50.value().unwrap()
    };
    let (near, far) = (p50(Nanos::from_millis(1)), p50(Nanos::from_millis(101)));
    assert!(((far.get() - near.get()) / 100.0 - 1.0).abs() < 0.2, "{near:?} {far:?}");
}

#[test]
fn what_is_wrong_is_refused_by_its_field() {
    let refused = |change: &dyn Fn(&mut SimulatedSystemSpec)| {
        let mut spec = SimulatedSystemSpec::new("llama-3.1-8b", "h100-sxm");
        change(&mut spec);
        spec.load().unwrap_err().field
    };
    assert_eq!(refused(&|spec| spec.model = "nothing".into()), InputField::ModelConfig);
    assert_eq!(refused(&|spec| spec.device = "nothing".into()), InputField::Hardware);
    assert_eq!(refused(&|spec| spec.deployment.tp = 3), InputField::Deployment);
    assert_eq!(refused(&|spec| spec.deployment.memory_share = 0.1), InputField::SimulatedEngine);
    assert_eq!(
        refused(&|spec| spec.config.max_context = Some(Tokens::new(1 << 40))),
        InputField::MaxContext
    );
    assert_eq!(
        refused(&|spec| spec.step = StepTimeSpec::Shipped("none".into())),
        InputField::Engine
    );
    let cap = "1".parse().unwrap();
    let capped = StepTimeSpec::Roofline(Overheads::default(), Some(cap));
    assert_eq!(refused(&|spec| spec.step = capped.clone()), InputField::PowerLimit);
    let mut drafts = DraftSpec::new(2, Acceptance::per_position(&[0.5]).unwrap());
    drafts.drafter = "nothing".parse().unwrap();
    assert_eq!(refused(&|spec| spec.drafts = Some(drafts.clone())), InputField::Drafter);
}
