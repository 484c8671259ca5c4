//! The figures that laws ask for are those that they have.

use fizeau_core::{Nanos, PerSec};
use fizeau_workload::{ArrivalLaw, RampShape, RampSpan, RequestedArrivals, Rescale, Spacing};

use super::{POISSON, diurnal, on_off, ramp, schedule, seconds, stages, time};
use crate::gamma;
use crate::statistics::{gaps, moments};

#[test]
fn rate_and_variation_come_out_as_asked() {
    let poisson = ArrivalLaw::poisson(PerSec::new(20.0));
    for (law, tolerance) in [
        (ArrivalLaw::Constant { rate: PerSec::new(20.0) }, 1e-6),
        (poisson, 0.03),
        (gamma(20.0, 0.5, Rescale::None), 0.05),
        (gamma(20.0, 4.0, Rescale::ToMean), 0.03),
        // Bursts have long memories: their figures settle slowly.
        (on_off([50.0, 1.0], [0.5, 1.0]), 0.05),
        (on_off([10.0, 0.0], [2.0, 0.5]), 0.05),
        (on_off([1.0, 30.0], [0.3, 0.1]), 0.05),
        (on_off([8.0, 8.0], [1.0, 1.0]), 0.05),
    ] {
        let RequestedArrivals { rate, cv_squared } = law.requested().unwrap();
        let (mean, cv2) = moments(&gaps(law.clone(), 3));
        assert!((mean * rate.get() - 1.0).abs() < tolerance, "{law:?}: mean {mean}");
        let cv_squared = cv_squared.unwrap();
        let off = (cv2 - cv_squared) / cv_squared.max(1.0);
        assert!(off.abs() < tolerance, "{law:?}: CV^2 {cv2}, asked {cv_squared}");
    }
}

#[test]
fn days_have_their_mean_rate_and_no_variation() {
    let law = diurnal(20.0, 0.9, 10.0, POISSON);
    let asked = law.requested().unwrap();
    assert_eq!((asked.rate.get(), asked.cv_squared), (20.0, None));
    let (mean, _) = moments(&gaps(law, 0));
    assert!((mean * 20.0 - 1.0).abs() < 0.013, "mean {mean}");
}

#[test]
fn laws_without_a_lasting_rate_ask_for_none() {
    let linear = ramp([1.0, 9.0], RampShape::Linear, time(1.0), Spacing::Even);
    let steps = stages(&[(4.0, 1.0), (2.0, 1.0)], Spacing::Even);
    for law in [ArrivalLaw::ClosedLoop, ArrivalLaw::AllAtOnce, linear, steps] {
        assert_eq!(law.requested(), None);
    }
}

#[test]
fn the_peak_is_the_highest_rate() {
    let by_number = |ends| ramp(ends, RampShape::Linear, RampSpan::Requests, POISSON);
    for (law, peak) in [
        (ArrivalLaw::ClosedLoop, None),
        (ArrivalLaw::AllAtOnce, None),
        (gamma(3.0, 0.5, Rescale::None), Some(3.0)),
        (by_number([1.0, 9.0]), Some(9.0)),
        (by_number([9.0, 1.0]), Some(9.0)),
        (stages(&[(4.0, 1.0), (6.0, 1.0), (2.0, 1.0)], POISSON), Some(6.0)),
        (on_off([1.0, 30.0], [0.3, 0.1]), Some(30.0)),
        (diurnal(10.0, 0.5, 1.0, POISSON), Some(15.0)),
    ] {
        assert_eq!(law.peak().map(PerSec::get), peak, "{law:?}");
    }
}

#[test]
fn bursts_start_on_as_often_as_they_are_on() {
    // On for a quarter of the time, and silent while off: the first instant tells, nearly always.
    let law = on_off([1e6, 0.0], [1.0, 3.0]);
    let on = (0..2_000)
        .filter(|&seed| schedule(law.clone(), 1, seed).next() < Some(Some(Nanos::from_millis(1))));
    let share = on.count() as f64 / 2_000.0;
    // Four standard errors are 0.039.
    assert!((share - 0.25).abs() < 0.039, "{share}");
}

/// Spans, and the first two gaps, of ten Poisson requests at 10 a second, over many seeds.
fn short_plans(rescale: Rescale) -> (f64, f64, f64) {
    const SEEDS: u64 = 5_000;
    let plans: Vec<Vec<f64>> =
        (0..SEEDS).map(|seed| seconds(gamma(10.0, 1.0, rescale), 10, seed)).collect();
    let spans: Vec<f64> = plans.iter().map(|at| at[9]).collect();
    let (mean, cv2) = moments(&spans);
    let firsts: Vec<f64> = plans.iter().map(|at| at[0]).collect();
    let seconds: Vec<f64> = plans.iter().map(|at| at[1] - at[0]).collect();
    let ((x, x2), (y, y2)) = (moments(&firsts), moments(&seconds));
    let product = firsts.iter().zip(&seconds).map(|(a, b)| (a - x) * (b - y)).sum::<f64>();
    let correlation = product / SEEDS as f64 / (x * y * (x2 * y2).sqrt());
    (mean, cv2.sqrt() * mean, correlation)
}

#[test]
fn stretching_takes_the_spread_of_the_span_and_ties_gaps_together() {
    // Drawn: mean N / rate = 1 s, standard deviation sqrt(N) / rate = 0.316 s, correlation 0.
    let (mean, deviation, correlation) = short_plans(Rescale::None);
    assert!((mean - 1.0).abs() < 0.018, "mean {mean}");
    assert!((deviation - 0.316).abs() < 0.016, "deviation {deviation}");
    assert!(correlation.abs() < 0.05, "correlation {correlation}");
    // Stretched: always 1 s, correlation -1 / (N - 1) = -0.111.
    let (mean, deviation, correlation) = short_plans(Rescale::ToMean);
    assert!((mean - 1.0).abs() < 1e-9, "mean {mean}");
    assert!(deviation < 1e-9, "deviation {deviation}");
    assert!((correlation + 0.111).abs() < 0.05, "correlation {correlation}");
}

#[test]
fn ramps_and_stages_ask_for_one_rate_of_so_many_whatever_is_drawn() {
    let near = |law: &ArrivalLaw, arrivals: u64, gaps: f64, seconds: f64| {
        let rate = law.mean_rate(arrivals).unwrap().get();
        assert!((rate / (gaps / seconds) - 1.0).abs() < 1e-8, "{law:?}: {rate}");
    };
    // Requests 1 and 2 of three come at 2.5 and 4 a second.
    let by_requests = ramp([1.0, 4.0], RampShape::Linear, RampSpan::Requests, POISSON);
    near(&by_requests, 3, 2.0, 1.0 / 2.5 + 1.0 / 4.0);
    // t^2 = 1, and 100 at the end of the ten seconds; then 20 a second.
    let over_time = ramp([0.0, 20.0], RampShape::Linear, time(10.0), POISSON);
    near(&over_time, 100, 99.0, 9.0);
    near(&over_time, 120, 119.0, 10.0);
    // A pause before the first is no gap; one in between is.
    near(&stages(&[(0.0, 5.0), (10.0, 1.0), (0.0, 1.0), (10.0, 1.0)], POISSON), 20, 19.0, 2.9);
    assert_eq!(ArrivalLaw::AllAtOnce.mean_rate(9), None);
    assert_eq!(over_time.mean_rate(1), None);
    assert_eq!(ArrivalLaw::poisson(PerSec::new(7.0)).mean_rate(1), Some(PerSec::new(7.0)));
}
