//! Many A/B runs, and how many of them see a difference.

use std::num::NonZeroUsize;

use fizeau::experiment::{AbTurn, RoundCount};
use fizeau::metrics::{
    ComparisonAnswer, ComparisonSettings, ComparisonSide, ComparisonTable, FigureChoice,
    RoundFigures,
};

use super::weather::{Size, Weather, run};

/// Which turns are held against which.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Design {
    /// B's against A's, as an A/B run does.
    Alternating,
    /// The second of each round against the first: as if who is first never changed.
    SameFirst,
    /// The second half of all turns against the first half: as if one run followed the other.
    OneAfterTheOther,
}

/// Turns so small that a thousand runs take half a minute.
pub(crate) const FEW: u64 = 12;

/// The usual figures; of few requests the greatest in place of p99, which they do not have.
pub(crate) fn figures(turn: &AbTurn) -> FigureChoice {
    if turn.run.summary.requests.sent >= 100 {
        return FigureChoice::usual();
    }
    let names = ["p50 ttft", "max ttft", "p50 tpot", "max tpot", "output_tps"];
    FigureChoice::only(names.map(|name| name.parse().unwrap()))
}

/// What the turns of a run, in the order in which they were measured, come to.
pub(crate) fn compared(turns: &[AbTurn], design: Design) -> ComparisonTable {
    let is_baseline = |(place, turn): (usize, &AbTurn)| match design {
        Design::Alternating => turn.side == ComparisonSide::Baseline,
        Design::SameFirst => turn.side == RoundCount::first_of(turn.round),
        Design::OneAfterTheOther => place < turns.len() / 2,
    };
    let figures_of = |(_, turn): (usize, &AbTurn)| RoundFigures::of(&turn.run.summary);
    let (a, b): (Vec<_>, Vec<_>) = turns.iter().enumerate().partition(|of| is_baseline(*of));
    let (a, b): (Vec<_>, Vec<_>) =
        (a.into_iter().map(figures_of).collect(), b.into_iter().map(figures_of).collect());
    let settings =
        ComparisonSettings { figures: figures(&turns[0]), ..ComparisonSettings::default() };
    ComparisonTable::of_rounds(&a, &b, &settings).unwrap()
}

/// How many of `repeats` runs hold each thing that `looks` looks for; on all cores, each run by its own seed.
pub(crate) fn count<const N: usize>(
    repeats: u64,
    size: Size,
    weather: Weather,
    looks: impl Fn(&[AbTurn]) -> [bool; N] + Sync,
) -> [u64; N] {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get) as u64;
    let of_thread = |thread: u64| {
        let mut counts = [0; N];
        for seed in (0..repeats).filter(|seed| seed % threads == thread) {
            for (count, holds) in counts.iter_mut().zip(looks(&run(size, weather, seed))) {
                *count += u64::from(holds);
            }
        }
        counts
    };
    std::thread::scope(|scope| {
        let of_thread = &of_thread;
        let counting: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || of_thread(thread))).collect();
        let counts = counting.into_iter().map(|thread| thread.join().unwrap());
        counts.fold([0; N], |sum, counts| std::array::from_fn(|k| sum[k] + counts[k]))
    })
}

/// Whether any figure got an answer other than that no difference was found.
pub(crate) fn alarm(turns: &[AbTurn], design: Design) -> bool {
    let table = compared(turns, design);
    let found = table
        .answered(ComparisonAnswer::Better)
        .chain(table.answered(ComparisonAnswer::Worse))
        .next();
    found.is_some()
}
