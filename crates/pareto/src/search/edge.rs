//! Where the edge lies within its bracket.

use super::Loads;
use super::bracket::Bracket;
use super::fit::{MarginCrossing, crossing};
use super::pools::LoadPool;
use super::reading::SeenEvaluation;
use super::spec::{SearchSpec, deviations};
use crate::FigureEstimate;

/// Where the goals break.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeFound {
    pub(super) load: FigureEstimate,
    /// The logarithm of the load.
    pub(super) at: f64,
    /// The goal that breaks there; none where no goal does.
    pub(super) goal: Option<usize>,
}

impl EdgeFound {
    /// Half the width of the interval, in the logarithm.
    pub(super) fn half_width(&self) -> f64 {
        (self.load.high() / self.load.low()).ln() / 2.0
    }
}

/// The edge within `bracket`; none where no load is within the goals.
pub(super) fn edge(
    bracket: &Bracket,
    seen: &[SeenEvaluation],
    spec: &SearchSpec,
) -> Option<EdgeFound> {
    let low = bracket.low?;
    let Some(high) = bracket.high else {
        let from = bracket.surely_low.map_or_else(|| spec.lowest.min(low.load), |pool| pool.load);
        let load = FigureEstimate::new(low.load, from, f64::INFINITY).ok()?;
        return Some(EdgeFound { load, at: low.at, goal: None });
    };
    let slack = spec.tolerance.ln_1p();
    let (goal, found) = lines(&low, &high, seen, slack);
    let at = found.map_or_else(|| f64::midpoint(low.at, high.at), |found| found.at);
    let at = at.clamp(low.at - slack, high.at + slack);
    let surely = (
        bracket.surely_low.map_or(f64::NEG_INFINITY, |pool| pool.at),
        bracket.surely_high.map_or(f64::INFINITY, |pool| pool.at),
    );
    let at = match spec.loads {
        Loads::Any => at,
        // Between neighbours nothing is left to be found.
        Loads::Whole => at.max(surely.0).min(surely.1),
    };
    let half = match found {
        Some(found) => deviations(f64::midpoint(1.0, spec.confidence)) * found.error,
        None if low.is_sure && high.is_sure => (high.at - low.at) / 2.0,
        // Neither a line nor two sure sides: all that is sure is further off.
        None => f64::INFINITY,
    };
    // Between the two sides nothing was seen: a response may jump there, and no line can tell where.
    let (from, to) = ((at - half).min(low.at), (at + half).max(high.at));
    // What is sure of a side bounds the interval, but for an edge that seems to lie beyond it.
    let (from, to) = (from.max(surely.0).min(at), to.min(surely.1).max(at));
    let load = FigureEstimate::new(at.exp(), from.exp(), to.exp()).ok()?;
    Some(EdgeFound { load, at, goal })
}

/// The goal whose line crosses first, and where; no place where no line says so within the bracket, and `slack` around it.
fn lines(
    low: &LoadPool,
    high: &LoadPool,
    seen: &[SeenEvaluation],
    slack: f64,
) -> (Option<usize>, Option<MarginCrossing>) {
    let goals = seen.first().map_or(0, |seen| seen.margins.len());
    let width = (high.at - low.at).max(2.5 * slack);
    let around = |seen: &&SeenEvaluation| (low.at - width..=high.at + width).contains(&seen.at);
    let of = |goal: usize| {
        let all = seen.iter().filter_map(|seen| Some((seen, (seen.at, seen.margin(goal)?))));
        let near: Vec<_> =
            all.clone().filter(|(seen, _)| around(seen)).map(|(_, point)| point).collect();
        let all: Vec<_> = all.map(|(_, point)| point).collect();
        let found = crossing(&near).or_else(|| crossing(&all))?;
        Some((goal, found))
    };
    let first = (0..goals)
        .filter_map(of)
        .reduce(|first, next| if next.1.at < first.1.at { next } else { first });
    match first.filter(|(_, found)| found.at < high.at + width) {
        Some((goal, found)) => (Some(goal), Some(found)),
        None => (worst_at(high.load, seen), None),
    }
}

/// The goal that is worst off at a load.
fn worst_at(load: f64, seen: &[SeenEvaluation]) -> Option<usize> {
    let at = seen.iter().filter(|seen| seen.load == load);
    let all = at.flat_map(|seen| {
        (0..seen.margins.len()).filter_map(|goal| Some((goal, seen.margin(goal)?.value)))
    });
    all.reduce(|worst, next| if next.1 < worst.1 { next } else { worst }).map(|(goal, _)| goal)
}
