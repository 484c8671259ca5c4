//! Decisions as `sweep.json` has them.

use fizeau_core::{LevelLoad, LoadKind};
use fizeau_pareto::{FigureEstimate, LimitBreak, LoadEdge, MonotoneDeparture};
use serde::{Deserialize, Serialize};

use super::super::{OperatingChoiceReason, OperatingPoint, SweepReport, unmet_goals};
use super::{GoalDecision, OperatingDecision};
use crate::goal::HighestLoadBasis;
use crate::{GoalDocument, GoalResult};

/// The level to run at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OperatingPoint"))]
pub(crate) struct PointDocument {
    level: usize,
    load: Option<LevelLoad>,
    margin: f64,
    /// Why this level: `goals`, `rule` or `profile`.
    chosen_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<RuleDocument>,
    goals: Vec<GoalDocument>,
}

/// The first level that costs too much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "StepRule"))]
struct RuleDocument {
    beyond: usize,
    requests_gain: f64,
    e2el_factor: f64,
}

/// The level that misses least.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "NearestPoint"))]
pub(crate) struct NearestDocument {
    level: usize,
    load: Option<LevelLoad>,
    could_be_met: Vec<String>,
    goals: Vec<GoalDocument>,
}

/// One kind of load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Decision"))]
pub(crate) struct DecisionDocument {
    kind: LoadKind,
    met: String,
    tight: WithinDocument,
    loose: Option<WithinDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loose_reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Within"))]
struct WithinDocument {
    slo: String,
    operating_point: Option<PointDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_point_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_point_nearest: Option<NearestDocument>,
    highest_load: Option<HighestDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    highest_load_reason: Option<String>,
    not_monotone: Vec<DepartureDocument>,
}

/// The highest load within the goals.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "HighestLoad"))]
struct HighestDocument {
    /// False where it lies beyond all that was tested: then `load` is the highest tested.
    reached: bool,
    load: f64,
    /// An end beyond what was tested is null.
    load_ci: Option<[Option<f64>; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load_ci_reason: Option<String>,
    /// Where the least and the greatest figures of a load's runs cross their limits, in place of an interval; an end beyond what
    /// was tested is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    load_over_runs: Option<[Option<f64>; 2]>,
    /// The tested loads on both sides, where there is neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    load_between_tested: Option<[f64; 2]>,
    requests_per_s: f64,
    requests_per_s_ci: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_per_s_ci_reason: Option<String>,
    nearest_level: usize,
    breaks_first: Option<BreakDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    breaks_first_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closest_goal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closest_margin: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Break"))]
struct BreakDocument {
    goal: String,
    level: usize,
    value: f64,
    #[serde(alias = "excess")]
    over_limit: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Departure"))]
struct DepartureDocument {
    goal: String,
    earlier_level: usize,
    later_level: usize,
    by: f64,
    standard_errors: f64,
}

impl SweepReport {
    pub(in crate::sweep) fn decision_documents(&self) -> Vec<DecisionDocument> {
        self.decisions.iter().map(|decision| self.decision_document(decision)).collect()
    }

    fn decision_document(&self, decision: &OperatingDecision) -> DecisionDocument {
        let met = match (decision.is_met(), decision.is_loose_only()) {
            (true, false) => "tight",
            (true, true) => "loose",
            (false, _) => "none",
        };
        DecisionDocument {
            kind: decision.kind,
            met: met.to_owned(),
            tight: self.within_document(&decision.tight),
            loose: decision.loose.as_ref().map(|loose| self.within_document(loose)),
            loose_reason: decision.loose.is_none().then(|| "no goal is a range".to_owned()),
        }
    }

    fn within_document(&self, within: &GoalDecision) -> WithinDocument {
        let operating_point = self.point_document(&within.point);
        let highest_load = highest(within);
        WithinDocument {
            slo: within.slo.to_string(),
            operating_point_reason: operating_point.is_none().then(|| self.no_point(&within.point)),
            operating_point_nearest: self.nearest_document(&within.point),
            operating_point,
            highest_load_reason: highest_load.is_none().then(|| self.no_highest(within)),
            highest_load,
            not_monotone: within
                .maximum
                .not_monotone
                .iter()
                .map(|(goal, found)| departure(within, *goal, found))
                .collect(),
        }
    }

    pub(in crate::sweep) fn point_document(&self, point: &OperatingPoint) -> Option<PointDocument> {
        let OperatingPoint::Met { level, why, margin, goals } = point else { return None };
        let (chosen_by, rule) = match *why {
            OperatingChoiceReason::Goals => ("goals", None),
            OperatingChoiceReason::Profile => ("profile", None),
            OperatingChoiceReason::Confirmed => ("confirmed", None),
            OperatingChoiceReason::Rule { beyond, gain, cost } => {
                ("rule", Some(RuleDocument { beyond, requests_gain: gain, e2el_factor: cost }))
            }
        };
        let load = self.load_of(*level);
        let chosen_by = chosen_by.to_owned();
        let goals = documents(goals);
        Some(PointDocument { level: *level, load, margin: *margin, chosen_by, rule, goals })
    }

    /// Why there is no level to run at.
    pub(in crate::sweep) fn no_point(&self, point: &OperatingPoint) -> String {
        point.words(&self.levels, &self.profile).replacen("none, since ", "", 1)
    }

    /// Why there is no highest load within the goals: a level may keep them by itself, and not once its neighbours count too.
    fn no_highest(&self, within: &GoalDecision) -> String {
        let best = within.point.level().and_then(|level| self.load_of(level));
        match (&within.maximum.edge, best) {
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
        let load = self.load_of(*level);
        Some(NearestDocument {
            level: *level,
            load,
            could_be_met: unmet_goals::could_be_met(goals),
            goals: documents(goals),
        })
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
                breaks_first: Some(broken(within, &found.breaks)),
                ..of(&found.throughput)
            })
        }
        LoadEdge::Beyond(found) => Some(HighestDocument {
            reached: false,
            load: found.load,
            load_ci: is_known.then_some([Some(found.surely), None]),
            load_over_runs: is_of_runs.then_some([Some(found.surely), None]),
            nearest_level: found.level,
            breaks_first_reason: Some("every goal is kept at the highest load tested".to_owned()),
            closest_goal: found.closest.map(|(goal, _)| goal_text(within, goal)),
            closest_margin: found.closest.map(|(_, margin)| margin),
            ..of(&found.throughput)
        }),
        LoadEdge::Unmet(_) => None,
    }
}

fn broken(within: &GoalDecision, found: &LimitBreak) -> BreakDocument {
    let LimitBreak { limit, level, value, over_limit } = *found;
    BreakDocument { goal: goal_text(within, limit), level, value, over_limit }
}

fn departure(within: &GoalDecision, goal: usize, found: &MonotoneDeparture) -> DepartureDocument {
    let MonotoneDeparture { earlier, later, by, errors } = *found;
    DepartureDocument {
        goal: goal_text(within, goal),
        earlier_level: earlier,
        later_level: later,
        by,
        standard_errors: errors,
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
