//! The speed of light beside levels: what may be compared, the curve, and what cannot be.

use fizeau_core::{LevelLoad, LoadKind, Nanos, PerSec, Tape};
use fizeau_metrics::{
    GoodputGoals, LevelSummary, Validity, Verdict, VerdictConcern, VerdictReason,
};
use fizeau_record::{LevelReport, SpeedOfLight, SpeedOfLightReference, SweepReport};
use fizeau_report::Shown;

#[cfg(feature = "html")]
use fizeau_roofline::{Deployment, Device, Model, System};

use crate::sample;

/// A level whose replies came so many times as fast, with the verdict on it.
pub(crate) fn faster(load: u32, times: u64) -> LevelReport {
    let mut tapes = sample::tapes(load.into());
    for tape in &mut tapes {
        let sent = tape.marks.send_start.unwrap();
        let sooner = |at: fizeau_core::Stamp| {
            sent + Nanos::from_nanos(at.saturating_since(sent).as_nanos() / times)
        };
        for arrival in &mut tape.arrivals {
            arrival.at = sooner(arrival.at);
        }
        tape.marks.end = tape.last_token();
    }
    judged(load, &tapes)
}

fn judged(load: u32, tapes: &[Tape]) -> LevelReport {
    let summary = LevelSummary::of(tapes, &GoodputGoals::default());
    let system = sample::system();
    let lengths = sample::lengths(&system, tapes);
    let level_load = LoadKind::Concurrency.at(load.into());
    let speed_of_light = SpeedOfLight::of((&system).into(), &lengths, level_load, &summary);
    let violation = speed_of_light.violation();
    let reason = violation.map(|violation| {
        let text = format!("measured beyond the speed of light: {violation}");
        VerdictReason::new(Verdict::Invalid, VerdictConcern::SpeedOfLight, text)
    });
    let mut level = sample::level(load);
    level.validity = Validity::of(reason.into_iter().collect());
    (level.summary, level.speed_of_light) = (summary, speed_of_light);
    level
}

#[test]
fn a_level_beyond_light_says_what_would_have_to_be_otherwise() {
    let level = faster(4, 3);
    let json = serde_json::from_str::<serde_json::Value>(&level.to_json().unwrap()).unwrap();
    let impossible = &json["speed_of_light"]["impossible"];
    assert!(impossible["times"].as_f64().unwrap() > 1.5, "{impossible}");
    let inputs = impossible["would_have_to_be"].as_array().unwrap();
    let named = |name: &str| inputs.iter().find(|input| input["input"] == name);
    for name in
        ["devices", "memory_bandwidth_bytes_per_s", "weight_bytes_per_parameter", "tokens_per_step"]
    {
        let input = named(name).unwrap();
        assert_ne!(input["given"], input["needed"], "{input}");
        assert!(impossible["text"].as_str().unwrap().contains(input["text"].as_str().unwrap()));
    }
    assert!(named("arithmetic_flop_per_s").is_none(), "{impossible}");
}

#[test]
fn a_sweep_beyond_light_says_so_once() {
    let levels = vec![sample::level(1), faster(4, 3), faster(8, 4)];
    let report = SweepReport::new(sample::setup(), levels, None);
    let terminal = crate::terminal::plain(80, fizeau_report::Verbosity::Full);
    let text = Shown(&report).terminal(&terminal).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.matches("measured beyond the speed of light").count(), 1, "{text}");
    assert!(text.contains("(at concurrency 4 and 8)"), "{text}");
    assert!(text.contains("4 and 8 (invalid: beyond the speed of light)"), "{text}");
    // The furthest speaks: of four times as fast, not of three.
    let furthest = report.levels()[2].speed_of_light.violation().unwrap();
    assert!(furthest.times > report.levels()[1].speed_of_light.violation().unwrap().times);
    assert!(text.contains(&furthest.to_string()), "{text}");
    // At the top, where it is the worst reason, among all reasons, and in the records of both levels.
    #[cfg(feature = "html")]
    assert_eq!(Shown(&report).page().matches("measured beyond the speed of light").count(), 4);
}

/// Of a mixture of experts the headline is the share of even routing, and not that of the bound.
#[test]
#[cfg(feature = "html")]
fn the_page_says_what_its_share_is_of() {
    let config = include_str!("../../../roofline/data/models/gpt-oss-20b.json");
    let (model, device) = (Model::from_config_json(config), Device::named("h100-sxm"));
    let device = device.unwrap().clone();
    let experts = System::new(model.unwrap(), device, Deployment::SINGLE).unwrap();
    let page = |system: &System| {
        let tapes = sample::tapes(8);
        let mut level = sample::level(8);
        let lengths = sample::lengths(system, &tapes);
        level.speed_of_light =
            SpeedOfLight::of(system.into(), &lengths, level.load, &level.summary);
        Shown(&SweepReport::new(sample::setup(), vec![level], None)).page()
    };
    let [bound, even] = [
        "as a share of the speed of light, the bound that the hardware sets.",
        "as a share of what the hardware could do where tokens choose their experts evenly.",
    ];
    let (dense, experts) = (page(&sample::system()), page(&experts));
    assert!(dense.contains(bound) && !dense.contains(even), "{dense}");
    assert!(experts.contains(even) && !experts.contains(bound), "{experts}");
}

/// Little's law: requests in flight over requests per second are the mean time of one.
#[test]
fn no_measured_level_is_beyond_the_curve() {
    let curve = sample::curve();
    assert!(curve.points().windows(2).all(|pair| {
        let (a, b) = (&pair[0], &pair[1]);
        a.concurrency < b.concurrency
            && a.bound.requests_per_s.get() <= b.bound.requests_per_s.get() * (1.0 + 1e-12)
            && a.bound.e2el.get() <= b.bound.e2el.get() * (1.0 + 1e-12)
    }));
    for load in [1_u32, 2, 8, 16, 32, 64, 128] {
        let point = curve.points().iter().find(|point| point.concurrency.get() == u64::from(load));
        let bound = point.unwrap().bound;
        let summary = sample::level(load).summary;
        assert!(summary.throughput.requests_per_s.get() <= bound.requests_per_s.get());
        assert!(summary.metrics.e2el.mean.unwrap().get() >= bound.e2el.to_millis().get());
        let expected = point.unwrap().expected.unwrap();
        assert!(expected.requests_per_s.get() <= bound.requests_per_s.get());
        assert!(expected.e2el >= bound.e2el && expected.tpot >= bound.tpot);
        assert!(bound.e2el.get() * bound.requests_per_s.get() >= f64::from(load) * (1.0 - 1e-12));
    }
}

#[test]
fn the_curve_is_in_the_file_and_on_the_page() {
    let report = sample::sweep();
    let json = serde_json::from_str::<serde_json::Value>(&report.to_json().unwrap()).unwrap();
    let points = json["speed_of_light_curve"].as_array().unwrap();
    assert_eq!(points[0]["concurrency"], 1);
    for of in ["bound", "expected"] {
        for figure in [
            "ttft_ms",
            "tpot_ms",
            "e2el_ms",
            "requests_per_s",
            "output_tokens_per_s",
            "tokens_per_s_per_user",
            "tokens_per_s_per_device",
        ] {
            assert!(points[0][of][figure].as_f64().unwrap() > 0.0, "{of} {figure}");
        }
    }
    let without = SweepReport::new(sample::setup(), vec![sample::level(1)], None);
    let json = serde_json::from_str::<serde_json::Value>(&without.to_json().unwrap()).unwrap();
    assert!(json["speed_of_light_curve"].is_null());
    assert!(json["speed_of_light_curve_reason"].is_string());
    #[cfg(feature = "html")]
    {
        let (page, none) = (Shown(&report).page(), Shown(&without).page());
        let text = "The speed of light as figures";
        assert!(page.contains(text) && !none.contains(text), "{none}");
        assert!(none.contains("How far from the speed of light?"), "{none}");
    }
}

/// An open loop has no cap, and a number in flight that rises and falls brings no more than its mean.
#[test]
fn a_rate_is_held_against_what_was_in_flight_on_average() {
    let tapes = sample::tapes(8);
    let summary = LevelSummary::of(&tapes, &GoodputGoals::default());
    let system = sample::system();
    let lengths = sample::lengths(&system, &tapes);
    let at = |load| SpeedOfLight::of((&system).into(), &lengths, load, &summary);
    let by_rate = at(LevelLoad::Rate(PerSec::new(25.0)));
    let light = by_rate.comparison().unwrap();
    let in_flight = summary.over_time.unwrap().in_flight;
    let mean = in_flight.mean.ceil();
    assert!(in_flight.peak as f64 > mean && mean > 1.0);
    assert_eq!(light.concurrency.get() as f64, mean);
    let same = at(LoadKind::Concurrency.at(mean));
    assert_eq!(same.comparison().unwrap().bound, light.bound);
}

#[test]
fn what_is_expected_of_the_engine_stands_beside_what_it_has() {
    let reference = SpeedOfLightReference::new("llama-3.1-8b", sample::system());
    let reference = reference.answered_by("vLLM");
    let tapes = sample::tapes(8);
    let mut level = sample::level(8);
    let lengths = sample::lengths(&sample::system(), &tapes);
    let load = LoadKind::Concurrency.at(8.0);
    level.speed_of_light = SpeedOfLight::of(reference.reference(), &lengths, load, &level.summary);
    let calibrated = level.speed_of_light.comparison().unwrap().calibrated.clone().unwrap();
    let expected = calibrated.prediction.unwrap().output_tokens_per_s.value().get();
    let measured = level.summary.throughput.output_tokens_per_s.get();
    assert!((calibrated.output_share.unwrap() - measured / expected).abs() < 1e-9);
    let json = serde_json::from_str::<serde_json::Value>(&level.to_json().unwrap()).unwrap();
    let beside = &json["speed_of_light"]["of_calibrated"];
    assert!((beside["output_share"].as_f64().unwrap() - measured / expected).abs() < 1e-6);
    assert_eq!(beside["tpot_off"].as_array().unwrap().len(), 2);
    let report = SweepReport::new(sample::setup(), vec![level], None);
    let terminal = crate::terminal::plain(80, fizeau_report::Verbosity::Full);
    let text = Shown(&report).terminal(&terminal).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["Expected of this engine (calibrated on h100-sxm, vllm)", "you have", "TPOT by", "TTFT by"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}
