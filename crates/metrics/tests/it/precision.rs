//! How well figures of a level are known, and how well they are to be.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

use fizeau_core::{Channel, FailureClass, Nanos, Stamp, Tape};
use fizeau_metrics::{
    GoodputGoals, LevelSummary, LevelTally, Metric, Precision, PrecisionError, RandomBits,
    ResampleSeed, SampleSupport, Statistic,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::tapes::failed;

/// `n` requests, one each 10 ms, of 20 to 60 ms, with three tokens in two events.
fn tapes(n: u64) -> Vec<Tape> {
    let one = |k: u64| {
        let mut bits = RandomBits::new(ResampleSeed(k));
        let at = Stamp::EPOCH + Nanos::from_millis(10 * k);
        let first = at + Nanos::from_micros(10_000 + bits.below(20_000));
        let last = first + Nanos::from_micros(10_000 + bits.below(20_000));
        let mut tape = Tape::sent_at(at);
        tape.marks.intended = at;
        tape.arrivals.push(fizeau_core::Arrival::tokens(first, 1, Channel::Visible));
        tape.arrivals.push(fizeau_core::Arrival::tokens(last, 2, Channel::Visible));
        tape
    };
    (0..n).map(one).collect()
}

fn tally<'a>(tapes: impl IntoIterator<Item = &'a Tape>) -> LevelTally {
    let mut tally = LevelTally::new(&GoodputGoals::default());
    tapes.into_iter().for_each(|tape| tally.add(tape));
    tally
}

fn json(n: u64) -> Value {
    let level = LevelSummary::of(&tapes(n), &GoodputGoals::default());
    serde_json::to_value(level).unwrap()
}

#[test]
fn every_figure_of_a_level_has_an_interval_or_says_what_it_takes() {
    let (many, few) = (json(700), json(50));
    for name in ["ttft_ms", "ttft_scheduled_ms", "first_visible_ms", "tpot_ms", "e2el_ms"] {
        for figure in ["mean", "p50", "p90", "p95", "p99"] {
            let ends = &many["metrics"][name][format!("{figure}_ci")];
            let value = many["metrics"][name][figure].as_f64().unwrap();
            let [low, high] = [0, 1].map(|end| ends[end].as_f64().unwrap());
            assert!(low < value && value < high, "{name} {figure}: {low} {value} {high}");
        }
        assert!(many["metrics"][name]["effective_n"].as_f64().unwrap() > 100.0);
    }
    for rate in ["requests_per_s", "output_tokens_per_s"] {
        let [low, high] =
            [0, 1].map(|end| many["throughput"][format!("{rate}_ci")][end].as_f64().unwrap());
        let value = many["throughput"][rate].as_f64().unwrap();
        assert!(low <= value && value <= high, "{rate}: {low} {value} {high}");
    }
    let p90 = &few["metrics"]["ttft_ms"]["p95_ci"];
    assert!(p90.is_null(), "{p90}");
    let reason = few["metrics"]["ttft_ms"]["p95_ci_reason"].as_str().unwrap();
    assert!(reason.starts_with("needs about ") && reason.ends_with(" values, has 50"), "{reason}");
}

#[test]
fn a_level_in_which_nothing_completed_says_what_rates_take() {
    let tapes: Vec<Tape> =
        tapes(40).into_iter().map(|tape| failed(tape, FailureClass::Truncated)).collect();
    let throughput = tally(&tapes).summary().throughput;
    let needs = Some(SampleSupport::NotSupported { needs: 30, has: 0 });
    let found = throughput.intervals;
    assert_eq!((found.requests_per_s, found.output_tokens_per_s), (needs, needs));
}

/// A reply that is over long after its last token counts where it is over, as in a window.
#[test]
fn a_request_counts_at_its_end() {
    let rate = |delay| {
        let mut tapes = tapes(200);
        for tape in &mut tapes {
            tape.marks.end = Some(tape.last_output().unwrap() + Nanos::from_millis(delay));
        }
        tally(&tapes).summary().throughput.intervals.requests_per_s.unwrap()
    };
    assert!(matches!(rate(0), SampleSupport::Known(_)));
    // Nothing ends in the first second, so that the slots hang together.
    assert!(matches!(rate(1_000), SampleSupport::NotSupported { needs: 201.., has: 200 }));
}

#[test]
fn mlperfs_bounds_take_as_many_as_its_rules_say() {
    let (enough, fewer) = (json(662), json(661));
    for name in ["ttft_ms", "tpot_ms", "e2el_ms"] {
        let p99 = enough["metrics"][name]["early_stopping"]["p99"].as_f64().unwrap();
        // With 662 values one may lie above.
        assert!(p99 >= enough["metrics"][name]["p99"].as_f64().unwrap());
        let bounds = &fewer["metrics"][name]["early_stopping"];
        assert_eq!(bounds["p99"], Value::Null);
        assert_eq!(bounds["p99_reason"], "needs 662 requests, has 661");
        assert!(bounds["p90"].as_f64().is_some());
    }
    assert_eq!(
        json(63)["metrics"]["ttft_ms"]["early_stopping"]["p90_reason"],
        "needs 64 requests, has 63"
    );
    assert!(enough["metrics"]["itl_ms"].get("early_stopping").is_none());
}

#[test]
fn the_mean_of_pooled_gaps_has_an_interval_and_their_percentiles_have_none() {
    let itl = &json(300)["metrics"]["itl_ms"];
    let [low, high] = [0, 1].map(|end| itl["mean_ci"][end].as_f64().unwrap());
    let mean = itl["mean"].as_f64().unwrap();
    // 10 to 30 ms over two tokens: a deviation of 2.9 ms, over the root of 300.
    let half = 1.96 * 2.9 / 300f64.sqrt();
    assert!(((high - low) / 2.0 / half - 1.0).abs() < 0.35, "{low} {mean} {high}");
    assert!(((low + high) / 2.0 - mean).abs() < 1e-9);
    assert!(itl["p50_ci"].is_null());
}

#[test]
fn a_figure_that_is_known_has_an_interval_or_a_reason() {
    let level = json(300);
    for key in ["itl_ms", "icl_ms", "send_lateness_ms", "read_lag_ms", "ttft_ms"] {
        let figures = level["metrics"][key].as_object().unwrap();
        for name in
            ["mean", "p50", "p90", "p95", "p99"].into_iter().filter(|name| figures[*name].is_f64())
        {
            let reason = figures.get(&format!("{name}_ci_reason"));
            assert!(figures[&format!("{name}_ci")].is_array() != reason.is_some(), "{key} {name}");
        }
    }
    let lateness = &level["metrics"]["send_lateness_ms"];
    assert_eq!(lateness["p50_ci_reason"], "it is not known how far these values are correlated");
}

#[test]
fn what_is_asked_for_is_read_back_as_it_is_written() {
    for (text, canonical) in [
        ("ci=2%", "mean e2el ci=2%"),
        (" p99 ttft ci=5% ", "p99 ttft ci=5%"),
        ("tpot ci=0.5%,output_tps ci=0.07", "p99 tpot ci=0.5%, output_tps ci=7%"),
        ("median ttft_scheduled ci=1 %", "p50 ttft_scheduled ci=1%"),
        ("mean itl ci=1%", "mean itl ci=1%"),
        ("ci=2% from 1500ms", "mean e2el ci=2% from 1.5s"),
    ] {
        let requested: Precision = text.parse().unwrap();
        assert_eq!(requested.to_string(), canonical);
        assert_eq!(requested, canonical.parse().unwrap());
    }
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str| text.parse::<Precision>().unwrap_err();
    let shape = |text: &str| PrecisionError::Shape(text.to_owned());
    for text in ["", "2%", "p99 of ttft ci=2%"] {
        assert_eq!(error(text), shape(text));
    }
    for text in ["ci=2", "ci=0%", "ci=100%", "ci=", "ci=-1%", "ci=NaN"] {
        assert!(matches!(error(text), PrecisionError::Share { .. }), "{text}");
    }
    for text in [
        "p99 itl ci=2%",
        "max ttft ci=2%",
        "good_share ci=1%",
        "p99 rps ci=2%",
        "goodput_per_s ci=1%",
    ] {
        assert!(matches!(error(text), PrecisionError::NoInterval(_)), "{text}");
    }
    for text in ["ci=2% from", "ci=2% from soon", "ttft ci=2% from 2s", "rps ci=2% from 2s"] {
        assert!(matches!(error(text), PrecisionError::From { .. }), "{text}");
    }
    assert!(matches!(error("p42 ttft ci=2%"), PrecisionError::UnknownStatistic { .. }));
    let message = error("p99 tfft ci=2%").to_string();
    assert!(message.starts_with("`p99 tfft ci=2%`: unknown metric `tfft`"), "{message}");
}

#[test]
fn what_is_not_there_is_not_known() {
    let requested: Precision = "ci=2%, rps ci=2%, mean icl ci=2%".parse().unwrap();
    let nothing = tally([]).precision(&requested);
    assert!(nothing.iter().all(|outcome| !outcome.is_reached()), "{nothing:?}");
    let few = tally(&tapes(20)).precision(&requested);
    assert_eq!(few[0].half_width, Some(SampleSupport::NotSupported { needs: 30, has: 20 }));
    let early: Precision = "ci=2% from 2s".parse().unwrap();
    let width = tally(&tapes(20)).precision(&early)[0].half_width.and_then(SampleSupport::known);
    assert!(width.is_some_and(|width| width > 0.0), "three means of successive requests");
    assert!(
        tally(&tapes(2)).precision(&early)[0].half_width.and_then(SampleSupport::known).is_none()
    );
}

proptest! {
    #![proptest_config(crate::cases(16))]

    /// The same as in the summary, whatever the order of the tapes.
    #[test]
    fn it_is_the_width_of_the_summarys_interval(n in 40u64..120, cut in 0usize..40) {
        let tapes = tapes(n);
        let requested: Precision = "mean e2el ci=2%, p50 ttft ci=2%, output_tps ci=2%".parse().unwrap();
        let mut merged = tally(&tapes[cut..]);
        merged.merge(tally(&tapes[..cut]));
        let found = merged.precision(&requested);
        let level = merged.summary();
        prop_assert_eq!(&level, &tally(tapes.iter().rev()).summary());
        let e2el = &level.metrics.e2el;
        let ends = e2el.mean_interval.and_then(SampleSupport::known).unwrap();
        let width = (ends.high.get() - ends.low.get()) / 2.0 / e2el.mean.unwrap().get();
        let known = found[0].half_width.and_then(SampleSupport::known).unwrap();
        prop_assert!((known / width - 1.0).abs() < 1e-9);
        let goal = found[1].goal;
        prop_assert_eq!((goal.metric, goal.statistic), (Metric::Ttft, Statistic::P50));
    }
}
