//! Evaluations of prepared systems, one thread.

use std::hint::black_box;
use std::num::NonZeroU64;

use anyhow::{Context, Result};
use fizeau::core::{Seconds, Tokens};
use fizeau::roofline::{
    Calibration, CalibrationSample, Deployment, Device, KnownModel, Predictor, System, UniformLoad,
};
use fizeau_benches::Since;
use stats_alloc::{Region, StatsAlloc};

type Counted = StatsAlloc<std::alloc::System>;

/// Models of three kinds: dense, experts with windows, experts with a latent cache on several devices.
const SYSTEMS: [(&str, &str, &str, u32); 3] = [
    ("Llama-3.1-8B on one H100", "llama-3.1-8b", "h100-sxm", 1),
    ("gpt-oss-120b on one H200", "gpt-oss-120b", "h200-sxm", 1),
    ("DeepSeek-V3 on eight H200", "deepseek-v3", "h200-sxm", 8),
];

/// How long each is tried, and how often; the best counts.
const SECONDS: f64 = 0.4;
const TURNS: usize = 3;

pub(crate) fn run(allocator: &'static Counted) -> Result<()> {
    println!("{:<40} {:>8} {:>10} {:>6} {:>18}", "", "M/s", "asked M/s", "ns", "allocations, 1024");
    let loads: Vec<UniformLoad> = (0..1024).map(load).collect();
    for (name, model, device, ranks) in SYSTEMS {
        println!("{name}");
        let deployment = Deployment::SINGLE.with_tensor(ranks)?;
        let device = Device::named(device)?.clone();
        let system = System::new(KnownModel::named(model)?.model()?, device, deployment)?;
        let predictor = predictor(&system)?;
        let mut figures = Vec::with_capacity(loads.len());
        row("bound", Some(1.0), allocator, &loads, |loads| {
            let rate = |load| black_box(&system).bound_figures(load).requests_per_s.get();
            loads.iter().map(rate).sum()
        });
        row("bound, many loads at once", Some(10.0), allocator, &loads, |loads| {
            black_box(&system).bound_batch(loads, &mut figures);
            figures.last().map_or(0.0, |last| last.requests_per_s.get())
        });
        row("expected", None, allocator, &loads, |loads| {
            let rate = |load| black_box(&system).expected_figures(load).requests_per_s.get();
            loads.iter().map(rate).sum()
        });
        row("calibrated", Some(2.0), allocator, &loads, |loads| {
            let time =
                |load| black_box(&predictor).predict(load).map_or(0.0, |p| p.tpot.value().get());
            loads.iter().map(time).sum()
        });
    }
    Ok(())
}

fn load(k: u64) -> UniformLoad {
    let concurrency = NonZeroU64::MIN.saturating_add(k % 64);
    UniformLoad::new(Tokens::new(1000 + k % 7), Tokens::new(250 + k % 5), concurrency)
}

/// Constants of a made-up engine that takes 1.3 times what is expected.
fn predictor(system: &System) -> Result<Predictor> {
    let sample = |k| {
        let load = load(k);
        let tpot = system.expected_figures(&load).step.get() * 1.3;
        CalibrationSample::new(system, &load, "made up", Seconds::new(tpot))
    };
    let samples: Vec<CalibrationSample> = (0..64).map(sample).collect::<Result<_, _>>()?;
    let fit = Calibration::fit(&samples).context("the fit")?;
    Ok(fit.calibration.predictor(system, None))
}

/// Millions of evaluations a second of processor time, and how often evaluating all loads once allocates.
fn row(
    what: &str,
    asked: Option<f64>,
    allocator: &'static Counted,
    loads: &[UniformLoad],
    mut evaluate: impl FnMut(&[UniformLoad]) -> f64,
) {
    black_box(evaluate(black_box(loads)));
    let region = Region::new(allocator);
    black_box(evaluate(black_box(loads)));
    let allocations = region.change().allocations;
    let mut best = f64::INFINITY;
    for _ in 0..TURNS {
        let since = Since::now();
        let mut done = 0;
        let seconds = loop {
            for _ in 0..16 {
                black_box(evaluate(black_box(loads)));
            }
            done += 16 * loads.len();
            let spent = since.spent();
            let seconds = spent.processor.unwrap_or(spent.wall).as_secs_f64();
            if seconds >= SECONDS {
                break seconds;
            }
        };
        best = best.min(seconds / done as f64);
    }
    let asked = asked.map_or_else(|| "-".to_owned(), |asked| format!("{asked:.0}"));
    println!("  {what:<38} {:>8.1} {asked:>10} {:>6.0} {allocations:>18}", 1e-6 / best, best * 1e9);
}
