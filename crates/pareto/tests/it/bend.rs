//! Knees of frontiers of two axes.

use fizeau_pareto::{
    Axis, FigureEstimate, FrontierKnee, KneeMethod, NoKnee, Points, ResamplingSpec, UncertainPoints,
};
use proptest::prelude::*;

use crate::fixed;
use crate::tables::{figure, picked, shuffled, table, tables_of};

const METHODS: [KneeMethod; 2] = [KneeMethod::KNEEDLE, KneeMethod::Curvature];

fn of(axes: &[Axis; 2], rows: &[[f64; 2]]) -> Points {
    table(axes, rows)
}

fn rising() -> [Axis; 2] {
    [Axis::minimize("x"), Axis::maximize("y")]
}

/// Figure 2 of the paper: y = 5 - 1 / (x + 0.1) at ten values of x from 0 to 1. The paper finds its knee at x = 0.22, and so
/// does the Python package kneed (0.9.0, its `DataGenerator.figure2`).
#[test]
fn kneedle_finds_the_knee_of_the_papers_figure() {
    let curve: Vec<[f64; 2]> =
        (0..10).map(|i| f64::from(i) / 9.0).map(|x| [x, 5.0 - 1.0 / (x + 0.1)]).collect();
    let knee = of(&rising(), &curve).knee(KneeMethod::KNEEDLE).unwrap();
    assert_eq!((knee.index, knee.confidence), (2, None));
    // Scaled, the curve is at y = (10 - 1 / 0.3222) / (10 - 1 / 1.1) there.
    let y = (10.0 - 1.0 / (2.0 / 9.0 + 0.1)) / (10.0 - 1.0 / 1.1);
    assert!((knee.strength - (y - 2.0 / 9.0)).abs() < 1e-12, "{}", knee.strength);
}

/// The same trade in all four pairs of directions.
#[test]
fn directions_turn_the_curve_and_not_the_knee() {
    let curve = [[1.0, 9.0], [1.5, 4.0], [2.0, 2.0], [6.0, 1.5], [9.0, 1.2]];
    for (up_x, up_y) in [(false, false), (false, true), (true, false), (true, true)] {
        let axes = crate::tables::axes_of(&[up_x, up_y]);
        let turn = |up: bool, figure: f64| if up { 10.0 - figure } else { figure };
        let turned = curve.map(|[x, y]| [turn(up_x, x), turn(up_y, y)]);
        let points = table(&axes, &turned);
        for method in METHODS {
            assert_eq!(points.knee(method).unwrap().index, 2, "{method:?} {up_x} {up_y}");
        }
    }
}

#[test]
fn curvature_is_one_by_the_radius() {
    // A quarter of a circle of radius 1 around (1, 1), already scaled.
    let arc: Vec<[f64; 2]> = (0..=6)
        .map(|i| std::f64::consts::FRAC_PI_2 * f64::from(i) / 6.0)
        .map(|angle| [1.0 - angle.cos(), 1.0 - angle.sin()])
        .collect();
    let down = [Axis::minimize("x"), Axis::minimize("y")];
    let knee = of(&down, &arc).knee(KneeMethod::Curvature).unwrap();
    assert!((knee.strength - 1.0).abs() < 1e-12, "{}", knee.strength);
    // The furthest below the line is the middle: 1 - 2 (1 - sqrt(1/2)).
    let knee = of(&down, &arc).knee(KneeMethod::KNEEDLE).unwrap();
    assert_eq!(knee.index, 3);
    assert!((knee.strength - (2.0_f64.sqrt() - 1.0)).abs() < 1e-12, "{}", knee.strength);
}

#[test]
fn of_two_knees_kneedle_takes_the_deeper() {
    // Distances: 0, 0.2, 0.1, 0.5, 0.2, 0.
    let curve = [[0.0, 1.0], [0.1, 0.7], [0.3, 0.6], [0.35, 0.15], [0.7, 0.1], [1.0, 0.0]];
    let down = || [Axis::minimize("x"), Axis::minimize("y")];
    let knee = of(&down(), &curve).knee(KneeMethod::Kneedle { sensitivity: 0.2 }).unwrap();
    assert_eq!(knee.index, 3);
    // The first falls by 0.1 only before the curve rises again, the second by 0.5 to the end.
    let knee = of(&down(), &curve).knee(KneeMethod::Kneedle { sensitivity: 2.4 }).unwrap();
    assert_eq!(knee.index, 3);
    let error = of(&down(), &curve).knee(KneeMethod::Kneedle { sensitivity: 2.6 }).unwrap_err();
    assert_eq!(error, NoKnee::TooGentle { sensitivity: 2.6 });
}

#[test]
fn a_peak_that_rises_again_before_it_falls_enough_is_none() {
    // Distances: 0, 0.5, 0.44, 0.47, 0.05, 0; the threshold of the first is at 0.5 - 0.5 / 5 = 0.4.
    let curve = [[0.0, 1.0], [0.1, 0.4], [0.2, 0.36], [0.3, 0.23], [0.8, 0.15], [1.0, 0.0]];
    let down = [Axis::minimize("x"), Axis::minimize("y")];
    let knee = of(&down, &curve).knee(KneeMethod::Kneedle { sensitivity: 0.5 }).unwrap();
    assert_eq!(knee.index, 3);
}

#[test]
fn of_equal_bends_the_first_from_the_best_of_the_first_axis_counts() {
    let curve = [[1.0, 0.0], [0.5, 0.125], [0.125, 0.5], [0.0, 1.0]];
    let down = [Axis::minimize("x"), Axis::minimize("y")];
    for method in [KneeMethod::Kneedle { sensitivity: 0.5 }, KneeMethod::Curvature] {
        assert_eq!(of(&down, &curve).knee(method).unwrap().index, 2, "{method:?}");
    }
}

#[test]
fn each_reason_for_no_knee_is_said() {
    let down = || [Axis::minimize("x"), Axis::minimize("y")];
    let refused =
        |rows: &[[f64; 2]]| METHODS.map(|method| of(&down(), rows).knee(method).unwrap_err());
    let few = |points| [NoKnee::TooFew { points }, NoKnee::TooFew { points }];
    assert_eq!(refused(&[]), few(0));
    // Two of three are equal, a fourth is dominated.
    assert_eq!(refused(&[[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]), few(2));
    // Straight, and away from the best of both.
    assert_eq!(
        refused(&[[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [3.0, 0.0]]),
        [NoKnee::NoBend, NoKnee::NoBend]
    );
    assert_eq!(refused(&[[0.0, 3.0], [2.0, 2.0], [3.0, 0.0]]), [NoKnee::NoBend, NoKnee::NoBend]);
    let endless = refused(&[[0.0, f64::INFINITY], [1.0, 1.0], [2.0, 0.0]]);
    assert_eq!(endless[0], NoKnee::Infinite { axis: "y".into() });
    let three =
        table(&[Axis::minimize("x"), Axis::minimize("y"), Axis::minimize("z")], &[[0.0; 3]]);
    assert_eq!(three.knee(KneeMethod::Curvature), Err(NoKnee::NotTwoAxes { axes: 3 }));
    let bad = of(&down(), &[[0.0, 1.0], [0.1, 0.1], [1.0, 0.0]])
        .knee(KneeMethod::Kneedle { sensitivity: -1.0 });
    assert_eq!(bad, Err(NoKnee::BadSensitivity { sensitivity: -1.0 }));
}

fn within(rows: &[[f64; 2]], share: f64) -> UncertainPoints {
    let mut points = UncertainPoints::new(rising().to_vec()).unwrap();
    for [x, y] in rows {
        let around = FigureEstimate::new(*y, y - share * y.abs(), y + share * y.abs()).unwrap();
        points.push(&[FigureEstimate::exact(*x).unwrap(), around]).unwrap();
    }
    points
}

#[test]
fn the_wider_the_intervals_the_less_sure_is_the_knee() {
    let curve = [[1.0, 10.0], [2.0, 40.0], [3.0, 64.0], [4.0, 70.0], [5.0, 72.0], [6.0, 73.0]];
    for method in METHODS {
        let of = |share| within(&curve, share).knee(method, ResamplingSpec::new(1)).unwrap();
        let (exact, narrow, wide) = (of(0.0), of(0.02), of(0.3));
        assert_eq!((exact.index, exact.confidence), (2, Some(1.0)), "{method:?}");
        assert_eq!((narrow.index, wide.index), (2, 2));
        let (narrow, wide) = (narrow.confidence.unwrap(), wide.confidence.unwrap());
        assert!(wide < 0.9 && wide > 0.0 && narrow > wide, "{method:?}: {narrow} {wide}");
    }
}

#[test]
fn the_same_seed_gives_the_same_confidence() {
    let curve = [[1.0, 10.0], [2.0, 40.0], [3.0, 64.0], [4.0, 70.0], [5.0, 72.0]];
    let of =
        |seed| within(&curve, 0.2).knee(KneeMethod::Curvature, ResamplingSpec::new(seed)).unwrap();
    assert_eq!(of(5), of(5));
    let apart = of(5).confidence.unwrap() - of(6).confidence.unwrap();
    assert!(apart.abs() < 0.1, "{apart}");
}

#[test]
fn an_interval_without_end_has_no_draws() {
    let mut points = within(&[[1.0, 10.0], [2.0, 40.0], [3.0, 42.0]], 0.1);
    let endless = FigureEstimate::new(41.0, f64::NEG_INFINITY, 41.0).unwrap();
    points.push(&[FigureEstimate::exact(2.5).unwrap(), endless]).unwrap();
    let knee = points.knee(KneeMethod::Curvature, ResamplingSpec::new(1));
    assert_eq!(knee, Err(NoKnee::Infinite { axis: "y".into() }));
}

/// What a knee is, whatever the order: its figures and how pronounced it is.
fn seen(points: &Points, knee: Result<FrontierKnee, NoKnee>) -> Result<(Vec<u64>, u64), NoKnee> {
    let bits = |index| {
        points.point(index).unwrap().iter().map(|figure| (figure + 0.0).to_bits()).collect()
    };
    knee.map(|knee| (bits(knee.index), knee.strength.to_bits()))
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn order_does_not_matter((points, order) in shuffled(tables_of(2, (0_i32..50).prop_map(f64::from), 40))) {
        let there = picked(&points, &order);
        for method in METHODS {
            prop_assert_eq!(seen(&points, points.knee(method)), seen(&there, there.knee(method)));
        }
    }

    #[test]
    fn dominated_points_play_no_part(points in tables_of(2, figure(), 40)) {
        let frontier = points.frontier();
        let alone = picked(&points, &frontier);
        for method in METHODS {
            prop_assert_eq!(seen(&points, points.knee(method)), seen(&alone, alone.knee(method)));
        }
    }

    /// Units do not matter: a power of two changes no digit.
    #[test]
    fn units_do_not_matter(points in tables_of(2, (0_i32..50).prop_map(f64::from), 40)) {
        let rows: Vec<[f64; 2]> =
            (0..points.len()).map(|i| points.point(i).unwrap()).map(|p| [p[0] * 4.0, p[1] / 1024.0]).collect();
        let scaled = table(points.axes(), &rows);
        for method in METHODS {
            prop_assert_eq!(points.knee(method), scaled.knee(method));
        }
    }

    /// Without sensitivity any curve that bends has a knee, and it is the furthest below the line.
    #[test]
    fn without_sensitivity_the_deepest_point_is_the_knee(points in tables_of(2, (0_i32..50).prop_map(f64::from), 40)) {
        let kneedle = points.knee(KneeMethod::Kneedle { sensitivity: 0.0 });
        let curvature = points.knee(KneeMethod::Curvature);
        match kneedle {
            Ok(knee) => {
                prop_assert!(curvature.is_ok());
                prop_assert!(points.frontier().contains(&knee.index));
                prop_assert!(knee.strength > 0.0 && knee.strength < 1.0);
            }
            Err(error) => prop_assert!(!matches!(error, NoKnee::TooGentle { .. }), "{error}"),
        }
    }
}
