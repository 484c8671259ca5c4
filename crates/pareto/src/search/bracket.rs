//! Between which loads the edge lies, by monotone regression over all evaluations, and which to evaluate next.

use super::edge::{EdgeFound, edge};
use super::pools::{LoadPool, pools};
use super::reading::SeenEvaluation;
use super::spec::SearchSpec;
use super::{LoadOutcome, PlannedStep, SearchEnding};

/// The loads on both sides of the edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    /// The highest load within all goals; none where none is.
    pub(super) low: Option<LoadPool>,
    /// The lowest load beyond.
    pub(super) high: Option<LoadPool>,
    /// The highest load that is surely within them.
    pub(super) surely_low: Option<LoadPool>,
    /// The lowest load that is surely beyond.
    pub(super) surely_high: Option<LoadPool>,
}

impl Bracket {
    /// Of what was seen, where it takes so many standard errors to be sure.
    pub(super) fn of(seen: &[SeenEvaluation], deviations: f64) -> Self {
        let pools = pools(seen, deviations);
        let (within, beyond) = pools.split_at(pools.partition_point(|pool| pool.margin >= 0.0));
        let is_sure =
            |pool: &&LoadPool| pool.sureness() > CERTAIN || (pool.is_sure && pool.is_saturated);
        Self {
            low: within.last().copied(),
            high: beyond.first().copied(),
            surely_low: within.iter().rfind(is_sure).copied(),
            surely_high: beyond.iter().find(is_sure).copied(),
        }
    }

    /// Where the edge lies; none where no load is within the goals.
    pub(super) fn edge(&self, seen: &[SeenEvaluation], spec: &SearchSpec) -> Option<EdgeFound> {
        edge(self, seen, spec)
    }

    /// Whether a goal is missed on the far side of the edge by its own figure, and not by saturation alone.
    pub(super) fn breaks(&self, goal: usize, seen: &[SeenEvaluation]) -> bool {
        let Some(high) = self.high else { return false };
        let from = self.low.map_or(f64::NEG_INFINITY, |low| low.load);
        let beyond = seen.iter().filter(|seen| seen.load > from && seen.load <= high.load);
        beyond.map(|seen| seen.own(goal)).any(|margin| margin.is_none_or(|own| own.value < 0.0))
    }

    /// Whether all evaluations around an edge came with errors of their own.
    pub(super) fn has_errors(&self, at: f64, seen: &[SeenEvaluation], spec: &SearchSpec) -> bool {
        let reach = NARROW * spec.tolerance.ln_1p();
        let ends = [self.low, self.high].map(|pool| pool.map_or(at, |pool| pool.at));
        let (from, to) = (ends[0].min(at - reach), ends[1].max(at + reach));
        seen.iter().filter(|seen| (from..=to).contains(&seen.at)).all(SeenEvaluation::has_errors)
    }

    /// What to do next.
    pub(super) fn step(&self, seen: &[SeenEvaluation], spec: &SearchSpec) -> PlannedStep {
        match (&self.low, &self.high) {
            (Some(low), Some(high)) => self.between(low, high, seen, spec),
            (Some(low), None) if low.load >= spec.highest => {
                again(low, spec.highest, SearchEnding::AllGood)
            }
            (Some(low), None) => PlannedStep::Evaluate(up(low, seen, spec)),
            (None, Some(high)) if high.load <= spec.lowest => {
                again(high, spec.lowest, SearchEnding::Unmet)
            }
            (None, Some(high)) => PlannedStep::Evaluate(down(high, seen, spec)),
            (None, None) => PlannedStep::Evaluate(spec.nearest(spec.start)),
        }
    }

    fn between(
        &self,
        low: &LoadPool,
        high: &LoadPool,
        seen: &[SeenEvaluation],
        spec: &SearchSpec,
    ) -> PlannedStep {
        if spec.loads == super::Loads::Whole && high.load - low.load <= 1.0 {
            // What stays too near to the limit is not settled by more of the same.
            let unsure = [high, low].into_iter().filter(|pool| !pool.is_sure);
            let again = unsure.clone().filter(|pool| pool.evaluations < VISITS);
            let again = again.min_by(|one, other| one.sureness().total_cmp(&other.sureness()));
            return match again {
                Some(pool) => PlannedStep::Evaluate(pool.load),
                None if unsure.count() == 0 => PlannedStep::End(SearchEnding::Decided),
                None => PlannedStep::End(SearchEnding::Undecided),
            };
        }
        let tolerance = spec.tolerance.ln_1p();
        let width = high.at - low.at;
        let Some(edge) = self.edge(seen, spec) else { return PlannedStep::Evaluate(low.load) };
        if spec.step(low.load) > tolerance && width <= NARROW * spec.step(low.load) {
            // Whole numbers so small that each of them counts.
            let inside = edge.load.value().round().clamp(low.load + 1.0, high.load - 1.0);
            return PlannedStep::Evaluate(inside);
        }
        if width > NARROW * tolerance {
            // Where the response bends, lines come near from one side only: then half of the way is left to the middle.
            let middle = if is_stuck(low, high, seen) {
                f64::midpoint(edge.at, f64::midpoint(low.at, high.at))
            } else {
                edge.at
            };
            let wanted = capacity(high, seen).filter(|at| *at > low.at + END * width);
            let at = wanted.unwrap_or(middle).clamp(low.at + END * width, high.at - END * width);
            return PlannedStep::Evaluate(spec.nearest(at.exp()));
        }
        let near = seen.iter().filter(|seen| (seen.at - edge.at).abs() < NARROW * tolerance);
        if high.is_saturated && high.evaluations == 1 && low.is_sure {
            // Where nothing but one saturated level speaks against a load, it is asked again: it may be a false alarm.
            return PlannedStep::Evaluate(high.load);
        }
        if edge.half_width() <= tolerance && near.count() >= NEAR {
            return PlannedStep::End(SearchEnding::Decided);
        }
        // To both sides of the edge in turn: a line through points on one side of it says little of where it crosses.
        let near = seen.iter().filter(|seen| (seen.at - edge.at).abs() < 2.0 * tolerance);
        let (above, below): (Vec<&SeenEvaluation>, Vec<&SeenEvaluation>) =
            near.partition(|seen| seen.at > edge.at);
        let side = if above.len() < below.len() { 0.5 } else { -0.5 };
        PlannedStep::Evaluate(spec.nearest((edge.at + side * tolerance).exp()))
    }
}

/// At an end of the range: again, until it is sure on which side it lies, but no more than [`VISITS`] times.
fn again(end: &LoadPool, load: f64, ending: SearchEnding) -> PlannedStep {
    if end.is_sure || end.evaluations >= VISITS {
        PlannedStep::End(ending)
    } else {
        PlannedStep::Evaluate(load)
    }
}

/// A load above all that were within the goals: where the line through the last two would break them, or twice as high.
fn up(low: &LoadPool, seen: &[SeenEvaluation], spec: &SearchSpec) -> f64 {
    let before = seen.iter().filter(|seen| seen.at < low.at && seen.worst().value > 0.0);
    let before = before.max_by(|a, b| a.at.total_cmp(&b.at));
    let line = before.map(|before| {
        let fall = (before.worst().value - low.margin) / (low.at - before.at);
        low.at + low.margin / fall.max(0.0)
    });
    let least = low.at + 1.4_f64.ln();
    let at =
        line.map_or_else(|| low.at + 2_f64.ln(), |line| line.clamp(least, low.at + 4_f64.ln()));
    beyond(spec.nearest(at.exp()), low.load, spec, 1.0)
}

/// A load below all that were beyond the goals: somewhat less than was served, or half as high, then a quarter, then an eighth.
fn down(high: &LoadPool, seen: &[SeenEvaluation], spec: &SearchSpec) -> f64 {
    let steps = seen.iter().filter(|seen| seen.at > high.at).count();
    let factor: f64 = match steps {
        0 => 2.0,
        1 => 4.0,
        _ => 8.0,
    };
    let at = capacity(high, seen).filter(|_| steps == 0);
    let at = at.unwrap_or_else(|| high.at - factor.ln()).min(high.at - 1.2_f64.ln());
    beyond(spec.nearest(at.exp()), high.load, spec, -1.0)
}

/// Whether the last two evaluations came from the same side.
fn is_stuck(low: &LoadPool, high: &LoadPool, seen: &[SeenEvaluation]) -> bool {
    let last = seen.get(seen.len().saturating_sub(2)..).unwrap_or_default();
    last.iter().all(|seen| seen.at <= low.at) || last.iter().all(|seen| seen.at >= high.at)
}

/// The next whole number, where rounding stayed where it was; an end of the range, where that is near.
fn beyond(load: f64, from: f64, spec: &SearchSpec, way: f64) -> f64 {
    if load == from { spec.nearest(from + way) } else { load }
}

/// The logarithm of a load near what was served where a saturated load stands above the edge: the edge lies below that.
fn capacity(high: &LoadPool, seen: &[SeenEvaluation]) -> Option<f64> {
    let of = |seen: &SeenEvaluation| match seen.bearing {
        LoadOutcome::Saturated { served } if seen.load == high.load => served,
        _ => None,
    };
    let served = seen.iter().rev().find_map(of)?;
    (served > 0.0 && served < high.load).then(|| (0.95 * served).ln())
}

/// A bound of the interval is so many standard errors off the edge: among a dozen loads some are off by less by chance.
const CERTAIN: f64 = 3.0;
/// How many times an end of the range, or one of two whole loads side by side, is evaluated at the most.
const VISITS: usize = 3;
/// A bracket wider than so many tolerances is made narrower before anything else.
const NARROW: f64 = 3.0;
/// An edge takes so many evaluations near to it: fewer do not tell how far they scatter.
const NEAR: usize = 3;
/// So near to an end of the bracket nothing is evaluated while it is wide.
const END: f64 = 0.15;
