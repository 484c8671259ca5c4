//! The highest load within a goal, from a fine grid of long levels.

use fizeau::core::PerSec;
use fizeau::harness::{LevelAsk, LevelLoad, Over};

use crate::cases::{CASES, Case, LONG};

/// From one load of the coarse grid to the next, and of the fine one.
const COARSE: f64 = 1.15;
const FINE: f64 = 1.005;

/// Prints the truth of each case: between the lowest load of the fine grid that misses the goal and the highest that keeps it.
pub(crate) fn print() {
    for case in &CASES {
        let mut load = 2.0;
        while holds(case, load) {
            load *= COARSE;
        }
        let (from, to) = (load / COARSE, load * COARSE.sqrt());
        let grid: Vec<f64> = std::iter::successors(Some(from), |load| Some(next(case, *load)))
            .take_while(|load| *load < to)
            .collect();
        let kept: Vec<bool> = grid.iter().map(|load| holds(case, *load)).collect();
        let first_missed = grid.iter().zip(&kept).find(|(_, kept)| !**kept).map(|(load, _)| *load);
        let last_kept = grid.iter().zip(&kept).rfind(|(_, kept)| **kept).map(|(load, _)| *load);
        println!("{:48} keeps up to {last_kept:?}, misses from {first_missed:?}", case.name);
    }
}

fn next(case: &Case, load: f64) -> f64 {
    match case.over {
        Over::Rate => load * FINE,
        Over::Concurrency => load.round() + 1.0,
    }
}

fn holds(case: &Case, load: f64) -> bool {
    let load = match case.over {
        Over::Rate => LevelLoad::Rate(PerSec::new(load)),
        Over::Concurrency => {
            LevelLoad::Concurrency(std::num::NonZeroU32::new(load.round() as u32).unwrap())
        }
    };
    let level = case.level(LevelAsk { load, visit: 0, size: Case::size(LONG) }, 1849);
    case.spec().slo.evaluate(&level.run.summary).iter().all(|goal| goal.is_met())
}
