//! Decisions in words, for terminal and page.

use crate::Shown;
use fizeau_core::LoadKind;
use fizeau_metrics::Goal;
use fizeau_pareto::{
    EdgeBeyond, EdgeCrossing, FigureEstimate, LimitBreak, LoadEdge, MonotoneDeparture, NearestMiss,
};
use fizeau_record::GoalResult;
use fizeau_record::text::{number, percent, supported};
use fizeau_record::{GoalDecision, OperatingDecision, OperatingPoint, SweepReport};
use fizeau_record::{
    HighestLoadBasis, goal_measured as measured, goal_name as name, goal_value as shown,
};

impl Shown<'_, SweepReport> {
    /// The other end of a range of goals, where another level answers it.
    pub(crate) fn other_answer(&self) -> Option<String> {
        let decision = self.decisions().first()?;
        let loose = decision.loose.as_ref()?;
        let is_another = decision.tight.point.level() != loose.point.level();
        is_another.then(|| self.other_end(decision)).flatten()
    }

    /// What there is to say of the load to run at beside the level itself and its goals; further lines of one thing are
    /// indented.
    pub(crate) fn decision_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, decision) in self.decisions().iter().enumerate() {
            if at > 0 {
                let words = decision.foremost().point.words(self.levels(), self.profile());
                lines.push(format!("By {}: {words}", kind(decision.kind)));
                let goals = decision.foremost().point.goals().iter();
                lines.extend(goals.map(|goal| format!("  {}", self.goal_said(goal))));
            }
            lines.extend(self.maximum_lines(decision.kind, decision.foremost()));
            lines.extend(self.range_lines(decision));
        }
        lines
    }

    fn goal_said(&self, goal: &GoalResult) -> String {
        if self.is_simulated() { goal.words_simulated() } else { goal.words() }
    }

    /// The highest load within some goals, what breaks beyond it, and what speaks against the answer.
    fn maximum_lines(&self, kind: LoadKind, within: &GoalDecision) -> Vec<String> {
        let mut lines = Vec::new();
        let goal = |at: usize| within.slo.goals.get(at);
        let named = |at: usize| goal(at).map(Goal::describe).unwrap_or_default();
        match &within.maximum.edge {
            Ok(LoadEdge::Between(found)) => {
                lines.push(self.between(kind, found, within));
                lines.push(format!("Beyond it {}", self.broken(&found.breaks, &within.slo.goals)));
            }
            Ok(LoadEdge::Beyond(found)) => lines.push(self.beyond(kind, found, &named)),
            Ok(LoadEdge::Unmet(_)) if within.point.level().is_some() => lines.push(format!(
                "Highest {} within the goals: none once figures are smoothed over neighbouring \
                 loads; measure the levels with more requests, or lower ones too",
                self::kind(kind)
            )),
            Ok(LoadEdge::Unmet(NearestMiss { is_within_error: true, .. })) => lines.push(
                "The miss is within the error of the figures; more requests per level would \
                 settle it"
                    .to_owned(),
            ),
            Ok(LoadEdge::Unmet(_)) | Err(_) => {}
        }
        for (at, found) in &within.maximum.not_monotone {
            lines.push(self.uneven(goal(*at), found));
        }
        lines
    }

    fn between(&self, kind: LoadKind, found: &EdgeCrossing, decision: &GoalDecision) -> String {
        let maximum = &decision.maximum;
        let bounds = maximum.bounds;
        let EdgeCrossing { load, throughput, .. } = found;
        let (below, above) = (self.load_of(found.below), self.load_of(found.breaks.level));
        let is_tested =
            self.levels().get(found.below).map(|level| level.load.value()) == Some(load.value());
        let (about, how) = match is_tested {
            true => ("", format!("as tested; {above} is too much")),
            false => ("about ", format!("interpolated between the tested {below} and {above}")),
        };
        let (interval, ends) = match bounds {
            HighestLoadBasis::Interval => (interval(kind, found), Some((load.low(), load.high()))),
            HighestLoadBasis::Runs => (over_runs(kind, found), Some((load.low(), load.high()))),
            HighestLoadBasis::Tested => (String::new(), None),
        };
        let at = match is_tested {
            true => with_unit(kind, below),
            false => in_words(kind, load.value(), ends),
        };
        let why = match bounds {
            HighestLoadBasis::Tested if found.breaks.limit > decision.slo.goals.len() => {
                "; no interval, since none is known of failures"
            }
            HighestLoadBasis::Tested if maximum.without_interval.is_empty() => {
                "; no interval, since a queue either grows or does not"
            }
            HighestLoadBasis::Tested => {
                "; no interval, since there are too few independent values near the limit"
            }
            HighestLoadBasis::Interval | HighestLoadBasis::Runs => "",
        };
        let served = match bounds {
            HighestLoadBasis::Interval => within(throughput),
            HighestLoadBasis::Runs | HighestLoadBasis::Tested => {
                supported(throughput.value(), None)
            }
        };
        format!(
            "Highest {} within the goals: {about}{at}{interval}, {how}; {served} requests/s completed{why}",
            self::kind(kind)
        )
    }

    fn beyond(
        &self,
        kind: LoadKind,
        found: &EdgeBeyond,
        named: &dyn Fn(usize) -> String,
    ) -> String {
        let surely = match found.surely < found.load && !found.is_open_below {
            true => format!(" (surely {})", in_words(kind, found.surely, None)),
            false => String::new(),
        };
        let closest = found.closest.map(|(goal, margin)| {
            format!("; nearest to its limit is {}, margin {}", named(goal), percent(margin))
        });
        format!(
            "Highest {} within the goals: above the highest tested, {}{surely}{}",
            self::kind(kind),
            self.load_of(found.level),
            closest.unwrap_or_default()
        )
    }

    fn broken(&self, found: &LimitBreak, goals: &[Goal]) -> String {
        let (goal, goals) = (goals.get(found.limit), goals.len());
        let load = self.load_of(found.level);
        let Some(goal) = goal else {
            return match found.limit == goals {
                true => format!("the queue grew to the end, at {load}"),
                false => format!("{} of the requests failed, at {load}", percent(found.value)),
            };
        };
        let value = measured(goal, found.value, self.goal_interval(goal, found.level));
        if found.over_limit <= 0.0 {
            let goal = goal.describe();
            return format!(
                "{goal} breaks first: {value} at {load} is within it, but not once it is \
                 smoothed over the neighbouring loads"
            );
        }
        let (goal, over_limit) = (goal.describe(), percent(found.over_limit));
        format!("{goal} breaks first, by {over_limit}: {value} at {load}")
    }

    fn uneven(&self, goal: Option<&Goal>, found: &MonotoneDeparture) -> String {
        let Some(goal) = goal else { return String::new() };
        let (earlier, later) = (self.load_of(found.earlier), self.load_of(found.later));
        let (by, errors) = (shown(goal, found.by), number(found.errors));
        format!(
            "{} does not change in one direction with the load: from {earlier} to {later} it \
             goes {by} the wrong way, {errors} standard errors; the highest load comes from \
             smoothed figures",
            name(goal)
        )
    }

    /// The end of a range of goals that the operating point does not stand for: the loose one, or the tight one where it was missed.
    fn other_end(&self, decision: &OperatingDecision) -> Option<String> {
        let loose = decision.loose.as_ref()?;
        let (end, within) = match decision.is_loose_only() {
            true => ("tight", &decision.tight),
            false => ("loose", loose),
        };
        let words = within.point.words(self.levels(), self.profile());
        Some(format!("At the {end} end ({}): {words}", within.slo))
    }

    /// The other end of a range, and what the range buys.
    fn range_lines(&self, decision: &OperatingDecision) -> Vec<String> {
        let mut lines: Vec<String> = self.other_end(decision).into_iter().collect();
        let Some(loose) = decision.loose.as_ref().filter(|_| !decision.is_loose_only()) else {
            return lines;
        };
        let maximum = self.maximum_lines(decision.kind, loose).into_iter();
        lines.extend(maximum.map(|line| format!("  {line}")));
        // What lies above the highest load that was tested is not known: of both ends there then is nothing to compare.
        if let (Some((tight, None)), Some((loose, at_least))) =
            (served(&decision.tight), served(loose))
        {
            let gain = 100.0 * (loose.value() / tight.value() - 1.0);
            let at_least = at_least.unwrap_or_default();
            lines.push(format!(
                "The range buys {at_least}{gain:+.1} % requests/s at the highest load: {} against {}",
                supported(loose.value(), None),
                supported(tight.value(), None)
            ));
        }
        lines
    }

    fn load_of(&self, level: usize) -> String {
        self.levels().get(level).map_or_else(String::new, |level| level.load.number())
    }
}

/// What is served at the highest load that keeps the goals, and words for that the load is beyond all that were tested.
fn served(within: &GoalDecision) -> Option<(FigureEstimate, Option<&'static str>)> {
    match (&within.maximum.edge, &within.point) {
        (_, OperatingPoint::NoGoal | OperatingPoint::NoLevel) => None,
        (Ok(LoadEdge::Between(found)), _) => Some((found.throughput, None)),
        (Ok(LoadEdge::Beyond(found)), _) => Some((found.throughput, Some("at least "))),
        _ => None,
    }
}

const fn kind(kind: LoadKind) -> &'static str {
    match kind {
        LoadKind::Rate => "rate",
        LoadKind::Concurrency => "concurrency",
    }
}

/// A load between levels: `7.43 requests/s`; of slots only whole ones are of use, so that the last is not counted.
fn in_words(kind: LoadKind, load: f64, ends: Option<(f64, f64)>) -> String {
    with_unit(kind, rounded(kind, load, ends))
}

fn with_unit(kind: LoadKind, load: String) -> String {
    match kind {
        LoadKind::Rate => format!("{load} requests/s"),
        LoadKind::Concurrency => load,
    }
}

/// A load with the digits that its ends support; of slots whole ones.
fn rounded(kind: LoadKind, load: f64, ends: Option<(f64, f64)>) -> String {
    match kind {
        LoadKind::Rate => supported(load, ends),
        LoadKind::Concurrency => load.floor().to_string(),
    }
}

/// ` (7.10 to 7.80 over the runs)`.
fn over_runs(kind: LoadKind, found: &EdgeCrossing) -> String {
    let interval = interval(kind, found);
    interval.strip_suffix(')').map_or_else(String::new, |ends| format!("{ends} over the runs)"))
}

/// The interval of an edge: ` (7.10 to 7.80)`; nothing of one that is exact.
fn interval(kind: LoadKind, found: &EdgeCrossing) -> String {
    let (low, high) = (found.load.low(), found.load.high());
    if low == high && !found.is_open_below && !found.is_open_above {
        return String::new();
    }
    let shown = |load: f64| rounded(kind, load, Some((low, high)));
    // Where the lowest that was tested may be too much, nothing is known of less.
    let (under, over) = (
        if found.is_open_below { "perhaps less than " } else { "" },
        if found.is_open_above { "over " } else { "" },
    );
    format!(" ({under}{} to {over}{})", shown(low), shown(high))
}

/// `94.1 (90.1 to 99.0)`; an exact figure alone.
fn within(of: &FigureEstimate) -> String {
    if of.low() >= of.high() {
        return supported(of.value(), None);
    }
    let ends = (of.low(), of.high());
    let [value, low, high] = [of.value(), ends.0, ends.1].map(|of| supported(of, Some(ends)));
    format!("{value} ({low} to {high})")
}
