//! Epsilon-dominance: its definition, and that few points stand for all.

use fizeau_pareto::{Axis, Epsilon, EpsilonError, Objective, Points};
use proptest::prelude::*;

use crate::fixed;
use crate::tables::{figure, picked, shuffled, table, tables, tables_of};

fn two() -> Vec<Axis> {
    vec![Axis::maximize("rps"), Axis::minimize("ms")]
}

#[test]
fn small_cases_by_hand() {
    let points = table(&two(), &[[10.0, 100.0], [10.4, 109.0], [12.0, 180.0], [11.0, 400.0]]);
    let of = |rps, ms| points.epsilon_frontier(&[rps, ms]).unwrap();
    assert_eq!(of(Epsilon::Additive(0.0), Epsilon::Relative(0.0)), [0, 1, 2]);
    // 10.4 is within 1 of 10, and in a worse box of latency.
    assert_eq!(of(Epsilon::Additive(1.0), Epsilon::Additive(5.0)), [0, 1, 2]);
    // 10.4 and 12 share the best box: 0.92 and 0.09 boxes from its corner, 0.6 and 0.8.
    assert_eq!(of(Epsilon::Additive(5.0), Epsilon::Additive(100.0)), [1]);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let points = table(&two(), &[[10.0, 0.0]]);
    let of = |epsilons: &[Epsilon]| points.epsilon_frontier(epsilons).unwrap_err();
    assert_eq!(of(&[Epsilon::Additive(1.0)]), EpsilonError::WrongLength { given: 1, axes: 2 });
    let not_positive = of(&[Epsilon::Relative(0.1), Epsilon::Relative(0.1)]);
    assert_eq!(not_positive, EpsilonError::NotPositive { axis: "ms".into(), figure: 0.0 });
    let bad = of(&[Epsilon::Additive(-1.0), Epsilon::Additive(1.0)]);
    assert_eq!(bad, EpsilonError::BadEpsilon { axis: "rps".into(), epsilon: -1.0 });
    assert!(
        of(&[Epsilon::Additive(f64::NAN), Epsilon::Additive(1.0)]).to_string().contains("`rps`")
    );
}

/// Whether some point is no worse than `figures` by more than epsilon in any of them.
fn has_one_for(points: &Points, figures: &[f64], epsilons: &[Epsilon]) -> bool {
    let no_worse = |epsilon: Epsilon, axis: &Axis, a: f64, b: f64| match (epsilon, axis.direction())
    {
        (Epsilon::Additive(size), Objective::Minimize) => a <= b + size,
        (Epsilon::Additive(size), Objective::Maximize) => a + size >= b,
        (Epsilon::Relative(size), Objective::Minimize) => a <= (1.0 + size) * b,
        (Epsilon::Relative(size), Objective::Maximize) => (1.0 + size) * a >= b,
    };
    (0..points.len()).any(|i| {
        let both = points.point(i).unwrap().iter().zip(figures);
        let mut each = both.zip(points.axes().iter().zip(epsilons));
        each.all(|((a, b), (axis, epsilon))| no_worse(*epsilon, axis, *a, *b))
    })
}

fn whole() -> impl Strategy<Value = f64> + Clone {
    (1_i32..60).prop_map(f64::from)
}

/// Of these sizes sums and quotients of whole numbers are exact.
fn additive(axes: usize) -> impl Strategy<Value = Vec<Epsilon>> {
    let size = prop::sample::select(vec![0.0, 0.5, 1.0, 4.0, 16.0]);
    proptest::collection::vec(size.prop_map(Epsilon::Additive), axes)
}

fn mixed(axes: usize) -> impl Strategy<Value = Vec<Epsilon>> {
    let sizes = prop::sample::select(vec![0.0, 0.1, 0.5, 1.0]);
    let relative = sizes.prop_map(Epsilon::Relative);
    let additive = prop::sample::select(vec![0.0, 2.0, 8.0]).prop_map(Epsilon::Additive);
    proptest::collection::vec(prop_oneof![relative, additive], axes)
}

/// A little more, for what rounding takes away where a box ends.
fn rounded(epsilons: &[Epsilon]) -> Vec<Epsilon> {
    let more = |epsilon: &Epsilon| match *epsilon {
        Epsilon::Additive(size) => Epsilon::Additive(size + 1e-9),
        Epsilon::Relative(size) => Epsilon::Relative(size + 1e-9),
    };
    epsilons.iter().map(more).collect()
}

fn with<E: std::fmt::Debug, S: Strategy<Value = E>>(
    epsilons: impl Fn(usize) -> S + Clone + 'static,
) -> impl Strategy<Value = (Points, Vec<usize>, E)> {
    (1_usize..6).prop_flat_map(move |axes| {
        let tables = shuffled(tables_of(axes, whole(), 40));
        (tables, epsilons(axes)).prop_map(|((points, order), epsilons)| (points, order, epsilons))
    })
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn each_point_has_one_that_stands_for_it((points, _, epsilons) in with(additive)) {
        let chosen = picked(&points, &points.epsilon_frontier(&epsilons).unwrap());
        for i in 0..points.len() {
            let point = points.point(i).unwrap();
            prop_assert!(has_one_for(&chosen, point, &epsilons), "{point:?}");
        }
    }

    #[test]
    fn so_it_has_with_relative_ones((points, _, epsilons) in with(mixed)) {
        let chosen = picked(&points, &points.epsilon_frontier(&epsilons).unwrap());
        for i in 0..points.len() {
            let point = points.point(i).unwrap();
            prop_assert!(has_one_for(&chosen, point, &rounded(&epsilons)), "{point:?}");
        }
    }

    #[test]
    fn all_that_stand_for_others_are_on_the_frontier((points, _, epsilons) in with(mixed)) {
        let frontier = points.frontier();
        let chosen = points.epsilon_frontier(&epsilons).unwrap();
        prop_assert!(chosen.iter().all(|i| frontier.contains(i)));
        prop_assert!(chosen.is_sorted());
        prop_assert_eq!(chosen.is_empty(), points.is_empty());
    }

    #[test]
    fn the_same_figures_are_chosen_in_any_order((points, order, epsilons) in with(mixed)) {
        let figures = |points: &Points| {
            let chosen = points.epsilon_frontier(&epsilons).unwrap();
            let mut figures: Vec<Vec<u64>> = chosen
                .iter()
                .map(|i| points.point(*i).unwrap().iter().map(|figure| figure.to_bits()).collect())
                .collect();
            figures.sort_unstable();
            figures
        };
        prop_assert_eq!(figures(&points), figures(&picked(&points, &order)));
    }

    /// Of an epsilon of 0: the frontier, one of each kind.
    #[test]
    fn without_slack_it_is_the_frontier(points in tables(figure(), 40)) {
        let epsilons = vec![Epsilon::Additive(0.0); points.axes().len()];
        let at = |i: &usize| points.point(*i).unwrap();
        let mut firsts: Vec<usize> = Vec::new();
        for i in points.frontier() {
            if !firsts.iter().any(|first| at(first) == at(&i)) {
                firsts.push(i);
            }
        }
        prop_assert_eq!(points.epsilon_frontier(&epsilons).unwrap(), firsts);
    }
}
