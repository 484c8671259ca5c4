//! What cannot be compared is refused, and said why.

use fizeau_metrics::{
    ComparisonSide, NoDifferenceError, PValue, PairedValues, PairedValuesError, SignificanceLevel,
    TestPower, UnpairedValues, UnpairedValuesError, ZeroVarianceError,
};

#[test]
fn values_that_are_none_are_refused_with_their_place() {
    for bad in [f64::NAN, f64::INFINITY, -1e101] {
        let pairs = PairedValues::new(&[1.0, 2.0, 3.0], &[1.0, 2.0, bad]);
        let place = (ComparisonSide::Candidate, 2);
        assert_eq!(pairs, Err(PairedValuesError::NotANumber { side: place.0, index: place.1 }));
        let sides = UnpairedValues::new(&[1.0, bad], &[1.0, 2.0, 3.0]);
        assert_eq!(
            sides,
            Err(UnpairedValuesError::NotANumber { side: ComparisonSide::Baseline, index: 1 })
        );
    }
    let said = PairedValues::new(&[1.0, f64::NAN], &[1.0, 2.0]).unwrap_err().to_string();
    assert_eq!(said, "value 1 (from 0) of the baseline is not a number from -1e100 to 1e100");
}

#[test]
fn too_few_values_are_refused() {
    assert_eq!(PairedValues::new(&[1.0], &[2.0]), Err(PairedValuesError::TooFew(1)));
    assert_eq!(
        PairedValues::new(&[1.0], &[]),
        Err(PairedValuesError::LengthsDiffer { baseline: 1, candidate: 0 })
    );
    let few = UnpairedValuesError::TooFew { side: ComparisonSide::Candidate, n: 1 };
    assert_eq!(UnpairedValues::new(&[1.0, 2.0], &[2.0]), Err(few));
    assert_eq!(few.to_string(), "the candidate has 1 values; a test needs at least 2");
}

#[test]
fn values_without_spread_have_no_t_test() {
    let alike = PairedValues::new(&[0.1, 0.1, 0.1], &[0.3, 0.3, 0.3]).unwrap();
    assert_eq!(alike.t_test(), Err(ZeroVarianceError));
    assert_eq!(alike.mean_shift(SignificanceLevel::FIVE_PERCENT), Err(ZeroVarianceError));
    assert_eq!(alike.cohens_d(SignificanceLevel::FIVE_PERCENT), Err(ZeroVarianceError));
    assert_eq!(
        alike.detectable(SignificanceLevel::FIVE_PERCENT, TestPower::EIGHTY_PERCENT),
        Err(ZeroVarianceError)
    );
    assert_eq!(alike.wilcoxon().unwrap().p.get(), 0.25, "ranks need no spread");
}

#[test]
fn pairs_that_do_not_differ_have_no_signed_ranks() {
    let equal = PairedValues::new(&[1.0, 2.0, 0.0], &[1.0, 2.0, -0.0]).unwrap();
    assert_eq!(equal.wilcoxon(), Err(NoDifferenceError));
}

#[test]
fn sides_that_are_one_tie_do_not_differ() {
    let equal = UnpairedValues::new(&[2.0; 9], &[2.0; 12]).unwrap();
    assert_eq!(equal.mann_whitney().p.get(), 1.0);
    let delta = equal.cliffs_delta(SignificanceLevel::FIVE_PERCENT);
    assert_eq!(delta.value(), 0.0);
}

#[test]
fn probabilities_are_probabilities() {
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(PValue::new(bad).is_err());
        assert!(SignificanceLevel::new(bad).is_err());
        assert!(TestPower::new(bad).is_err());
    }
    assert!(PValue::new(0.0).is_ok() && PValue::new(1.0).is_ok());
    assert!(SignificanceLevel::new(0.0).is_err() && SignificanceLevel::new(1.0).is_err());
    let said = TestPower::new(1.0).unwrap_err().to_string();
    assert_eq!(said, "a power must be above 0 and below 1, such as 0.8, not 1");
}
