//! Frontiers and layers of tables of any number of axes.

use fizeau_pareto::{Axis, Points};
use proptest::prelude::*;

use crate::fixed;
use crate::tables::{brute_force, dominates, figure, picked, shuffled, table, tables, tables_of};

/// A number from 0 to before 1, for large tables: the upper bits of Knuth's MMIX generator.
fn next(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

/// As many points as it takes for the first pass, and for parting again and again.
fn large(axes: usize, mut row: impl FnMut(&mut u64) -> Vec<f64>) -> Points {
    let mut state = 1849;
    let rows: Vec<Vec<f64>> = (0..2_200).map(|_| row(&mut state)).collect();
    let axes: Vec<Axis> = (0..axes).map(|i| Axis::minimize(i.to_string())).collect();
    table(&axes, &rows)
}

/// The definition again, but fast: nothing on the frontier dominates another on it, and all else is dominated by one on it.
fn is_frontier(points: &Points, frontier: &[usize]) -> bool {
    let rivals: Vec<&[f64]> = frontier.iter().map(|i| points.point(*i).unwrap()).collect();
    (0..points.len()).all(|i| {
        let point = points.point(i).unwrap();
        let beaten = rivals.iter().any(|rival| dominates(points.axes(), rival, point));
        beaten != frontier.binary_search(&i).is_ok()
    })
}

#[test]
fn large_tables_of_many_shapes_agree_with_the_definition() {
    for d in 1..=7 {
        let independent = large(d, |state| (0..d).map(|_| next(state)).collect());
        let ties = large(d, |state| (0..d).map(|_| (next(state) * 8.0).floor()).collect());
        // One figure of a few values, the others of many.
        let figure = |i, state: &mut u64| match i % 2 {
            1 => (next(state) * 3.0).floor(),
            _ => next(state),
        };
        let steps = large(d, |state| (0..d).map(|i| figure(i, state)).collect());
        // Near a plane, with the last figure so coarse that many on it tie: most are on the frontier, and not all.
        let coarse = large(d, |state| {
            let mut row: Vec<f64> = (1..d).map(|_| (next(state) * 64.0).floor()).collect();
            row.push((-row.iter().sum::<f64>() / 16.0).floor());
            row
        });
        let shapes =
            [("independent", independent), ("ties", ties), ("steps", steps), ("coarse", coarse)];
        for (what, points) in shapes {
            assert!(is_frontier(&points, &points.frontier()), "{what}, {d} axes");
        }
    }
}

#[test]
fn on_a_plane_all_are_on_the_frontier() {
    for d in 2..=6 {
        // What is gained in one figure is lost in the others, exactly.
        let plane = large(d, |state| {
            let mut row: Vec<f64> = (1..d).map(|_| (next(state) * 1e6).floor()).collect();
            row.push(-row.iter().sum::<f64>());
            row
        });
        assert_eq!(plane.frontier().len(), plane.len(), "{d} axes");
        assert!(plane.layers().iter().all(|layer| *layer == 1), "{d} axes");
    }
}

#[test]
fn points_in_a_row_are_a_layer_each() {
    for d in 1..=5 {
        let axes: Vec<Axis> = (0..d).map(|i| Axis::minimize(i.to_string())).collect();
        let rows: Vec<Vec<f64>> = (0..40).map(|i| vec![f64::from(i); d]).collect();
        let points = table(&axes, &rows);
        assert_eq!(points.frontier(), [0]);
        assert_eq!(points.layers(), (1..=40).collect::<Vec<_>>());
    }
}

#[test]
fn no_points_have_no_frontier() {
    let points = Points::new(vec![Axis::minimize("a"), Axis::maximize("b")]).unwrap();
    assert_eq!(points.frontier(), [0; 0]);
    assert_eq!(points.layers(), [0; 0]);
}

/// Layer by layer: the frontier of what is left.
fn peeled(points: &Points) -> Vec<usize> {
    let mut layers = vec![0; points.len()];
    let mut left: Vec<usize> = (0..points.len()).collect();
    let mut layer = 0;
    while !left.is_empty() {
        layer += 1;
        let rest = picked(points, &left);
        for i in brute_force(&rest) {
            layers[left[i]] = layer;
        }
        left.retain(|i| layers[*i] == 0);
    }
    layers
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn frontiers_agree_with_the_definition(points in tables(figure(), 90)) {
        prop_assert_eq!(points.frontier(), brute_force(&points));
    }

    /// Two values a figure, so that equal points and equal figures are everywhere.
    #[test]
    fn so_they_do_where_almost_all_ties(points in tables(prop::sample::select(vec![0.0, 1.0]), 200)) {
        prop_assert_eq!(points.frontier(), brute_force(&points));
    }

    #[test]
    fn order_does_not_matter((points, order) in shuffled(tables(figure(), 60))) {
        let there = picked(&points, &order);
        let mut back: Vec<usize> = there.frontier().into_iter().map(|i| order[i]).collect();
        back.sort_unstable();
        prop_assert_eq!(back, points.frontier());
        let layers = points.layers();
        let layers: Vec<usize> = order.iter().map(|i| layers[*i]).collect();
        prop_assert_eq!(there.layers(), layers);
    }

    #[test]
    fn a_dominated_point_changes_nothing(points in tables_of(3, figure(), 60), extra in proptest::array::uniform3(figure())) {
        let mut more = points.clone();
        more.push(&extra).unwrap();
        let dominated = (0..points.len()).any(|i| dominates(points.axes(), points.point(i).unwrap(), &extra));
        if dominated {
            prop_assert_eq!(more.frontier(), points.frontier());
        } else {
            prop_assert_eq!(more.frontier().last().copied(), Some(points.len()));
        }
    }

    #[test]
    fn layers_are_the_frontier_of_what_is_left_again_and_again(points in tables(figure(), 60)) {
        prop_assert_eq!(points.layers(), peeled(&points));
    }

    /// Whatever is not on the frontier is beaten by the point that is named, the first of all that beat it.
    #[test]
    fn what_beats_a_point_is_named(points in tables(figure(), 40)) {
        let at = |i: usize| points.point(i).unwrap();
        for i in 0..points.len() {
            let first = (0..points.len()).find(|rival| dominates(points.axes(), at(*rival), at(i)));
            prop_assert_eq!(points.dominated_by(i), first);
        }
        prop_assert_eq!(points.dominated_by(points.len()), None);
    }

    #[test]
    fn the_first_layer_is_the_frontier(points in tables(figure(), 60)) {
        let layers = points.layers();
        let first: Vec<usize> = (0..points.len()).filter(|i| layers[*i] == 1).collect();
        prop_assert_eq!(first, points.frontier());
    }
}
