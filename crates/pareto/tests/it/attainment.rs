//! What repeated runs attain: agreement with the definition, pair by pair.

use fizeau_pareto::{
    AttainmentError, Axis, Points, PointsError, attained_share, attainment_surface,
};
use proptest::prelude::*;

use crate::fixed;

fn run(rows: &[[f64; 2]]) -> Points {
    let mut points = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99")]).unwrap();
    rows.iter().for_each(|row| points.push(row).unwrap());
    points
}

fn runs() -> impl Strategy<Value = Vec<Points>> {
    let figure = || (0_i32..7).prop_map(f64::from);
    let row = (figure(), figure()).prop_map(|(a, b)| [a, b]);
    let rows = prop::collection::vec(row, 0..8);
    prop::collection::vec(rows.prop_map(|rows| run(&rows)), 1..7)
}

fn rows(points: &Points) -> Vec<[f64; 2]> {
    (0..points.len()).map(|i| points.point(i).unwrap().try_into().unwrap()).collect()
}

proptest! {
    #![proptest_config(fixed())]

    /// A pair is as bad as a corner of the surface exactly if enough of the runs attain it.
    #[test]
    fn the_surface_bounds_what_enough_runs_attain(runs in runs(), pick in any::<prop::sample::Index>()) {
        let least = pick.index(runs.len()) + 1;
        let share = least as f64 / runs.len() as f64;
        let surface = attainment_surface(&runs, share).unwrap();
        for pair in (0..49).map(|i| [f64::from(i % 7), f64::from(i / 7)]) {
            let expected = attained_share(&runs, &pair).unwrap() >= share;
            let beyond = rows(&surface).iter().any(|corner| corner[0] >= pair[0] && corner[1] <= pair[1]);
            prop_assert_eq!(beyond, expected, "{:?} of {:?}", pair, surface);
        }
        prop_assert_eq!(surface.frontier().len(), surface.len());
    }

    #[test]
    fn the_surface_of_one_run_is_its_frontier(runs in runs()) {
        let surface = attainment_surface(&runs[..1], 0.5).unwrap();
        let run = &runs[0];
        let mut corners: Vec<[f64; 2]> =
            run.frontier().into_iter().map(|i| [run.point(i).unwrap()[0], run.point(i).unwrap()[1]]).collect();
        // From the best in the first axis on, one of each kind.
        corners.sort_by(|a, b| b[0].total_cmp(&a[0]));
        corners.dedup();
        prop_assert_eq!(rows(&surface), corners);
    }

    #[test]
    fn the_order_of_runs_does_not_matter(runs in runs(), share in 0.01_f64..=1.0) {
        let turned: Vec<Points> = runs.iter().rev().cloned().collect();
        prop_assert_eq!(attainment_surface(&runs, share).unwrap(), attainment_surface(&turned, share).unwrap());
    }

    /// Asking for more runs never gives more.
    #[test]
    fn surfaces_are_nested(runs in runs(), a in 0.01_f64..=1.0, b in 0.01_f64..=1.0) {
        let [more, fewer] = [a.min(b), a.max(b)].map(|share| rows(&attainment_surface(&runs, share).unwrap()));
        for corner in fewer {
            prop_assert!(more.iter().any(|other| other[0] >= corner[0] && other[1] <= corner[1]));
        }
    }
}

#[test]
fn a_share_of_runs_is_not_rounded_up_by_accident() {
    // 0.7 * 10 is 7.000000000000001 in floating point.
    let runs: Vec<Points> = (1..=10).map(|i| run(&[[f64::from(i), 1.0]])).collect();
    for (share, rps) in
        [(0.7, 4.0), (0.1, 10.0), (0.29, 8.0), (0.3, 8.0), (0.31, 7.0), (1.0, 1.0), (1e-9, 10.0)]
    {
        assert_eq!(rows(&attainment_surface(&runs, share).unwrap()), [[rps, 1.0]], "{share}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let runs = [run(&[[1.0, 1.0]])];
    assert_eq!(attainment_surface(&[], 0.5), Err(AttainmentError::NoRuns));
    assert_eq!(attained_share(&[], &[1.0]), Err(AttainmentError::NoRuns));
    for share in [0.0, -0.5, 1.01, f64::NAN] {
        assert!(matches!(attainment_surface(&runs, share), Err(AttainmentError::Share(_))));
    }
    let other = Points::new(vec![Axis::minimize("rps"), Axis::minimize("p99")]).unwrap();
    assert_eq!(
        attainment_surface(&[runs[0].clone(), other], 0.5),
        Err(AttainmentError::OtherAxes(1))
    );
    let line = Points::new(vec![Axis::minimize("rps")]).unwrap();
    assert_eq!(attainment_surface(&[line], 0.5), Err(AttainmentError::NotTwoAxes(1)));
    let short = PointsError::WrongLength { point: 0, figures: 1, axes: 2 };
    assert_eq!(attained_share(&runs, &[1.0]), Err(AttainmentError::Point(short)));
    assert!(attained_share(&runs, &[1.0, f64::NAN]).is_err());
}
