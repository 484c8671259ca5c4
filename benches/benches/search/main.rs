//! How often a search of the simulated engine finds the highest load within a goal, which is known there.
//!
//! `cargo xtask bench search`: of 100 searches by seeds of their own, how many come within 3 % of the truth in at most twelve
//! levels. `cargo xtask bench search truth` prints the truth, from a fine grid of long levels.
#![allow(clippy::unwrap_used, reason = "shared with a test")]

#[path = "../../../crates/fizeau/tests/it/search/cases.rs"]
mod cases;
mod truth;

use cases::{CASES, Case};
use fizeau::harness::Purpose;

const SEEDS: u64 = 100;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let only = words.iter().find(|word| !word.starts_with("--") && *word != "truth");
    if words.iter().any(|word| word == "truth") {
        return truth::print(only);
    }
    println!(
        "{:48} {:>8} {:>6} {:>12} {:>8} {:>9}",
        "", "truth", "hits", "levels", "median", "worst"
    );
    for case in
        CASES.iter().filter(|case| only.is_none_or(|only| case.name.contains(only.as_str())))
    {
        row(case);
    }
}

fn row(case: &Case) {
    let searches: Vec<_> = (0..SEEDS).map(|seed| case.found(seed)).collect();
    let is_level = |trial: &&fizeau::harness::Trial| trial.purpose != Purpose::Confirmation;
    let levels: Vec<usize> =
        searches.iter().map(|search| search.trials().iter().filter(is_level).count()).collect();
    let mut off: Vec<f64> = searches
        .iter()
        .map(|search| {
            search.found().edge.map_or(f64::INFINITY, |edge| edge.value() / case.truth - 1.0)
        })
        .collect();
    let hits = off.iter().filter(|off| off.abs() <= 0.03).count();
    let inside = searches.iter().filter(|search| {
        search.found().edge.is_some_and(|edge| (edge.low()..=edge.high()).contains(&case.truth))
    });
    let inside = inside.count();
    off.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (median, worst) = (off[off.len() / 2], off[off.len() - 1]);
    let mean = levels.iter().sum::<usize>() as f64 / levels.len() as f64;
    println!(
        "{:48} {:>8} {:>6} {mean:>6.1} to {:<2} {:>7.2}% {:>8.2}%  inside {inside}",
        case.name,
        case.truth,
        hits,
        levels.iter().max().unwrap(),
        100.0 * median,
        100.0 * worst,
    );
    if std::env::var_os("TRACE").is_some() {
        for (seed, search) in searches.iter().enumerate() {
            let found = search.found();
            let off = found.edge.map_or(f64::INFINITY, |edge| edge.value() / case.truth - 1.0);
            if off.abs() > 0.03 {
                println!("seed {seed}: {found:?}");
                for trial in search.trials() {
                    println!("   {:?} {} {:?}", trial.purpose, trial.ask.load, trial.verdict);
                }
            }
        }
    }
}
