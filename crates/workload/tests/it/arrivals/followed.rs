//! Where the rate changes, instants come as its integral says.

use std::f64::consts::TAU;

use fizeau_workload::{ArrivalLaw, RampShape, RampSpan, Spacing};
use proptest::prelude::*;
use statrs::distribution::Exp;

use super::{POISSON, diurnal, ramp, seconds, stages, time};
use crate::statistics::likelihood;

/// A law of one rate after another, and its integral written down once more.
type Law = (fn(Spacing) -> ArrivalLaw, fn(f64) -> f64);

const LINEAR_UP: Law = (
    |spacing| ramp([0.0, 40.0], RampShape::Linear, time(20.0), spacing),
    |t| if t < 20.0 { t * t } else { 400.0 + 40.0 * (t - 20.0) },
);
const LINEAR_DOWN: Law = (
    |spacing| ramp([50.0, 10.0], RampShape::Linear, time(20.0), spacing),
    |t| if t < 20.0 { 50.0 * t - t * t } else { 600.0 + 10.0 * (t - 20.0) },
);
const DOUBLING: Law = (
    |spacing| ramp([5.0, 40.0], RampShape::Exponential, time(9.0), spacing),
    |t| {
        let growth = 8_f64.ln() / 9.0;
        if t < 9.0 {
            5.0 * (growth * t).exp_m1() / growth
        } else {
            35.0 / growth + 40.0 * (t - 9.0)
        }
    },
);
const LEVEL: Law =
    (|spacing| ramp([7.0, 7.0], RampShape::Exponential, time(9.0), spacing), |t| 7.0 * t);
const STAGES: Law = (
    |spacing| stages(&[(0.0, 3.0), (10.0, 5.0), (0.0, 2.0), (30.0, 10.0), (2.0, 1.0)], spacing),
    |t| match t {
        t if t < 3.0 => 0.0,
        t if t < 8.0 => 10.0 * (t - 3.0),
        t if t < 10.0 => 50.0,
        t if t < 20.0 => 50.0 + 30.0 * (t - 10.0),
        t => 350.0 + 2.0 * (t - 20.0),
    },
);
const DAYS: Law = (
    |spacing| diurnal(20.0, 1.0, 10.0, spacing),
    |t| 20.0 * (t + 10.0 / TAU * (1.0 - (TAU * t / 10.0).cos())),
);
const LAWS: [Law; 6] = [LINEAR_UP, LINEAR_DOWN, DOUBLING, LEVEL, STAGES, DAYS];

#[test]
fn even_instants_stand_where_the_integral_reaches_whole_numbers() {
    for (number, (law, area)) in LAWS.into_iter().enumerate() {
        for (count, at) in (1_u32..).zip(seconds(law(Spacing::Even), 1_000, 0)) {
            let off = area(at) - f64::from(count);
            // The instants are rounded to nanoseconds, and no rate here is above 50 a second.
            assert!(off.abs() < 1e-7, "law {number}, request {count}: off by {off} at {at} s");
        }
    }
}

proptest! {
    #[test]
    fn days_of_any_swing_are_followed(swing in 0.0..=1.0) {
        let law = diurnal(20.0, swing, 10.0, Spacing::Even);
        for (count, at) in (1_u32..).zip(seconds(law, 400, 0)) {
            let area = 20.0 * (at + swing * 10.0 / TAU * (1.0 - (TAU * at / 10.0).cos()));
            prop_assert!((area - f64::from(count)).abs() < 1e-7, "{count}: {area} at {at} s");
        }
    }
}

#[test]
fn random_instants_have_exponential_gaps_on_the_scale_of_the_integral() {
    for (number, (law, area)) in LAWS.into_iter().enumerate() {
        let mut before = 0.0;
        let gap = |at| {
            let now = area(at);
            now - std::mem::replace(&mut before, now)
        };
        let gaps: Vec<f64> = seconds(law(POISSON), 50_000, 7).into_iter().map(gap).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        // Four standard errors.
        assert!((mean - 1.0).abs() < 0.018, "law {number}: mean {mean}");
        let p = likelihood(gaps, &Exp::new(1.0).unwrap());
        assert!(p > 0.001, "law {number}: p {p}");
    }
}

#[test]
fn a_pause_has_no_instants() {
    let (law, _) = STAGES;
    for spacing in [Spacing::Even, POISSON] {
        let at = seconds(law(spacing), 1_000, 1);
        assert!(at.iter().all(|&t| t >= 3.0 && !(8.0 < t && t < 10.0)));
    }
}

proptest! {
    #[test]
    fn ramps_over_requests_follow_the_rule_of_vllm(
        from in 0.1..100.0_f64, to in 0.1..100.0_f64, requests in 1_u64..50,
    ) {
        // `_get_current_request_rate` in vLLM's vllm/benchmarks/serve.py, and gaps of 1 / rate as for its burstiness inf.
        let linear = |progress: f64| from + (to - from) * progress;
        let exponential = |progress: f64| from * (to / from).powf(progress);
        let rules: [(RampShape, &dyn Fn(f64) -> f64); 2] =
            [(RampShape::Linear, &linear), (RampShape::Exponential, &exponential)];
        for (shape, rate) in rules {
            let law = ramp([from, to], shape, RampSpan::Requests, Spacing::Even);
            let mut expected = 0.0;
            for (number, at) in seconds(law, requests, 0).into_iter().enumerate() {
                expected += 1.0 / rate(number as f64 / (requests - 1).max(1) as f64);
                prop_assert!((at - expected).abs() < 1e-8, "{shape:?} {number}: {at}, not {expected}");
            }
        }
    }
}
