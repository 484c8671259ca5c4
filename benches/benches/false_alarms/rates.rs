//! How often comparisons of runs find a difference.

use fizeau::metrics::{
    ComparisonAnswer, ComparisonSettings, ComparisonTable, FigureChoice, LevelFigure,
    RequestPairing, RoundFigures, RunToRun,
};

use super::runs::{Run, SLOWER};

/// How many comparisons of each kind.
const PAIRS: usize = 200;

/// How two sides of a comparison lie among the runs.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// One run each, by their requests.
    One {
        /// How many runs later the candidate is measured.
        apart: usize,
        run_to_run: RunToRun,
    },
    /// So many runs each, in turns.
    Turns(usize),
    /// So many runs of the baseline, then as many of the candidate.
    Blocks(usize),
    /// So many runs of the baseline, and one of the candidate after them.
    History(usize),
    /// An A/B run of so many rounds.
    Rounds(usize),
}

pub(super) fn print(name: &str, runs: &[Run]) {
    println!("\n{name}: {} runs", runs.len());
    println!("{:<22}{:>12}{:>14}", "standard deviation of", "all runs", "neighbours");
    for figure in FigureChoice::usual().decided {
        let [all, near] = spreads(runs, figure).map(|share| format!("{:.1} %", 100.0 * share));
        println!("{:<22}{all:>12}{near:>14}", figure.label());
    }
    let one = |apart, run_to_run| Kind::One { apart, run_to_run };
    let half = runs.len() / 2;
    let kinds = [
        ("one run each, requests alone", one(1, RunToRun::NONE)),
        ("one run each", one(1, RunToRun::ASSUMED)),
        ("one run each, far apart", one(half, RunToRun::ASSUMED)),
        ("3 runs each, in turns", Kind::Turns(3)),
        ("5 runs each, in turns", Kind::Turns(5)),
        ("5 runs, then 5 more", Kind::Blocks(5)),
        ("10 runs, then one", Kind::History(10)),
        ("A/B run of 10 rounds", Kind::Rounds(10)),
    ];
    println!(
        "{:<30}{:>13}{:>10}{:>8}{:>8}",
        "of 100 comparisons", "false alarms", "3 %", "5 %", "10 %"
    );
    for (name, kind) in kinds {
        let [alarms, power @ ..] = SLOWER.map(|slower| share(runs, kind, slower));
        let [three, five, ten] = power.map(|share| format!("{share:.0}"));
        println!("{name:<30}{alarms:>13.1}{three:>10}{five:>8}{ten:>8}");
    }
}

/// How far a figure varies over all runs, and between neighbours, as shares of its mean.
fn spreads(runs: &[Run], figure: LevelFigure) -> [f64; 2] {
    let of = |run: &Run| run.figures(1.0).find(|known| known.0 == figure).map(|known| known.1);
    let values: Vec<f64> = runs.iter().filter_map(of).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let steps = values.windows(2).map(|two| (two[1] - two[0]).powi(2)).sum::<f64>() / (n - 1.0);
    [variance.sqrt() / mean, (steps / 2.0).sqrt() / mean]
}

/// In how many of a hundred comparisons a side that is `slower` by a factor is told from the other: where it is not slower, in
/// either direction.
fn share(runs: &[Run], kind: Kind, slower: f64) -> f64 {
    let length = match kind {
        Kind::One { apart, .. } => apart + 1,
        Kind::Turns(n) | Kind::Blocks(n) | Kind::Rounds(n) => 2 * n,
        Kind::History(n) => n + 1,
    };
    let Some(free) = runs.len().checked_sub(length) else { return f64::NAN };
    let found = (0..PAIRS).filter(|pair| {
        let start = pair * free / (PAIRS - 1);
        let table = compared(&runs[start..start + length], kind, slower);
        let has = |answer| table.answered(answer).next().is_some();
        has(ComparisonAnswer::Worse) || (slower == 1.0 && has(ComparisonAnswer::Better))
    });
    100.0 * found.count() as f64 / PAIRS as f64
}

fn compared(runs: &[Run], kind: Kind, slower: f64) -> ComparisonTable {
    let n = runs.len();
    let figures = |range: &mut dyn Iterator<Item = usize>, by: f64| -> Vec<RoundFigures> {
        range.map(|run| runs[run].figures(by).collect()).collect()
    };
    let sides = |a: &mut dyn Iterator<Item = usize>, b: &mut dyn Iterator<Item = usize>| {
        (figures(a, 1.0), figures(b, slower))
    };
    let settings = ComparisonSettings::default();
    let by_runs = |(a, b): (Vec<RoundFigures>, Vec<RoundFigures>)| {
        ComparisonTable::of_runs(&a, &b, &settings).unwrap()
    };
    match kind {
        Kind::One { run_to_run, .. } => {
            let settings = ComparisonSettings { run_to_run, ..settings };
            let place = SLOWER.iter().position(|by| *by == slower).unwrap();
            let (a, b) = (&runs[0].requests[0], &runs[n - 1].requests[place]);
            ComparisonTable::of_requests(a, b, RequestPairing::ByNumber, &settings)
        }
        Kind::Turns(_) => by_runs(sides(&mut (0..n).step_by(2), &mut (1..n).step_by(2))),
        Kind::Blocks(of) | Kind::History(of) => by_runs(sides(&mut (0..of), &mut (of..n))),
        Kind::Rounds(_) => {
            let (a, b) = sides(&mut (0..n).step_by(2), &mut (1..n).step_by(2));
            ComparisonTable::of_rounds(&a, &b, &settings).unwrap()
        }
    }
}
