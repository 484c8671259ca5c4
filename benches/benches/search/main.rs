//! How often a search of the simulated engine finds the highest load within a goal, which is known there.
//!
//! `cargo xtask bench search`: of 100 searches by seeds of their own, how many come within 3 % of the truth in at most twelve
//! levels, and how many intervals hold it. `cargo xtask bench search truth` prints the truth, from a fine grid of long levels.
#![allow(clippy::unwrap_used, reason = "shared with a test")]

#[path = "../../../crates/fizeau/tests/it/search/cases.rs"]
mod cases;
mod truth;

use cases::{CASES, Case};
use std::sync::atomic::{AtomicU64, Ordering};

use fizeau::experiment::LoadSearch;

const SEEDS: u64 = 100;
const MOST: usize = 12;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let only = words.iter().find(|word| !word.starts_with("--") && *word != "truth");
    if words.iter().any(|word| word == "truth") {
        return truth::print(only);
    }
    println!("{:44} {:>7} {:>5} {:>9} {:^12} {:^15}", "", "", "", "", "levels", "off");
    println!(
        "{:44} {:>7} {:>5} {:>9} {:>6} {:>5} {:>8} {:>7}",
        "", "truth", "hits", "enclosed", "mean", "most", "median", "worst"
    );
    for case in
        CASES.iter().filter(|case| only.is_none_or(|only| case.name.contains(only.as_str())))
    {
        row(case);
    }
}

fn row(case: &Case) {
    let next = AtomicU64::new(0);
    let thread = || {
        let seeds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        seeds.take_while(|seed| *seed < SEEDS).map(|seed| case.found(seed)).collect::<Vec<_>>()
    };
    let searches: Vec<LoadSearch> = std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(thread)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let levels: Vec<usize> = searches.iter().map(|search| search.trials().len()).collect();
    let mut off: Vec<f64> = searches.iter().map(|search| case.off(search)).collect();
    // A hit is within 3 % and took no more levels than that.
    let is_hit = |(off, levels): (&f64, &usize)| off.abs() <= 0.03 && *levels <= MOST;
    let hits = off.iter().zip(&levels).filter(|pair| is_hit(*pair)).count();
    let holds = |search: &&LoadSearch| {
        let edge = search.result().edge;
        edge.is_some_and(|edge| (edge.low()..=edge.high()).contains(&case.truth))
    };
    let enclosed = searches.iter().filter(holds).count();
    off.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (median, worst) = (off[off.len() / 2], off[off.len() - 1]);
    let mean = levels.iter().sum::<usize>() as f64 / levels.len() as f64;
    println!(
        "{:44} {:>7} {hits:>5} {enclosed:>9} {mean:>6.1} {:>5} {:>7.2}% {:>6.1}%",
        case.name,
        case.truth,
        levels.iter().max().unwrap(),
        100.0 * median,
        100.0 * worst,
    );
}
