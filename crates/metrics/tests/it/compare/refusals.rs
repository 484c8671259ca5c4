//! What cannot be compared is refused, and said why.

use fizeau_metrics::{
    AllZero, Alpha, NoSpread, PValue, Pairs, PairsError, Power, Side, Sides, SidesError,
};

#[test]
fn values_that_are_none_are_refused_with_their_place() {
    for bad in [f64::NAN, f64::INFINITY, -1e101] {
        let pairs = Pairs::new(&[1.0, 2.0, 3.0], &[1.0, 2.0, bad]);
        let place = (Side::Candidate, 2);
        assert_eq!(pairs, Err(PairsError::NotANumber { side: place.0, index: place.1 }));
        let sides = Sides::new(&[1.0, bad], &[1.0, 2.0, 3.0]);
        assert_eq!(sides, Err(SidesError::NotANumber { side: Side::Baseline, index: 1 }));
    }
    let said = Pairs::new(&[1.0, f64::NAN], &[1.0, 2.0]).unwrap_err().to_string();
    assert_eq!(said, "value 1 (from 0) of the baseline is not a number from -1e100 to 1e100");
}

#[test]
fn too_few_values_are_refused() {
    assert_eq!(Pairs::new(&[1.0], &[2.0]), Err(PairsError::TooFew(1)));
    assert_eq!(
        Pairs::new(&[1.0], &[]),
        Err(PairsError::LengthsDiffer { baseline: 1, candidate: 0 })
    );
    let few = SidesError::TooFew { side: Side::Candidate, n: 1 };
    assert_eq!(Sides::new(&[1.0, 2.0], &[2.0]), Err(few));
    assert_eq!(few.to_string(), "values of the candidate: 1; at least 2 are needed");
}

#[test]
fn values_without_spread_have_no_t_test() {
    let alike = Pairs::new(&[0.1, 0.1, 0.1], &[0.3, 0.3, 0.3]).unwrap();
    assert_eq!(alike.t_test(), Err(NoSpread));
    assert_eq!(alike.mean_shift(Alpha::FIVE_PERCENT), Err(NoSpread));
    assert_eq!(alike.cohens_d(Alpha::FIVE_PERCENT), Err(NoSpread));
    assert_eq!(alike.detectable(Alpha::FIVE_PERCENT, Power::EIGHTY_PERCENT), Err(NoSpread));
    assert_eq!(alike.wilcoxon().unwrap().p.get(), 0.25, "ranks need no spread");
}

#[test]
fn pairs_that_do_not_differ_have_no_signed_ranks() {
    let equal = Pairs::new(&[1.0, 2.0, 0.0], &[1.0, 2.0, -0.0]).unwrap();
    assert_eq!(equal.wilcoxon(), Err(AllZero));
}

#[test]
fn sides_that_are_one_tie_do_not_differ() {
    let equal = Sides::new(&[2.0; 9], &[2.0; 12]).unwrap();
    assert_eq!(equal.mann_whitney().p.get(), 1.0);
    let delta = equal.cliffs_delta(Alpha::FIVE_PERCENT);
    assert_eq!(delta.value(), 0.0);
}

#[test]
fn probabilities_are_probabilities() {
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(PValue::new(bad).is_err());
        assert!(Alpha::new(bad).is_err());
        assert!(Power::new(bad).is_err());
    }
    assert!(PValue::new(0.0).is_ok() && PValue::new(1.0).is_ok());
    assert!(Alpha::new(0.0).is_err() && Alpha::new(1.0).is_err());
    let said = Power::new(1.0).unwrap_err().to_string();
    assert_eq!(said, "a power is above 0 and below 1, as 0.8 is, not 1");
}
