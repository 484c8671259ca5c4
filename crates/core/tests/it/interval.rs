use fizeau_core::{Confidence, Estimate, Interval, Millis};
use proptest::prelude::*;

proptest! {
    #[test]
    fn an_estimate_is_within_its_interval(value in any::<f64>(), low in any::<f64>(), high in any::<f64>()) {
        let interval = Interval::p95(low, high);
        let is_within = low <= value && value <= high;
        let checked = Estimate::new(value, interval);
        prop_assert_eq!(checked.is_ok(), is_within);
        let widened = Estimate::widened(value, Some(interval));
        prop_assert!(value.is_nan() || (widened.low() <= value && value <= widened.high()));
        if let Ok(checked) = checked {
            prop_assert_eq!(checked, widened);
        }
    }
}

#[test]
fn another_unit_keeps_the_confidence() {
    let interval = Interval { low: 1.0, high: 3.0, confidence: Confidence::P90 };
    let estimate = Estimate::widened(2.0, Some(interval)).map(Millis::new);
    assert_eq!(estimate.value(), Millis::new(2.0));
    assert_eq!(estimate.interval().map(|ends| ends.confidence), Some(Confidence::P90));
    assert_eq!(estimate.interval().map(Interval::ends), Some([Millis::new(1.0), Millis::new(3.0)]));
}

#[test]
fn a_confidence_is_a_share() {
    for share in [0.0, 1.0, -0.5, f64::NAN] {
        assert!(Confidence::new(share).is_err(), "{share}");
    }
    assert!((Confidence::P95.tail() - 0.025).abs() < 1e-12);
}
