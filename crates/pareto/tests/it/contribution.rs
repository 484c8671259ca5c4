//! What each point alone adds: the difference on removal, and figures of another program.

use fizeau_pareto::HypervolumeError;
use proptest::prelude::*;

use crate::fixed;
use crate::hypervolume::{close, minimized, rows, scattered, sphere, up_to_six, volume};

fn contributions(axes: usize, rows: &[Vec<f64>], reference: &[f64]) -> Vec<f64> {
    minimized(axes, rows).contributions(reference).unwrap()
}

fn dominates(a: &[f64], b: &[f64]) -> bool {
    a != b && a.iter().zip(b).all(|(a, b)| a <= b)
}

/// The definition: what the frontier loses without the point.
fn by_removal(axes: usize, rows: &[Vec<f64>], reference: &[f64]) -> Vec<f64> {
    let on_frontier = |row: &Vec<f64>| !rows.iter().any(|other| dominates(other, row));
    let frontier: Vec<usize> = (0..rows.len()).filter(|i| on_frontier(&rows[*i])).collect();
    let without = |left_out: usize| {
        let rest: Vec<Vec<f64>> =
            frontier.iter().filter(|i| **i != left_out).map(|i| rows[*i].clone()).collect();
        volume(axes, &rest, reference)
    };
    let all = without(rows.len());
    (0..rows.len()).map(|i| if frontier.contains(&i) { all - without(i) } else { 0.0 }).collect()
}

proptest! {
    #![proptest_config(fixed())]

    /// Small integers, so that all sums are exact and ties and copies abound.
    #[test]
    fn is_the_difference_on_removal((axes, rows) in up_to_six(|axes| rows(axes, 14))) {
        let reference = vec![4.0; axes];
        prop_assert_eq!(contributions(axes, &rows, &reference), by_removal(axes, &rows, &reference));
    }

    #[test]
    fn is_the_difference_on_removal_of_scattered_points((axes, rows) in up_to_six(scattered)) {
        let reference = vec![0.9; axes];
        let expected = by_removal(axes, &rows, &reference);
        for (found, expected) in contributions(axes, &rows, &reference).into_iter().zip(expected) {
            prop_assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
    }

    #[test]
    fn sums_to_no_more_than_the_whole((axes, rows) in up_to_six(scattered)) {
        let reference = vec![1.0; axes];
        let sum: f64 = contributions(axes, &rows, &reference).iter().sum();
        prop_assert!(sum <= volume(axes, &rows, &reference) * (1.0 + 1e-12));
    }

    #[test]
    fn a_dominated_point_changes_nothing((axes, mut rows) in up_to_six(scattered), by in 0.01_f64..0.5) {
        let mut before = contributions(axes, &rows, &vec![2.0; axes]);
        rows.push(rows[0].iter().map(|figure| figure + by).collect());
        before.push(0.0);
        prop_assert_eq!(contributions(axes, &rows, &vec![2.0; axes]), before);
    }

    #[test]
    fn a_copy_leaves_nothing_to_either((axes, mut rows) in up_to_six(scattered)) {
        let before = contributions(axes, &rows, &vec![1.0; axes]);
        rows.push(rows[0].clone());
        let after = contributions(axes, &rows, &vec![1.0; axes]);
        prop_assert_eq!(after[0], 0.0);
        prop_assert_eq!(after[rows.len() - 1], 0.0);
        prop_assert_eq!(&after[1..rows.len() - 1], &before[1..]);
    }
}

/// The sum, the first and the last with reference 1.1 in each axis: of three and four axes `moocore.hv_contributions` of
/// version 0.3.2 (the Python package) on the same points; of five, where its figures are off by 1e-13, differences of
/// volumes summed slice by slice in exact fractions.
#[test]
fn equals_known_figures_on_spheres() {
    for (axes, count, sum, first, last) in [
        (3, 40, 0.078_925_825_986_181_89, 0.003_527_434_425_197_886_7, 0.000_965_700_333_948_588_5),
        (4, 20, 0.073_312_945_864_082_71, 0.004_478_940_749_337_745, 0.007_793_298_891_727_307),
        (5, 12, 0.041_927_250_666_251_61, 0.001_749_676_087_674_534_2, 0.002_402_378_561_537_862_4),
    ] {
        let found = contributions(axes, &sphere(axes, count), &vec![1.1; axes]);
        for (found, expected) in
            [(found.iter().sum(), sum), (found[0], first), (found[count - 1], last)]
        {
            assert!(close(found, expected), "{axes} axes: {found} and not {expected}");
        }
    }
}

/// The example of moocore's documentation of `hv_contributions`, without its copy and with it.
#[test]
fn a_small_case_by_hand() {
    let rows = [[5.0, 1.0], [1.0, 5.0], [4.0, 2.0], [4.0, 4.0], [5.0, 1.0]].map(Vec::from);
    assert_eq!(contributions(2, &rows[..4], &[6.0, 6.0]), [1.0, 3.0, 3.0, 0.0]);
    assert_eq!(contributions(2, &rows, &[6.0, 6.0]), [0.0, 3.0, 3.0, 0.0, 0.0]);
    assert_eq!(contributions(2, &[], &[6.0, 6.0]), [0.0; 0]);
}

#[test]
fn what_has_no_hypervolume_has_no_contributions() {
    let error =
        minimized(2, &[vec![0.0, f64::NEG_INFINITY]]).contributions(&[1.0, 1.0]).unwrap_err();
    assert_eq!(error, HypervolumeError::Unbounded { point: 0, axis: "b".to_owned() });
}
