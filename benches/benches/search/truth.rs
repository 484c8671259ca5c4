//! The highest load within a goal, from a fine grid of long levels.

use std::num::NonZeroU32;

use fizeau::core::{LevelLoad, LoadKind, PerSec};
use fizeau::experiment::LevelSpec;

use crate::cases::{CASES, Case, LONG};

/// From one load of the grid to the next.
const FINE: f64 = 1.005;
/// So many loads of the grid on each side of where a search puts the edge.
const SIDE: i32 = 8;

/// Prints the truth of each case: between the loads of the grid that keep the goal and those that miss it.
pub(crate) fn print(only: Option<&String>) {
    let cases =
        CASES.iter().filter(|case| only.is_none_or(|only| case.name.contains(only.as_str())));
    for case in cases {
        let long = Case { requests: 10 * case.requests, ..*case };
        let middle = long.found(1849).result().edge.unwrap().value();
        let mut grid: Vec<f64> = (-SIDE..=SIDE).map(|step| at(case, middle, step)).collect();
        grid.dedup();
        let kept: Vec<bool> = grid.iter().map(|load| holds(case, *load)).collect();
        let marks: String = kept.iter().map(|kept| if *kept { '+' } else { '-' }).collect();
        let first_missed = grid.iter().zip(&kept).find(|(_, kept)| !**kept).map(|(load, _)| *load);
        let last_kept = grid.iter().zip(&kept).rfind(|(_, kept)| **kept).map(|(load, _)| *load);
        println!(
            "{:48} keeps up to {last_kept:?}, misses from {first_missed:?} {marks}",
            case.name
        );
    }
}

fn at(case: &Case, middle: f64, step: i32) -> f64 {
    let load = middle * FINE.powi(step);
    match case.over {
        LoadKind::Rate => load,
        LoadKind::Concurrency => load.round(),
    }
}

fn holds(case: &Case, load: f64) -> bool {
    let load = match case.over {
        LoadKind::Rate => LevelLoad::Rate(PerSec::new(load)),
        LoadKind::Concurrency => NonZeroU32::new(load as u32).unwrap().into(),
    };
    let level = case.level(LevelSpec { load, visit: 0, size: Case::size(LONG) }, 1849);
    case.spec().slo.evaluate(&level.run.summary).iter().all(fizeau::metrics::GoalOutcome::is_met)
}
