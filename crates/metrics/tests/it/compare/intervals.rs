//! Figures of which no more is known than their intervals.

use fizeau_metrics::{
    Answer, Basis, ComparisonSettings, ComparisonTable, ComparisonTest, Figure, FigureChoice,
    Interval, IntervalFigure, Side, Untested,
};
use proptest::prelude::*;

use crate::cases;

fn of(figure: Figure, value: f64, below: f64, above: f64) -> IntervalFigure {
    let interval = Some(Interval::p95(value - below, value + above));
    IntervalFigure { figure, value, interval, n: 200 }
}

fn settings(figures: impl IntoIterator<Item = Figure>) -> ComparisonSettings {
    let figures = FigureChoice::only(figures);
    ComparisonSettings { figures, ..ComparisonSettings::default() }
}

/// By hand: a difference of 10 whose parts reach 3 and 4 towards zero is 10 / 5 times the 1.96 of a 95 % interval away.
#[test]
fn the_interval_and_p_are_those_of_the_method() {
    let (baseline, candidate) =
        (of(Figure::P50_TTFT, 50.0, 1.0, 3.0), of(Figure::P50_TTFT, 60.0, 4.0, 2.0));
    let table =
        ComparisonTable::of_intervals(&[baseline], &[candidate], &settings([Figure::P50_TTFT]));
    assert_eq!(table.basis, Basis::Intervals);
    let tested = table.rows[0].tested.as_ref().unwrap();
    assert_eq!(tested.tests[0].test, ComparisonTest::Intervals);
    let interval = tested.difference.interval().unwrap();
    assert!((interval.low - 5.0).abs() < 1e-6, "{interval:?}");
    assert!((interval.high - (10.0 + 5_f64.sqrt())).abs() < 1e-6, "{interval:?}");
    // 2 P(Z > 3.9199), of a table of the normal distribution.
    assert!((tested.tests[0].p.get() - 8.86e-5).abs() < 1e-6, "{:?}", tested.tests[0].p);
    assert_eq!(table.rows[0].answer(), Some(Answer::Worse));
}

#[test]
fn what_has_no_interval_is_not_tested_and_says_whose() {
    let known = of(Figure::RPS, 10.0, 1.0, 1.0);
    let bare = IntervalFigure { interval: None, ..known };
    let settings = settings([Figure::RPS]);
    let why = |a: &[IntervalFigure], b: &[IntervalFigure]| {
        ComparisonTable::of_intervals(a, b, &settings).rows[0].tested.clone().unwrap_err()
    };
    assert_eq!(why(&[bare], &[known]), Untested::NoInterval(Side::Baseline));
    assert_eq!(why(&[known], &[bare]), Untested::NoInterval(Side::Candidate));
    assert_eq!(why(&[known], &[]), Untested::Absent(Side::Candidate));
    let endless = of(Figure::RPS, 10.0, 1.0, f64::INFINITY);
    assert_eq!(why(&[known], &[endless]), Untested::NotANumber);
}

proptest! {
    #![proptest_config(cases(64))]
    /// The answer and the interval say the same, and the sides change places without changing p.
    #[test]
    fn an_answer_is_what_the_interval_leaves_out(
        a in 10.0_f64..1e3,
        b in 10.0_f64..1e3,
        reach in prop::array::uniform4(0.01_f64..200.0),
    ) {
        let baseline = of(Figure::OUTPUT_TPS, a, reach[0], reach[1]);
        let candidate = of(Figure::OUTPUT_TPS, b, reach[2], reach[3]);
        let settings = ComparisonSettings {
            smallest: "0".parse().unwrap(),
            ..settings([Figure::OUTPUT_TPS])
        };
        let there = ComparisonTable::of_intervals(&[baseline], &[candidate], &settings);
        let back = ComparisonTable::of_intervals(&[candidate], &[baseline], &settings);
        let interval = there.rows[0].tested.as_ref().unwrap().difference.interval().unwrap();
        let answer = there.rows[0].answer().unwrap();
        let expected = match (interval.low > 0.0, interval.high < 0.0) {
            (true, _) => Answer::Better,
            (_, true) => Answer::Worse,
            _ => Answer::NoDetectableDifference,
        };
        prop_assert_eq!(answer, expected);
        let p = |table: &ComparisonTable| table.rows[0].tested.as_ref().unwrap().p();
        prop_assert_eq!(p(&there), p(&back));
    }
}
