//! Asked in reverse: what would explain a measured figure.

use std::num::NonZeroU64;

use fizeau_core::{PerSec, Seconds, Tokens};
use fizeau_roofline::{
    Calibration, Constant, Deployment, Device, KnownModel, MeasuredFigure, MeasuredFigures,
    PredictionInput, Predictor, System, UniformLoad,
};
use proptest::prelude::*;

use crate::fixed;

fn predictor(model: &str, tensor: u32) -> Predictor {
    let model = KnownModel::named(model).unwrap().model().unwrap();
    let deployment = Deployment::SINGLE.with_tensor(tensor).unwrap();
    let system =
        System::new(model, Device::named("h100-sxm").unwrap().clone(), deployment).unwrap();
    Calibration::shipped("vllm", "h100-sxm").unwrap().calibration.predictor(&system, Some("vllm"))
}

fn load(input: u64, output: u64, concurrency: u64) -> UniformLoad {
    let concurrency = NonZeroU64::new(concurrency).unwrap();
    UniformLoad::new(Tokens::new(input), Tokens::new(output), concurrency)
}

proptest! {
    #![proptest_config(fixed())]

    /// Whatever was measured, each value that is named gives it back.
    #[test]
    fn a_remedy_gives_the_measured_figure(
        model in prop::sample::select(vec!["llama-3.1-8b", "gpt-oss-120b", "qwen3-32b"]),
        (input, output, concurrency) in (256_u64..8192, 32_u64..1024, 1_u64..96),
        times in 0.4_f64..4.0,
        of_first in any::<bool>(),
    ) {
        let (predictor, load) = (predictor(model, 2), load(input, output, concurrency));
        let Ok(predicted) = predictor.predict(&load) else { return Ok(()) };
        let figure = if of_first { predicted.ttft } else { predicted.tpot };
        let time = Seconds::new(figure.value().get() * times);
        let measured = match of_first {
            true => MeasuredFigures { ttft: Some(time), ..MeasuredFigures::default() },
            false => MeasuredFigures { tpot: Some(time), ..MeasuredFigures::default() },
        };
        let gaps = predictor.gaps(&load, &measured).unwrap();
        prop_assert_eq!(gaps.len(), 1);
        let gap = &gaps[0];
        prop_assert_eq!(gap.is_expected(), figure.low() <= time && time <= figure.high());
        for remedy in &gap.remedies {
            let reached = if of_first { remedy.ttft } else { remedy.tpot };
            let is_counted = matches!(
                remedy.input,
                PredictionInput::Concurrency | PredictionInput::PromptTokens
            );
            // Counts come in steps.
            let near = if is_counted { 0.5 } else { 1e-4 };
            prop_assert!((reached.get() / time.get() - 1.0).abs() < near, "{remedy:?} {time:?}");
            prop_assert!(remedy.needed.is_finite() && remedy.needed > 0.0);
        }
        let unlikely: Vec<f64> = gap.remedies.iter().filter_map(|remedy| remedy.deviations).collect();
        prop_assert!(unlikely.is_sorted(), "{unlikely:?}");
    }
}

#[test]
fn a_slow_prefill_is_named_and_a_rate_is_held_against_a_request() {
    let (predictor, load) = (predictor("llama-3.1-70b", 4), load(4096, 256, 8));
    let predicted = predictor.predict(&load).unwrap();
    let slow = Seconds::new(predicted.ttft.value().get() * 6.0);
    let rate = PerSec::new(predicted.output_tokens_per_s.value().get() / 2.0);
    let measured = MeasuredFigures {
        ttft: Some(slow),
        output_tokens_per_s: Some(rate),
        ..MeasuredFigures::default()
    };
    let gaps = predictor.gaps(&load, &measured).unwrap();
    assert_eq!(
        gaps.iter().map(|gap| gap.figure).collect::<Vec<_>>(),
        [MeasuredFigure::Ttft, MeasuredFigure::OutputTokens]
    );
    assert!(gaps.iter().all(|gap| !gap.is_expected()), "{gaps:?}");
    let prefill = gaps[0].remedy(PredictionInput::PrefillPace).unwrap();
    assert!(prefill.needed > 0.05 && prefill.needed < 0.3, "{prefill:?}");
    assert_eq!(gaps[0].remedies[0].input, PredictionInput::PrefillPace);
    let arithmetic = gaps[0].remedy(PredictionInput::Constant(Constant::Arithmetic)).unwrap();
    assert!(arithmetic.needed < arithmetic.given && arithmetic.deviations.unwrap() > 0.0);
    assert!(gaps[1].remedy(PredictionInput::DecodePace).unwrap().needed < 0.7);
    // Experts of a dense model explain nothing.
    let experts = PredictionInput::Constant(Constant::ExpertBandwidth);
    assert!(gaps.iter().all(|gap| gap.remedy(experts).is_none()));
}

/// More in flight make each request slower and their rate higher, so that fewer explain a low rate and more a high one.
#[test]
fn requests_in_flight_explain_a_rate() {
    let predictor = predictor("llama-3.1-70b", 4);
    let rate = |concurrency| {
        predictor.predict(&load(2048, 256, concurrency)).unwrap().output_tokens_per_s.value()
    };
    for in_flight in [2, 24] {
        let measured = MeasuredFigures {
            output_tokens_per_s: Some(rate(in_flight)),
            ..MeasuredFigures::default()
        };
        let gaps = predictor.gaps(&load(2048, 256, 12), &measured).unwrap();
        let remedy = gaps[0].remedy(PredictionInput::Concurrency).unwrap();
        assert!((remedy.needed - in_flight as f64).abs() <= 1.0, "{in_flight} {remedy:?}");
    }
}

/// What a run keeps of a calibration that ships.
#[test]
fn a_narrowed_calibration_predicts_alike_and_is_small() {
    let shipped = Calibration::shipped("vllm", "h100-sxm").unwrap().calibration;
    for (engine, device) in [("vllm", "h100-sxm"), ("trtllm", "b300-sxm"), ("vllm", "a100-sxm-80")]
    {
        let narrowed = shipped.narrowed_to(device, Some(engine));
        let text = narrowed.to_json();
        assert!(text.len() < 12_000, "{}", text.len());
        let narrowed = Calibration::from_json(&text).unwrap();
        let model = KnownModel::named("llama-3.1-70b").unwrap().model().unwrap();
        let deployment = Deployment::SINGLE.with_tensor(4).unwrap();
        let device = Device::named(device).unwrap().clone();
        let system = System::new(model, device, deployment).unwrap();
        let [whole, own] = [shipped, &narrowed].map(|calibration| {
            calibration.predictor(&system, Some(engine)).predict(&load(1024, 256, 8)).unwrap()
        });
        assert!((whole.tpot.value().get() / own.tpot.value().get() - 1.0).abs() < 1e-9);
        assert!((whole.ttft.high().get() / own.ttft.high().get() - 1.0).abs() < 1e-9);
    }
}
