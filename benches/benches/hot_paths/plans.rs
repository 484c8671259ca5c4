//! The plan: prompts, and the instants of open loops.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use fizeau::core::{Nanos, PerSec, RequestId, Seconds};
use fizeau::workload::{
    ArrivalLaw, ArrivalSchedule, Lengths, Plan, PlanSpec, RampShape, RampSpan, RateStage, Rescale,
    Spacing,
};

/// Instants of a plan.
const ARRIVALS: u64 = 10_000_000;

pub(crate) fn request(c: &mut Criterion) {
    let spec = |requests| -> Option<PlanSpec> {
        Some(PlanSpec { lengths: Lengths::fixed(1_000, 128), ..PlanSpec::new(requests).ok()? })
    };
    let Some(Ok(plan)) = spec(1_000_000).map(Plan::new) else {
        return;
    };
    let mut group = c.benchmark_group("workload");
    group.throughput(Throughput::Elements(1));
    group.bench_function("request of 1,000 token ids", |b| {
        let mut k = 0;
        b.iter(|| {
            k += 1;
            plan.request(RequestId(k))
        });
    });
    group.finish();
}

/// All instants of a plan of ten million requests, law by law.
pub(crate) fn arrivals(c: &mut Criterion) {
    let mut group = c.benchmark_group("workload, 10 million arrivals");
    group.throughput(Throughput::Elements(ARRIVALS));
    group.sample_size(10);
    for (name, law) in laws() {
        group.bench_with_input(BenchmarkId::from_parameter(name), &law, |b, law| {
            b.iter(|| schedule(law).map(|all| all.fold(Nanos::ZERO, later)));
        });
    }
    group.finish();
}

/// What one of eight machines takes to find its own instants among all.
pub(crate) fn shard(c: &mut Criterion) {
    let mut group = c.benchmark_group("workload, every 8th of 10 million arrivals");
    group.throughput(Throughput::Elements(ARRIVALS));
    group.sample_size(10);
    for (name, law) in laws().into_iter().take(3) {
        group.bench_with_input(BenchmarkId::from_parameter(name), &law, |b, law| {
            b.iter(|| {
                let mut schedule = schedule(law)?;
                let own = std::iter::from_fn(|| schedule.nth(7));
                Some(own.fold(Nanos::ZERO, later))
            });
        });
    }
    group.finish();
}

/// Looks at each instant, so that none is computed in vain.
fn later(last: Nanos, at: Option<Nanos>) -> Nanos {
    at.map_or(last, |at| black_box(at).max(last))
}

fn laws() -> Vec<(&'static str, ArrivalLaw)> {
    let rate = PerSec::new(1_000.0);
    let (from, to) = (PerSec::new(10.0), rate);
    let spacing = Spacing::Random { burstiness: 1.0 };
    let ramp = |over| ArrivalLaw::Ramp { from, to, shape: RampShape::Linear, over, spacing };
    let stages = vec![
        RateStage { rate: from, lasts: Seconds::new(60.0) },
        RateStage { rate, lasts: Seconds::new(60.0) },
    ];
    let (mean_on, mean_off) = (Seconds::new(1.0), Seconds::new(3.0));
    vec![
        ("constant", ArrivalLaw::Constant { rate }),
        ("Poisson", ArrivalLaw::poisson(rate)),
        ("gamma 0.5", ArrivalLaw::Gamma { rate, burstiness: 0.5, rescale: Rescale::None }),
        ("gamma 4", ArrivalLaw::Gamma { rate, burstiness: 4.0, rescale: Rescale::None }),
        (
            "Poisson to the mean",
            ArrivalLaw::Gamma { rate, burstiness: 1.0, rescale: Rescale::ToMean },
        ),
        ("ramp over time", ramp(RampSpan::Time(Seconds::new(5_000.0)))),
        ("ramp over requests", ramp(RampSpan::Requests)),
        ("stages", ArrivalLaw::Stages { stages, spacing }),
        ("on/off", ArrivalLaw::OnOff { on: rate, off: PerSec::new(0.0), mean_on, mean_off }),
        (
            "diurnal",
            ArrivalLaw::Diurnal { mean: rate, swing: 0.8, period: Seconds::new(600.0), spacing },
        ),
    ]
}

fn schedule(law: &ArrivalLaw) -> Option<ArrivalSchedule> {
    let spec = PlanSpec { arrivals: law.clone(), ..PlanSpec::new(ARRIVALS).ok()? };
    Some(Plan::new(spec).ok()?.schedule())
}
