//! Times that known constants make give the constants back.

use std::num::NonZeroU64;

use fizeau_core::{Seconds, Tokens};
use fizeau_roofline::{
    Calibration, CalibrationSample, Constant, Deployment, Device, Format, KnownModel, PassScope,
    PassSums, System, UniformLoad, WeightChoice,
};

use super::{levels, samples};

/// A calibration whose constants are all `hidden`, wherever they are looked up.
fn with_constants(hidden: &[(Constant, f64)]) -> Calibration {
    let calibration = Calibration::fit(&samples(&levels()[..20])).unwrap().calibration;
    let mut json: serde_json::Value = serde_json::from_str(&calibration.to_json()).unwrap();
    for group in json["groups"].as_array_mut().unwrap() {
        for (constant, value) in hidden {
            group["constants"][constant.as_str()]["value"] = (*value).into();
        }
    }
    json["fitted_range"] = serde_json::json!({
        "batch": [1, 1e6], "context": [1, 1e6], "prompt": [1, 1e6], "devices": [1, 64], "kernels": [1, 1e5]
    });
    Calibration::from_json(&json.to_string()).unwrap()
}

/// Models that differ in what costs time, on one device and on several.
fn systems() -> Vec<(&'static str, System)> {
    let mut systems = Vec::new();
    for (name, tensor, weights) in [
        ("llama-3.1-8b", 1, "bf16"),
        ("llama-3.1-8b", 2, "bf16"),
        ("llama-3.1-70b", 4, "fp8"),
        ("qwen3-0.6b", 1, "bf16"),
        ("qwen3-30b-a3b", 1, "bf16"),
        ("qwen3-30b-a3b", 4, "bf16"),
        ("gpt-oss-20b", 1, "mxfp4"),
    ] {
        let model = KnownModel::named(name).unwrap().model().unwrap();
        let weights: Format = weights.parse().unwrap();
        let model = model.with_weights(&WeightChoice::all(weights));
        let deployment = Deployment::SINGLE.with_tensor(tensor).unwrap();
        let device = Device::named("h100-sxm").unwrap().clone();
        systems.push((name, System::new(model, device, deployment).unwrap()));
    }
    systems
}

#[test]
fn constants_are_found_again() {
    let hidden = [
        (Constant::WeightBandwidth, 0.72),
        (Constant::ExpertBandwidth, 0.61),
        (Constant::CacheBandwidth, 0.81),
        (Constant::Arithmetic, 0.43),
        (Constant::ExpertArithmetic, 0.31),
        (Constant::PerKernel, 2.5e-6),
        (Constant::PerWidening, 45e-6),
        (Constant::PerCollective, 11e-6),
        (Constant::LinkBandwidth, 0.45),
        (Constant::PerStep, 2.1e-4),
        (Constant::PerSequence, 5e-6),
        (Constant::PromptCrowding, 1.3),
        (Constant::PerRequest, 8e-3),
        (Constant::PromptSlowdown, 1.2),
        (Constant::PromptQueue, 0.2),
    ];
    let truth = with_constants(&hidden);
    let mut samples = Vec::new();
    for (name, system) in systems() {
        for (input, output) in [(128, 1024), (1024, 1024), (4096, 256)] {
            for concurrency in [1, 4, 16, 64, 256] {
                let load = UniformLoad::new(
                    Tokens::new(input),
                    Tokens::new(output),
                    NonZeroU64::new(concurrency).unwrap(),
                );
                let predicted = truth.predictor(&system, None).predict(&load).unwrap();
                let sample =
                    CalibrationSample::new(&system, &load, name, predicted.tpot.value()).unwrap();
                samples.push(sample.with_ttft(predicted.ttft.value()).unwrap());
            }
        }
    }
    let found = Calibration::fit(&samples).unwrap().calibration;
    let group = found.groups().last().unwrap();
    for (constant, value) in hidden {
        let error = group.get(constant).unwrap().value / value - 1.0;
        // What prompts owe to arithmetic and to waiting for one another is hardly told apart.
        let within = if constant.unit() == "times" { 0.5 } else { 0.08 };
        assert!(error.abs() < within, "{constant}: off by {:.1} %", error * 100.0);
    }
}

/// An engine whose host takes a hundred times as long for a step and a sequence as one beside an accelerator, and ten times for a kernel.
const SLOW_HOST: [(Constant, f64); 3] =
    [(Constant::PerKernel, 30e-6), (Constant::PerStep, 10e-3), (Constant::PerSequence, 500e-6)];

fn load(input: u64, output: u64, concurrency: u64) -> UniformLoad {
    let concurrency = NonZeroU64::new(concurrency).unwrap();
    UniformLoad::new(Tokens::new(input), Tokens::new(output), concurrency)
}

/// What `truth` takes for some loads on `systems`, each 3 % longer or shorter, in turn.
fn swept(truth: &Calibration, systems: &[(&'static str, System)]) -> Vec<CalibrationSample> {
    let mut samples = Vec::new();
    for (name, system) in systems {
        let predictor = truth.predictor(system, None);
        for (input, output) in [(64, 64), (256, 128), (512, 32)] {
            for concurrency in [1, 4, 16, 64, 128] {
                let noise = if samples.len() % 2 == 0 { 1.03 } else { 0.97 };
                let load = load(input, output, concurrency);
                let tpot = predictor.predict(&load).unwrap().tpot.value() * noise;
                samples.push(CalibrationSample::new(system, &load, *name, tpot).unwrap());
            }
        }
    }
    samples
}

fn found(calibration: &Calibration, constant: Constant) -> f64 {
    calibration.groups().last().unwrap().get(constant).unwrap().value
}

#[test]
fn a_prior_gives_way_and_the_fit_says_so() {
    let truth = with_constants(&SLOW_HOST);
    // A kernel's time and a step's are told apart by models of different depth alone.
    let systems = [0, 3, 4].map(|at| systems().swap_remove(at));
    let fit = Calibration::fit(&swept(&truth, &systems)).unwrap().calibration;
    for (constant, value) in SLOW_HOST {
        let error = found(&fit, constant) / value - 1.0;
        println!("{constant}: off by {:.1} %", error * 100.0);
        assert!(error.abs() < 0.1, "{constant}: off by {:.1} %", error * 100.0);
    }
    let unusual = fit.groups().last().unwrap().unusual();
    let unusual: Vec<Constant> = unusual.map(|estimate| estimate.constant).collect();
    assert_eq!(unusual, SLOW_HOST.map(|(constant, _)| constant));
}

#[test]
fn one_sweep_of_one_model_is_enough_for_other_loads() {
    let truth = with_constants(&SLOW_HOST);
    let systems = [systems().swap_remove(0)];
    let fit = Calibration::fit(&swept(&truth, &systems)).unwrap().calibration;
    let of = |calibration: &Calibration, load: &UniformLoad| {
        let predictor = calibration.predictor(&systems[0].1, None);
        predictor.predict(load).unwrap().tpot.value()
    };
    for load in [load(100, 200, 2), load(300, 100, 32), load(128, 64, 100), load(400, 64, 8)] {
        let error = of(&fit, &load) / of(&truth, &load) - 1.0;
        assert!(error.abs() < 0.1, "{load:?}: off by {:.1} %", error * 100.0);
    }
}

/// Batches that differ in what costs time: decoding at several sizes and contexts, prompts beside it and alone.
fn batches() -> Vec<PassSums> {
    let mut batches = Vec::new();
    for decoding in [1.0, 8.0, 64.0, 256.0] {
        for context in [200.0, 2_000.0] {
            for prompt in [0.0, 512.0, 4_096.0] {
                let prompts = if prompt > 0.0 { 1.0 } else { 0.0 };
                batches.push(PassSums {
                    decoding,
                    context: decoding * context,
                    prompts,
                    prompt_tokens: prompt,
                    prompt_context: prompt,
                    prompt_pairs: prompt * (prompt + 1.0) / 2.0,
                    ..PassSums::default()
                });
            }
        }
    }
    let alone = batches.iter().filter(|sums| sums.prompts > 0.0);
    let alone = alone.map(|sums| PassSums { decoding: 0.0, context: 0.0, ..*sums });
    let alone: Vec<PassSums> = alone.take(2).collect();
    batches.into_iter().chain(alone).collect()
}

fn passes_of(truth: &Calibration, system: &System) -> Vec<(PassSums, Seconds)> {
    let predictor = truth.predictor(system, None);
    batches().into_iter().map(|sums| (sums, predictor.step(&sums).total())).collect()
}

/// Forward passes alone give an engine's constants back, its host's included.
#[test]
fn constants_are_found_in_forward_passes() {
    let hidden = [
        (Constant::WeightBandwidth, 0.72),
        (Constant::CacheBandwidth, 0.51),
        (Constant::Arithmetic, 0.43),
        (Constant::PerSequence, 40e-6),
    ];
    let truth = with_constants(&hidden);
    let (name, system) = &systems()[0];
    let passes = passes_of(&truth, system);
    let samples = CalibrationSample::passes(system, PassScope::Step, name, passes.clone());
    let samples = samples.unwrap();
    assert!(samples.iter().all(CalibrationSample::is_pass));
    let fit = Calibration::fit(&samples).unwrap().calibration;
    for (constant, value) in hidden {
        let error = found(&fit, constant) / value - 1.0;
        assert!(error.abs() < 0.05, "{constant}: off by {:.1} %", error * 100.0);
    }
    let predictor = fit.predictor(system, None);
    for (sums, time) in passes {
        let error = predictor.step(&sums).total().get() / time.get() - 1.0;
        assert!(error.abs() < 0.02, "{sums:?}: off by {:.1} %", error * 100.0);
    }
    // What was fitted on passes is a calibration like any other.
    assert_eq!(Calibration::from_json(&fit.to_json()).unwrap(), fit);
}

/// Where an engine times the model alone, what its host takes is not mistaken for the device's, and levels tell it.
#[test]
fn passes_timed_without_the_host_say_nothing_of_it() {
    let host = [(Constant::PerStep, 6e-3), (Constant::PerSequence, 50e-6)];
    let truth = with_constants(&host);
    let alone = with_constants(&host.map(|(constant, _)| (constant, 1e-12)));
    let systems = [systems().swap_remove(0)];
    let (name, system) = &systems[0];
    let passes = passes_of(&alone, system);
    let mut samples =
        CalibrationSample::passes(system, PassScope::Model, name, passes.clone()).unwrap();
    let without = Calibration::fit(&samples).unwrap().calibration;
    let deviation = |calibration: &Calibration| {
        calibration.groups().last().unwrap().get(Constant::PerSequence).unwrap().deviation
    };
    assert!(deviation(&without) > 0.3, "{}", deviation(&without));
    samples.extend(swept(&truth, &systems));
    let fit = Calibration::fit(&samples).unwrap().calibration;
    for (constant, value) in host {
        let error = found(&fit, constant) / value - 1.0;
        assert!(error.abs() < 0.1, "{constant}: off by {:.1} %", error * 100.0);
    }
}

#[test]
fn a_pass_that_took_no_time_is_refused() {
    let (name, system) = &systems()[0];
    let passes = [(PassSums { decoding: 1.0, ..PassSums::default() }, Seconds::new(0.0))];
    let error = CalibrationSample::passes(system, PassScope::Step, name, passes).unwrap_err();
    let said = "the time of a forward pass is 0 s; it must be a finite number above 0";
    assert_eq!(error.to_string(), said);
}
