//! Published serving results are never faster than the bound, and constants fitted on them predict them.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{
    Bound, Calibration, CalibrationSample, Constant, Deployment, Device, ErrorSummary, Format,
    JudgedFit, KnownModel, MeasuredRow, RequestLengths, RowExclusion, System, UniformLoad,
};

use super::{PUBLISHED, Published, all_levels};

#[test]
fn doubtful_levels_are_left_out_by_rule_and_no_other_beats_the_bound() {
    let all = all_levels();
    let doubts = RowExclusion::screen(&all);
    let mut counts: BTreeMap<RowExclusion, usize> = BTreeMap::new();
    let mut apart = 0;
    for ((level, system), doubt) in all.iter().zip(&doubts) {
        let Some(doubt) = doubt else {
            let bound = system.bound_figures(&level.load);
            assert!(level.tpot >= bound.step, "{level:?}");
            assert!(level.ttft.is_none_or(|ttft| ttft >= bound.ttft), "{level:?}");
            apart += usize::from(is_below_even_routing(level, system));
            continue;
        };
        *counts.entry(*doubt).or_default() += 1;
    }
    assert!(apart > 500, "{apart}");
    let kept = doubts.iter().filter(|doubt| doubt.is_none()).count();
    assert_eq!((all.len(), kept), (2686, PUBLISHED.levels.len()));
    assert!(kept > 2100, "{counts:?}");
    assert_eq!((counts[&RowExclusion::Layout], counts[&RowExclusion::Degrees]), (321, 19));
}

/// Whether there is a bound at balanced routing for the level, which it must not beat.
fn is_below_even_routing(level: &MeasuredRow, system: &System) -> bool {
    // Lengths were drawn from 0.8 to 1.0 of the nominal ones. A request takes a TTFT and its output tokens but one.
    let Some(ttft) = level.ttft else { return false };
    let mean = |nominal: Tokens| Tokens::new((nominal.get() as f64 * 0.9).round() as u64);
    let output = mean(level.load.output_tokens);
    let mut lengths = RequestLengths::for_model(system.model());
    lengths.extend([(mean(level.load.input_tokens), output)]);
    let took = ttft + level.tpot * (output.get() as f64 - 1.0);
    let rate = (level.load.concurrency.get() * output.get()) as f64 / took.get();
    let even = Bound::evenly_routed(system, &lengths, level.load.concurrency).unwrap();
    let Some(even) = even else { return false };
    assert!(rate < even.get(), "{level:?}: {rate} beats {even:?} at balanced routing");
    true
}

#[test]
fn constants_predict_what_they_were_fitted_on_and_models_that_they_were_not() {
    let Published { samples, fit, .. } = &*PUBLISHED;
    let summary = fit.calibration.summary();
    assert!(summary.in_sample.mean < 0.09, "{summary:?}");
    assert!(summary.in_sample.median < 0.06, "{summary:?}");
    let left_out = summary.model_left_out.unwrap();
    assert!(left_out.mean < 0.115 && left_out.median < 0.085, "{summary:?}");
    let device = summary.device_left_out.unwrap();
    assert!(device.mean < 0.20 && device.median < 0.15, "{summary:?}");
    // No model carries the others.
    for (model, errors) in by(samples, &fit.judged, |judged| judged.model_left_out.unwrap()) {
        assert!(errors.mean < 0.17 && errors.median < 0.15, "{model}: {errors:?}");
    }
}

/// The intervals of each family left out are as wide as the other families' errors make them.
#[test]
fn an_interval_holds_nine_in_ten_of_a_family_that_was_left_out() {
    let Published { samples, fit, .. } = &*PUBLISHED;
    let scores: Vec<(&str, f64)> = (samples.iter().zip(&fit.judged))
        .map(|(sample, judged)| (sample.model(), judged.model_left_out_score().unwrap()))
        .collect();
    let held = scores.iter().filter(|(model, score)| {
        let others = scores.iter().copied().filter(|(other, _)| other != model);
        *score <= ErrorSummary::nine_tenths_by(others).unwrap()
    });
    let share = held.count() as f64 / scores.len() as f64;
    assert!((0.86..0.95).contains(&share), "{share}");
}

#[test]
fn what_ships_is_what_the_published_results_give() {
    let Published { levels, fit, .. } = &*PUBLISHED;
    let shipped = Calibration::shipped("vllm", "h100-sxm").unwrap();
    assert_eq!(shipped.calibration.summary().in_sample.levels, levels.len() as u64);
    for (group, shipped) in fit.calibration.groups().zip(shipped.calibration.groups()) {
        assert_eq!(group.scope, shipped.scope);
        for (fitted, shipped) in group.estimates.iter().zip(&shipped.estimates) {
            assert!((fitted.value / shipped.value - 1.0).abs() < 1e-3, "{fitted:?} {shipped:?}");
        }
    }
    // Each figure's own error, of the levels of that engine on that device.
    let own = levels.iter().zip(&fit.judged).filter(|((row, _), _)| {
        row.hardware == "h100-sxm" && row.engine.as_deref() == Some("vllm")
    });
    let own: Vec<&JudgedFit> = own.map(|(_, judged)| judged).collect();
    let evidence = shipped.evidence.unwrap();
    let of = |of: fn(&JudgedFit) -> Option<f64>| {
        ErrorSummary::of(own.iter().filter_map(|judged| of(judged))).unwrap()
    };
    for (fitted, shipped) in [
        (of(|judged| judged.model_left_out), evidence.tpot_left_out),
        (of(|judged| judged.ttft_model_left_out), evidence.ttft_left_out),
        (of(|judged| judged.output_model_left_out), evidence.output_left_out),
    ] {
        let shipped = shipped.unwrap();
        assert_eq!(fitted.levels, shipped.levels);
        assert!((fitted.mean / shipped.mean - 1.0).abs() < 1e-2, "{fitted:?} {shipped:?}");
    }
    // Measured apart only: put together, and less sure.
    assert!(Calibration::shipped("trtllm", "b300-sxm").unwrap().evidence.is_none());
    assert!(Calibration::shipped("llama.cpp", "h100-sxm").is_none());
    // However it is written.
    let written = Calibration::shipped("TensorRT-LLM", "h100-sxm").unwrap();
    assert_eq!(written.evidence, Calibration::shipped("trtllm", "h100-sxm").unwrap().evidence);
    let (_, system) = &levels[0];
    let scope = |engine| fit.calibration.predictor(system, Some(engine)).scope().clone();
    assert_eq!(scope("vLLM"), scope("vllm"));
    // Of which there is one level.
    assert!(Calibration::shipped("trtllm", "gb200").is_none());
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
    assert!(errors.mean < 0.15 && errors.median < 0.12, "{errors:?}");
}

#[test]
fn an_interval_holds_nine_in_ten() {
    let Published { levels, fit, .. } = &*PUBLISHED;
    let mut held = 0;
    for (level, system) in levels {
        let predictor = fit.calibration.predictor(system, level.engine.as_deref());
        let predicted = predictor.predict(&level.load).unwrap();
        let bound = system.bound_figures(&level.load);
        assert!(predicted.tpot.low() >= bound.step && predicted.ttft.low() >= bound.ttft);
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

/// Whatever the screening makes of them: it takes out what beats the bound, so that the rest says nothing of the bound. A row more in
/// this list is a row more that must be looked at.
#[test]
fn the_levels_that_beat_the_bound_are_known_one_by_one() {
    let all = all_levels();
    let mut beaten: BTreeMap<String, usize> = BTreeMap::new();
    for (level, system) in &all {
        let bound = system.bound_figures(&level.load);
        let tpot = (level.tpot < bound.step).then_some("TPOT");
        let ttft = level.ttft.is_some_and(|ttft| ttft < bound.ttft).then_some("TTFT");
        if let Some(figure) = tpot.or(ttft) {
            let engine = level.engine.as_deref().unwrap_or_default();
            let (model, device) = (&level.model, &level.hardware);
            let name = format!("{model}, {device}, {engine}, {}: {figure}", level.deployment);
            *beaten.entry(name).or_default() += 1;
        }
    }
    let beaten: Vec<(&str, usize)> =
        beaten.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(beaten, BEATEN.map(|(name, count, _)| (name, count)));
}

/// Series with levels that beat the bound, how many of theirs do, and why that is no fault of the bound.
const BEATEN: [(&str, usize, &str); 4] = [
    ("Qwen3-32B, b200-sxm, trtllm, TP2: TPOT", 1, OF_SEVERAL),
    ("Qwen3-32B, gb200, trtllm, TP2: TPOT", 2, OF_SEVERAL),
    ("gpt-oss-120b, h100-sxm, vllm, TP4: TPOT", 1, QUEUED),
    ("gpt-oss-120b, h100-sxm, vllm, TP8: TPOT", 2, QUEUED),
];

/// 448 requests of 15,000 tokens done in 7.6 s are 890,000 prompt tokens a second: three times the FP4 arithmetic of two devices.
const OF_SEVERAL: &str = "the requests in flight are those of several instances";
/// First tokens after 20 to 118 s, and then 512 sequences faster than their caches can be read.
const QUEUED: &str = "of 512 requests most waited, and fewer ran";

/// A share of the cache's bandwidth above 1 stands for caches that are narrower than was said.
#[test]
fn a_narrow_cache_that_is_stated_is_counted_once() {
    let cache = |format: Option<Format>| {
        let model = KnownModel::named("llama-3.1-70b").unwrap().model().unwrap();
        let model = match format {
            Some(format) => model.with_kv_cache(format),
            None => model,
        };
        let used = ["vllm", "sglang", "trtllm"].into_iter().flat_map(move |engine| {
            let model = model.clone();
            ["h100-sxm", "h200-sxm", "b200-sxm"].into_iter().map(move |device| {
                let spread = Deployment::SINGLE.with_tensor(8).unwrap();
                let device = Device::named(device).unwrap().clone();
                let system = System::new(model.clone(), device, spread).unwrap();
                let shipped = Calibration::shipped(engine, &system.device().name).unwrap();
                let load = UniformLoad::new(Tokens::new(512), Tokens::new(512), NonZeroU64::MIN);
                let predictor = shipped.calibration.predictor(&system, Some(engine));
                let mut uses = predictor.uses(&load);
                let used = uses.find(|used| used.fitted.constant == Constant::CacheBandwidth);
                used.unwrap().fitted.value
            })
        });
        used.fold(0.0, f64::max)
    };
    assert!(cache(None) > 1.0);
    assert!(cache(Some(Format::Bf16)) <= 1.0);
    assert!(cache(Some(Format::Fp8)) <= 1.0);
}

/// Where weights are narrow and nobody says how caches are kept, there is room for twice as many in 8 bits; not where somebody asks
/// for 16.
#[test]
fn a_wide_cache_that_is_stated_has_its_own_room() {
    let model = KnownModel::named("llama-3.1-70b").unwrap().model().unwrap();
    let model = model.with_weights(&"fp8".parse().unwrap());
    let load = UniformLoad::new(Tokens::new(8192), Tokens::new(512), NonZeroU64::new(128).unwrap());
    let tpot = |model| {
        let spread = Deployment::SINGLE.with_tensor(2).unwrap();
        let device = Device::named("h100-sxm").unwrap().clone();
        let system = System::new(model, device, spread).unwrap();
        let shipped = Calibration::shipped("vllm", "h100-sxm").unwrap();
        let predictor = shipped.calibration.predictor(&system, Some("vllm"));
        predictor.predict(&load).unwrap().tpot.value().get()
    };
    let [unsaid, wide, narrow] = [
        tpot(model.clone()),
        tpot(model.clone().with_kv_cache(Format::Bf16)),
        tpot(model.with_kv_cache(Format::Fp8)),
    ];
    // Half as many run, and each token waits for as many fewer.
    assert!(wide < 0.8 * unsaid, "{unsaid} {wide} {narrow}");
}
