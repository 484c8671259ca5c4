//! What one level says of itself: its rates, its tail, and what was predicted of it.

use fizeau_core::{LevelLoad, LoadKind, Millis, PerSec, Seconds};
use fizeau_metrics::{ArrivalSummary, GapSummary, Interval, Quantile, SampleSupport};
use fizeau_record::{
    ArrivalMoments, CalibratedBlock, CalibratedPrediction, JsonNumber, LatencyBasis, LevelReport,
    RunReader, SpeedOfLight, SpeedOfLightReference, StoredRun, TailLatency,
};
use serde_json::{Value, json};

use crate::reading::fixture;
use crate::search::LEVEL;
use crate::speed::reference;

/// An open loop at ten requests a second, of a hundred, whose gaps came out as `change` has it.
fn open(change: impl FnOnce(&mut LevelReport, &mut GapSummary)) -> LevelReport {
    let mut level = LEVEL.clone();
    level.load = LevelLoad::Rate(PerSec::new(10.0));
    level.requested.arrivals =
        Some(ArrivalMoments { rate: Some(PerSec::new(2.0)), cv_squared: None });
    level.summary.requests.sent = 100;
    let mut gaps = GapSummary { n: 99, rate: Some(PerSec::new(10.0)), ..GapSummary::default() };
    change(&mut level, &mut gaps);
    let mut came = ArrivalSummary::default();
    (came.intended, came.sent) = (gaps, gaps);
    level.summary.arrivals = Some(came);
    level
}

#[test]
fn a_rate_that_was_sent_is_told_where_it_is_more_than_a_tenth_off() {
    let of = |rate: f64| open(|_, gaps| gaps.rate = Some(PerSec::new(rate)));
    for rate in [8.9, 11.1, 100.0] {
        assert_eq!(of(rate).differing_sent_rate(), Some(PerSec::new(rate)));
    }
    for rate in [9.1, 10.0, 10.9] {
        assert_eq!(of(rate).differing_sent_rate(), None, "{rate}");
    }
    // Later requests of a session follow from replies.
    let sessions = open(|level, gaps| {
        gaps.rate = Some(PerSec::new(20.0));
        level.summary.requests.sent = 101;
    });
    assert_eq!(sessions.differing_sent_rate(), None);
    let closed = open(|level, gaps| {
        gaps.rate = Some(PerSec::new(20.0));
        level.load = LoadKind::Concurrency.at(10.0);
    });
    assert_eq!(closed.differing_sent_rate(), None);
}

/// Of sessions of one request their rate is that of the load.
#[test]
fn sessions_have_a_rate_of_their_own_where_some_have_several_requests() {
    assert_eq!(open(|_, gaps| gaps.n = 99).sessions_per_s(), None);
    assert_eq!(open(|_, gaps| gaps.n = 98).sessions_per_s(), Some(PerSec::new(2.0)));
    let mut level = open(|_, gaps| gaps.n = 98);
    level.requested.arrivals = None;
    assert_eq!(level.sessions_per_s(), None);
}

#[test]
fn a_tail_is_a_p99_or_the_greatest_and_says_which() {
    let mut level = LEVEL.clone();
    let sample = &mut level.summary.metrics.e2el;
    (sample.n, sample.max) = (500, Some(Millis::new(90.0)));
    let interval = Interval::p95(Millis::new(70.0), Millis::new(85.0));
    let interval = Some(SampleSupport::Known(interval));
    sample.p99 = Quantile::Known { value: Millis::new(80.0), interval };
    let tail = TailLatency::of(sample).unwrap();
    assert_eq!((tail.ms(), tail.basis), (80.0, LatencyBasis::P99));
    let p99 = level.p99_e2el().unwrap();
    assert_eq!([p99.value(), p99.low(), p99.high()].map(Millis::get), [80.0, 70.0, 85.0]);
    let sample = &mut level.summary.metrics.e2el;
    (sample.n, sample.p99) = (60, Quantile::Withheld { needs: 100 });
    let tail = TailLatency::of(sample).unwrap();
    assert_eq!((tail.ms(), tail.basis), (90.0, LatencyBasis::Max));
    assert_eq!(level.p99_e2el(), None);
}

#[test]
fn a_closed_loop_is_full_from_as_many_requests_as_it_has_slots() {
    let of = |slots: f64| {
        let mut level = LEVEL.clone();
        level.load = LoadKind::Concurrency.at(slots);
        level.summary.requests.sent = 8;
        level.is_never_full()
    };
    assert_eq!([7.0, 8.0, 9.0].map(of), [false, false, true]);
    assert!(!open(|level, _| level.summary.requests.sent = 1).is_never_full());
}

#[test]
fn numbers_of_documents_have_a_fraction_only_where_they_need_one() {
    let json = |number: f64| serde_json::to_string(&JsonNumber(number)).unwrap();
    assert_eq!([json(3.0), json(-3.0), json(0.0), json(2.5)], ["3", "-3", "0", "2.5"]);
    assert_eq!(
        [json(999_999_999_999_999.0), json(1e15)],
        ["999999999999999", "1000000000000000.0"]
    );
    assert_eq!([json(f64::NAN), json(f64::INFINITY)], ["null", "null"]);
    assert_eq!(JsonNumber::ms(Seconds::new(0.25)), JsonNumber(250.0));
}

/// The fullest level of the simulated run beside `reference`.
fn light(reference: &SpeedOfLightReference) -> SpeedOfLight {
    let run = StoredRun::open(fixture("simulated")).unwrap();
    let reader = RunReader::new(&run, Some(reference.clone())).unwrap();
    reader.levels().unwrap().pop().unwrap().report.speed_of_light
}

/// The calibration of the engine that answers ships; it predicts unless something else was said.
#[test]
fn an_engine_that_answers_is_predicted_unless_something_else_was_said() {
    let plain = || reference("llama-3.1-8b", "h100-sxm");
    let engine = |reference: &SpeedOfLightReference| reference.deployment().engine.clone();
    let is_predicted = |reference: &SpeedOfLightReference| {
        light(reference).comparison().unwrap().calibrated.is_some()
    };
    assert!(!is_predicted(&plain()));
    assert_eq!(plain().config(), None);
    let answered = plain().answered_by("vLLM 0.11.0");
    assert_eq!(engine(&answered).as_deref(), Some("vllm"));
    assert!(is_predicted(&answered));
    // The constants that were used are kept with the run, and are what they were when they are read again.
    let kept = answered.files().calibration.clone().unwrap();
    let named: Vec<&str> = answered.files().named().map(|(name, _)| name).collect();
    assert_eq!(named, ["calibration.json"]);
    let again = plain().recorded(answered.deployment().clone(), Default::default());
    let again = again.calibrated(kept.clone()).unwrap();
    let block = |reference: &SpeedOfLightReference| {
        let light = light(reference);
        let calibrated = light.comparison().unwrap().calibrated.clone().unwrap();
        CalibratedPrediction {
            prediction: calibrated.prediction.as_ref(),
            scope: &calibrated.scope,
        }
        .block()
    };
    let rate = |block: CalibratedBlock| match block {
        CalibratedBlock::Predicted(figures) => figures.output_tokens_per_s.value.0,
        CalibratedBlock::Refused { refused } => panic!("{refused}"),
    };
    assert!((rate(block(&again)) / rate(block(&answered)) - 1.0).abs() < 1e-9);
    // Whoever answers later, what is known already stands.
    let mut later = again.clone().answered_by("SGLang 0.5");
    assert_eq!(engine(&later).as_deref(), Some("vllm"));
    later = plain().uncalibrated().answered_by("vLLM 0.11.0");
    assert_eq!((engine(&later), is_predicted(&later)), (None, false));
    assert!(!is_predicted(&answered.uncalibrated()));
    let unknown = plain().answered_by("a server of my own");
    assert_eq!((engine(&unknown), is_predicted(&unknown)), (None, false));
    let refused = plain().calibrated("{}".to_owned()).unwrap_err().to_string();
    assert!(refused.starts_with("the calibration: "), "{refused}");
    let price = plain().published_price().unwrap();
    assert!(price.low.get() > 0.0 && price.low <= price.high);
}

/// A prediction has its value within its ends, and what was reached of it is measured over predicted.
#[test]
fn a_prediction_lies_within_its_ends() {
    let reference = reference("llama-3.1-8b", "h100-sxm").served_by("vLLM 0.11.0");
    let light = light(&reference);
    let calibrated = light.comparison().unwrap().calibrated.clone().unwrap();
    let block = CalibratedPrediction {
        prediction: calibrated.prediction.as_ref(),
        scope: &calibrated.scope,
    }
    .block();
    let CalibratedBlock::Predicted(figures) = &block else { panic!("{block:?}") };
    let tpot = figures.tpot_ms.as_ref().expect("replies have more than one token");
    for range in [&figures.ttft_ms, tpot, &figures.output_tokens_per_s, &figures.requests_per_s] {
        let (low, value, high) = (range.low.0, range.value.0, range.high.0);
        assert!(0.0 < low && low <= value && value <= high && low < high, "{range:?}");
    }
    let prediction = calibrated.prediction.as_ref().unwrap();
    assert_eq!(tpot.value.0, prediction.tpot.value().get() * 1e3);
    assert_eq!(figures.ttft_ms.value.0, prediction.ttft.value().get() * 1e3);
    let run = StoredRun::open(fixture("simulated")).unwrap();
    let level = run.reader().unwrap().levels().unwrap().pop().unwrap().report;
    let share = calibrated.output_share.unwrap() * figures.output_tokens_per_s.value.0;
    let measured = level.summary.throughput.output_tokens_per_s.get();
    assert!((share / measured - 1.0).abs() < 1e-9, "{share} {measured}");
    let text = serde_json::to_value(&block).unwrap();
    assert_eq!(text["constants_of"], Value::from(calibrated.scope.to_string()));
    let back: CalibratedBlock = serde_json::from_value(text).unwrap();
    assert_eq!(back, block);
    let refused: CalibratedBlock = serde_json::from_value(json!({"refused": "no"})).unwrap();
    assert_eq!(refused, CalibratedBlock::Refused { refused: "no".to_owned() });
}

/// Of a mixture of experts the headline is the share of balanced routing, which is never less than that of the bound.
#[test]
fn the_headline_of_a_mixture_of_experts_is_that_of_balanced_routing() {
    let dense = light(&reference("llama-3.1-8b", "h100-sxm"));
    let whole = dense.comparison().unwrap();
    assert!(whole.even_routing.is_none());
    assert_eq!(dense.output_share(), whole.shares.output_tokens_per_s);
    assert!(dense.output_share().is_some());
    let experts = light(&reference("gpt-oss-20b", "h100-sxm"));
    let whole = experts.comparison().unwrap();
    let even = whole.even_routing.expect("eight sequences choose more experts than one");
    assert_eq!(experts.output_share(), even.share);
    assert!(even.share.unwrap().get() > whole.shares.output_tokens_per_s.unwrap().get());
    assert!(even.output_tokens_per_s < whole.bound.output_tokens_per_s);
}
