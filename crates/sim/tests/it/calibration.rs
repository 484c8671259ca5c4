//! A calibration on levels of the simulated engine finds the overheads that the engine hides.

use std::num::NonZeroU64;

use fizeau_core::{Nanos, Seconds, Stamp, Tokens};
use fizeau_roofline::{
    Calibration, CalibrationSample, Constant, Deployment, Device, Format, KnownModel, System,
    UniformLoad, WeightChoice,
};
use fizeau_sim::{
    CalibratedStep, Engine, EngineConfig, EngineJob, JobId, Overheads, RooflineStep, Serve,
    StepTime,
};

const HIDDEN: Overheads = Overheads {
    bandwidth_efficiency: 0.77,
    compute_efficiency: 0.62,
    per_step: Nanos::from_micros(310),
    per_sequence: Nanos::from_micros(30),
    per_layer: Nanos::from_micros(23),
    per_collective: Nanos::ZERO,
};

/// Layers of a dense model of the Llama kind launch so many kernels, and a pass so many besides.
const KERNELS: (f64, f64) = (10.0, 3.0);

#[test]
fn hidden_overheads_are_found() {
    let mut samples = Vec::new();
    // Of different depth, so that time by the layer is told from time by the step; and of different bytes at one depth, so
    // that both are told from bandwidth. Weights of fp8 would launch another kernel a layer, which the engine does not hide.
    for (name, weights) in [
        ("llama-3.1-8b", Format::Bf16),
        ("llama-3.1-8b", Format::Int8),
        ("llama-3.1-70b", Format::Int8),
    ] {
        let model = KnownModel::named(name).unwrap().model().unwrap();
        let model = model.with_weights(&WeightChoice::all(weights)).with_kv_cache(Format::Fp8);
        let device = Device::named("h200-sxm").unwrap().clone();
        let system = System::new(model, device, Deployment::SINGLE).unwrap();
        let decoding = [(1, 4_096), (8, 4_096), (32, 8_192), (8, 16_384), (32, 16_384)];
        let prompts = [8_192, 16_384, 32_768];
        let decoding = decoding.map(|(concurrency, output)| (16, output, concurrency));
        let prompts = prompts.map(|input| (input, 64, 1));
        for (input, output, concurrency) in decoding.into_iter().chain(prompts) {
            samples.push(measured(name, &system, (input, output), concurrency));
        }
    }
    let fit = Calibration::fit(&samples).unwrap();
    let found = fit.calibration.groups().last().unwrap();
    let value = |constant| found.get(constant).unwrap().value;

    close("bandwidth of weights", value(Constant::WeightBandwidth), HIDDEN.bandwidth_efficiency);
    close("bandwidth of caches", value(Constant::CacheBandwidth), HIDDEN.bandwidth_efficiency);
    close("arithmetic", value(Constant::Arithmetic), HIDDEN.compute_efficiency);
    let kernel = value(Constant::PerKernel);
    let (of_layer, of_pass) = (kernel * KERNELS.0, kernel * KERNELS.1);
    close("a layer", of_layer, HIDDEN.per_layer.as_secs_f64());
    close("a step", value(Constant::PerStep) + of_pass, HIDDEN.per_step.as_secs_f64());
    close("a sequence", value(Constant::PerSequence), HIDDEN.per_sequence.as_secs_f64());
}

fn close(what: &str, found: f64, hidden: f64) {
    let error = found / hidden - 1.0;
    println!("{what}: {found:.4e}, hidden {hidden:.4e}, off by {:.2} %", error * 100.0);
    assert!(error.abs() < 0.02, "{what}: {found:.4e} instead of {hidden:.4e}");
}

/// A closed loop on the engine: whoever is done asks again, three times over.
fn measured(
    name: &str,
    system: &System,
    (input, output): (u64, u64),
    concurrency: u64,
) -> CalibrationSample {
    let step = RooflineStep::new(system.clone(), HIDDEN).unwrap();
    let times = closed_loop(step, (input, output), concurrency, Nanos::ZERO);
    let mean = |of: fn(&Times) -> f64| {
        Seconds::new(times.iter().map(of).sum::<f64>() / times.len() as f64)
    };
    let load = load((input, output), concurrency);
    let sample = CalibrationSample::new(system, &load, name, mean(|times| times.tpot)).unwrap();
    sample.with_ttft(mean(|times| times.ttft)).unwrap()
}

fn load((input, output): (u64, u64), concurrency: u64) -> UniformLoad {
    UniformLoad::new(Tokens::new(input), Tokens::new(output), NonZeroU64::new(concurrency).unwrap())
}

/// Of one request, in seconds.
struct Times {
    ttft: f64,
    tpot: f64,
}

/// What a closed loop of three rounds measures, in the order that requests end; those who ask begin one after the other,
/// `apart`.
fn closed_loop(
    step: impl StepTime,
    (input, output): (u64, u64),
    concurrency: u64,
    apart: Nanos,
) -> Vec<Times> {
    let config = EngineConfig::new(concurrency, Tokens::new(100_000_000));
    let mut engine = Engine::new(config, step).unwrap();
    let job = |id, at| EngineJob::new(JobId(id), Tokens::new(input), Tokens::new(output), at);
    let all = 3 * concurrency;
    (0..concurrency).for_each(|id| engine.submit(job(id, Stamp::EPOCH + apart * id)).unwrap());
    let mut sent = concurrency;
    let mut times = Vec::new();
    while let Some(now) = engine.next_event() {
        let mut done = Vec::new();
        engine.advance(now, &mut |emission| {
            if emission.last {
                done.push(emission);
            }
        });
        for emission in done {
            let timing = emission.timing;
            let decoding = emission.at.saturating_since(timing.first_token).as_secs_f64();
            times.push(Times {
                ttft: timing.first_token.saturating_since(timing.submitted).as_secs_f64(),
                tpot: decoding / (output - 1) as f64,
            });
            if sent < all {
                engine.submit(job(sent, emission.at)).unwrap();
                sent += 1;
            }
        }
    }
    times
}

/// An engine on a calibrated step has the time per output token that the calibration predicts: alone, and in batches whose
/// prompts come in one by one.
#[test]
fn a_calibrated_engine_does_as_predicted() {
    for (name, device, deployment, engine) in [
        ("llama-3.1-70b", "h100-sxm", "TP4", Some("vllm")),
        ("gpt-oss-120b", "h200-sxm", "TP2", None),
        ("gpt-oss-120b", "b200-sxm", "1 device", Some("trt")),
        ("qwen3-30b-a3b", "h100-sxm", "1 device", None),
    ] {
        let model = KnownModel::named(name).unwrap().model().unwrap();
        let device = Device::named(device).unwrap().clone();
        let system = System::new(model, device, deployment.parse().unwrap()).unwrap();
        let predictor = published().predictor(&system, engine);
        for (lengths, concurrency) in [
            ((1_000, 200), 1),
            ((4_000, 500), 1),
            ((1_000, 400), 8),
            ((1_000, 1_000), 32),
            ((2_000, 800), 64),
        ] {
            let step = CalibratedStep::new(system.clone(), published(), engine);
            let prediction = predictor.predict(&load(lengths, concurrency)).unwrap();
            // As far apart as keeps the batch full.
            let whole = Nanos::from_secs_f64(prediction.e2el.value().get()).unwrap();
            let times = closed_loop(step, lengths, concurrency, whole / concurrency);
            // Those of the middle round are under way with all others.
            let steady = &times[concurrency as usize..2 * concurrency as usize];
            let found = steady.iter().map(|times| times.tpot).sum::<f64>() / steady.len() as f64;
            let error = found / prediction.tpot.value().get() - 1.0;
            println!(
                "{name} {deployment} {lengths:?} at {concurrency}: off by {:.2} %",
                error * 100.0
            );
            // Many prompts meet, which the prediction takes by odds and the engine by turns.
            let limit = if concurrency < 64 { 0.01 } else { 0.025 };
            assert!(error.abs() < limit, "{name} {lengths:?} at {concurrency}: off by {error}");
        }
    }
}

/// The calibration that ships.
pub(crate) fn published() -> &'static Calibration {
    Calibration::shipped("vllm", "h100-sxm").unwrap().calibration
}
