//! Against SciPy 1.17.1 and statsmodels 0.15.0: `tests/goldens/make_scipy_goldens.py` wrote it down.
#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen to be tests")]

use fizeau_metrics::{
    Estimate, PValue, PairedValues, SignificanceLevel, TestPower, UnpairedValues, holm,
};
use serde_json::Value;

fn goldens(of: &str) -> Vec<Value> {
    let file = include_str!("../../goldens/scipy_goldens.json");
    let all: Value = serde_json::from_str(file).unwrap();
    let cases = all[of].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

fn values(case: &Value) -> Vec<f64> {
    case.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

fn alpha(case: &Value) -> SignificanceLevel {
    SignificanceLevel::new(case["alpha"].as_f64().unwrap()).unwrap()
}

fn pairs(case: &Value) -> PairedValues {
    PairedValues::new(&values(&case["baseline"]), &values(&case["candidate"])).unwrap()
}

fn sides(case: &Value) -> UnpairedValues {
    UnpairedValues::new(&values(&case["baseline"]), &values(&case["candidate"])).unwrap()
}

/// A billionth of the value, and of one where it is less than a thousandth of a billionth.
#[track_caller]
fn assert_close(ours: f64, golden: &Value, what: &str) {
    let golden = golden.as_f64().unwrap_or_else(|| panic!("{what}: no golden value"));
    assert!((ours - golden).abs() <= 1e-9 * golden.abs() + 1e-12, "{what}: {ours}, not {golden}");
}

#[track_caller]
fn assert_effect(ours: Estimate<f64>, golden: &Value, what: &str) {
    assert_close(ours.value(), &golden["estimate"], what);
    match ours.interval() {
        Some(interval) => {
            assert_close(interval.low, &golden["interval"][0], what);
            assert_close(interval.high, &golden["interval"][1], what);
        }
        None => assert!(golden["interval"].is_null(), "{what}: no interval"),
    }
}

#[test]
fn paired_t_tests_are_scipys() {
    for case in goldens("pairs") {
        let (pairs, alpha) = (pairs(&case), alpha(&case));
        let what = format!("{} pairs", pairs.differences().len());
        let test = pairs.t_test().unwrap();
        assert_close(test.t, &case["t"], &what);
        assert_close(test.df, &case["df"], &what);
        assert_close(test.p.get(), &case["p"], &what);
        assert_effect(pairs.mean_shift(alpha).unwrap(), &case["mean_shift"], &what);
    }
}

#[test]
fn wilcoxons_tests_are_scipys() {
    for case in goldens("pairs") {
        let pairs = pairs(&case);
        let what = format!("{} pairs", pairs.differences().len());
        let test = pairs.wilcoxon().unwrap();
        assert_close(test.p.get(), &case["wilcox"]["p"], &what);
        assert_close(test.statistic, &case["wilcox"]["positive"], &what);
    }
}

#[test]
fn cohens_d_and_what_is_detectable_follow_scipys_noncentral_t() {
    for case in goldens("pairs") {
        let (pairs, alpha) = (pairs(&case), alpha(&case));
        let what = format!("{} pairs", pairs.differences().len());
        assert_effect(pairs.cohens_d(alpha).unwrap(), &case["cohens_d"], &what);
        let least = pairs.detectable(alpha, TestPower::EIGHTY_PERCENT).unwrap();
        assert_close(least, &case["detectable"], &what);
    }
}

#[test]
fn mann_and_whitneys_tests_are_scipys() {
    for case in goldens("sides") {
        let sides = sides(&case);
        let what = format!("{} and {}", case["baseline"], case["candidate"]);
        let ranks = sides.mann_whitney();
        assert_close(ranks.statistic, &case["u"], &what);
        assert_close(ranks.p.get(), &case["u_p"], &what);
    }
}

#[test]
fn effects_of_two_samples_are_those_of_all_comparisons() {
    for case in goldens("sides") {
        let (sides, alpha) = (sides(&case), alpha(&case));
        let what = format!("{} and {}", case["baseline"], case["candidate"]);
        assert_effect(sides.cliffs_delta(alpha), &case["cliff"], &what);
    }
}

#[test]
fn holms_correction_is_statsmodels() {
    for case in goldens("holm") {
        let raw: Vec<PValue> =
            values(&case["raw"]).into_iter().map(|p| PValue::new(p).unwrap()).collect();
        for (ours, golden) in holm(&raw).into_iter().zip(case["corrected"].as_array().unwrap()) {
            assert_close(ours.get(), golden, "Holm");
        }
    }
}
