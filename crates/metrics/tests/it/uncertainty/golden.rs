//! Agreement with numpy, SciPy and arch.

use fizeau_metrics::{
    Autocorrelation, BatchMeans, Confidence, Percent, PercentileRule, percentiles,
};
use serde_json::Value;

use super::{floats, goldens};

const RULES: [(&str, PercentileRule); 4] = [
    ("Linear", PercentileRule::Linear),
    ("NearestRank", PercentileRule::NearestRank),
    ("NearestIndex", PercentileRule::NearestIndex),
    ("FloorIndex", PercentileRule::FloorIndex),
];

fn each_series(mut check: impl FnMut(&str, &Value, Vec<f64>)) {
    for (name, golden) in goldens()["series"].as_object().unwrap() {
        check(name, golden, floats(&golden["values"]));
    }
}

#[test]
fn percentiles_are_those_of_numpy_to_the_bit() {
    let percents = floats(&goldens()["percents"]);
    let wanted: Vec<_> = percents.iter().map(|&percent| Percent::new(percent).unwrap()).collect();
    each_series(|name, golden, values| {
        for (key, rule) in RULES {
            let expected = floats(&golden["percentiles"][key]);
            assert_eq!(percentiles(&values, &wanted, rule).unwrap(), expected, "{name} {key}");
        }
    });
}

#[test]
fn autocorrelation_is_that_of_emcee() {
    each_series(|name, golden, values| {
        let found = Autocorrelation::of(&values).unwrap();
        let golden = &golden["autocorrelation"];
        let close = |a: f64, key: &str| (a - golden[key].as_f64().unwrap()).abs() < 1e-9;
        assert!(close(found.lag1, "lag1") && close(found.time, "time"), "{name} {found:?}");
        assert!(found.effective_n() <= values.len() as f64);
    });
}

/// Student's quantiles, as the width of the interval shows them.
#[test]
fn an_interval_of_batches_is_students() {
    let goldens = goldens();
    let student = goldens["student"].as_array().unwrap().iter().map(floats);
    // Six batches of five with means 0 and 2 in turn: a standard error of sqrt(6 / 5 / 6). High after low makes that of the values less.
    let steps: Vec<f64> = (0..30).map(|k| if k / 5 % 2 == 0 { 0.0 } else { 2.0 }).collect();
    let mut checked = 0;
    for golden in student {
        let confidence = Confidence::new(2.0 * golden[1] - 1.0).unwrap();
        let known = BatchMeans::of(&steps, confidence).unwrap().known();
        if let Some(found) = known {
            assert_eq!((found.batches, found.mean), (6, 1.0));
            let t = (found.interval.high - 1.0) * 5_f64.sqrt();
            assert!((t - golden[2]).abs() < 1e-9, "{t} against {golden:?}");
            checked += 1;
        }
    }
    assert_eq!(checked, 3);
}
