//! Times that known constants make give the constants back.

use std::num::NonZeroU64;

use fizeau_core::{Seconds, Tokens, split_mix};
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
    let mut is_longer = false;
    noisy(truth, systems, || {
        is_longer = !is_longer;
        if is_longer { 1.03 } else { 0.97 }
    })
}

/// What it takes, times what `noise` says.
fn noisy(
    truth: &Calibration,
    systems: &[(&'static str, System)],
    mut noise: impl FnMut() -> f64,
) -> Vec<CalibrationSample> {
    let mut samples = Vec::new();
    for (name, system) in systems {
        let predictor = truth.predictor(system, None);
        for (input, output) in [(64, 64), (256, 128), (512, 32)] {
            for concurrency in [1, 4, 16, 64, 128] {
                let load = load(input, output, concurrency);
                let tpot = predictor.predict(&load).unwrap().tpot.value() * noise();
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

/// Of engines with known constants and 5 % of noise, intervals of 95 % hold what is hidden at least seven times in eight (64 of 72 where
/// the engine is named), whether the measurements tell it or it is borrowed; of engines that nobody names as well.
#[test]
fn intervals_hold_what_is_hidden() {
    let mut state = 23;
    let mut between = |low: f64, high: f64| {
        low * (high / low).powf(split_mix::next(&mut state) as f64 / u64::MAX as f64)
    };
    for engine in [None, Some("an engine")] {
        let (mut held, mut all) = (0, 0);
        for at in 0..12 {
            let hidden = [
                (Constant::WeightBandwidth, between(0.6, 0.95)),
                (Constant::CacheBandwidth, between(0.4, 1.0)),
                (Constant::Arithmetic, between(0.3, 0.8)),
                (Constant::PerKernel, between(2e-6, 6e-6)),
                (Constant::PerStep, between(5e-5, 1e-3)),
                (Constant::PerSequence, between(1e-6, 3e-5)),
            ];
            let truth = with_constants(&hidden);
            let device = Device::named(["h100-sxm", "h200-sxm", "b200-sxm"][at % 3]).unwrap();
            // A kernel's time and a step's are told apart by models of different depth alone.
            let which: &[usize] = if at % 2 == 0 { &[0] } else { &[0, 3, 4] };
            let systems = which.iter().map(|at| systems().swap_remove(*at));
            let systems = systems.map(|(name, of)| (name, of.with_device(device.clone())));
            let samples = noisy(&truth, &systems.collect::<Vec<_>>(), || between(0.95, 1.05));
            let named = |of: CalibrationSample| match engine {
                Some(engine) => of.with_engine(engine),
                None => of,
            };
            let samples: Vec<_> = samples.into_iter().map(named).collect();
            let fit = Calibration::fit(&samples).unwrap().calibration;
            let group = fit.groups().last().unwrap();
            for (constant, value) in hidden {
                let found = group.get(constant).unwrap();
                let [low, high] = found.interval().ends();
                all += 1;
                held += usize::from((low..=high).contains(&value));
            }
        }
        assert!(held * 8 >= all * 7, "{engine:?}: {held} of {all}");
    }
}

/// Near the whole of a rate an interval reaches down farther than up, and not beyond.
#[test]
fn an_interval_near_a_limit_reaches_away_from_it() {
    let truth = with_constants(&[(Constant::WeightBandwidth, 0.93)]);
    let fit = Calibration::fit(&swept(&truth, &systems()[..1])).unwrap().calibration;
    let found = fit.groups().last().unwrap().get(Constant::WeightBandwidth).unwrap();
    let [low, high] = found.interval().ends();
    let (down, up) = (found.value / low, high / found.value);
    assert!(high < 1.0 && down > 1.02 * up, "{found:?}: {low} {high}");
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
