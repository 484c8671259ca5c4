//! A whole sweep of the simulated engine in virtual time: harness, transport trait, metrics, roofline, frontier, report.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau::core::LevelLoad;
use fizeau::core::{PerSec, Seconds, Tape, Tokens};
use fizeau::experiment::{SweepRunner, SweepSpec, SweptLevel};
use fizeau::harness::{Cancel, DriveNotice, Observer, SelfWatch, TaskDriver};
use fizeau::metrics::Verdict;
use fizeau::pareto::{Objective, StepRule, frontier, knee};
use fizeau::record::{LengthTally, SpeedOfLightCurve};
use fizeau::roofline::{Bound, MeasuredFigures, UniformLoad};
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use fizeau::workload::{Length, Lengths, PlanSpec, Seed};

const INPUT: u64 = 250;
const OUTPUT: u64 = 100;

/// Keeps the tapes of all levels.
struct Keep(Vec<Tape>);

impl Observer for Keep {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::RequestEnded(tape) = notice {
            self.0.push(tape.clone());
        }
    }
}

/// Sweeps the default scenario (64 slots) at `levels`.
fn swept(levels: &[u32], seed: u64) -> Vec<SweptLevel> {
    observed(levels, seed).into_iter().map(|(level, _)| level).collect()
}

/// The same, each level with its tapes.
fn observed(levels: &[u32], seed: u64) -> Vec<(SweptLevel, Vec<Tape>)> {
    let time = VirtualTime::new();
    let engine = SimTransport::new(&time, Scenario::llama_3_1_8b_h100().unwrap().engine());
    let cancel = Cancel::new();
    let rig =
        TaskDriver { transport: &engine, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let workload = PlanSpec {
        lengths: Lengths::Independent {
            input: Length::Uniform { nominal: Tokens::new(INPUT), ratio: 0.2 },
            output: Length::Fixed(Tokens::new(OUTPUT)),
        },
        seed: Seed(seed),
        ..PlanSpec::new(1).unwrap()
    };
    let levels = levels.iter().copied().filter_map(NonZeroU32::new).map(LevelLoad::from);
    let spec = SweepSpec::new(levels, workload);
    let mut sweep = SweepRunner::new(rig, &spec, None);
    let all = time.block_on(async {
        let mut all = Vec::new();
        for ask in spec.asks() {
            let mut keep = Keep(Vec::new());
            let level = sweep.level(ask, &mut keep).await.unwrap().unwrap();
            all.push((level, keep.0));
        }
        all
    });
    all.unwrap()
}

/// Throughput and p99 latency, as the frontier wants them.
fn points(levels: &[SweptLevel]) -> Vec<[f64; 2]> {
    let point = |level: &SweptLevel| {
        let summary = &level.run.summary;
        let p99 = summary.metrics.e2el.p99.value().unwrap();
        [summary.throughput.requests_per_s.get(), p99.get()]
    };
    levels.iter().map(point).collect()
}

#[test]
fn batch_grows_latency_and_saturation_queues() {
    let levels = swept(&[1, 8, 32, 64, 128, 256], 0);
    let mean = |level: &SweptLevel| {
        let metrics = &level.run.summary.metrics;
        (metrics.ttft.mean.unwrap().get(), metrics.tpot.mean.unwrap().get())
    };
    for (level, next) in levels.iter().zip(&levels[1..]) {
        assert!(mean(next).0 > mean(level).0, "more requests in flight, a longer wait");
    }
    for (level, next) in levels.iter().zip(&levels[1..4]) {
        assert!(mean(next).1 > mean(level).1, "up to the slots, a larger batch, a slower step");
    }
    // Past 64 slots the batch cannot grow: throughput stands still and the rest is waiting.
    let rate = |i: usize| levels[i].run.summary.throughput.requests_per_s.get();
    assert!((rate(4) / rate(3) - 1.0).abs() < 0.05, "{} against {}", rate(4), rate(3));
    assert!(mean(&levels[4]).0 > 5.0 * mean(&levels[3]).0);
}

#[test]
fn the_knee_is_at_the_slots_and_the_frontier_holds_all_below() {
    let levels = swept(&[1, 2, 4, 8, 16, 32, 64, 128], 0);
    let points = points(&levels);
    assert_eq!(knee(&points, StepRule::KNEE).map(|knee| knee.at), Some(6));
    let best = frontier(&points, &[Objective::Maximize, Objective::Minimize]).unwrap();
    assert_eq!(best[..7], [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn nothing_is_faster_than_light() {
    let scenario = Scenario::llama_3_1_8b_h100().unwrap();
    for level in swept(&[1, 8, 64, 128], 1) {
        let load = UniformLoad::new(
            Tokens::new(INPUT),
            Tokens::new(OUTPUT),
            NonZeroU64::from(level.ask.load.concurrency().unwrap()),
        );
        let bound = Bound::at(scenario.system(), &load).unwrap();
        let summary = level.run.summary;
        let measured = MeasuredFigures {
            ttft: summary.metrics.ttft.mean.map(|ms| Seconds::new(ms.get() / 1e3)),
            tpot: summary.metrics.tpot.mean.map(|ms| Seconds::new(ms.get() / 1e3)),
            e2el: summary.metrics.e2el.mean.map(|ms| Seconds::new(ms.get() / 1e3)),
            output_tokens_per_s: Some(summary.throughput.output_tokens_per_s),
            requests_per_s: Some(summary.throughput.requests_per_s),
        };
        let share = measured.percent_of(&bound);
        assert!(!share.is_impossible());
        let reached = share.output_tokens_per_s.unwrap().get();
        assert!(
            reached > 0.3 && reached < 1.0,
            "concurrency {}: {reached}",
            level.ask.load.concurrency().unwrap()
        );
    }
}

/// Whatever the simulated engine does at any load, it is below the curve: fewer requests, or longer ones.
#[test]
fn no_level_is_beyond_the_speed_of_light_curve() {
    let scenario = Scenario::llama_3_1_8b_h100().unwrap();
    let system = scenario.system();
    let loads = [1, 4, 16, 64, 128];
    let mut all = LengthTally::new(Tokens::new(INPUT), system.model());
    let levels = observed(&loads, 3);
    levels.iter().flat_map(|(_, tapes)| tapes).for_each(|tape| all.add(tape));
    let places = loads.map(|load| NonZeroU64::new(load.into()).unwrap());
    let curve = SpeedOfLightCurve::over(system.into(), &all, &places).unwrap();
    for (level, _) in &levels {
        let load = u64::from(level.ask.load.concurrency().unwrap().get());
        let point = curve.points().iter().find(|point| point.concurrency.get() == load).unwrap();
        let summary = &level.run.summary;
        let requests = summary.throughput.requests_per_s.get();
        let e2el = summary.metrics.e2el.mean.unwrap().get();
        assert!(requests < point.bound.requests_per_s.get(), "{load}: {requests}");
        assert!(e2el > point.bound.e2el.to_millis().get(), "{load}: {e2el}");
        assert!(point.expected.unwrap().requests_per_s <= point.bound.requests_per_s);
    }
}

#[test]
fn every_token_is_accounted_for() {
    for (level, tapes) in observed(&[4, 100], 2) {
        let run = &level.run;
        assert_eq!(run.validity().verdict, Verdict::Valid, "{:?}", run.validity().reasons);
        let (requests, tokens) = (&run.summary.requests, &run.summary.tokens);
        assert_eq!((requests.completed, requests.failed), (tapes.len() as u64, 0));
        assert_eq!(tokens.output.get(), requests.completed * OUTPUT);
        let requested =
            tapes.iter().filter_map(|tape| tape.requested.input_tokens).map(Tokens::get);
        assert_eq!(tokens.input, Some(Tokens::new(requested.sum())));
        // Little's law: requests in flight = rate x time in the system; the start and the end of a level are not steady.
        let rate: PerSec = run.summary.throughput.requests_per_s;
        let in_flight = rate.get() * run.summary.metrics.e2el.mean.unwrap().get() / 1e3;
        let concurrency = f64::from(level.ask.load.concurrency().unwrap().get());
        assert!((in_flight / concurrency - 1.0).abs() < 0.1, "{in_flight} for {concurrency}");
    }
}

#[test]
fn the_same_seed_gives_the_same_tapes_and_another_seed_others() {
    let tapes = |seed| -> Vec<Tape> {
        observed(&[2, 16], seed).into_iter().flat_map(|(_, tapes)| tapes).collect()
    };
    let first = tapes(7);
    assert_eq!(first, tapes(7));
    assert_ne!(first, tapes(8));
}
