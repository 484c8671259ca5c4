//! Measurements beside bounds.

use std::num::NonZeroU64;

use fizeau_core::{PerSec, Seconds, Tokens};
use fizeau_roofline::{Bound, Device, MeasuredFigures, UniformLoad};
use proptest::prelude::*;

use crate::{fixed, llama_8b, single};

fn bound() -> Bound {
    let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(32).unwrap());
    Bound::at(&single(llama_8b(), Device::named("h100-sxm").unwrap()), &load).unwrap()
}

/// What an engine would show that takes `slower` times as long as light.
fn measured(slower: f64) -> MeasuredFigures {
    let bound = bound();
    MeasuredFigures {
        ttft: Some(bound.ttft * slower),
        tpot: Some(bound.single_tpot * slower),
        e2el: Some(bound.e2el * slower),
        output_tokens_per_s: Some(bound.output_tokens_per_s * (1.0 / slower)),
        requests_per_s: Some(bound.requests_per_s * (1.0 / slower)),
    }
}

#[test]
fn half_the_speed_of_light_is_half_in_every_figure() {
    let reached = measured(2.0).percent_of(&bound());
    let (times, rates) = (
        [reached.ttft, reached.tpot_alone, reached.e2el],
        [reached.output_tokens_per_s, reached.requests_per_s],
    );
    for share in times.into_iter().chain(rates) {
        assert_eq!(share.unwrap().get(), 0.5);
        assert_eq!(share.unwrap().to_string(), "50.0 %");
    }
}

#[test]
fn what_was_not_measured_has_no_share() {
    let reached = MeasuredFigures::default().percent_of(&bound());
    assert_eq!(reached.ttft, None);
    assert_eq!(reached.requests_per_s, None);
    assert!(!reached.is_impossible());
}

#[test]
fn a_figure_beyond_the_bound_is_impossible() {
    let over = |factor: f64| MeasuredFigures {
        output_tokens_per_s: Some(bound().output_tokens_per_s * factor),
        ..MeasuredFigures::default()
    };
    assert!(!over(1.004).percent_of(&bound()).is_impossible());
    assert!(over(1.006).percent_of(&bound()).is_impossible());
    let requests = MeasuredFigures {
        requests_per_s: Some(bound().requests_per_s * 1.006),
        ..MeasuredFigures::default()
    };
    assert!(requests.percent_of(&bound()).is_impossible());
    let times = [
        MeasuredFigures { ttft: Some(bound().ttft * 0.99), ..MeasuredFigures::default() },
        MeasuredFigures { tpot: Some(bound().single_tpot * 0.99), ..MeasuredFigures::default() },
        MeasuredFigures { e2el: Some(bound().e2el * 0.99), ..MeasuredFigures::default() },
    ];
    for fast in times {
        assert!(fast.percent_of(&bound()).is_impossible(), "{fast:?}");
    }
}

/// An engine with a single slot, offered 32 requests at once, decodes at the pace of one alone.
#[test]
fn an_engine_that_lets_requests_wait_does_not_outrun_light() {
    let queued = MeasuredFigures { tpot: Some(bound().single_tpot), ..MeasuredFigures::default() };
    assert!(bound().tpot > bound().single_tpot);
    assert_eq!(queued.percent_of(&bound()).tpot_alone.unwrap().get(), 1.0);
}

#[test]
fn a_figure_has_one_value() {
    let twice = "tpot:5,ttft:80,tpot:6".parse::<MeasuredFigures>().unwrap_err();
    assert_eq!(twice.to_string(), "tpot:6 is a second value of the same figure; give one");
}

#[test]
fn nothing_completed_is_nothing_of_the_bound() {
    let none =
        MeasuredFigures { requests_per_s: Some(PerSec::new(0.0)), ..MeasuredFigures::default() };
    assert_eq!(none.percent_of(&bound()).requests_per_s.unwrap().get(), 0.0);
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn shares_are_finite_or_absent(time in any::<f64>(), rate in any::<f64>()) {
        let measured = MeasuredFigures {
            ttft: Some(Seconds::new(time)),
            tpot: Some(Seconds::new(time)),
            e2el: Some(Seconds::new(time)),
            output_tokens_per_s: Some(PerSec::new(rate)),
            requests_per_s: Some(PerSec::new(rate)),
        };
        let reached = measured.percent_of(&bound());
        let all = [reached.ttft, reached.tpot_alone, reached.output_tokens_per_s, reached.requests_per_s];
        for share in all.into_iter().flatten() {
            prop_assert!(share.get().is_finite() && share.get() >= 0.0);
        }
        prop_assert_eq!(reached.ttft.is_some(), time > 0.0 && (bound().ttft.get() / time).is_finite());
    }
}
