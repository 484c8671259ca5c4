//! An engine of known constants, calibrated in virtual time: a few loads find them again.

use std::num::NonZeroU64;

use fizeau::core::{Clock, Nanos, Tokens};
use fizeau::experiment::{
    EngineCalibration, EngineCalibrationSettings, Experiment, ExperimentError, InputField,
    SystemUnderTest,
};
use fizeau::harness::{Cancel, SelfWatch, TaskDriver};
use fizeau::record::SpeedOfLightReference;
use fizeau::roofline::{Calibration, Constant, Deployment, Device, Seconds, System, UniformLoad};
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use fizeau::transport::{Backend, Target};

/// What ships, but that these constants are so, wherever they are looked up.
fn truth(hidden: &[(Constant, f64)]) -> Calibration {
    let shipped = Calibration::shipped("vllm", "h100-sxm").unwrap().calibration;
    let mut json: serde_json::Value = serde_json::from_str(&shipped.to_json()).unwrap();
    for group in json["groups"].as_array_mut().unwrap() {
        for (constant, value) in hidden {
            group["constants"][constant.as_str()]["value"] = (*value).into();
        }
    }
    Calibration::from_json(&json.to_string()).unwrap()
}

/// Llama-3.1-8B on an H100 in 64 slots, as the server says.
fn scenario() -> (Scenario, System) {
    let scenario = Scenario::llama_3_1_8b_h100().unwrap();
    let mut serving = *scenario.system().serving();
    serving.max_sequences = NonZeroU64::new(scenario.config().max_num_seqs);
    let system = scenario.system().clone().with_serving(serving);
    (scenario, system)
}

fn experiment(
    scenario: &Scenario,
    system: &System,
    budget: Nanos,
) -> Experiment<EngineCalibrationSettings> {
    let mut measured = SystemUnderTest::simulated(scenario.describe(), scenario.model_name());
    measured.light = Ok(SpeedOfLightReference::new(scenario.model_name(), system.clone()));
    let mut settings = EngineCalibrationSettings::default();
    (settings.engine, settings.budget) = (Some("own".to_owned()), budget);
    let target = Target::new("http://127.0.0.1:1", Backend::Vllm, "llama").unwrap();
    Experiment::new(target).system(measured).settings(settings)
}

/// Calibrates an engine whose constants are `truth`'s, and says how long it took in its own time.
fn calibrated(truth: Calibration, budget: Nanos) -> (EngineCalibration, Nanos) {
    let (scenario, system) = scenario();
    let experiment = experiment(&scenario, &system, budget);
    let engine = scenario.with_calibration(truth, None).unwrap();
    let (time, cancel) = (VirtualTime::new(), Cancel::new());
    let transport = SimTransport::new(&time, engine.engine());
    let rig =
        TaskDriver { transport: &transport, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let began = time.now();
    let mut nobody = ();
    let running = experiment.calibrate_engine_with(rig, &mut nobody);
    let outcome = time.block_on(running).unwrap().unwrap();
    (outcome, time.now().saturating_since(began))
}

fn predicted(calibration: &Calibration, system: &System, load: &UniformLoad) -> f64 {
    let predictor = calibration.predictor(system, Some("own"));
    predictor.predict(load).unwrap().tpot.value().get()
}

/// What the hidden engine reaches of the arithmetic, and its seconds for a sequence.
const ARITHMETIC: f64 = 0.35;
const PER_SEQUENCE: f64 = 60e-6;

#[test]
fn the_constants_of_a_live_engine_are_found_in_minutes() {
    let hidden = [
        (Constant::WeightBandwidth, 0.62),
        (Constant::Arithmetic, ARITHMETIC),
        (Constant::PerSequence, PER_SEQUENCE),
        (Constant::PerStep, 2e-3),
    ];
    let truth = truth(&hidden);
    let budget = Nanos::from_secs(180);
    let (found, took) = calibrated(truth.clone(), budget);
    assert!(found.levels.len() >= 5, "{:?}", found.levels.len());
    assert!(took.as_secs_f64() < 1.3 * budget.as_secs_f64(), "{took}");
    let (_, system) = scenario();
    for (input, output, concurrency) in
        [(512, 128, 48), (2048, 512, 12), (128, 400, 5), (64, 64, 1)]
    {
        let concurrency = NonZeroU64::new(concurrency).unwrap();
        let load = UniformLoad::new(Tokens::new(input), Tokens::new(output), concurrency);
        let [own, other] = [&found.fit.calibration, &truth].map(|of| predicted(of, &system, &load));
        assert!((own / other - 1.0).abs() < 0.1, "{load:?}: {own} against {other}");
    }
    // What a step takes whatever its batch is one sum of one model: reading weights, kernels and the step itself. The predictions of
    // small loads above hold that; the parts are told apart by models that differ.
    let constants = found.constants().unwrap();
    for (constant, value, within) in
        [(Constant::Arithmetic, ARITHMETIC, 0.15), (Constant::PerSequence, PER_SEQUENCE, 0.2)]
    {
        let error = constants.get(constant).unwrap().value / value - 1.0;
        assert!(error.abs() < within, "{constant}: off by {:.1} %", error * 100.0);
    }
}

#[test]
fn a_front_end_that_takes_one_request_after_another_is_told_from_one_that_takes_all_at_once() {
    let each = 2e-3;
    let shipped = truth(&[(Constant::PerRequest, 5e-3)]);
    let mut json: serde_json::Value = serde_json::from_str(&shipped.to_json()).unwrap();
    for group in json["groups"].as_array_mut().unwrap() {
        group["intake_s"] = each.into();
    }
    let one_by_one = Calibration::from_json(&json.to_string()).unwrap();
    let found = |truth| {
        let (found, _) = calibrated(truth, Nanos::from_secs(180));
        found.constants().unwrap().intake.map(Seconds::get)
    };
    let intake = found(one_by_one).unwrap();
    assert!((intake / each - 1.0).abs() < 0.3, "{intake}");
    assert_eq!(found(shipped), None);
}

#[test]
fn a_far_slower_engine_is_found_out_by_its_first_load_and_asked_less() {
    let slow = [(Constant::PerStep, 60e-3), (Constant::PerSequence, 500e-6)];
    let budget = Nanos::from_secs(600);
    let (found, took) = calibrated(truth(&slow), budget);
    assert!(took.as_secs_f64() < 1.5 * budget.as_secs_f64(), "{took}");
    let constants = found.constants().unwrap();
    assert!(constants.unusual().any(|unusual| unusual.constant == Constant::PerStep));
    let (fast, _) = calibrated(truth(&[]), budget);
    assert!(found.levels.len() < fast.levels.len());
}

/// Why `experiment` cannot calibrate the engine of `scenario`.
fn failed(
    scenario: &Scenario,
    experiment: &Experiment<EngineCalibrationSettings>,
) -> ExperimentError {
    let (time, cancel) = (VirtualTime::new(), Cancel::new());
    let transport = SimTransport::new(&time, scenario.engine());
    let rig =
        TaskDriver { transport: &transport, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let mut nobody = ();
    let running = experiment.calibrate_engine_with(rig, &mut nobody);
    time.block_on(running).unwrap().unwrap_err()
}

#[test]
fn levels_that_are_not_valid_are_counted_with_the_reason() {
    let (scenario, system) = scenario();
    // No such device could do what the engine does.
    let slower = Device::named("l40s").unwrap().clone();
    let slower = System::new(system.model().clone(), slower, Deployment::SINGLE).unwrap();
    let error = failed(&scenario, &experiment(&scenario, &slower, Nanos::from_secs(60)));
    assert!(matches!(error, ExperimentError::TooFewValid { .. }), "{error}");
    let why = error.to_string();
    assert!(why.starts_with("all ") && why.contains("levels are invalid because "), "{why}");
}

#[test]
fn too_little_time_and_a_system_that_nobody_named_are_refused() {
    let (scenario, system) = scenario();
    let refused = |experiment| match failed(&scenario, &experiment) {
        ExperimentError::Input(error) => error,
        other => panic!("{other}"),
    };
    let error = refused(experiment(&scenario, &system, Nanos::from_secs(1)));
    assert_eq!(error.field, InputField::Budget);
    assert!(error.to_string().contains("the 5 smallest loads alone take"), "{error}");
    assert!(error.to_string().ends_with(" s or more"), "{error}");
    let unknown = experiment(&scenario, &system, Nanos::from_secs(180));
    let error = refused(unknown.system(SystemUnderTest::default()));
    assert_eq!(error.field, InputField::ModelConfig);
}
