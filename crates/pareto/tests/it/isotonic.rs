//! Isotonic regression and departure from one way: by hand, by brute force, and what must hold for any values.

use fizeau_pareto::{FigureEstimate, IsotonicError, ResponseTrend, departure, isotonic};
use proptest::prelude::*;

use crate::fixed;

#[test]
fn violators_are_pooled_by_weight() {
    let fitted = isotonic(&[1.0, 3.0, 2.0, 4.0], &[1.0, 3.0, 1.0, 1.0], ResponseTrend::Rising);
    assert_eq!(fitted.unwrap(), [1.0, 2.75, 2.75, 4.0]);
    let fitted = isotonic(&[4.0, 2.0, 3.0, 1.0], &[1.0; 4], ResponseTrend::Falling);
    assert_eq!(fitted.unwrap(), [4.0, 2.5, 2.5, 1.0]);
    assert_eq!(isotonic(&[], &[], ResponseTrend::Rising).unwrap(), [0.0; 0]);
}

/// Four in the wrong order may end in one pool.
#[test]
fn a_pool_reaches_back() {
    let fitted = isotonic(&[5.0, 6.0, 7.0, 2.0], &[1.0; 4], ResponseTrend::Rising);
    assert_eq!(fitted.unwrap(), [5.0; 4]);
}

#[test]
fn what_does_not_weigh_is_refused() {
    use IsotonicError::{NotANumber, Weight, WrongLength};
    let fit = |values: &[f64], weights: &[f64]| isotonic(values, weights, ResponseTrend::Rising);
    assert_eq!(fit(&[1.0], &[]), Err(WrongLength { values: 1, weights: 0 }));
    assert_eq!(fit(&[1.0, f64::NAN], &[1.0; 2]), Err(NotANumber(1)));
    assert_eq!(fit(&[1.0], &[0.0]), Err(Weight { index: 0, weight: 0.0 }));
    assert!(fit(&[1.0], &[f64::INFINITY]).is_err());
    assert!(fit(&[1.0], &[f64::NAN]).is_err());
    assert_eq!(fit(&[f64::INFINITY, 1.0], &[1.0; 2]), Ok(vec![f64::INFINITY; 2]));
}

fn estimate(value: f64, half: f64) -> FigureEstimate {
    FigureEstimate::new(value, value - half, value + half).unwrap()
}

#[test]
fn the_pair_that_errors_explain_least_is_named() {
    // 90 before 70 departs further, but is less certain.
    let figures =
        [estimate(90.0, 40.0), estimate(70.0, 40.0), estimate(100.0, 1.0), estimate(95.0, 1.0)];
    let found = departure(&figures, ResponseTrend::Rising).unwrap();
    assert_eq!((found.earlier, found.later, found.by), (2, 3, 5.0));
    // Half a width of 1 is 1/1.96 of a standard error; of the difference, the root of two of those.
    assert!((found.errors - 5.0 * 1.959_963_984_540_054 / 2.0_f64.sqrt()).abs() < 1e-9);
    assert!(found.is_significant());
    let noise = [estimate(90.0, 40.0), estimate(70.0, 40.0)];
    assert!(!departure(&noise, ResponseTrend::Rising).unwrap().is_significant());
    assert_eq!(departure(&noise, ResponseTrend::Falling), None);
}

#[test]
fn exact_figures_in_the_wrong_order_are_no_accident() {
    let figures = [5.0, 9.0, 4.0].map(|value| FigureEstimate::exact(value).unwrap());
    let found = departure(&figures, ResponseTrend::Rising).unwrap();
    assert_eq!((found.earlier, found.later, found.errors), (1, 2, f64::INFINITY));
}

/// The max-min formula of isotonic regression: R. E. Barlow and others, "Statistical Inference under Order Restrictions"
/// (1972), chapter 1.
fn brute(values: &[f64], weights: &[f64]) -> Vec<f64> {
    let mean = |from: usize, to: usize| {
        let weight: f64 = weights[from..=to].iter().sum();
        let sum: f64 = (from..=to).map(|i| values[i] * weights[i]).sum();
        sum / weight
    };
    let n = values.len();
    let least = |i: usize, from: usize| (i..n).map(|to| mean(from, to)).fold(f64::MAX, f64::min);
    (0..n).map(|i| (0..=i).map(|from| least(i, from)).fold(f64::MIN, f64::max)).collect()
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn it_is_what_the_max_min_formula_says(
        rows in prop::collection::vec((-50.0f64..50.0, 0.1f64..10.0), 0..12),
    ) {
        let (values, weights): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        let fitted = isotonic(&values, &weights, ResponseTrend::Rising).unwrap();
        for (one, other) in fitted.iter().zip(brute(&values, &weights)) {
            prop_assert!((one - other).abs() < 1e-9, "{one} {other}");
        }
        prop_assert!(fitted.is_sorted());
        let mirrored: Vec<f64> = values.iter().map(|value| -value).collect();
        let falling = isotonic(&mirrored, &weights, ResponseTrend::Falling).unwrap();
        prop_assert!(falling.iter().zip(&fitted).all(|(one, other)| *one == -other));
    }

    #[test]
    fn what_goes_one_way_already_stays(mut values in prop::collection::vec(-50.0f64..50.0, 0..12)) {
        values.sort_by(f64::total_cmp);
        let weights = vec![2.0; values.len()];
        prop_assert_eq!(&isotonic(&values, &weights, ResponseTrend::Rising).unwrap(), &values);
        let exact: Vec<FigureEstimate> = values.iter().map(|value| FigureEstimate::exact(*value).unwrap()).collect();
        prop_assert_eq!(departure(&exact, ResponseTrend::Rising), None);
    }
}
