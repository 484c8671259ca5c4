//! Between the points of a frontier: nothing better than the neighbours support.

use fizeau_pareto::{Axis, CurveError, Direction, Points, Reading};
use proptest::prelude::*;

use crate::fixed;

fn points(directions: [Direction; 2], rows: &[[f64; 2]]) -> Points {
    let axis = |(direction, name)| match direction {
        Direction::Maximize => Axis::maximize(name),
        Direction::Minimize => Axis::minimize(name),
    };
    let mut points =
        Points::new(directions.into_iter().zip(["a", "b"]).map(axis).collect()).unwrap();
    rows.iter().for_each(|row| points.push(row).unwrap());
    points
}

fn rows() -> impl Strategy<Value = Vec<[f64; 2]>> {
    prop::collection::vec([-5.0_f64..5.0, -5.0_f64..5.0], 1..20)
}

fn directions() -> impl Strategy<Value = [Direction; 2]> {
    let direction = || prop::sample::select(vec![Direction::Maximize, Direction::Minimize]);
    [direction(), direction()]
}

const BOTH: [Reading; 2] = [Reading::Attained, Reading::Linear];

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn at_its_points_it_is_the_points(rows in rows(), directions in directions()) {
        let curve = points(directions, &rows).curve().unwrap();
        for [first, second] in curve.corners() {
            for reading in BOTH {
                prop_assert_eq!(curve.second_at(first, reading), Some(second));
                prop_assert_eq!(curve.first_at(second, reading), Some(first));
            }
        }
    }

    /// Between two neighbours, what is read lies between their figures; the staircase is the worse one, the line is on
    /// the chord, to rounding.
    #[test]
    fn it_never_invents_a_better_point(rows in rows(), directions in directions(), part in 0.001_f64..0.999) {
        let curve = points(directions, &rows).curve().unwrap();
        for pair in curve.corners().windows(2) {
            let mixed = |axis: usize| pair[0][axis] + (pair[1][axis] - pair[0][axis]) * part;
            // The first corner is worse in the second axis, the next one in the first.
            prop_assert_eq!(curve.second_at(mixed(0), Reading::Attained), Some(pair[0][1]));
            prop_assert_eq!(curve.first_at(mixed(1), Reading::Attained), Some(pair[1][0]));
            for (axis, read) in [
                (1, curve.second_at(mixed(0), Reading::Linear).unwrap()),
                (0, curve.first_at(mixed(1), Reading::Linear).unwrap()),
            ] {
                let (low, high) = (pair[0][axis].min(pair[1][axis]), pair[0][axis].max(pair[1][axis]));
                prop_assert!(low <= read && read <= high);
                let rounding = 1e-9 * (1.0 + (high - low) / (pair[0][1 - axis] - pair[1][1 - axis]).abs());
                prop_assert!((read - mixed(axis)).abs() < rounding, "{} {}", read, mixed(axis));
            }
        }
    }

    /// Better in the one axis is never better in the other as well.
    #[test]
    fn it_keeps_trading(rows in rows(), x in -5.0_f64..5.0, more in 0.0_f64..3.0) {
        let curve = points([Direction::Maximize, Direction::Minimize], &rows).curve().unwrap();
        for reading in BOTH {
            if let (Some(slow), Some(fast)) = (curve.second_at(x, reading), curve.second_at(x + more, reading)) {
                prop_assert!(slow <= fast);
            }
        }
    }

    /// The staircase says of each pair of figures what the points themselves say.
    #[test]
    fn the_staircase_is_what_the_points_attain(rows in rows(), x in -5.0_f64..5.0) {
        let curve = points([Direction::Minimize, Direction::Minimize], &rows).curve().unwrap();
        let least = rows.iter().filter(|row| row[0] <= x).map(|row| row[1]).min_by(f64::total_cmp);
        if let Some(read) = curve.second_at(x, Reading::Attained) {
            prop_assert_eq!(Some(read), least);
        }
    }
}

#[test]
fn outside_of_the_range_there_is_nothing() {
    let curve = points([Direction::Maximize, Direction::Minimize], &[[1.0, 10.0], [2.0, 20.0]])
        .curve()
        .unwrap();
    assert_eq!(curve.corners(), [[2.0, 20.0], [1.0, 10.0]]);
    for reading in BOTH {
        for outside in [0.9, 2.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(curve.second_at(outside, reading), None);
            assert_eq!(curve.first_at(outside * 10.0, reading), None);
        }
    }
}

#[test]
fn to_what_is_infinite_there_is_no_line() {
    let rows = [[1.0, 10.0], [2.0, f64::INFINITY]];
    let curve = points([Direction::Maximize, Direction::Minimize], &rows).curve().unwrap();
    assert_eq!(curve.second_at(1.5, Reading::Linear), Some(f64::INFINITY));
    assert_eq!(curve.first_at(1e300, Reading::Linear), Some(1.0));
}

#[test]
fn a_curve_takes_two_axes_and_a_point() {
    let line = Points::new(vec![Axis::minimize("a")]).unwrap();
    assert_eq!(line.curve(), Err(CurveError::NotTwoAxes(1)));
    assert_eq!(points([Direction::Minimize; 2], &[]).curve(), Err(CurveError::NoPoints));
}
