//! Each number that a law cannot use has one line that names it.

use fizeau_core::PerSec;
use fizeau_workload::{ArrivalLaw, Plan, PlanSpec, RampShape, RampSpan, Spacing};

use super::{POISSON, diurnal, on_off, ramp, stages, time};
use crate::spec;

const NO_RATES: [f64; 5] = [-1.0, f64::NAN, f64::INFINITY, 1e-10, 1e10];

/// The one line said of `arrivals`.
fn complaint(arrivals: ArrivalLaw) -> String {
    let line = Plan::new(PlanSpec { arrivals, ..spec(1, 0) }).unwrap_err().to_string();
    assert!(!line.contains('\n'), "more than one line: {line}");
    line
}

fn complains(arrivals: ArrivalLaw, start: &str, end: &str) {
    let line = complaint(arrivals);
    assert!(line.starts_with(start) && line.ends_with(end), "{line}");
}

#[test]
fn rates_that_are_none() {
    use RampShape::{Exponential, Linear};
    const FULL: &str = "it must be from 1e-9 to 1e9";
    const OR_ZERO: &str = "it must be 0 or from 1e-9 to 1e9";
    for rate in NO_RATES {
        let says =
            |which: &str| format!("the {which} of {rate} requests per second cannot be used");
        let from = says("first rate of the ramp");
        complains(ramp([rate, 1.0], Linear, time(1.0), POISSON), &from, OR_ZERO);
        complains(ramp([rate, 1.0], Linear, RampSpan::Requests, POISSON), &from, FULL);
        complains(ramp([rate, 1.0], Exponential, time(1.0), POISSON), &from, FULL);
        let to = says("last rate of the ramp");
        complains(ramp([1.0, rate], Linear, time(1.0), POISSON), &to, FULL);
        let stage = says("rate of stage 2");
        complains(stages(&[(1.0, 1.0), (rate, 1.0)], POISSON), &stage, OR_ZERO);
        complains(on_off([rate, 1.0], [1.0, 1.0]), &says("rate while on"), FULL);
        complains(on_off([1.0, rate], [1.0, 1.0]), &says("rate while off"), OR_ZERO);
        complains(diurnal(rate, 0.5, 1.0, POISSON), &says("mean rate"), FULL);
    }
}

#[test]
fn rates_of_zero_where_they_have_no_end() {
    let from_zero = |shape, over| ramp([0.0, 1.0], shape, over, POISSON);
    complains(
        from_zero(RampShape::Exponential, time(1.0)),
        "an exponential ramp cannot start at 0 ",
        "or use a linear ramp",
    );
    complains(
        from_zero(RampShape::Linear, RampSpan::Requests),
        "a ramp over requests cannot start at 0 ",
        "or ramp over time",
    );
    let to_zero = ramp([1.0, 0.0], RampShape::Linear, time(1.0), POISSON);
    complains(to_zero, "the last rate of the ramp of 0 ", "1e9");
    complains(
        stages(&[(1.0, 1.0), (0.0, 1.0)], POISSON),
        "stage 2 is the last one and has the rate 0",
        "or add a stage after it",
    );
    complains(stages(&[], POISSON), "the arrivals in stages have no stage", "at least one");
    complains(on_off([0.0, 1.0], [1.0, 1.0]), "the rate while on of 0 ", "1e9");
    complains(diurnal(0.0, 0.5, 1.0, POISSON), "the mean rate of 0 ", "1e9");
}

#[test]
fn times_that_are_none() {
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-10, 1e10] {
        let says = |which: &str| format!("the {which} of {seconds} s cannot be used");
        let linear = ramp([1.0, 2.0], RampShape::Linear, time(seconds), POISSON);
        for (law, which) in [
            (linear, "time of the ramp"),
            (stages(&[(1.0, seconds)], POISSON), "length of stage 1"),
            (on_off([1.0, 1.0], [seconds, 1.0]), "mean time on"),
            (on_off([1.0, 1.0], [1.0, seconds]), "mean time off"),
            (diurnal(1.0, 0.5, seconds, POISSON), "period"),
        ] {
            complains(law, &says(which), "it must be from 1e-9 s to 1e9 s");
        }
    }
}

#[test]
fn swings_and_burstiness_out_of_range() {
    for swing in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        complains(diurnal(1.0, swing, 1.0, POISSON), "the swing of ", "from 0 to 1");
    }
    for burstiness in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let spacing = Spacing::Random { burstiness };
        for law in [
            ramp([1.0, 2.0], RampShape::Linear, RampSpan::Requests, spacing),
            stages(&[(1.0, 1.0)], spacing),
            diurnal(1.0, 0.5, 1.0, spacing),
        ] {
            complains(law, "the burstiness ", "use constant arrivals)");
        }
    }
}

#[test]
fn phases_too_short_to_be_followed() {
    complains(
        on_off([1.0, 0.0], [1e-6, 1e-6]),
        "on and off phases alternate 1000000 times per request",
        "Poisson arrivals at the mean rate",
    );
}

#[test]
fn what_stands_at_the_edge_is_allowed() {
    for law in [
        ramp([0.0, 1.0], RampShape::Linear, time(1.0), POISSON),
        stages(&[(0.0, 1.0), (1.0, 1.0)], POISSON),
        on_off([1.0, 0.0], [1.0, 1.0]),
        diurnal(1.0, 1.0, 1.0, POISSON),
        diurnal(1.0, 0.0, 1.0, POISSON),
        ArrivalLaw::Constant { rate: PerSec::new(1e9) },
    ] {
        assert!(Plan::new(PlanSpec { arrivals: law.clone(), ..spec(1, 0) }).is_ok(), "{law:?}");
    }
}
