//! MLPerf's early-stopping bound.

use fizeau_metrics::{
    Confidence, EarlyStoppingError, Percent, SampleSupport, early_stopping_bound,
    early_stopping_needs,
};

use super::goldens;

/// Golden values: the rule over SciPy's `betainc`, up to ten million values. The k-th of the values is k, so that the bound
/// tells how many lie above it.
#[test]
fn the_bound_is_that_of_the_rule() {
    let mut sizes = 0;
    for golden in goldens()["early_stopping"].as_array().unwrap() {
        let percent = Percent::new(golden["percent"].as_f64().unwrap()).unwrap();
        let confidence = Confidence::new(golden["confidence"].as_f64().unwrap()).unwrap();
        let needs = golden["needs"].as_u64().unwrap();
        assert_eq!(early_stopping_needs(percent, confidence), Ok(needs), "{golden}");
        for (n, over) in golden["over"].as_object().unwrap() {
            let n: u32 = n.parse().unwrap();
            // The largest for the usual percentile alone: building them is what takes time.
            if n > 300_000 && percent != Percent::P99 {
                continue;
            }
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            let bound = f64::from(n) - over.as_f64().unwrap();
            let found = early_stopping_bound(&values, percent, confidence);
            assert_eq!(found, Ok(SampleSupport::Known(bound)), "{percent:?} {n}");
            sizes += 1;
        }
    }
    assert!(sizes > 60);
}

/// MLPerf's own table of minimum query counts has 64 for the 90th and 662 for the 99th percentile.
#[test]
fn a_sample_below_the_minimum_is_said_to_be_too_small() {
    for (percent, needs) in [(Percent::P90, 64), (Percent::P99, 662)] {
        let values: Vec<f64> = (1..needs).map(|k| k as f64).collect();
        let found = early_stopping_bound(&values, percent, Confidence::P99);
        assert_eq!(found, Ok(SampleSupport::NotSupported { needs, has: needs - 1 }));
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let zero = Percent::new(0.0).unwrap();
    assert_eq!(early_stopping_needs(zero, Confidence::P99), Err(EarlyStoppingError::Extreme));
    let mut values = vec![1.0; 700];
    values[3] = f64::NAN;
    let found = early_stopping_bound(&values, Percent::P99, Confidence::P99);
    assert_eq!(found, Err(EarlyStoppingError::NotFinite { index: 3 }));
    assert!(Confidence::new(1.0).is_err() && Confidence::new(f64::NAN).is_err());
}
