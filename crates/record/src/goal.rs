//! What goals make of tested loads: the one way from levels and goals to the highest load within them.

mod load;
mod result;
mod source;

use fizeau_metrics::{Comparison, Goal, Interval, LevelSummary, Metric, Statistic, Thresholds};
use fizeau_pareto::{
    Constraint, EdgeCrossing, EdgeError, FigureEstimate, FigureLimit, LimitBreak, LimitRelation,
    LoadEdge, MonotoneDeparture, ResponseTrend, TestedLoad, departure, edge, throughput_at,
};

pub(crate) use load::{FigureEnds, GoalFigure, GoalLevel, middle};
use load::{LoadRuns, loads};
pub use result::{FigureOverRuns, GoalDocument, GoalResult};
pub(crate) use result::{keeps, results};
pub use source::GoalSource;

use crate::request_rate;
use crate::text::{duration_ms, number, supported};
use fizeau_core::LoadKind;

/// What the ends of a highest load are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HighestLoadBasis {
    /// Where the ends of the figures' intervals cross their limits.
    Interval,
    /// Where the least and the greatest figures of several runs cross their limits, which is no interval.
    Runs,
    /// The tested loads on both sides of it, since no interval is known of a figure there: the lower keeps the goals, the upper
    /// does not.
    Tested,
}

/// The tested loads of one kind, rising, and the goals that they are compared with.
pub(crate) struct GoalLoads<'a> {
    goals: &'a [Goal],
    loads: Vec<LoadRuns>,
    /// Those of the goals, behind them that of the queue, and last that of failures.
    limits: Vec<FigureLimit>,
    tested: Vec<TestedLoad>,
}

/// Where the highest load is, and what its ends are.
pub(crate) struct HighestLoadEdge {
    /// Levels are as [`GoalLevel::index`] names them. Limit number [`GoalLoads::queue`] is that of the queue, the next that of failures. What breaks is what was
    /// measured there, not what a regression made of it: where the over_limit is not above 0 only the regression breaks.
    pub(crate) edge: LoadEdge,
    pub(crate) bounds: HighestLoadBasis,
    /// The goals whose figures beside the edge come without an interval.
    pub(crate) without_interval: Vec<usize>,
    /// Where no load is within the goals once figures are smoothed over the loads: the highest that was by itself, and what the
    /// load beside it breaks.
    pub(crate) by_itself: Option<(usize, LimitBreak)>,
}

impl<'a> GoalLoads<'a> {
    /// Of levels of one kind of load; those of one load are runs of it.
    pub(crate) fn of(goals: &'a [Goal], measured: &[GoalLevel]) -> Self {
        let loads = loads(goals, measured);
        let limit = |(at, goal): (usize, &Goal)| {
            let mut figures = loads.iter().filter_map(|load| load.estimate(at));
            let first = figures.next();
            limit(goal, first.zip(figures.next_back()))
        };
        // Where no goal is about a latency, failures miss none by themselves, until most requests fail.
        let most = Thresholds::default().failed_invalid;
        let allowed = goals.iter().filter_map(Goal::failures_allowed);
        // A load whose figures tell nothing for its failures had too many of them, whatever limit its run had.
        let is_failed = |level: &&GoalLevel| !goals.is_empty() && level.figures.is_empty();
        let too_many = measured.iter().filter(is_failed).map(|level| level.failed.next_down());
        let allowed = allowed.chain(too_many).fold(most, f64::min);
        let behind = [0.0, allowed].map(FigureLimit::at_most);
        let limits = goals.iter().enumerate().map(limit).chain(behind).collect();
        let tested = loads.iter().map(|load| load.tested(goals.len())).collect();
        Self { goals, loads, limits, tested }
    }

    /// The same up to the lowest load that breaks a goal by its own figure, beyond its interval: what was measured there is not
    /// smoothed away by what came out better above. With it the highest load above that kept the goals all the same.
    pub(crate) fn up_to_broken(mut self) -> (Self, Option<usize>) {
        let Some(at) = self.loads.iter().position(|load| self.surely_breaks(load)) else {
            return (self, None);
        };
        let above = self.loads.split_off(at + 1);
        self.tested.truncate(at + 1);
        let keeps = |load: &&LoadRuns| self.is_whole(load) && self.broken(load).is_none();
        let kept = above.iter().rev().find(keeps).map(|load| load.index);
        (self, kept)
    }

    /// Whether the better end of a figure breaks a goal that more load only makes worse.
    fn surely_breaks(&self, load: &LoadRuns) -> bool {
        let breaks = |(goal, limit): (usize, &FigureLimit)| {
            let own = load.estimate(goal)?;
            let (better, worsening) = match limit.relation {
                LimitRelation::AtMost => (own.low(), ResponseTrend::Rising),
                LimitRelation::AtLeast => (own.high(), ResponseTrend::Falling),
            };
            Some(limit.trend == worsening && margin(limit, better)? < 0.0)
        };
        let mut goals = self.limits.iter().take(self.goals.len()).enumerate();
        self.is_whole(load) && goals.any(|goal| breaks(goal) == Some(true))
    }

    /// Whether a load has the figures of all goals.
    fn is_whole(&self, load: &LoadRuns) -> bool {
        (0..self.goals.len()).all(|at| load.estimate(at).is_some())
    }

    /// The number of the limit on the queue: an open loop whose queue grows to the end keeps no goal for long.
    pub(crate) const fn queue(&self) -> usize {
        self.goals.len()
    }

    /// The highest load within the goals.
    pub(crate) fn highest(&self) -> Result<HighestLoadEdge, EdgeError> {
        let mut edge = edge(&self.tested, &self.limits)?;
        let beside: Vec<usize> = match &edge {
            LoadEdge::Between(found) => vec![found.below, found.breaks.level],
            LoadEdge::Beyond(found) => vec![found.level],
            LoadEdge::Unmet(found) => vec![found.worst.level],
        };
        let beside: Vec<&LoadRuns> = beside.iter().filter_map(|at| self.loads.get(*at)).collect();
        let has = |ends: FigureEnds| -> Vec<usize> {
            let any = |goal: &usize| beside.iter().any(|load| load.ends(*goal) == ends);
            (0..self.goals.len()).filter(any).collect()
        };
        let without_interval = has(FigureEnds::Unknown);
        let is_interval = has(FigureEnds::Runs).is_empty();
        let mut bounds =
            if is_interval { HighestLoadBasis::Interval } else { HighestLoadBasis::Runs };
        match &mut edge {
            LoadEdge::Between(found) => {
                if !without_interval.is_empty() || found.breaks.limit >= self.queue() {
                    bounds = HighestLoadBasis::Tested;
                }
                self.settle(found, bounds);
            }
            LoadEdge::Beyond(found) => found.closest = self.closest(found.level),
            LoadEdge::Unmet(found) => self.own(&mut found.worst),
        }
        let is_unmet = matches!(edge, LoadEdge::Unmet(_));
        let by_itself = is_unmet.then(|| self.by_itself()).flatten();
        self.name(&mut edge);
        Ok(HighestLoadEdge { edge, bounds, without_interval, by_itself })
    }

    /// The highest load that is within the goals by itself, and what the nearest load below it, or else above it, breaks.
    fn by_itself(&self) -> Option<(usize, LimitBreak)> {
        let whole = self.loads.iter().filter(|load| self.is_whole(load));
        let broken: Vec<(usize, Option<LimitBreak>)> =
            whole.map(|load| (load.index, self.broken(load))).collect();
        let kept = broken.iter().rposition(|(_, broken)| broken.is_none())?;
        let below = broken.iter().take(kept).rev().find_map(|(_, broken)| *broken);
        let above = || broken.iter().skip(kept).find_map(|(_, broken)| *broken);
        Some((broken.get(kept)?.0, below.or_else(above)?))
    }

    /// The limit that a load misses most by what was measured there.
    fn broken(&self, load: &LoadRuns) -> Option<LimitBreak> {
        let broken = self.limits.iter().enumerate().filter_map(|(limit, of)| {
            let value = load.estimate(limit)?.value();
            let over_limit = -margin(of, value)?;
            (over_limit > 0.0).then_some(LimitBreak { limit, level: load.index, value, over_limit })
        });
        broken.reduce(|most, next| if next.over_limit > most.over_limit { next } else { most })
    }

    /// Whole slots where slots are counted, the tested loads for ends where there are no others, what is served there, and what
    /// breaks as it was measured.
    fn settle(&self, found: &mut EdgeCrossing, bounds: HighestLoadBasis) {
        let (Some(below), Some(above)) =
            (self.loads.get(found.below), self.loads.get(found.breaks.level))
        else {
            return;
        };
        let (from, to) = (below.load.value(), above.load.value());
        let whole = |load: f64| match below.load.kind() {
            LoadKind::Rate => load,
            LoadKind::Concurrency => load.floor(),
        };
        let value = whole(found.load.value());
        let (low, high) = match bounds {
            HighestLoadBasis::Interval | HighestLoadBasis::Runs => {
                (whole(found.load.low()), whole(found.load.high()))
            }
            HighestLoadBasis::Tested => (from, to),
        };
        if let Ok(load) = FigureEstimate::new(value, low.min(value), high.max(value)) {
            found.throughput = throughput_at(&self.tested, load);
            found.load = load;
        }
        self.own(&mut found.breaks);
    }

    /// Puts what was measured in place of what a regression made of it.
    fn own(&self, found: &mut LimitBreak) {
        let load = self.loads.get(found.level);
        let own = load.and_then(|load| load.estimate(found.limit)).map(|own| own.value());
        if let Some((own, limit)) = own.zip(self.limits.get(found.limit)) {
            found.value = own;
            found.over_limit = margin(limit, own).map_or(found.over_limit, |by| -by);
        }
    }

    /// The goal that has least to spare at a load, with its margin.
    fn closest(&self, at: usize) -> Option<(usize, f64)> {
        let load = self.loads.get(at)?;
        let margin = |goal: usize| {
            let by = margin(self.limits.get(goal)?, load.estimate(goal)?.value())?;
            Some((goal, by))
        };
        let margins = (0..self.goals.len()).filter_map(margin);
        margins.reduce(|a, b| if b.1 < a.1 { b } else { a })
    }

    fn name(&self, edge: &mut LoadEdge) {
        let name = |at: &mut usize| *at = self.loads.get(*at).map_or(*at, |load| load.index);
        match edge {
            LoadEdge::Between(found) => {
                name(&mut found.below);
                name(&mut found.breaks.level);
            }
            LoadEdge::Beyond(found) => name(&mut found.level),
            LoadEdge::Unmet(found) => name(&mut found.worst.level),
        }
    }

    /// The goals whose figure does not go one way as the load rises, beyond what chance explains, with where it does not.
    pub(crate) fn not_monotone(&self) -> Vec<(usize, MonotoneDeparture)> {
        let found = |(goal, limit): (usize, &FigureLimit)| {
            // Without an interval chance cannot be told from more.
            let sure = self.loads.iter().filter(|load| load.ends(goal) != FigureEnds::Unknown);
            let sure = sure.filter_map(|load| Some((load.index, load.estimate(goal)?)));
            let (indices, figures): (Vec<usize>, Vec<FigureEstimate>) = sure.unzip();
            let found =
                departure(&figures, limit.trend).filter(MonotoneDeparture::is_significant)?;
            let (earlier, later) = (*indices.get(found.earlier)?, *indices.get(found.later)?);
            Some((goal, MonotoneDeparture { earlier, later, ..found }))
        };
        self.limits.iter().take(self.goals.len()).enumerate().filter_map(found).collect()
    }
}

fn margin(limit: &FigureLimit, value: f64) -> Option<f64> {
    Constraint { value: Some(value), relation: limit.relation, limit: limit.limit }.margin()
}

/// The limit of a goal, itself allowed: a strict one is met from the next number on.
pub(crate) fn limit_of(goal: &Goal) -> (LimitRelation, f64) {
    match goal.comparison {
        Comparison::Less => (LimitRelation::AtMost, goal.limit.next_down()),
        Comparison::LessOrEqual => (LimitRelation::AtMost, goal.limit),
        Comparison::Greater => (LimitRelation::AtLeast, goal.limit.next_up()),
        Comparison::GreaterOrEqual => (LimitRelation::AtLeast, goal.limit),
    }
}

/// The limit of a goal whose figures at the lowest and at the highest load are `ends`.
fn limit(goal: &Goal, ends: Option<(FigureEstimate, FigureEstimate)>) -> FigureLimit {
    let (relation, limit) = limit_of(goal);
    let trend = match (goal.metric, ends) {
        (Metric::GoodShare, _) => ResponseTrend::Falling,
        // It rises with the load and collapses where too much is late: it falls, once the highest load has less than the lowest.
        (Metric::GoodputPerSec, Some((first, last))) if last.value() < first.value() => {
            ResponseTrend::Falling
        }
        _ => ResponseTrend::Rising,
    };
    FigureLimit { relation, limit, trend }
}

/// Whether a goal is an upper limit.
pub(crate) const fn is_upper(comparison: Comparison) -> bool {
    matches!(comparison, Comparison::Less | Comparison::LessOrEqual)
}

/// `value` with its interval; one that leaves its own figure out, as that of a rate may, is widened up to it.
pub(crate) fn with_ends(value: f64, ends: Option<Interval<f64>>) -> Option<FigureEstimate> {
    let known = fizeau_metrics::Estimate::widened(value, ends);
    FigureEstimate::new(value, known.low(), known.high()).ok()
}

/// The figure of a goal at a level. Of a sample too small for a percentile the greatest value stands in where the limit is an
/// upper one, being no less than the percentile.
pub(crate) fn figure(goal: &Goal, level: &LevelSummary) -> Option<GoalFigure> {
    let outcome = GoalResult::of(*goal, level).outcome;
    let value = outcome.measured.filter(|value| value.is_finite())?;
    if outcome.is_missed_otherwise() {
        let estimate = with_ends(outcome.deciding_figure()?, None)?;
        return Some(GoalFigure { estimate, ends: FigureEnds::Unknown });
    }
    let ends = if outcome.interval.is_some() { FigureEnds::Interval } else { FigureEnds::Unknown };
    Some(GoalFigure { estimate: with_ends(value, outcome.interval)?, ends })
}

/// Completed requests per second; none of a window without a length.
pub(crate) fn served(level: &LevelSummary) -> Option<FigureEstimate> {
    let of = Metric::RequestsPerSec;
    let value = of.measured(Statistic::Value, level)?;
    let ends = request_rate::requests_interval(level).map(|(low, high)| Interval::p95(low, high));
    with_ends(value, ends)
}

/// The figure of a goal, in words: `p99 TTFT`.
#[must_use]
pub fn name(goal: &Goal) -> String {
    let name = format!("{} {}", goal.statistic.as_str(), goal.metric.entry().label);
    name.trim_start().to_owned()
}

/// What a goal asks of its figure, as it was given: `< 500 ms`.
#[must_use]
pub fn limit_words(goal: &Goal) -> String {
    let words = goal.describe();
    words.strip_prefix(&name(goal)).unwrap_or(&words).trim_start().to_owned()
}

/// What was measured of a goal, with its unit and the digits that its interval supports, as in the table of levels; with more
/// where it would else read as if it were on the other side of the limit.
#[must_use]
pub fn measured(goal: &Goal, value: f64, interval: Option<Interval<f64>>) -> String {
    let holds = |value: f64| goal.comparison.holds(value, goal.limit);
    let is_told = |text: &String| text.parse().is_ok_and(|shown| holds(shown) == holds(value));
    let rounded = supported(value, interval.map(|ends| (ends.low, ends.high)));
    let finer = [number(value)].into_iter().chain((0..6).map(|n| format!("{value:.n$}")));
    let told = [rounded].into_iter().chain(finer).find(is_told);
    let told = told.unwrap_or_else(|| value.to_string());
    format!("{told} {}", goal.metric.entry().unit).trim_end().to_owned()
}

/// A figure of a goal, with its unit.
#[must_use]
pub fn shown(goal: &Goal, value: f64) -> String {
    match goal.metric.entry().unit {
        "ms" => duration_ms(value),
        unit => format!("{} {unit}", number(value)).trim_end().to_owned(),
    }
}
