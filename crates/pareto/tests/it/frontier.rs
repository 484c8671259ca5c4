//! Frontiers: small cases by hand, and agreement with the definition on random points with many ties.

use fizeau_pareto::Objective::{Maximize, Minimize};
use fizeau_pareto::{FrontierError, Objective, dominated_by, frontier};
use proptest::prelude::*;

use crate::fixed;
use crate::tables::figure;

const UP_DOWN: [Objective; 2] = [Maximize, Minimize];

#[test]
fn small_cases_by_hand() {
    let check = |points: &[[f64; 2]], expected: &[usize]| {
        assert_eq!(frontier(points, &UP_DOWN).unwrap(), expected, "{points:?}");
    };
    check(&[], &[]);
    check(&[[1.0, 1.0]], &[0]);
    check(&[[1.0, 1.0], [2.0, 2.0]], &[0, 1]);
    check(&[[1.0, 2.0], [2.0, 1.0]], &[1]);
    // As good in one figure, worse in the other.
    check(&[[1.0, 2.0], [1.0, 1.0]], &[1]);
    check(&[[1.0, 1.0], [2.0, 1.0]], &[1]);
    // Equals stay, wherever they stand.
    check(&[[2.0, 1.0], [1.0, 1.0], [2.0, 1.0]], &[0, 2]);
    // Zero has one value.
    check(&[[0.0, 1.0], [-0.0, 1.0]], &[0, 1]);
    check(&[[-0.0, 2.0], [0.0, 1.0]], &[1]);
    check(&[[f64::INFINITY, 9.0], [1.0, f64::NEG_INFINITY], [1.0, 1.0]], &[0, 1]);
}

#[test]
fn what_is_worse_by_the_last_digits_alone_is_dominated_all_the_same() {
    // Other tools let what ties within 1e-9 stay.
    let points = [[1.0, 1.0 + 1e-10], [2.0, 1.0], [1.0 - 1e-10, 1.0]];
    assert_eq!(frontier(&points, &UP_DOWN).unwrap(), [1]);
}

#[test]
fn each_direction_counts() {
    let points = [[1.0, 1.0], [2.0, 2.0], [1.0, 2.0], [2.0, 1.0]];
    let only = |directions| frontier(&points, &directions).unwrap();
    assert_eq!(only([Minimize, Minimize]), [0]);
    assert_eq!(only([Maximize, Maximize]), [1]);
    assert_eq!(only([Minimize, Maximize]), [2]);
    assert_eq!(only([Maximize, Minimize]), [3]);
}

#[test]
fn a_nan_is_an_error_that_names_the_point() {
    let points = [[1.0, 2.0], [3.0, f64::NAN], [f64::NAN, 1.0]];
    let error = frontier(&points, &UP_DOWN).unwrap_err();
    assert_eq!(error, FrontierError::NotANumber { point: 1, dimension: 1 });
    assert!(error.to_string().contains("point 1"), "{error}");
    assert_eq!(dominated_by(&points, &UP_DOWN, 1), None);
}

#[test]
fn beyond_the_points_nothing_is_dominated() {
    assert_eq!(dominated_by(&[[1.0], [2.0]], &[Maximize], 2), None);
}

/// The definition, word for word.
fn brute_force<const D: usize>(points: &[[f64; D]], directions: &[Objective; D]) -> Vec<usize> {
    let better = |a: f64, b: f64, direction| match direction {
        Maximize => a > b,
        Minimize => a < b,
    };
    let dominates = |a: &[f64; D], b: &[f64; D]| {
        let somewhere_better = (0..D).any(|d| better(a[d], b[d], directions[d]));
        let nowhere_worse = !(0..D).any(|d| better(b[d], a[d], directions[d]));
        somewhere_better && nowhere_worse
    };
    let free = |i: &usize| !points.iter().any(|rival| dominates(rival, &points[*i]));
    (0..points.len()).filter(free).collect()
}

fn points<const D: usize>() -> impl Strategy<Value = Vec<[f64; D]>> {
    proptest::collection::vec(proptest::array::uniform::<_, D>(figure()), 0..40)
}

fn directions<const D: usize>() -> impl Strategy<Value = [Objective; D]> {
    proptest::array::uniform(prop::sample::select(vec![Maximize, Minimize]))
}

fn picked<const D: usize>(points: &[[f64; D]], indices: &[usize]) -> Vec<[f64; D]> {
    indices.iter().map(|index| points[*index]).collect()
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn one_figure_agrees_with_the_definition(points in points::<1>(), directions in directions()) {
        prop_assert_eq!(frontier(&points, &directions).unwrap(), brute_force(&points, &directions));
    }

    #[test]
    fn two_figures_agree_with_the_definition(points in points::<2>(), directions in directions()) {
        prop_assert_eq!(frontier(&points, &directions).unwrap(), brute_force(&points, &directions));
    }

    #[test]
    fn three_figures_agree_with_the_definition(points in points::<3>(), directions in directions()) {
        prop_assert_eq!(frontier(&points, &directions).unwrap(), brute_force(&points, &directions));
    }

    #[test]
    fn five_figures_agree_with_the_definition(points in points::<5>(), directions in directions()) {
        prop_assert_eq!(frontier(&points, &directions).unwrap(), brute_force(&points, &directions));
    }

    #[test]
    fn order_does_not_matter(
        (points, shuffled) in points::<2>().prop_flat_map(|points| {
            let order = Just((0..points.len()).collect::<Vec<_>>()).prop_shuffle();
            (Just(points), order)
        }),
        directions in directions(),
    ) {
        let there = picked(&points, &shuffled);
        let mut back: Vec<usize> = frontier(&there, &directions).unwrap().iter().map(|i| shuffled[*i]).collect();
        back.sort_unstable();
        prop_assert_eq!(back, frontier(&points, &directions).unwrap());
    }

    #[test]
    fn a_dominated_point_changes_nothing(points in points::<2>(), extra in proptest::array::uniform2(figure())) {
        let before = frontier(&points, &UP_DOWN).unwrap();
        let mut more = points;
        more.push(extra);
        let after = frontier(&more, &UP_DOWN).unwrap();
        if dominated_by(&more, &UP_DOWN, more.len() - 1).is_some() {
            prop_assert_eq!(before, after);
        } else {
            prop_assert_eq!(after.last(), Some(&(more.len() - 1)));
        }
    }

    #[test]
    fn the_frontier_of_the_frontier_is_itself(points in points::<2>(), directions in directions()) {
        let once = picked(&points, &frontier(&points, &directions).unwrap());
        let twice = frontier(&once, &directions).unwrap();
        prop_assert_eq!(twice, (0..once.len()).collect::<Vec<_>>());
    }

    /// Whatever is not on the frontier is beaten by the named point, and nothing on it is beaten.
    #[test]
    fn the_frontier_is_what_nothing_dominates(points in points::<3>(), directions in directions()) {
        let frontier = frontier(&points, &directions).unwrap();
        for index in 0..points.len() {
            let rival = dominated_by(&points, &directions, index);
            prop_assert_eq!(rival.is_none(), frontier.contains(&index));
            if let Some(rival) = rival {
                let pair = [points[rival], points[index]];
                prop_assert_eq!(brute_force(&pair, &directions), vec![0]);
            }
        }
    }
}
