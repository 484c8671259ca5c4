//! A first pass that throws out most of what is dominated, at a comparison or two a point.
//!
//! A sample stands for all points: those of it that no other of it dominates, and that dominate most of it, will dominate most
//! of all. Whatever the sample, only dominated points are thrown out. Where points trade one figure for another, few of the
//! sample are dominated, and the pass is left out.

use super::rows::{CostRow, dominates, no_worse};

/// With fewer points than this a pass is not worth its sample.
const FEWEST: usize = 2_048;
/// Large enough that its best dominate most of what is dominated, small enough to compare each with each.
const SAMPLE: usize = 400;
/// Against how many strong points each is held at most.
const STRONGEST: usize = 12;

/// The points in `figures`, so many figures each, turned into costs by `cost`: all that none dominates, and as many others as
/// this pass leaves.
pub(super) fn unbeaten<'a, C: AsRef<[f64]> + Copy>(
    figures: &'a [f64],
    axes: usize,
    cost: impl Fn(&'a [f64]) -> C,
) -> Vec<CostRow<C>> {
    let points = figures.len() / axes;
    let strong = strongest(points, |at| figures.get(at * axes..(at + 1) * axes).map(&cost));
    let all = figures.chunks_exact(axes).enumerate();
    let rows = all.map(|(point, figures)| CostRow { cost: cost(figures), point });
    if strong.is_empty() {
        return rows.collect();
    }
    let mut rows: Vec<CostRow<C>> = rows.filter(|row| stands(row, &strong)).collect();
    let mut before = points;
    while rows.len() < before / 2 {
        before = rows.len();
        let strong = strongest(before, |at| rows.get(at).map(|row| row.cost));
        rows.retain(|row| stands(row, &strong));
    }
    rows
}

#[inline]
fn stands<C: AsRef<[f64]>>(row: &CostRow<C>, strong: &[C]) -> bool {
    let cost = row.cost.as_ref();
    !strong.iter().any(|rival| dominates(rival.as_ref(), cost))
}

/// The strongest of a sample of the costs `at` 0 to `points`, the strongest first; none if they dominate too little.
fn strongest<C: AsRef<[f64]> + Copy>(points: usize, at: impl Fn(usize) -> Option<C>) -> Vec<C> {
    if points < FEWEST {
        return Vec::new();
    }
    let sample: Vec<C> = (0..SAMPLE).filter_map(|i| at(i * (points / SAMPLE))).collect();
    let beats = |a: &C| sample.iter().filter(|b| no_worse(a.as_ref(), b.as_ref())).count();
    let unbeaten =
        sample.iter().filter(|b| !sample.iter().any(|a| dominates(a.as_ref(), b.as_ref())));
    let mut strong: Vec<(usize, C)> = unbeaten.map(|cost| (beats(cost), *cost)).collect();
    strong.sort_by_key(|(beaten, _)| std::cmp::Reverse(*beaten));
    let strong: Vec<C> = strong.into_iter().take(STRONGEST).map(|(_, cost)| cost).collect();
    let is_beaten = |b: &&C| strong.iter().any(|a| dominates(a.as_ref(), b.as_ref()));
    let beaten = sample.iter().filter(is_beaten).count();
    if beaten >= SAMPLE / 4 { strong } else { Vec::new() }
}
