//! Times that known constants make give the constants back.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{
    Calibration, CalibrationSample, Constant, Deployment, Device, Format, KnownModel, System,
    UniformLoad, WeightChoice,
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

/// An engine on a CPU takes a hundred times longer for a sequence and a step than any on an accelerator does.
#[test]
fn a_prior_gives_way_and_the_fit_says_so() {
    let hidden =
        [(Constant::PerKernel, 30e-6), (Constant::PerStep, 4e-3), (Constant::PerSequence, 400e-6)];
    let truth = with_constants(&hidden);
    let (name, system) = &systems()[0];
    let mut samples = Vec::new();
    for (input, output) in [(64, 64), (256, 128)] {
        for concurrency in [1, 4, 16, 64, 128] {
            let load = UniformLoad::new(
                Tokens::new(input),
                Tokens::new(output),
                NonZeroU64::new(concurrency).unwrap(),
            );
            let tpot = truth.predictor(system, None).predict(&load).unwrap().tpot.value();
            samples.push(CalibrationSample::new(system, &load, *name, tpot).unwrap());
        }
    }
    let fit = Calibration::fit(&samples).unwrap();
    let summary = fit.calibration.summary().in_sample;
    assert!(summary.mean < 0.06, "{summary:?}");
    let group = fit.calibration.groups().last().unwrap();
    let sequence = group.get(Constant::PerSequence).unwrap();
    assert!(!sequence.is_usual() && sequence.value > 200e-6, "{sequence:?}");
}
