//! Dominance only when it is sure.

use fizeau_pareto::{
    Axis, FigureEstimate, FrontierMembership, Points, PointsError, UncertainPoints,
};
use proptest::prelude::*;

use crate::fixed;
use crate::tables::{dominates, figure, table, tables};

fn uncertain(axes: &[Axis], rows: &[Vec<FigureEstimate>]) -> UncertainPoints {
    let mut points = UncertainPoints::new(axes.to_vec()).unwrap();
    for row in rows {
        points.push(row).unwrap();
    }
    points
}

#[test]
fn touching_intervals_decide_if_another_axis_is_clear() {
    let axes = [Axis::maximize("rps"), Axis::minimize("ms")];
    let verdicts = |rows: &[[[f64; 3]; 2]]| {
        let estimate =
            |[low, value, high]: [f64; 3]| FigureEstimate::new(value, low, high).unwrap();
        let rows: Vec<Vec<FigureEstimate>> =
            rows.iter().map(|row| row.iter().copied().map(estimate).collect()).collect();
        uncertain(&axes, &rows).verdicts()
    };
    let good = [[7.0, 8.0, 9.0], [90.0, 95.0, 100.0]];
    let by_first = FrontierMembership::Dominated { by: 0 };
    // The best latency of the second is the worst of the first; its throughput is below.
    assert_eq!(verdicts(&[good, [[5.0, 6.0, 6.5], [100.0, 110.0, 120.0]]])[1], by_first);
    // Both touch: the true figures may all be equal.
    assert_eq!(
        verdicts(&[good, [[5.0, 6.0, 7.0], [100.0, 110.0, 120.0]]])[1],
        FrontierMembership::Undecided
    );
    assert_eq!(
        verdicts(&[good, [[5.0, 6.0, 6.5], [99.0, 110.0, 120.0]]])[1],
        FrontierMembership::Undecided
    );
    // Better in one: nothing dominates it by the figures themselves.
    assert_eq!(
        verdicts(&[good, [[5.0, 6.0, 6.5], [60.0, 94.0, 120.0]]])[1],
        FrontierMembership::OnFrontier
    );
}

#[test]
fn an_estimate_for_each_axis_is_needed() {
    let mut points = UncertainPoints::new(vec![Axis::minimize("a"), Axis::minimize("b")]).unwrap();
    let error = points.push(&[FigureEstimate::exact(1.0).unwrap()]).unwrap_err();
    assert_eq!(error, PointsError::WrongLength { point: 0, figures: 1, axes: 2 });
    assert!(points.is_empty() && points.verdicts().is_empty());
}

/// A figure, and how far the ends of its interval are from it.
type Wide = (f64, u8, u8);

fn wide_tables() -> impl Strategy<Value = (Points, UncertainPoints, Vec<Vec<f64>>)> {
    let figure = (-6_i32..7, 0_u8..3, 0_u8..3, 0.0..=1.0_f64);
    let row = move |axes| proptest::collection::vec(figure.clone(), axes);
    (1_usize..5).prop_flat_map(move |axes| {
        let rows = proptest::collection::vec(row(axes), 0..25);
        let up = proptest::collection::vec(any::<bool>(), axes);
        (rows, up).prop_map(|(rows, up)| {
            let axes = crate::tables::axes_of(&up);
            let estimate = |(value, below, above): Wide| {
                FigureEstimate::new(value, value - f64::from(below), value + f64::from(above))
                    .unwrap()
            };
            let estimates: Vec<Vec<FigureEstimate>> = rows
                .iter()
                .map(|row| {
                    row.iter().map(|(v, b, a, _)| estimate((f64::from(*v), *b, *a))).collect()
                })
                .collect();
            let truth = |(v, b, a, share): &(i32, u8, u8, f64)| {
                let (low, high) = (f64::from(*v) - f64::from(*b), f64::from(*v) + f64::from(*a));
                (low + share * (high - low)).clamp(low, high)
            };
            let truths = rows.iter().map(|row| row.iter().map(truth).collect()).collect();
            let values: Vec<Vec<f64>> = estimates
                .iter()
                .map(|row| row.iter().map(FigureEstimate::value).collect())
                .collect();
            (table(&axes, &values), uncertain(&axes, &estimates), truths)
        })
    })
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn of_exact_figures_it_is_plain_dominance(points in tables(figure(), 40)) {
        let exact = |i| points.point(i).unwrap().iter().map(|figure| FigureEstimate::exact(*figure).unwrap()).collect();
        let rows: Vec<Vec<FigureEstimate>> = (0..points.len()).map(exact).collect();
        let frontier = points.frontier();
        for (i, verdict) in uncertain(points.axes(), &rows).verdicts().into_iter().enumerate() {
            match verdict {
                FrontierMembership::OnFrontier => prop_assert!(frontier.contains(&i)),
                FrontierMembership::Dominated { by } => {
                    prop_assert!(dominates(points.axes(), points.point(by).unwrap(), points.point(i).unwrap()));
                }
                FrontierMembership::Undecided => prop_assert!(false, "nothing is open"),
            }
        }
    }

    #[test]
    fn what_dominates_surely_does_so_wherever_the_true_figures_lie((values, uncertain, truths) in wide_tables()) {
        for (i, verdict) in uncertain.verdicts().into_iter().enumerate() {
            if let FrontierMembership::Dominated { by } = verdict {
                prop_assert!(dominates(values.axes(), &truths[by], &truths[i]));
            }
        }
    }

    #[test]
    fn the_frontier_of_the_figures_stays((values, uncertain, _) in wide_tables()) {
        let verdicts = uncertain.verdicts();
        let on: Vec<usize> = (0..values.len()).filter(|i| verdicts[*i] == FrontierMembership::OnFrontier).collect();
        prop_assert_eq!(on, values.frontier());
    }

    /// Word for word, over all pairs.
    #[test]
    fn no_sure_dominance_is_missed((values, uncertain, _) in wide_tables()) {
        let end = |i: usize, best: bool| -> Vec<f64> {
            let up = |axis: &Axis| axis.direction() == fizeau_pareto::Objective::Maximize;
            let each = uncertain.point(i).unwrap().iter().zip(values.axes());
            each.map(|(e, axis)| if up(axis) == best { e.high() } else { e.low() }).collect()
        };
        let verdicts = uncertain.verdicts();
        for (i, verdict) in verdicts.iter().enumerate() {
            let surely = |rival: usize| dominates(values.axes(), &end(rival, false), &end(i, true));
            let any = (0..values.len()).any(surely);
            prop_assert_eq!(any, matches!(verdict, FrontierMembership::Dominated { .. }));
        }
    }
}
