//! Figures of which no more is known than their intervals.

use fizeau_metrics::{
    ComparisonAnswer, ComparisonBasis, ComparisonSettings, ComparisonSide, ComparisonTable,
    ComparisonTest, FigureChoice, Interval, IntervalFigure, LevelFigure, RunToRun, UntestedReason,
};
use proptest::prelude::*;

use crate::cases;

fn of(figure: LevelFigure, value: f64, below: f64, above: f64) -> IntervalFigure {
    let interval = Some(Interval::p95(value - below, value + above));
    IntervalFigure { figure, value, interval, n: 200 }
}

fn settings(figures: impl IntoIterator<Item = LevelFigure>) -> ComparisonSettings {
    let figures = FigureChoice::only(figures);
    ComparisonSettings { figures, run_to_run: RunToRun::NONE, ..ComparisonSettings::default() }
}

/// By hand: a difference of 10 whose parts reach 3 and 4 towards zero is 10 / 5 times the 1.96 of a 95 % interval away.
#[test]
fn the_interval_and_p_are_those_of_the_method() {
    let (baseline, candidate) =
        (of(LevelFigure::P50_TTFT, 50.0, 1.0, 3.0), of(LevelFigure::P50_TTFT, 60.0, 4.0, 2.0));
    let table = ComparisonTable::of_intervals(
        &[baseline],
        &[candidate],
        &settings([LevelFigure::P50_TTFT]),
    );
    assert_eq!(table.basis, ComparisonBasis::Intervals);
    let tested = table.rows[0].tested.as_ref().unwrap();
    assert_eq!(tested.tests[0].test, ComparisonTest::Intervals);
    let interval = tested.difference.interval().unwrap();
    assert!((interval.low - 5.0).abs() < 1e-6, "{interval:?}");
    assert!((interval.high - (10.0 + 5_f64.sqrt())).abs() < 1e-6, "{interval:?}");
    // 2 P(Z > 3.9199), of a table of the normal distribution.
    assert!((tested.tests[0].p.get() - 8.86e-5).abs() < 1e-6, "{:?}", tested.tests[0].p);
    assert_eq!(table.rows[0].answer(), Some(ComparisonAnswer::Worse));
}

/// By hand: a spread of 3 % of 100 and of 104 is 4.33 of their difference, which is 0.92 of that.
#[test]
fn a_spread_from_run_to_run_widens_the_interval_and_hides_what_is_within_it() {
    let (a, b) = (of(LevelFigure::RPS, 100.0, 0.1, 0.1), of(LevelFigure::RPS, 104.0, 0.1, 0.1));
    let run_to_run = "3%".parse().unwrap();
    let settings = ComparisonSettings { run_to_run, ..settings([LevelFigure::RPS]) };
    let table = ComparisonTable::of_intervals(&[a], &[b], &settings);
    let tested = table.rows[0].tested.as_ref().unwrap();
    assert!((tested.tests[0].p.get() - 0.356).abs() < 1e-3, "{:?}", tested.tests[0].p);
    assert_eq!(tested.run_to_run, 0.03);
    assert_eq!(table.rows[0].answer(), Some(ComparisonAnswer::NoDetectableDifference));
    // (1.96 + 0.84) x 4.33 is the least difference that is found.
    assert!((tested.detectable.unwrap() - 12.13).abs() < 0.02, "{:?}", tested.detectable);
    // However wide: a rate does not fall by more than all of it.
    let wide = ComparisonSettings { run_to_run: "90%".parse().unwrap(), ..settings };
    let tested = ComparisonTable::of_intervals(&[a], &[b], &wide).rows[0].tested.clone().unwrap();
    let interval = tested.relative.unwrap().interval().unwrap();
    assert!(interval.low == -1.0 && interval.high > 2.0, "{interval:?}");
}

#[test]
fn what_has_no_interval_is_not_tested_and_says_whose() {
    let known = of(LevelFigure::RPS, 10.0, 1.0, 1.0);
    let bare = IntervalFigure { interval: None, ..known };
    let settings = settings([LevelFigure::RPS]);
    let why = |a: &[IntervalFigure], b: &[IntervalFigure]| {
        ComparisonTable::of_intervals(a, b, &settings).rows[0].tested.clone().unwrap_err()
    };
    assert_eq!(why(&[bare], &[known]), UntestedReason::NoInterval(ComparisonSide::Baseline));
    assert_eq!(why(&[known], &[bare]), UntestedReason::NoInterval(ComparisonSide::Candidate));
    assert_eq!(why(&[known], &[]), UntestedReason::Absent(ComparisonSide::Candidate));
    let endless = of(LevelFigure::RPS, 10.0, 1.0, f64::INFINITY);
    assert_eq!(why(&[known], &[endless]), UntestedReason::NotANumber);
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
        let baseline = of(LevelFigure::OUTPUT_TPS, a, reach[0], reach[1]);
        let candidate = of(LevelFigure::OUTPUT_TPS, b, reach[2], reach[3]);
        let settings = ComparisonSettings {
            smallest: "0".parse().unwrap(),
            ..settings([LevelFigure::OUTPUT_TPS])
        };
        let there = ComparisonTable::of_intervals(&[baseline], &[candidate], &settings);
        let back = ComparisonTable::of_intervals(&[candidate], &[baseline], &settings);
        let interval = there.rows[0].tested.as_ref().unwrap().difference.interval().unwrap();
        let answer = there.rows[0].answer().unwrap();
        let expected = match (interval.low > 0.0, interval.high < 0.0) {
            (true, _) => ComparisonAnswer::Better,
            (_, true) => ComparisonAnswer::Worse,
            _ => ComparisonAnswer::NoDetectableDifference,
        };
        prop_assert_eq!(answer, expected);
        let p = |table: &ComparisonTable| table.rows[0].tested.as_ref().unwrap().p();
        prop_assert_eq!(p(&there), p(&back));
    }
}
