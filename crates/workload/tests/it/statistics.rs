//! The samplers follow the laws that they are named after. Seeds are fixed, so a test either always passes or
//! never.

use fizeau_core::{Nanos, PerSec};
use fizeau_workload::{ArrivalLaw, Plan, PlanSpec, Rescale};
use statrs::distribution::{ContinuousCDF, Exp, Gamma};
use statrs::stats_tests::NaNPolicy;
use statrs::stats_tests::ks_test::{KSOneSampleAlternativeMethod, ks_onesample};

use crate::{gamma, output, spec, uniform};

const GAPS: u64 = 100_000;

/// The gaps of a plan of [`GAPS`] requests, in seconds.
pub(crate) fn gaps(arrivals: ArrivalLaw, seed: u64) -> Vec<f64> {
    let plan = Plan::new(PlanSpec { arrivals, ..spec(GAPS, seed) }).unwrap();
    let mut before = Nanos::ZERO;
    let gap = |at: Option<Nanos>| {
        let at = at.unwrap();
        let gap = at.saturating_sub(before).as_secs_f64();
        before = at;
        gap
    };
    plan.schedule().map(gap).collect()
}

/// Mean, and variance over squared mean.
pub(crate) fn moments(sample: &[f64]) -> (f64, f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (mean, variance / (mean * mean))
}

/// How likely a sample as far from `law` as this one is, if it did come from `law` (Kolmogorov and Smirnov).
pub(crate) fn likelihood(sample: Vec<f64>, law: &impl ContinuousCDF<f64, f64>) -> f64 {
    let two_sided = KSOneSampleAlternativeMethod::TwoSidedAsymptotic;
    ks_onesample(sample, law, two_sided, NaNPolicy::Error).unwrap().1
}

#[test]
fn poisson_gaps_are_exponential() {
    for seed in [0, 1] {
        let gaps = gaps(ArrivalLaw::poisson(PerSec::new(1.0)), seed);
        let (mean, cv2) = moments(&gaps);
        // Standard errors: 1/sqrt(n) = 0.0032 for the mean, about sqrt(8/n) = 0.009 for the square of the CV.
        assert!((mean - 1.0).abs() < 0.013, "mean {mean}");
        assert!((cv2 - 1.0).abs() < 0.036, "CV^2 {cv2}");
        let p = likelihood(gaps, &Exp::new(1.0).unwrap());
        assert!(p > 0.001, "p {p}");
    }
}

#[test]
fn gamma_gaps_have_the_shape_asked_for() {
    for burstiness in [0.1, 0.5, 0.999, 1.5, 4.0, 50.0] {
        let gaps = gaps(gamma(1.0, burstiness, Rescale::None), 0);
        let (mean, cv2) = moments(&gaps);
        let tolerance = 4.0 / (burstiness * GAPS as f64).sqrt();
        assert!((mean - 1.0).abs() < tolerance, "burstiness {burstiness}: mean {mean}");
        let off = cv2 * burstiness - 1.0;
        assert!(off.abs() < 0.08, "burstiness {burstiness}: CV^2 {cv2}");
        if burstiness < 0.5 {
            // So many of the gaps are under a nanosecond that the rounding shows.
            continue;
        }
        let p = likelihood(gaps, &Gamma::new(burstiness, burstiness).unwrap());
        assert!(p > 0.001, "burstiness {burstiness}: p {p}");
    }
}

#[test]
fn the_test_can_tell_neighbouring_laws_apart() {
    let gaps = gaps(gamma(1.0, 1.1, Rescale::None), 0);
    assert!(likelihood(gaps, &Exp::new(1.0).unwrap()) < 1e-6);
}

#[test]
fn the_rate_scales_the_gaps() {
    let (mean, _) = moments(&gaps(gamma(50.0, 2.0, Rescale::None), 0));
    assert!((mean * 50.0 - 1.0).abs() < 0.01, "mean {mean}");
}

#[test]
fn drawn_spans_vary_and_stretched_ones_do_not() {
    let span = |rescale, seed| {
        let arrivals = gamma(10.0, 1.0, rescale);
        Plan::new(PlanSpec { arrivals, ..spec(100, seed) }).unwrap().schedule().last()
    };
    assert_ne!(span(Rescale::None, 0), span(Rescale::None, 1));
    assert_eq!(span(Rescale::ToMean, 0), span(Rescale::ToMean, 1));
}

#[test]
fn lengths_are_uniform_over_the_whole_range() {
    // 10 plus and minus 5: eleven lengths, 2000 of each expected.
    let plan =
        Plan::new(PlanSpec { lengths: output(uniform(10, 0.5)), ..spec(22_000, 0) }).unwrap();
    let mut counts = [0_i32; 16];
    for scheduled in plan.source() {
        counts[scheduled.request.max_output_tokens.get() as usize] += 1;
    }
    let chi2: f64 = counts[5..].iter().map(|&n| f64::from(n - 2_000).powi(2) / 2_000.0).sum();
    // The 99.9 % point of chi-square with 10 degrees of freedom is 29.59 (any table).
    assert!(chi2 < 29.59, "chi-square {chi2}, counts {counts:?}");
}
