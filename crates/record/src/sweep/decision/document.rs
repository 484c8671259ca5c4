//! Decisions as `sweep.json` has them.

use fizeau_core::{LevelLoad, LoadKind, document};
use fizeau_pareto::{FigureEstimate, LimitBreak, LoadEdge, MonotoneDeparture};
use serde::{Deserialize, Serialize};

use super::super::{OperatingChoiceReason, OperatingPoint, SweepReport, unmet_goals};
use super::{GoalDecision, OperatingDecision};
use crate::goal::HighestLoadBasis;
use crate::{GoalDocument, GoalResult, LevelReport};

document! {
    /// The level to run at.
    pub(crate) struct PointDocument as "OperatingPoint",
    fn of(report: &SweepReport, at: usize, why: &OperatingChoiceReason, spare: f64, results: &[GoalResult]) {
        let (word, stopped) = match *why {
            OperatingChoiceReason::Goals => ("goals", None),
            OperatingChoiceReason::Profile => ("profile", None),
            OperatingChoiceReason::Confirmed => ("confirmed", None),
            OperatingChoiceReason::Rule { beyond, gain, cost } => {
                ("rule", Some(RuleDocument { beyond, requests_gain: gain, e2el_factor: cost }))
            }
        };
    } {
        level: usize = at,
        load: Option<LevelLoad> = report.load_of(at),
        margin: f64 = spare,
        /// Why this level: `goals`, `rule` or `profile`.
        chosen_by: String = word.to_owned(),
        rule?: RuleDocument = stopped,
        goals: Vec<GoalDocument> = documents(results),
    }
}

/// The first level that costs too much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "StepRule"))]
struct RuleDocument {
    beyond: usize,
    requests_gain: f64,
    e2el_factor: f64,
}

document! {
    /// The level that misses least.
    pub(crate) struct NearestDocument as "NearestPoint",
    fn of(report: &SweepReport, at: usize, results: &[GoalResult]) {} {
        level: usize = at,
        load: Option<LevelLoad> = report.load_of(at),
        could_be_met: Vec<String> = unmet_goals::could_be_met(results),
        goals: Vec<GoalDocument> = documents(results),
    }
}

document! {
    /// One kind of load.
    pub(crate) struct DecisionDocument as "Decision", fn of(report: &SweepReport, decision: &OperatingDecision) {
        let within = |within| WithinDocument::of(report, within);
    } {
        kind: LoadKind = decision.kind,
        met: String = match (decision.is_met(), decision.is_loose_only()) {
            (true, false) => "tight".to_owned(),
            (true, true) => "loose".to_owned(),
            (false, _) => "none".to_owned(),
        },
        tight: WithinDocument = within(&decision.tight),
        loose, loose_reason: WithinDocument =
            decision.loose.as_ref().map(within).ok_or("no goal is a range"),
    }
}

document! {
    struct WithinDocument as "Within", fn of(report: &SweepReport, within: &GoalDecision) {
        let of = &within.maximum.not_monotone;
    } {
        slo: String = within.slo.to_string(),
        operating_point, operating_point_reason: PointDocument =
            report.point_document(&within.point).ok_or_else(|| report.no_point(&within.point)),
        operating_point_nearest?: NearestDocument = report.nearest_document(&within.point),
        highest_load, highest_load_reason: HighestDocument =
            highest(within).ok_or_else(|| report.no_highest(within)),
        not_monotone: Vec<DepartureDocument> =
            of.iter().map(|(goal, found)| DepartureDocument::of(within, *goal, found)).collect(),
    }
}

document! {
    /// The highest load within the goals.
    #[derive(Default)]
    struct HighestDocument as "HighestLoad" {
        /// False where it lies beyond all that was tested: then `load` is the highest tested.
        reached: bool,
        load: f64,
        /// An end beyond what was tested is null.
        load_ci: Option<[Option<f64>; 2]>,
        load_ci_reason?: String,
        /// Where the least and the greatest figures of a load's runs cross their limits, in place of an interval; an end beyond what
        /// was tested is null.
        load_over_runs?: [Option<f64>; 2],
        /// The tested loads on both sides, where there is neither.
        load_between_tested?: [f64; 2],
        requests_per_s: f64,
        requests_per_s_ci: Option<[f64; 2]>,
        requests_per_s_ci_reason?: String,
        nearest_level: usize,
        breaks_first: Option<BreakDocument>,
        breaks_first_reason?: String,
        closest_goal?: String,
        closest_margin?: f64,
    }
}

document! {
    struct BreakDocument as "Break", fn of(within: &GoalDecision, found: &LimitBreak) {} {
        goal: String = goal_text(within, found.limit),
        level: usize = found.level,
        value: f64 = found.value,
        #[serde(alias = "excess")]
        over_limit: f64 = found.over_limit,
    }
}

document! {
    struct DepartureDocument as "Departure", fn of(within: &GoalDecision, at: usize, found: &MonotoneDeparture) {} {
        goal: String = goal_text(within, at),
        earlier_level: usize = found.earlier,
        later_level: usize = found.later,
        by: f64 = found.by,
        standard_errors: f64 = found.errors,
    }
}

impl SweepReport {
    pub(in crate::sweep) fn decision_documents(&self) -> Vec<DecisionDocument> {
        self.decisions.iter().map(|decision| DecisionDocument::of(self, decision)).collect()
    }

    pub(in crate::sweep) fn point_document(&self, point: &OperatingPoint) -> Option<PointDocument> {
        let OperatingPoint::Met { level, why, margin, goals } = point else { return None };
        Some(PointDocument::of(self, *level, why, *margin, goals))
    }

    /// Why there is no level to run at.
    pub(in crate::sweep) fn no_point(&self, point: &OperatingPoint) -> String {
        point.words(&self.levels, &self.profile).replacen("none, since ", "", 1)
    }

    /// Why there is no highest load within the goals: a level may keep them by itself, and not once its neighbours count too.
    fn no_highest(&self, within: &GoalDecision) -> String {
        let best = within.point.level().and_then(|level| self.load_of(level));
        match (&within.maximum.edge, best) {
            (Err(_), _) if self.levels.iter().all(LevelReport::is_failed) => {
                "most requests failed at every tested load".to_owned()
            }
            (Err(error), _) => error.to_string(),
            (Ok(_), None) => "no tested level keeps all goals".to_owned(),
            (Ok(_), Some(best)) => format!(
                "no tested level keeps all goals once figures are smoothed over neighbouring loads; \
                 the best as measured is {best}"
            ),
        }
    }

    pub(in crate::sweep) fn nearest_document(
        &self,
        point: &OperatingPoint,
    ) -> Option<NearestDocument> {
        let OperatingPoint::Missed { nearest: Some(level), goals } = point else { return None };
        Some(NearestDocument::of(self, *level, goals))
    }
}

fn documents(goals: &[GoalResult]) -> Vec<GoalDocument> {
    goals.iter().copied().map(GoalDocument::from).collect()
}

fn highest(within: &GoalDecision) -> Option<HighestDocument> {
    let maximum = &within.maximum;
    let without = maximum.without_interval.iter().map(|goal| goal_text(within, *goal));
    let without: Vec<String> = without.collect();
    let is_known = without.is_empty() && maximum.bounds == HighestLoadBasis::Interval;
    let reason = (!is_known).then(|| match &*without {
        [] if maximum.bounds == HighestLoadBasis::Runs => {
            "over several runs a percentile has a range and no interval".to_owned()
        }
        [] if is_of_failures(within) => {
            "it is where requests began to fail, which has no interval".to_owned()
        }
        [] => "it is where a queue began to grow, which has no interval".to_owned(),
        without => format!("no interval is known of {}", without.join(", ")),
    });
    let (load_ci_reason, requests_per_s_ci_reason) = (reason.clone(), reason);
    let is_of_runs = maximum.bounds == HighestLoadBasis::Runs;
    let is_tested = maximum.bounds == HighestLoadBasis::Tested;
    let of = |throughput: &FigureEstimate| HighestDocument {
        requests_per_s: throughput.value(),
        requests_per_s_ci: is_known.then_some([throughput.low(), throughput.high()]),
        load_ci_reason,
        requests_per_s_ci_reason,
        ..HighestDocument::default()
    };
    match maximum.edge.as_ref().ok()? {
        LoadEdge::Between(found) => {
            let low = (!found.is_open_below).then_some(found.load.low());
            let high = (!found.is_open_above).then_some(found.load.high());
            Some(HighestDocument {
                reached: true,
                load: found.load.value(),
                load_ci: is_known.then_some([low, high]),
                load_over_runs: is_of_runs.then_some([low, high]),
                load_between_tested: is_tested.then_some([found.load.low(), found.load.high()]),
                nearest_level: found.below,
                breaks_first: Some(BreakDocument::of(within, &found.breaks)),
                ..of(&found.throughput)
            })
        }
        LoadEdge::Beyond(found) => {
            let low = (!found.is_open_below).then_some(found.surely);
            Some(HighestDocument {
                reached: false,
                load: found.load,
                load_ci: is_known.then_some([low, None]),
                load_over_runs: is_of_runs.then_some([low, None]),
                nearest_level: found.level,
                breaks_first_reason: Some(
                    "every goal is kept at the highest load tested".to_owned(),
                ),
                closest_goal: found.closest.map(|(goal, _)| goal_text(within, goal)),
                closest_margin: found.closest.map(|(_, margin)| margin),
                ..of(&found.throughput)
            })
        }
        LoadEdge::Unmet(_) => None,
    }
}

fn goal_text(within: &GoalDecision, at: usize) -> String {
    let goals = &within.slo.goals;
    match goals.get(at) {
        Some(goal) => goal.to_string(),
        None if at == goals.len() => "no growing queue".to_owned(),
        None => "few failed requests".to_owned(),
    }
}

fn is_of_failures(within: &GoalDecision) -> bool {
    let Ok(LoadEdge::Between(found)) = &within.maximum.edge else { return false };
    found.breaks.limit > within.slo.goals.len()
}
