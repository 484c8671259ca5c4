//! Hypervolume: agreement with counting cells, what must hold of any, and figures of another program.

use std::fmt::Debug;

use fizeau_pareto::{Axis, HypervolumeError, Points};
use proptest::prelude::*;

use crate::fixed;

const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

pub(crate) fn minimized(axes: usize, rows: &[Vec<f64>]) -> Points {
    let mut points =
        Points::new(NAMES[..axes].iter().map(|name| Axis::minimize(*name)).collect()).unwrap();
    rows.iter().for_each(|row| points.push(row).unwrap());
    points
}

pub(crate) fn volume(axes: usize, rows: &[Vec<f64>], reference: &[f64]) -> f64 {
    minimized(axes, rows).hypervolume(reference).unwrap()
}

/// Points of a grid with the reference at its far corner, so coarse that ties and copies abound.
pub(crate) fn rows(axes: usize, most: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    let figure = (0_i32..5).prop_map(f64::from);
    prop::collection::vec(prop::collection::vec(figure, axes), 0..most)
}

/// Points anywhere in the unit cube.
pub(crate) fn scattered(axes: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(0.0_f64..1.0, axes), 1..30)
}

pub(crate) fn up_to_six<T: Debug, S: Strategy<Value = T>>(
    make: fn(usize) -> S,
) -> impl Strategy<Value = (usize, T)> {
    (1_usize..=6).prop_flat_map(move |axes| (Just(axes), make(axes)))
}

/// How many cells of a grid of side 4 are reached: the definition.
fn cells(axes: usize, rows: &[Vec<f64>]) -> f64 {
    let cells = 4_u32.pow(u32::try_from(axes).unwrap());
    let reached = |cell: &u32| {
        let place = |axis: usize| f64::from(cell / 4_u32.pow(u32::try_from(axis).unwrap()) % 4);
        rows.iter().any(|row| (0..axes).all(|axis| row[axis] <= place(axis)))
    };
    f64::from(u32::try_from((0..cells).filter(reached).count()).unwrap())
}

pub(crate) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn counts_the_cells_of_a_grid((axes, rows) in up_to_six(|axes| rows(axes, 12))) {
        prop_assert_eq!(volume(axes, &rows, &vec![4.0; axes]), cells(axes, &rows));
    }

    #[test]
    fn a_point_never_lowers_it((axes, rows) in up_to_six(scattered)) {
        let less = volume(axes, &rows[1..], &vec![0.9; axes]);
        let more = volume(axes, &rows, &vec![0.9; axes]);
        prop_assert!(more >= less * (1.0 - 1e-12), "{more} {less}");
    }

    #[test]
    fn order_leaves_no_trace(
        (axes, rows, shuffled) in up_to_six(scattered)
            .prop_flat_map(|(axes, rows)| (Just(axes), Just(rows.clone()), Just(rows).prop_shuffle())),
    ) {
        prop_assert_eq!(volume(axes, &rows, &vec![0.9; axes]), volume(axes, &shuffled, &vec![0.9; axes]));
    }

    #[test]
    fn a_dominated_point_changes_nothing((axes, mut rows) in up_to_six(scattered), by in 0.0_f64..0.5) {
        let before = volume(axes, &rows, &vec![2.0; axes]);
        rows.push(rows[0].iter().map(|figure| figure + by).collect());
        prop_assert_eq!(volume(axes, &rows, &vec![2.0; axes]), before);
    }

    #[test]
    fn an_axis_in_other_units_scales_it((axes, rows) in up_to_six(scattered), exponent in -9_i32..9) {
        // A power of two, so that nothing is rounded.
        let scale = f64::from(exponent).exp2();
        let scaled: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| row.iter().enumerate().map(|(i, x)| if i == 0 { x * scale } else { *x }).collect())
            .collect();
        let mut reference = vec![1.0; axes];
        let plain = volume(axes, &rows, &reference);
        reference[0] = scale;
        prop_assert_eq!(volume(axes, &scaled, &reference), plain * scale);
    }

    /// Turning axes round, with points and reference mirrored, changes nothing; nor does their order.
    #[test]
    fn directions_and_the_order_of_axes_do_not_matter(
        (axes, rows) in up_to_six(scattered), turned in prop::collection::vec(any::<bool>(), 6),
    ) {
        let sign = |axis: usize| if turned[axis] { -1.0 } else { 1.0 };
        let axis = |i: usize| if turned[i] { Axis::maximize(NAMES[i]) } else { Axis::minimize(NAMES[i]) };
        let mut mirrored = Points::new((0..axes).rev().map(axis).collect()).unwrap();
        for row in &rows {
            mirrored.push(&(0..axes).rev().map(|i| row[i] * sign(i)).collect::<Vec<_>>()).unwrap();
        }
        let reference: Vec<f64> = (0..axes).rev().map(sign).collect();
        let there = mirrored.hypervolume(&reference).unwrap();
        prop_assert!(close(there, volume(axes, &rows, &vec![1.0; axes])));
    }

    /// With a last axis in which all points are equal, it is the volume in the others.
    #[test]
    fn a_flat_axis_adds_nothing_but_its_length((axes, rows) in (1_usize..=5).prop_flat_map(|axes| (Just(axes), scattered(axes)))) {
        let flat: Vec<Vec<f64>> = rows.iter().map(|row| [&row[..], &[1.0]].concat()).collect();
        let mut reference = vec![1.0; axes];
        let plain = volume(axes, &rows, &reference);
        reference.push(3.0);
        prop_assert!(close(volume(axes + 1, &flat, &reference), 2.0 * plain));
    }
}

/// Points whose figures follow a rule that any language can repeat: bits of a multiplicative generator (Park and
/// Miller 1988), each an integer below 2^31 - 1, and each point scaled to length 1.
pub(crate) fn sphere(axes: usize, count: usize) -> Vec<Vec<f64>> {
    let mut state = 1849_u64;
    let mut next = || {
        state = state * 48_271 % 2_147_483_647;
        f64::from(u32::try_from(state).unwrap()) / 2_147_483_647.0
    };
    let point = |_| {
        let raw: Vec<f64> = (0..axes).map(|_| next()).collect();
        let length = raw.iter().map(|x| x * x).sum::<f64>().sqrt();
        raw.iter().map(|x| 1.0 - x / length).collect()
    };
    (0..count).map(point).collect()
}

/// `moocore.hypervolume` of version 0.3.2 (the Python package) on the same points, reference 1.1 in each axis.
#[test]
fn equals_moocore_on_spheres() {
    for (axes, count, expected) in [
        (2, 200, 0.9914380601706617),
        (3, 1000, 0.7656150142148561),
        (3, 20000, 0.785175262869868),
        (4, 300, 0.4441291438777298),
        (5, 100, 0.1810395136286061),
        (6, 60, 0.0650352475817444),
    ] {
        let found = volume(axes, &sphere(axes, count), &vec![1.1; axes]);
        assert!(close(found, expected), "{axes} axes: {found} and not {expected}");
    }
}

/// The example of moocore's documentation of `hypervolume` and of `hv_contributions`.
#[test]
fn a_small_case_by_hand() {
    let rows = [[5.0, 1.0], [1.0, 5.0], [4.0, 2.0], [4.0, 4.0], [5.0, 1.0]].map(Vec::from);
    assert_eq!(volume(2, &rows, &[6.0, 6.0]), 5.0 + 5.0 + 3.0 - 2.0 + 1.0);
    assert_eq!(volume(2, &[], &[6.0, 6.0]), 0.0);
}

#[test]
fn what_does_not_improve_on_the_reference_adds_nothing() {
    let rows = [
        vec![1.0, 1.0],
        vec![0.0, 2.0],
        vec![2.0, 0.0],
        vec![-9.0, 9.0],
        vec![f64::NEG_INFINITY, 2.0],
    ];
    assert_eq!(volume(2, &rows, &[2.0, 2.0]), 1.0);
    assert_eq!(volume(2, &[vec![f64::INFINITY, 0.0]], &[2.0, 2.0]), 0.0);
}

#[test]
fn what_has_no_finite_volume_is_refused_by_name() {
    let refused = |axes, row: &[f64], reference: &[f64]| {
        minimized(axes, &[row.to_vec()]).hypervolume(reference).unwrap_err()
    };
    let error = refused(2, &[0.0, f64::NEG_INFINITY], &[1.0, 1.0]);
    assert_eq!(error, HypervolumeError::Unbounded { point: 0, axis: "b".to_owned() });
    let error = refused(2, &[0.0, 0.0], &[1.0, f64::INFINITY]);
    assert_eq!(error, HypervolumeError::Reference { axis: "b".to_owned(), figure: f64::INFINITY });
    assert!(matches!(refused(1, &[0.0], &[f64::NAN]), HypervolumeError::Reference { .. }));
    let error = refused(2, &[0.0, 0.0], &[1.0]);
    assert_eq!(error, HypervolumeError::WrongLength { figures: 1, axes: 2 });
    assert_eq!(refused(7, &[0.0; 7], &[1.0; 7]), HypervolumeError::TooManyAxes(7));
    assert!(refused(7, &[0.0; 7], &[1.0; 7]).to_string().contains("at most 6 axes"));
}

#[test]
fn what_is_beyond_all_numbers_is_refused() {
    for axes in 2..=6 {
        for far in [1e200, f64::MAX] {
            let mut rows = vec![vec![0.0; axes], vec![-far; axes]];
            rows[0][0] = -far;
            rows[1][0] = 0.0;
            let points = minimized(axes, &rows);
            let reference = vec![far; axes];
            assert_eq!(
                points.hypervolume(&reference),
                Err(HypervolumeError::TooLarge),
                "{axes} {far}"
            );
        }
    }
}
