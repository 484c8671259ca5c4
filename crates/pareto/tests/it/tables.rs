//! Tables of points for properties, and what the definitions say of them, word for word.

use fizeau_pareto::{Axis, Objective, Points};
use proptest::prelude::*;

/// Figures from a grid so coarse that ties are common, with both zeros and infinities.
pub(crate) fn figure() -> impl Strategy<Value = f64> + Clone + 'static {
    prop_oneof![
        8 => (-3_i32..4).prop_map(f64::from),
        1 => prop::sample::select(vec![-0.0, f64::INFINITY, f64::NEG_INFINITY]),
    ]
}

/// Up to `most` points of 1 to 7 axes, with `figure`s.
pub(crate) fn tables(
    figure: impl Strategy<Value = f64> + Clone + 'static,
    most: usize,
) -> impl Strategy<Value = Points> {
    (1_usize..8).prop_flat_map(move |axes| tables_of(axes, figure.clone(), most))
}

pub(crate) fn tables_of(
    axes: usize,
    figure: impl Strategy<Value = f64> + 'static,
    most: usize,
) -> impl Strategy<Value = Points> {
    let rows = proptest::collection::vec(proptest::collection::vec(figure, axes), 0..most);
    let up = proptest::collection::vec(any::<bool>(), axes);
    (rows, up).prop_map(|(rows, up)| table(&axes_of(&up), &rows))
}

/// Axes `0`, `1` and so on; more is better where `up` says so.
pub(crate) fn axes_of(up: &[bool]) -> Vec<Axis> {
    let axis = |(i, up): (usize, &bool)| match up {
        true => Axis::maximize(i.to_string()),
        false => Axis::minimize(i.to_string()),
    };
    up.iter().enumerate().map(axis).collect()
}

pub(crate) fn table(axes: &[Axis], rows: &[impl AsRef<[f64]>]) -> Points {
    let mut points = Points::new(axes.to_vec()).unwrap();
    for row in rows {
        points.push(row.as_ref()).unwrap();
    }
    points
}

/// Those of `points` at `indices`, in their order.
pub(crate) fn picked(points: &Points, indices: &[usize]) -> Points {
    let rows: Vec<&[f64]> = indices.iter().map(|i| points.point(*i).unwrap()).collect();
    table(points.axes(), &rows)
}

/// The points together with an order to put them in.
pub(crate) fn shuffled(
    tables: impl Strategy<Value = Points>,
) -> impl Strategy<Value = (Points, Vec<usize>)> {
    tables.prop_flat_map(|points| {
        let order = Just((0..points.len()).collect::<Vec<_>>()).prop_shuffle();
        (Just(points), order)
    })
}

pub(crate) fn dominates(axes: &[Axis], a: &[f64], b: &[f64]) -> bool {
    let better = |a: &[f64], b: &[f64], d: usize| match axes[d].direction() {
        Objective::Maximize => a[d] > b[d],
        Objective::Minimize => a[d] < b[d],
    };
    // Most pairs fail here, and soon.
    let nowhere_worse = !(0..axes.len()).any(|d| better(b, a, d));
    nowhere_worse && (0..axes.len()).any(|d| better(a, b, d))
}

pub(crate) fn brute_force(points: &Points) -> Vec<usize> {
    let at = |i: usize| points.point(i).unwrap();
    let all = 0..points.len();
    let free = |i: &usize| !all.clone().any(|rival| dominates(points.axes(), at(rival), at(*i)));
    all.clone().filter(free).collect()
}
