//! A simulated engine as what experiments measure.

use std::num::NonZeroU64;

use fizeau_core::{LevelLoad, LoadKind, Nanos, PerSec, Seconds, Tokens};
use fizeau_experiment::{
    DraftSpec, ExperimentError, InputField, LevelSettings, LoadSearchSpec, PromptSource, RunEvent,
    RunNote, SearchSettings, SimulatedSystem, SimulatedSystemSpec, StepTimeSpec, SweepLoads,
    SweepRates, SweepSettings, TraceKind, TraceSource, Watcher, WorkloadSpec, level_size,
};
use fizeau_harness::Cancel;
use fizeau_record::LevelReport;
use fizeau_roofline::Acceptance;
use fizeau_sim::Overheads;
use fizeau_workload::{
    ArrivalLaw, Lengths, RampShape, RampSpan, RateStage, Rescale, Spacing, Turns,
};

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

/// A level of so many `seconds` whose requests leave by `arrivals`, and nobody says how many they are.
fn by_time(arrivals: ArrivalLaw, seconds: u64) -> LevelSettings {
    let mut level = LevelSettings::default();
    (level.time, level.warmups) = (Some(Nanos::from_secs(seconds)), Some(0));
    level.workload.lengths = Lengths::fixed(20, 2);
    level.workload.arrivals = arrivals;
    level
}

fn measured(level: LevelSettings) -> LevelReport {
    let engine = SimulatedSystemSpec::default().load().unwrap();
    engine.run(&engine.experiment().settings(level), &mut ()).unwrap().report
}

fn ramp(over: RampSpan) -> ArrivalLaw {
    let [from, to] = [10.0, 100.0].map(PerSec::new);
    ArrivalLaw::Ramp { from, to, shape: RampShape::Linear, over, spacing: Spacing::Even }
}

/// The rate that was asked for.
fn asked(report: &LevelReport) -> f64 {
    report.requested.arrivals.unwrap().rate.unwrap().get()
}

/// The rate that was sent.
fn sent(report: &LevelReport) -> f64 {
    let arrivals = report.summary.arrivals.as_ref().unwrap();
    arrivals.sent.rate.unwrap().get()
}

#[test]
fn a_ramp_of_which_nobody_says_how_many_requests_it_has_takes_the_time_of_the_level() {
    let report = measured(by_time(ramp(RampSpan::Requests), 4));
    // 55 a second in the mean.
    assert_eq!(report.summary.requests.sent, 219);
    assert!((sent(&report) / asked(&report) - 1.0).abs() < 1e-3, "{report:?}");
    let LevelLoad::Rate(rate) = report.load else { panic!("{:?}", report.load) };
    assert!((rate.get() - asked(&report)).abs() < 1e-9, "{rate:?}");
    // Whoever says it has a ramp over these, cut after the time.
    let mut said = by_time(ramp(RampSpan::Requests), 4);
    said.workload.requests = NonZeroU64::new(1_000);
    let report = measured(said);
    assert!(report.summary.requests.sent < 60);
    assert!((sent(&report) / asked(&report) - 1.0).abs() < 1e-3, "{report:?}");
}

#[test]
fn a_ramp_that_goes_on_until_a_figure_is_known_has_no_end() {
    let mut level = by_time(ramp(RampSpan::Requests), 4);
    level.until = Some("mean e2el ci=5%".parse().unwrap());
    assert!(measured(level.clone()).summary.requests.sent > 100);
    level.time = None;
    let engine = SimulatedSystemSpec::default().load().unwrap();
    let refused = engine.experiment().settings(level).prepare().map(drop);
    let Err(ExperimentError::Input(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.field, InputField::Arrivals);
}

#[test]
fn the_rate_of_a_level_that_ends_by_time_is_that_of_its_part_of_the_law() {
    let stage = |rate| RateStage { rate: PerSec::new(rate), lasts: Seconds::new(2.0) };
    let stages = vec![stage(10.0), stage(30.0)];
    let report = measured(by_time(ArrivalLaw::Stages { stages, spacing: Spacing::Even }, 2));
    assert!((asked(&report) - 10.0).abs() < 1e-6, "{}", asked(&report));
    assert!((sent(&report) - 10.0).abs() < 1e-3, "{}", sent(&report));
}

/// The last of N leaves at N / rate, so that there are as many as the time has room for.
#[test]
fn arrivals_are_stretched_to_the_time_of_the_level() {
    let rate = PerSec::new(20.0);
    let law = ArrivalLaw::Gamma { rate, burstiness: 1.0, rescale: Rescale::ToMean };
    let report = measured(by_time(law, 2));
    assert_eq!(report.summary.requests.sent, 39, "the last of 40 is due as the level is over");
}

#[test]
fn conversations_begin_until_the_time_of_the_level_is_up() {
    let mut level = by_time(ArrivalLaw::Constant { rate: PerSec::new(20.0) }, 4);
    level.workload.turns = Some(Turns::Fixed(5.try_into().unwrap()));
    let report = measured(level);
    assert_eq!(report.summary.arrivals.as_ref().unwrap().sent.n, 78, "79 of them");
}

/// A trace of ten requests, a second apart but for the last, which is late.
fn trace(requests: Option<u64>, seconds: Option<u64>) -> LevelReport {
    let path = std::env::temp_dir().join(format!("fizeau-trace-{}.jsonl", std::process::id()));
    let line = |at: u64| {
        format!(
            "{{\"timestamp\": {at}, \"input_length\": 20, \"output_length\": 2, \"hash_ids\": [{at}]}}\n"
        )
    };
    let lines: String = (0..9).chain([50]).map(|second| line(second * 1_000)).collect();
    std::fs::write(&path, lines).unwrap();
    let mut level = LevelSettings::default();
    level.workload =
        WorkloadSpec::new(PromptSource::Trace(TraceSource::new(TraceKind::Mooncake, &path)));
    level.workload.requests = requests.and_then(NonZeroU64::new);
    (level.time, level.warmups) = (seconds.map(Nanos::from_secs), Some(0));
    let report = measured(level);
    std::fs::remove_file(path).unwrap();
    report
}

#[test]
fn the_rate_of_a_trace_is_that_of_the_part_that_is_replayed() {
    let close = |report: &LevelReport, rate: f64| {
        assert!((asked(report) / rate - 1.0).abs() < 1e-6, "{} for {rate}", asked(report));
        assert!((sent(report) / rate - 1.0).abs() < 1e-3, "{} for {rate}", sent(report));
        let LevelLoad::Rate(load) = report.load else { panic!("{:?}", report.load) };
        assert!((load.get() / rate - 1.0).abs() < 1e-6, "{load:?} for {rate}");
    };
    close(&trace(None, None), 9.0 / 50.0);
    close(&trace(Some(5), None), 1.0);
    close(&trace(None, Some(5)), 1.0);
    // The second time it begins after the span and one mean gap.
    let again = 50.0 + 50.0 / 9.0;
    close(&trace(Some(14), None), 13.0 / (again + 3.0));
    close(&trace(Some(20), None), 19.0 / (again + 50.0));
    close(&trace(Some(20), Some(57)), 11.0 / (again + 1.0));
}
