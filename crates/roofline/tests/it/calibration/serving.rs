//! Published serving results are never faster than the bound, and constants fitted on them predict them.

use std::collections::BTreeMap;

use fizeau_core::Tokens;
use fizeau_roofline::{
    Bound, Calibration, CalibrationSample, ErrorSummary, JudgedFit, RequestLengths,
};

use super::{PUBLISHED, Published, is_doubtful};

#[test]
fn no_measured_level_beats_the_bound() {
    let mut beaten = Vec::new();
    let mut doubtful = 0;
    let mut apart = 0;
    for (level, system) in &PUBLISHED.levels {
        if is_doubtful(level) {
            doubtful += 1;
            continue;
        }
        let bound = system.bound_figures(&level.load);
        if level.tpot < bound.tpot || level.ttft.is_some_and(|ttft| ttft < bound.ttft) {
            beaten.push((level, bound));
        }
        // Lengths were drawn from 0.8 to 1.0 of the nominal ones. A request takes a TTFT and its output tokens but one.
        let Some(ttft) = level.ttft else { continue };
        let mean = |nominal: Tokens| Tokens::new((nominal.get() as f64 * 0.9).round() as u64);
        let output = mean(level.load.output_tokens);
        let mut lengths = RequestLengths::for_model(system.model());
        lengths.extend([(mean(level.load.input_tokens), output)]);
        let took = ttft + level.tpot * (output.get() as f64 - 1.0);
        let rate = (level.load.concurrency.get() * output.get()) as f64 / took.get();
        let even = Bound::evenly_routed(system, &lengths, level.load.concurrency).unwrap();
        if let Some(even) = even {
            apart += 1;
            assert!(rate < even.get(), "{level:?}: {rate} beats {even:?} at balanced routing");
        }
    }
    assert!(apart > 500, "{apart}");
    assert!(beaten.is_empty(), "{beaten:?}");
    assert_eq!(doubtful, 9);
}

#[test]
fn constants_predict_what_they_were_fitted_on_and_models_that_they_were_not() {
    let Published { samples, fit, .. } = &*PUBLISHED;
    let summary = fit.calibration.summary();
    assert_eq!(summary.in_sample.levels, 1399);
    assert!(summary.in_sample.mean < 0.12, "{summary:?}");
    assert!(summary.in_sample.median < 0.09, "{summary:?}");
    let left_out = summary.model_left_out.unwrap();
    assert!(left_out.mean < 0.20 && left_out.median < 0.12, "{summary:?}");
    let device = summary.device_left_out.unwrap();
    assert!(device.mean < 0.20 && device.median < 0.15, "{summary:?}");
    // No model carries the others.
    for (model, errors) in by(samples, &fit.judged, |judged| judged.model_left_out.unwrap()) {
        assert!(errors.median < 0.15, "{model}: {errors:?}");
    }
}

#[test]
fn constants_of_one_device_and_engine_alone_predict_them() {
    let Published { levels, samples, .. } = &*PUBLISHED;
    let mut groups: BTreeMap<String, Vec<CalibrationSample>> = BTreeMap::new();
    for ((level, _), sample) in levels.iter().zip(samples) {
        let group = format!("{} {}", level.hardware, level.engine.clone().unwrap());
        groups.entry(group).or_default().push(sample.clone());
    }
    let mut errors = Vec::new();
    let mut left_out = Vec::new();
    for samples in groups.values() {
        let fit = Calibration::fit(samples).unwrap();
        errors.extend(fit.judged.iter().map(|judged| judged.in_sample));
        left_out.extend(fit.judged.iter().filter_map(|judged| judged.model_left_out));
    }
    let (errors, left_out) =
        (ErrorSummary::of(errors).unwrap(), ErrorSummary::of(left_out).unwrap());
    assert!(errors.mean < 0.12 && errors.median < 0.09, "{errors:?}");
    assert!(left_out.mean < 0.20, "{left_out:?}");
}

/// A query need not say the engine.
#[test]
fn constants_of_a_device_serve_all_engines() {
    let Published { levels, fit, .. } = &*PUBLISHED;
    let errors = levels.iter().map(|(level, system)| {
        let predicted = fit.calibration.predictor(system, None).predict(&level.load).unwrap();
        predicted.tpot.value().get() / level.tpot.get() - 1.0
    });
    let errors = ErrorSummary::of(errors).unwrap();
    assert!(errors.mean < 0.14 && errors.median < 0.09, "{errors:?}");
}

#[test]
fn an_interval_holds_nine_in_ten() {
    let Published { levels, fit, .. } = &*PUBLISHED;
    let mut held = 0;
    for (level, system) in levels {
        let predictor = fit.calibration.predictor(system, level.engine.as_deref());
        let predicted = predictor.predict(&level.load).unwrap();
        let bound = system.bound_figures(&level.load);
        assert!(predicted.tpot.low() >= bound.tpot && predicted.ttft.low() >= bound.ttft);
        assert!(predicted.tpot.low() <= predicted.tpot.value());
        assert!(predicted.tpot.value() <= predicted.tpot.high());
        held +=
            u32::from(predicted.tpot.low() <= level.tpot && level.tpot <= predicted.tpot.high());
    }
    let share = f64::from(held) / levels.len() as f64;
    assert!((0.85..0.97).contains(&share), "{share}");
}

fn by<'a>(
    samples: &'a [CalibrationSample],
    judged: &[JudgedFit],
    error: fn(&JudgedFit) -> f64,
) -> Vec<(&'a str, ErrorSummary)> {
    let mut by: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (sample, judged) in samples.iter().zip(judged) {
        by.entry(sample.model()).or_default().push(error(judged));
    }
    by.into_iter().map(|(model, errors)| (model, ErrorSummary::of(errors).unwrap())).collect()
}
