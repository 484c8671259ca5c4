//! The layers that compute before and after a run: frontier, bound, a sweep in virtual time.

use std::hint::black_box;
use std::num::{NonZeroU32, NonZeroU64};

use criterion::{BatchSize, Criterion, Throughput};
use fizeau::core::LevelLoad;
use fizeau::core::Tokens;
use fizeau::experiment::{SweepRunner, SweepSpec};
use fizeau::harness::{Cancel, SelfWatch, TaskDriver};
use fizeau::pareto::{Objective, frontier};
use fizeau::roofline::{Bound, Deployment, Device, KnownModel, System, UniformLoad};
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use fizeau::workload::{Lengths, PlanSpec};

pub(crate) fn find_frontier(c: &mut Criterion) {
    // A Weyl sequence: spread evenly, the same every time, and no generator needed.
    let point =
        |k: u32| [f64::from(k) * 0.618_033_988_75 % 1.0, f64::from(k) * 0.754_877_666_25 % 1.0];
    let points: Vec<[f64; 2]> = (1..=100_000).map(point).collect();
    let directions = [Objective::Maximize, Objective::Minimize];
    let mut group = c.benchmark_group("pareto");
    group.throughput(Throughput::Elements(100_000));
    group.bench_function("frontier of 100,000 points in 2-d", |b| {
        b.iter(|| frontier(black_box(&points), &directions));
    });
    group.finish();
}

/// Bounds and expectations from a prepared system: a dense model on one device, and a mixture of experts on eight.
pub(crate) fn bound(c: &mut Criterion) {
    let system = |model: &str, device: &str, ranks: u32| -> Option<System> {
        let model = KnownModel::named(model).ok()?.model().ok()?;
        let deployment = Deployment::SINGLE.with_tensor(ranks).ok()?;
        System::new(model, Device::named(device).ok()?.clone(), deployment).ok()
    };
    let systems = [
        ("Llama-3.1-8B on one H100", system("llama-3.1-8b", "h100-sxm", 1)),
        ("gpt-oss-120b on one H200", system("gpt-oss-120b", "h200-sxm", 1)),
        ("DeepSeek-V3 on eight H200", system("deepseek-v3", "h200-sxm", 8)),
    ];
    let load = |k: u64| {
        let concurrency = NonZeroU64::MIN.saturating_add(k % 64);
        UniformLoad::new(Tokens::new(250 + k % 7), Tokens::new(250), concurrency)
    };
    let loads: Vec<UniformLoad> = (0..1024).map(load).collect();
    let mut group = c.benchmark_group("roofline");
    for (name, system) in systems {
        let Some(system) = system else {
            continue;
        };
        group.throughput(Throughput::Elements(loads.len() as u64));
        group.bench_function(format!("bound: {name}"), |b| {
            b.iter(|| {
                let rates = loads.iter().map(|load| {
                    black_box(&system).bound_figures(black_box(load)).requests_per_s.get()
                });
                rates.sum::<f64>()
            });
        });
        group.bench_function(format!("bound, in batches: {name}"), |b| {
            let mut figures = Vec::with_capacity(loads.len());
            b.iter(|| {
                black_box(&system).bound_batch(black_box(&loads), &mut figures);
                figures.len()
            });
        });
        group.bench_function(format!("expected: {name}"), |b| {
            b.iter(|| {
                let rates = loads.iter().map(|load| {
                    black_box(&system).expected_figures(black_box(load)).requests_per_s.get()
                });
                rates.sum::<f64>()
            });
        });
    }
    group.throughput(Throughput::Elements(1));
    if let Ok(scenario) = Scenario::llama_3_1_8b_h100() {
        group.bench_function("bound of a level", |b| {
            b.iter(|| Bound::at(black_box(scenario.system()), black_box(&load(0))));
        });
    }
    group.finish();
}

/// A whole sweep in virtual time: eight levels, 2,800 requests.
pub(crate) fn virtual_sweep(c: &mut Criterion) {
    let spec = || -> Option<SweepSpec> {
        let levels = [1, 2, 4, 8, 16, 32, 64, 128].into_iter().filter_map(NonZeroU32::new);
        let workload = PlanSpec { lengths: Lengths::fixed(250, 250), ..PlanSpec::new(1).ok()? };
        Some(SweepSpec::new(levels.map(LevelLoad::from), workload))
    };
    let (Some(spec), Ok(scenario)) = (spec(), Scenario::llama_3_1_8b_h100()) else {
        return;
    };
    let mut group = c.benchmark_group("sim");
    group.sample_size(10);
    group.bench_function("a sweep in virtual time", |b| {
        b.iter_batched(
            VirtualTime::new,
            |time| {
                let engine = SimTransport::new(&time, scenario.engine());
                let cancel = Cancel::new();
                let rig = TaskDriver {
                    transport: &engine,
                    timer: &time,
                    watch: SelfWatch::Off,
                    cancel: &cancel,
                };
                let mut sweep = SweepRunner::new(rig, &spec, None);
                time.block_on(async {
                    let mut requests = 0;
                    for ask in spec.asks() {
                        if let Ok(Some(level)) = sweep.level(ask, &mut ()).await {
                            requests += level.run.summary.requests.completed;
                        }
                    }
                    requests
                })
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}
