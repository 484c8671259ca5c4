//! Collectives among devices that are none.

use super::*;
use crate::cuda::CudaCollectives;
use crate::cuda::fake::{EACH_FURTHER, FIRST_RANK, FROM_IDLE, FakeRanks};
use crate::cuda::measure::Collecting;
use crate::measurement::{
    CollectiveOp, CollectiveRegime, CollectiveShape, DataPattern, RankRule, SampleStatistic,
};
use crate::several::SeveralDevices;

const RANKS: u32 = 3;
/// A whole part for each rank.
const MESSAGE: f64 = 6144.0;
const OPERATIONS: [CollectiveOp; 5] = [
    CollectiveOp::AllReduce,
    CollectiveOp::AllGather,
    CollectiveOp::ReduceScatter,
    CollectiveOp::AllToAll,
    CollectiveOp::Broadcast,
];

fn ranks(change: impl FnOnce(&mut FakeRanks)) -> FakeRanks {
    let mut ranks = FakeRanks::of((0..RANKS).map(|_| Fake::new()).collect());
    change(&mut ranks);
    ranks
}

fn together(ranks: FakeRanks) -> CudaCollectives {
    CudaCollectives::over(Box::new(ranks))
}

fn lost_after(launches: u64) -> Fake {
    let mut device = Fake::new();
    device.lost_after = Some(launches);
    device
}

fn shape(op: CollectiveOp) -> CollectiveShape {
    CollectiveShape::new(op, RANKS, Bytes::new(MESSAGE))
}

fn trial(shape: CollectiveShape) -> ProbeTrial {
    ProbeTrial::new(Operation::Collective { shape, role: None }, Dtype::Bf16, 1)
}

/// The time of a collective is that of the slowest rank, each algorithm bandwidth is the message over it, and each bus bandwidth is that
/// times the factor of nccl-tests (doc/PERFORMANCE.md), worked out here for three ranks.
#[test]
fn each_collective_is_checked_and_takes_as_long_as_its_slowest_rank() {
    let slowest = FIRST_RANK + u64::from(RANKS - 1) * EACH_FURTHER;
    let factors = [4.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 1.0];
    for (op, factor) in OPERATIONS.into_iter().zip(factors) {
        for (regime, nanos) in [
            (CollectiveRegime::FreshEntry, (slowest + FROM_IDLE) as f64),
            (CollectiveRegime::Chained, slowest as f64),
        ] {
            let mut shape = shape(op);
            shape.regime = Some(regime);
            let mut gpus = together(ranks(|_| ()));
            let seen = gpus.measure(&trial(shape), TIME).unwrap();
            let verification = &seen.verification;
            assert!(matches!(verification, Verification::Right { .. }), "{op}: {verification:?}");
            assert_eq!(seen.method.data, Some(DataPattern::Uniform));
            assert_eq!(
                seen.timing.operations_per_sample == 1,
                regime == CollectiveRegime::FreshEntry
            );
            assert!(seen.notes[0].starts_with("NCCL 2.32.3"), "{:?}", seen.notes);
            let document = ProbeDocument::new(ProbeHost::named("test"), gpus.devices(), vec![seen]);
            let figures = &document.rows[0].figures;
            let (algorithm, bus) = (figures.copy.unwrap(), figures.bus.unwrap());
            // A chain's first begins from empty queues.
            let expected = MESSAGE / nanos;
            let found = algorithm.typical.get() / 1e9;
            assert!((found / expected - 1.0).abs() < 0.02, "{op} {regime}: {found} {expected}");
            assert!((bus.typical.get() / algorithm.typical.get() / factor - 1.0).abs() < 1e-12);
            assert_eq!(algorithm.statistic, SampleStatistic::Median);
        }
    }
}

#[test]
fn a_row_says_how_it_came_about() {
    let mut gpus = together(ranks(|_| ()));
    let seen = gpus.measure(&trial(shape(CollectiveOp::AllReduce)), TIME).unwrap();
    let Operation::Collective { shape, .. } = &seen.operation else { panic!() };
    assert_eq!(shape.regime, Some(CollectiveRegime::Chained));
    assert_eq!((shape.rank_rule, shape.in_place), (Some(RankRule::Longest), Some(false)));
    assert_eq!(seen.key(), "gpu0-2: all_reduce, 3 ranks, 6 KiB, chained, out of place, bf16");
    assert_eq!(seen.method.timed_by, Some(TimedBy::DeviceEvents));
    assert_eq!(gpus.devices()[0].model, "3 x NVIDIA Fake");
}

#[test]
fn a_wrong_collective_is_invalid() {
    for op in OPERATIONS {
        let mut gpus = together(ranks(|ranks| ranks.spoils = true));
        let seen = gpus.measure(&trial(shape(op)), TIME).unwrap();
        assert!(matches!(seen.verification, Verification::Wrong { .. }), "{op}");
        let document = ProbeDocument::new(ProbeHost::named("test"), gpus.devices(), vec![seen]);
        assert_eq!(document.rows[0].verdict, crate::Verdict::Invalid);
    }
}

#[test]
fn one_device_is_one_clear_line() {
    let mut alone = backend(Fake::new());
    alone.is_alone = true;
    let trials = alone.trials(Component::Collective);
    assert_eq!(trials.len(), 1);
    let error = alone.measure(&trials[0], TIME).unwrap_err();
    assert_eq!(error.to_string(), "collectives need two devices, and gpu0 is one");
    assert!(backend(Fake::new()).trials(Component::Collective).is_empty());
}

/// One line where the library is absent, and the rows of each device stand.
#[test]
fn without_the_library_there_is_one_line_and_other_rows() {
    let absent = together(ranks(|ranks| ranks.library = None));
    let mut all =
        SeveralDevices::of(ProbeHost::named("test")).with(backend(Fake::new())).with(absent);
    let trials = all.trials(Component::Collective);
    assert_eq!(trials.len(), 1);
    let line = all.measure(&trials[0], TIME).unwrap_err().to_string();
    assert!(
        line.starts_with("NCCL was not found: no such file (looked for libnccl.so.2)"),
        "{line}"
    );
    assert!(!line.contains('\n'));
    let launch = all.trials(Component::Launch).remove(0);
    assert!(all.measure(&launch, TIME).is_ok());
}

/// A model's own collective names no device: it goes to where there are ranks.
#[test]
fn a_collective_without_a_device_goes_to_all_of_them() {
    let mut all = SeveralDevices::of(ProbeHost::named("test"))
        .with(backend(Fake::new()))
        .with(together(ranks(|_| ())));
    let seen = all.measure(&trial(shape(CollectiveOp::AllReduce)), TIME).unwrap();
    assert_eq!(seen.device, "gpu0-2");
}

#[test]
fn what_cannot_be_asked_for_is_said() {
    let mut gpus = together(ranks(|_| ()));
    let mut line = |trial: ProbeTrial| gpus.measure(&trial, TIME).unwrap_err().to_string();
    let reduce = CollectiveOp::AllReduce;
    assert_eq!(
        line(trial(CollectiveShape::new(reduce, 8, Bytes::new(MESSAGE)))),
        "collectives are measured among all 3 ranks of gpu0-2, not among 8"
    );
    assert_eq!(
        line(ProbeTrial { dtype: Dtype::F32, ..trial(shape(reduce)) }),
        "collectives of f32 are not written, of bf16 they are"
    );
    assert_eq!(line(trial(shape(CollectiveOp::Dispatch))), "dispatch is not written for GPUs");
    assert_eq!(
        line(trial(CollectiveShape::new(CollectiveOp::AllToAll, RANKS, Bytes::new(20.0)))),
        "10 elements are no whole part for each of 3 ranks"
    );
    assert_eq!(
        line(ProbeTrial::new(Operation::Peak, Dtype::Bf16, 1)),
        "peak arithmetic is measured on one device, and gpu0-2 are several"
    );
    let large = line(trial(CollectiveShape::new(reduce, RANKS, Bytes::new(f64::from(8 << 20)))));
    assert!(large.contains("16 MiB") && large.contains("8 MiB are free"), "{large}");
}

/// Ranks that do not find one another, or no longer answer, are asked no more.
#[test]
fn ranks_that_part_are_not_asked_again() {
    let cases: [(FakeRanks, &str); 3] = [
        (ranks(|ranks| ranks.parted = true), "ncclCommInitAll failed: ncclSystemError (2)"),
        (
            ranks(|ranks| ranks.stuck_after = Some(40)),
            "no collective ended within 60 s: a device, or a link between two, does not answer",
        ),
        (
            FakeRanks::of(vec![Fake::new(), lost_after(30), Fake::new()]),
            "cuLaunchKernel failed: CUDA_ERROR_LAUNCH_FAILED (719)",
        ),
    ];
    for (ranks, line) in cases {
        let mut gpus = together(ranks);
        let trial = trial(shape(CollectiveOp::AllReduce));
        assert_eq!(gpus.measure(&trial, TIME).unwrap_err().to_string(), line);
        let later = gpus.measure(&trial, TIME).unwrap_err().to_string();
        assert_eq!(later, format!("the device failed earlier: {line}"));
    }
}

#[test]
fn buffers_are_given_back_whatever_happens() {
    for stuck_after in [None, Some(0), Some(40)] {
        let mut ranks = ranks(|ranks| ranks.stuck_after = stuck_after);
        let shape = shape(CollectiveOp::AllGather);
        let trial = trial(shape.clone());
        let mut on = Collecting { ranks: &mut ranks, device: "gpu0-2", time: TIME, trial: &trial };
        let measured = on.collective(&shape);
        assert_eq!((measured.is_ok(), ranks.allocated()), (stuck_after.is_none(), 0));
        assert_eq!(ranks.is_ended, measured.is_err());
    }
}

/// Sizes of one collective are one curve, of which the document has the latency and the bandwidth.
#[test]
fn a_curve_has_alpha() {
    let mut gpus = together(ranks(|_| ()));
    let sizes = [1.0, 2.0, 4.0, 8.0].map(|times| Bytes::new(times * MESSAGE));
    let seen = sizes.map(|size| {
        let shape = CollectiveShape::new(CollectiveOp::Broadcast, RANKS, size);
        gpus.measure(&trial(shape), TIME).unwrap()
    });
    let document = ProbeDocument::new(ProbeHost::named("test"), gpus.devices(), seen.to_vec());
    assert_eq!(document.collectives.len(), 1);
    let fit = &document.collectives[0];
    assert_eq!((fit.device.as_str(), fit.points), ("gpu0-2", 4));
    assert!((fit.alpha.get() * 1e9 / 4_000.0 - 1.0).abs() < 0.05, "{:?}", fit.alpha);
}
