//! Predictions for models and devices that were never measured.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{Calibration, Deployment, Device, KnownModel, Scope, System, UniformLoad};
use proptest::prelude::*;

use super::PUBLISHED;
use crate::fixed;

const DEVICES: [&str; 5] = ["h100-sxm", "b200-sxm", "mi300x", "tpu-v6e", "a100-sxm-80"];

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn every_model_on_any_device_is_predicted_beyond_its_bound(
        model in 0..KnownModel::all().len(),
        device in 0..DEVICES.len(),
        tensor in prop::sample::select(vec![1, 2, 4, 8]),
        (input, output) in (1024_u64..16_384, 16_u64..4096),
        concurrency in 1_u64..512,
    ) {
        let model = KnownModel::all()[model].model().unwrap();
        let deployment = Deployment::SINGLE.with_tensor(tensor).unwrap();
        let device = Device::named(DEVICES[device]).unwrap().clone();
        let is_measured = device.name.starts_with('h') || device.name.starts_with('b');
        let Ok(system) = System::new(model, device, deployment) else { return Ok(()) };
        let concurrency = NonZeroU64::new(concurrency).unwrap();
        let load = UniformLoad::new(Tokens::new(input), Tokens::new(output), concurrency);
        prop_assume!(system.max_batch(&load) >= 1.0);

        let predictor = PUBLISHED.fit.calibration.predictor(&system, Some("vllm"));
        let anywhere = Scope::EngineOnAnyDevice("vllm".to_owned());
        prop_assert_eq!(predictor.scope() == &anywhere, !is_measured);
        prop_assert_eq!(predictor.warnings().iter().any(|text| text.contains("all devices")), !is_measured);
        let Ok(predicted) = predictor.predict(&load) else { return Ok(()) };
        let bound = system.bound_figures(&load);
        for (time, least) in [
            (predicted.ttft, bound.ttft),
            (predicted.tpot, bound.step),
            (predicted.e2el, bound.e2el),
        ] {
            prop_assert!(least <= time.low() && time.low() <= time.value() && time.value() <= time.high());
            prop_assert!(time.high().get().is_finite());
        }
        for (rate, most) in [
            (predicted.requests_per_s, bound.requests_per_s),
            (predicted.output_tokens_per_s, bound.output_tokens_per_s),
        ] {
            prop_assert!(rate.high() <= most, "{rate:?} {most:?}");
            prop_assert!(0.0 < rate.low().get() && rate.low() <= rate.value() && rate.value() <= rate.high());
        }
        prop_assert!(predicted.beyond >= 1.0 && predicted.beyond <= 4.0 + 1e-9);
    }
}

/// What a device makes of a model is not known from another device.
#[test]
fn a_model_measured_on_another_device_is_less_sure() {
    let (level, system) = &PUBLISHED.levels[0];
    let elsewhere: Vec<_> = PUBLISHED
        .levels
        .iter()
        .zip(&PUBLISHED.samples)
        .filter(|((other, _), _)| other.model != level.model || other.hardware != level.hardware)
        .map(|(_, sample)| sample.clone())
        .collect();
    let width = |calibration: &Calibration| {
        let predicted = calibration.predictor(system, None).predict(&level.load).unwrap();
        predicted.tpot.high() / predicted.tpot.value()
    };
    let without = Calibration::fit(&elsewhere).unwrap().calibration;
    assert!(width(&without) > width(&PUBLISHED.fit.calibration));
}

/// However well five levels agree, they cannot tell what nine in ten are within.
#[test]
fn a_first_token_is_less_sure_where_few_levels_tell() {
    let (level, system) = &PUBLISHED.levels[0];
    let few = Calibration::fit(&PUBLISHED.samples[..5]).unwrap().calibration;
    let predicted = few.predictor(system, None).predict(&level.load).unwrap();
    let off = (predicted.ttft.high() / predicted.ttft.value()).ln();
    assert!(off > 0.5, "{off}");
}
