//! How far a frontier was pushed: cases by hand, and what must hold of any.

use std::num::NonZeroU32;

use fizeau_pareto::{
    Axis, FigureEstimate, FrontierCompareError, FrontierComparison, FrontierComparisonSpec,
    NoComparison, ResamplingSpec, UncertainPoints, compare_frontiers,
};
use proptest::prelude::*;

use crate::fixed;

/// Requests per second, and latency.
fn points(rows: &[[FigureEstimate; 2]]) -> UncertainPoints {
    let axes = vec![Axis::maximize("rps"), Axis::minimize("p99_ms")];
    let mut points = UncertainPoints::new(axes).unwrap();
    rows.iter().for_each(|row| points.push(row).unwrap());
    points
}

fn estimates(rows: &[[f64; 2]], estimate: impl Fn(f64) -> FigureEstimate) -> UncertainPoints {
    points(&rows.iter().map(|row| row.map(&estimate)).collect::<Vec<_>>())
}

fn exact(rows: &[[f64; 2]]) -> UncertainPoints {
    estimates(rows, |x| FigureEstimate::exact(x).unwrap())
}

/// The same with intervals of so many parts to each side.
fn noisy(rows: &[[f64; 2]], part: f64) -> UncertainPoints {
    estimates(rows, |x| FigureEstimate::new(x, x - part * x.abs(), x + part * x.abs()).unwrap())
}

fn compare(
    first: &UncertainPoints,
    second: &UncertainPoints,
    asked: &FrontierComparisonSpec,
) -> FrontierComparison {
    compare_frontiers(first, second, asked).unwrap()
}

fn plainly() -> FrontierComparisonSpec {
    FrontierComparisonSpec::new(7)
}

const BEFORE: [[f64; 2]; 4] = [[1.0, 100.0], [4.0, 200.0], [6.0, 300.0], [7.0, 500.0]];

/// By hand: from (1 rps, 500 ms) on, 3 x 300 + 2 x 200 before, and 4 x 300 + 2 x 200 after.
#[test]
fn the_ratio_is_of_volumes_beyond_the_worst_of_both() {
    let after = [[1.0, 100.0], [5.0, 200.0], [7.0, 300.0], [7.5, 800.0]];
    let pushed = compare(&exact(&BEFORE), &exact(&after), &plainly());
    assert_eq!(pushed.reference, [1.0, 500.0]);
    assert_eq!(
        pushed.hypervolume_ratio.unwrap(),
        FigureEstimate::exact(1_600.0 / 1_300.0).unwrap()
    );
}

/// By hand, as staircases over 100 to 500 ms: 100 x 1 + 100 x 4 + 200 x 6 before; 100 x 1 + 100 x 5 + 200 x 7 after.
#[test]
fn gains_at_equal_figures_by_hand() {
    let after = [[1.0, 100.0], [5.0, 200.0], [7.0, 300.0], [7.5, 800.0]];
    let pushed = compare(&exact(&BEFORE), &exact(&after), &plainly());
    let gains = pushed.at_equal_second;
    assert_eq!(gains.range, Some([100.0, 500.0]));
    assert!((gains.mean.unwrap().value() - (2_000.0 / 1_700.0 - 1.0)).abs() < 1e-12);
    assert_eq!(pushed.at_equal_first.range, Some([1.0, 7.0]));
    // By hand, from 1 to 7 rps: 3 x 200 + 2 x 300 + 1 x 500 before; 4 x 200 + 2 x 300 after.
    assert!(
        (pushed.at_equal_first.mean.unwrap().value() - (1.0 - 1_400.0 / 1_700.0)).abs() < 1e-12
    );
}

#[test]
fn where_there_is_nothing_in_common_there_is_a_reason() {
    let far = [[10.0, 1.0], [20.0, 5.0], [30.0, 9.0]];
    let pushed = compare(&exact(&BEFORE), &exact(&far), &plainly());
    assert_eq!(pushed.hypervolume_ratio, Err(NoComparison::NoVolume));
    assert_eq!(pushed.at_equal_first.mean, Err(NoComparison::NoCommonRange));
    assert_eq!(pushed.at_equal_second.range, None);
    let zero = [[0.0, 1.0]];
    let pushed = compare(&exact(&zero), &exact(&[[5.0, 1.0]]), &plainly());
    assert_eq!(pushed.at_equal_second.mean, Err(NoComparison::OfNothing));
    let endless = [[f64::INFINITY, 400.0], [1.0, 100.0]];
    let asked = FrontierComparisonSpec { reference: Some([0.0, 600.0]), ..plainly() };
    let pushed = compare(&exact(&BEFORE), &exact(&endless), &asked);
    assert_eq!(pushed.hypervolume_ratio, Err(NoComparison::Unbounded));
}

/// By hand, from nothing at 600 ms on: 2 x 100 at 100 to 200 ms, and so on.
#[test]
fn from_a_reference_a_frontier_that_is_better_everywhere_has_a_ratio() {
    let far = [[10.0, 1.0], [20.0, 5.0], [30.0, 9.0]];
    let asked = FrontierComparisonSpec { reference: Some([0.0, 600.0]), ..plainly() };
    let pushed = compare(&exact(&BEFORE), &exact(&far), &asked);
    assert_eq!(pushed.reference, [0.0, 600.0]);
    let (before, after) = (100.0 + 400.0 + 1_200.0 + 700.0, 40.0 + 80.0 + 591.0 * 30.0);
    assert_eq!(pushed.hypervolume_ratio.unwrap().value(), after / before);
    // What lies beyond the reference in all of its points has no volume: that is nothing of the first, and no share of it.
    let asked = FrontierComparisonSpec { reference: Some([8.0, 600.0]), ..plainly() };
    let back = compare(&exact(&far), &exact(&BEFORE), &asked).hypervolume_ratio;
    assert_eq!(back.unwrap().value(), 0.0);
    let none = compare(&exact(&BEFORE), &exact(&far), &asked).hypervolume_ratio;
    assert_eq!(none, Err(NoComparison::NoVolume));
    let nowhere = FrontierComparisonSpec { reference: Some([f64::NAN, 1.0]), ..plainly() };
    let error = compare_frontiers(&exact(&BEFORE), &exact(&far), &nowhere);
    assert_eq!(error, Err(FrontierCompareError::Reference));
}

/// The volumes vanish in some of the draws.
#[test]
fn a_ratio_is_never_thought_to_be_below_nothing() {
    let ratio = compare(&noisy(&BEFORE, 0.9), &noisy(&BEFORE, 0.9), &plainly()).hypervolume_ratio;
    let ratio = ratio.unwrap();
    assert_eq!((ratio.low(), ratio.high()), (0.0, f64::INFINITY));
}

#[test]
fn nothing_at_all_is_an_error() {
    let some = exact(&BEFORE);
    let compare =
        |a, b, asked: &FrontierComparisonSpec| compare_frontiers(a, b, asked).unwrap_err();
    let nothing = exact(&[]);
    assert_eq!(compare(&nothing, &some, &plainly()), FrontierCompareError::NothingFirst);
    let lost = exact(&[[1.0, f64::INFINITY]]);
    assert_eq!(compare(&some, &lost, &plainly()), FrontierCompareError::NothingSecond);
    let few = ResamplingSpec { count: NonZeroU32::new(99).unwrap(), seed: 7 };
    let few = FrontierComparisonSpec { draws: few, ..plainly() };
    assert_eq!(compare(&some, &some, &few), FrontierCompareError::TooFewDraws(99));
    let line = UncertainPoints::new(vec![Axis::maximize("rps")]).unwrap();
    assert_eq!(compare(&line, &some, &plainly()), FrontierCompareError::NotTwoAxes(1));
    assert_eq!(compare(&some, &line, &plainly()), FrontierCompareError::OtherAxes);
}

#[test]
fn intervals_are_seeded_and_widen_with_those_of_the_points() {
    let after = BEFORE.map(|[rps, ms]| [rps * 1.25, ms]);
    let asked = plainly();
    let width = |part: f64| {
        let pushed = compare(&noisy(&BEFORE, part), &noisy(&after, part), &asked);
        assert_eq!(pushed, compare(&noisy(&BEFORE, part), &noisy(&after, part), &asked));
        let gain = pushed.at_equal_second.mean.unwrap();
        assert!((gain.value() - 0.25).abs() < 1e-12);
        assert!(gain.low() < 0.2501 && 0.2499 < gain.high());
        gain.high() - gain.low()
    };
    let widths = [width(0.0), width(0.01), width(0.03)];
    assert!(widths[0] == 0.0 && widths[1] > 0.005 && widths[2] > 2.0 * widths[1], "{widths:?}");
    let other = compare(
        &noisy(&BEFORE, 0.01),
        &noisy(&after, 0.01),
        &FrontierComparisonSpec { draws: ResamplingSpec::new(8), ..asked },
    );
    assert_ne!(other, compare(&noisy(&BEFORE, 0.01), &noisy(&after, 0.01), &asked));
}

/// One point of each, at one latency: the gain is a quotient of two figures, each of 10 +- 1 by 95 %. Its interval is near that
/// of a normal distribution of 1 / 1.96 / 10 x sqrt(2) = 0.0722, to either side 0.141.
#[test]
fn an_interval_is_as_wide_as_the_spread_says() {
    let point = points(&[[
        FigureEstimate::new(10.0, 9.0, 11.0).unwrap(),
        FigureEstimate::exact(5.0).unwrap(),
    ]]);
    let draws = ResamplingSpec { count: NonZeroU32::new(20_000).unwrap(), seed: 7 };
    let asked = FrontierComparisonSpec { draws, ..plainly() };
    let gain = compare(&point, &point, &asked).at_equal_second.mean.unwrap();
    assert_eq!(gain.value(), 0.0);
    assert!((gain.low() + 0.135).abs() < 0.01 && (gain.high() - 0.15).abs() < 0.01, "{gain:?}");
}

/// One point each, and one of them may be at another latency: in hardly any draw have both a latency in common.
#[test]
fn an_answer_that_hangs_by_a_thread_has_an_open_interval() {
    let first = exact(&[[7.0, 500.0]]);
    let late = FigureEstimate::new(500.0, 400.0, 600.0).unwrap();
    let second = points(&[[FigureEstimate::exact(7.0).unwrap(), late]]);
    let gain = compare(&first, &second, &plainly()).at_equal_second.mean.unwrap();
    assert_eq!((gain.low(), gain.value(), gain.high()), (f64::NEG_INFINITY, 0.0, f64::INFINITY));
}

fn rows() -> impl Strategy<Value = Vec<[f64; 2]>> {
    prop::collection::vec([0.5_f64..9.0, 0.5_f64..9.0], 1..14)
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn a_frontier_is_not_pushed_beyond_itself(rows in rows()) {
        let same = compare(&exact(&rows), &exact(&rows), &plainly());
        if let Ok(ratio) = same.hypervolume_ratio {
            prop_assert_eq!(ratio.value(), 1.0);
        }
        for gains in [same.at_equal_first, same.at_equal_second] {
            prop_assert_eq!(gains.mean.unwrap().value(), 0.0);
        }
    }

    /// The same latencies at twice the rate: twice the rate at each latency.
    #[test]
    fn twice_the_figure_is_a_gain_of_one(rows in rows()) {
        let doubled: Vec<[f64; 2]> = rows.iter().map(|[rps, ms]| [rps * 2.0, *ms]).collect();
        let pushed = compare(&exact(&rows), &exact(&doubled), &plainly());
        let gain = pushed.at_equal_second.mean.unwrap().value();
        prop_assert!((gain - 1.0).abs() < 1e-9, "{gain}");
    }

    #[test]
    fn dominated_points_and_order_do_not_matter(rows in rows(), other in rows(), by in 0.01_f64..0.4) {
        let mut more: Vec<[f64; 2]> = rows.iter().rev().copied().collect();
        more.push([rows[0][0] - by, rows[0][1] + by]);
        let plain = compare(&exact(&rows), &exact(&other), &plainly());
        prop_assert_eq!(plain, compare(&exact(&more), &exact(&other), &plainly()));
    }

    /// Adding to the second frontier within the range of both never makes it fall behind.
    #[test]
    fn pushing_never_lowers_the_gain(rows in rows(), pick in any::<prop::sample::Index>(), by in 0.0_f64..1.0) {
        let mut more = rows.clone();
        let [rps, ms] = rows[pick.index(rows.len())];
        more.push([rps + by, ms]);
        let pushed = compare(&exact(&rows), &exact(&more), &plainly());
        prop_assert!(pushed.at_equal_second.mean.unwrap().value() >= 0.0);
    }
}
