//! What a level says of the goals.

use fizeau_core::{LevelLoad, Millis};
use fizeau_metrics::{
    Distribution, Goal, GoalOutcome, Interval, LevelSummary, Metric, SampleSupport, Saturation,
    Slo, Statistic,
};
use fizeau_pareto::{Evaluation, FigureEstimate, LimitRelation, LoadOutcome, log_margin};
use fizeau_record::SearchJudgement;

/// The margins of all goals that more load breaks, of a level that was judged so.
pub(super) fn evaluation(
    slo: &Slo,
    load: LevelLoad,
    level: &LevelSummary,
    judgement: SearchJudgement,
) -> Evaluation {
    let goals = slo.goals.iter().filter(|goal| goal.breaks_under_load());
    Evaluation {
        load: load.value(),
        margins: goals.map(|goal| margin_of(goal, level)).collect(),
        bearing: bearing(load, level, judgement),
    }
}

/// How a level came out, by all goals, those too that say nothing of the edge. It is the one judgement of a search: of its long
/// levels, its exit code, and what it prints. A percentile that takes more values than there are is met where the greatest of them
/// keeps its limit; where more requests failed than a goal allows, those that are served may be served as fast as ever. `quickest` is
/// how long requests took at the lightest load so far.
pub(super) fn judge(
    slo: &Slo,
    load: LevelLoad,
    level: &LevelSummary,
    quickest: Option<Millis>,
) -> SearchJudgement {
    let outcomes = slo.evaluate(level);
    if is_saturated(load, level, quickest) {
        SearchJudgement::Saturated
    } else if outcomes.iter().any(|outcome| outcome.failures.is_some()) {
        SearchJudgement::Failing
    } else if outcomes.iter().all(|outcome| is_met(outcome, level)) {
        SearchJudgement::Held
    } else {
        SearchJudgement::Missed
    }
}

/// Whether what a level missed may be kept at a lower load: not where all goals that load breaks were kept.
pub(super) fn lower_may_hold(slo: &Slo, level: &LevelSummary, judgement: SearchJudgement) -> bool {
    let missed = slo.evaluate(level).into_iter().filter(|outcome| !is_met(outcome, level));
    judgement != SearchJudgement::Missed
        || missed.into_iter().any(|outcome| outcome.goal.breaks_under_load())
}

/// Whether more was sent than was served. A level that sends all it has at once is too short to show a queue that grows: there it is
/// one that takes twice as long as its requests take to leave and to be answered.
fn is_saturated(load: LevelLoad, level: &LevelSummary, quickest: Option<Millis>) -> bool {
    let LevelLoad::Rate(rate) = load else { return false };
    match (&level.saturation, quickest) {
        (Some(Saturation::Saturated(_)), _) => true,
        (Some(Saturation::Unknown(_)), Some(quickest)) => {
            let leaving = level.requests.sent as f64 / rate.get();
            let unqueued = leaving + quickest.get() / 1e3;
            level.throughput.duration.get() > 2.0 * unqueued
        }
        _ => false,
    }
}

fn is_met(outcome: &GoalOutcome, level: &LevelSummary) -> bool {
    let goal = &outcome.goal;
    let sample = goal.metric.distribution(level).filter(|_| goal.breaks_under_load());
    match sample.and_then(|sample| sample.value_or_max(goal.statistic)) {
        Some(of) => GoalOutcome { measured: Some(of.value.get()), ..*outcome }.is_met(),
        None => outcome.is_met(),
    }
}

fn bearing(load: LevelLoad, level: &LevelSummary, judgement: SearchJudgement) -> LoadOutcome {
    let served = match load {
        LevelLoad::Rate(_) => Some(level.throughput.requests_per_s.get()),
        LevelLoad::Concurrency(_) => None,
    };
    match judgement {
        SearchJudgement::Failing | SearchJudgement::Saturated => LoadOutcome::Saturated { served },
        SearchJudgement::Held | SearchJudgement::Missed | SearchJudgement::Invalid => {
            LoadOutcome::Borne
        }
    }
}

fn margin_of(goal: &Goal, level: &LevelSummary) -> Option<FigureEstimate> {
    let outcome = GoalOutcome::of(*goal, level);
    if outcome.is_missed_otherwise() {
        return log_margin(
            with_interval(outcome.deciding_figure()?, None)?,
            LimitRelation::AtMost,
            goal.limit,
        );
    }
    match goal.metric.distribution(level) {
        Some(sample) => {
            log_margin(latency(sample, goal.statistic)?, LimitRelation::AtMost, goal.limit)
        }
        None => share_of_bad(goal, level),
    }
}

/// A statistic of latencies with its interval; the greatest of them where a percentile takes more than there are.
fn latency(sample: &Distribution, statistic: Statistic) -> Option<FigureEstimate> {
    let value = sample.value_or_max(statistic)?.value.get();
    let interval = sample.interval(statistic);
    with_interval(value, interval.map(|ends| (ends.low.get(), ends.high.get())))
}

/// The margin of the bad share, or of the failed one: near 1 the good share hardly moves, while the bad one spans decades. Half a
/// bad request is added to those that there were, so that none at all has a logarithm.
fn share_of_bad(goal: &Goal, level: &LevelSummary) -> Option<FigureEstimate> {
    let sent = level.requests.sent as f64;
    let bad = |good: f64| ((1.0 - good) * sent + 0.5) / (sent + 1.0);
    if goal.metric == Metric::FailedShare {
        let failed = bad(1.0 - level.requests.failed_share()?);
        return log_margin(
            with_interval(failed, None)?,
            LimitRelation::AtMost,
            goal.limit.max(bad(1.0)),
        );
    }
    let good = level.throughput.goodput.filter(|_| goal.metric == Metric::GoodShare)?.share;
    let interval = level.throughput.intervals.good_share.and_then(SampleSupport::known);
    let interval = interval.map(|Interval { low, high, .. }| (bad(high), bad(low)));
    let limit = (1.0 - goal.limit).max(bad(1.0));
    log_margin(with_interval(bad(good), interval)?, LimitRelation::AtMost, limit)
}

/// With an interval without ends where it is not known.
fn with_interval(value: f64, interval: Option<(f64, f64)>) -> Option<FigureEstimate> {
    let (low, high) = interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    FigureEstimate::new(value, low.min(value), high.max(value)).ok()
}
