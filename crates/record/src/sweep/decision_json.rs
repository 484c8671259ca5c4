//! Decisions as `sweep.json` has them.

use fizeau_core::LoadKind;
use fizeau_pareto::{Break, Departure, Edge, Estimate};
use serde::Serialize;

use super::{Decision, OperatingPoint, SweepReport, Why, Within};
use crate::goal::Bounds;
use crate::{GoalResult, LoadPoint};

/// The level to run at.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OperatingPoint"))]
pub(super) struct Operating<'a> {
    level: usize,
    load: Option<LoadPoint>,
    margin: f64,
    /// Why this level: `goals`, `rule` or `profile`.
    chosen_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<RuleJson>,
    goals: &'a [GoalResult],
}

/// The first level that costs too much.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "StepRule"))]
struct RuleJson {
    beyond: usize,
    requests_gain: f64,
    e2el_factor: f64,
}

/// The level that misses least.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "NearestPoint"))]
pub(super) struct Nearest<'a> {
    level: usize,
    load: Option<LoadPoint>,
    could_be_met: Vec<String>,
    goals: &'a [GoalResult],
}

/// One kind of load.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Decision"))]
pub(super) struct DecisionJson<'a> {
    kind: LoadKind,
    met: &'static str,
    tight: WithinJson<'a>,
    loose: Option<WithinJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loose_reason: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Within"))]
struct WithinJson<'a> {
    slo: String,
    operating_point: Option<Operating<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_point_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_point_nearest: Option<Nearest<'a>>,
    highest_load: Option<HighestJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    highest_load_reason: Option<String>,
    not_monotone: Vec<DepartureJson>,
}

/// The highest load within the goals.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "HighestLoad"))]
struct HighestJson {
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
    breaks_first: Option<BreakJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    breaks_first_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closest_goal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closest_margin: Option<f64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Break"))]
struct BreakJson {
    goal: String,
    level: usize,
    value: f64,
    excess: f64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Departure"))]
struct DepartureJson {
    goal: String,
    earlier_level: usize,
    later_level: usize,
    by: f64,
    standard_errors: f64,
}

impl SweepReport {
    pub(super) fn decisions_json(&self) -> Vec<DecisionJson<'_>> {
        self.decisions.iter().map(|decision| self.decision_json(decision)).collect()
    }

    fn decision_json<'a>(&'a self, decision: &'a Decision) -> DecisionJson<'a> {
        let met = match (decision.is_met(), decision.is_loose_only()) {
            (true, false) => "tight",
            (true, true) => "loose",
            (false, _) => "none",
        };
        DecisionJson {
            kind: decision.kind,
            met,
            tight: self.within_json(&decision.tight),
            loose: decision.loose.as_ref().map(|loose| self.within_json(loose)),
            loose_reason: decision.loose.is_none().then_some("no goal is a range"),
        }
    }

    fn within_json<'a>(&'a self, within: &'a Within) -> WithinJson<'a> {
        let operating_point = self.operating_json(&within.point);
        let highest_load = highest(within);
        WithinJson {
            slo: within.slo.to_string(),
            operating_point_reason: operating_point.is_none().then(|| self.no_point(&within.point)),
            operating_point_nearest: self.nearest_json(&within.point),
            operating_point,
            highest_load_reason: highest_load.is_none().then(|| no_highest(within)),
            highest_load,
            not_monotone: within
                .maximum
                .not_monotone
                .iter()
                .map(|(goal, found)| departure(within, *goal, found))
                .collect(),
        }
    }

    pub(super) fn operating_json<'a>(&self, point: &'a OperatingPoint) -> Option<Operating<'a>> {
        let OperatingPoint::Met { level, why, margin, goals } = point else { return None };
        let (chosen_by, rule) = match *why {
            Why::Goals => ("goals", None),
            Why::Profile => ("profile", None),
            Why::Rule { beyond, gain, cost } => {
                ("rule", Some(RuleJson { beyond, requests_gain: gain, e2el_factor: cost }))
            }
        };
        let load = self.levels.get(*level).map(|level| level.load);
        Some(Operating { level: *level, load, margin: *margin, chosen_by, rule, goals })
    }

    /// Why there is no level to run at.
    pub(super) fn no_point(&self, point: &OperatingPoint) -> String {
        point.words(&self.levels, &self.profile).replacen("none, since ", "", 1)
    }

    pub(super) fn nearest_json<'a>(&self, point: &'a OperatingPoint) -> Option<Nearest<'a>> {
        let OperatingPoint::Missed { nearest: Some(level), goals } = point else { return None };
        let load = self.levels.get(*level).map(|level| level.load);
        Some(Nearest {
            level: *level,
            load,
            could_be_met: super::lacking::could_be_met(goals),
            goals,
        })
    }
}

fn highest(within: &Within) -> Option<HighestJson> {
    let maximum = &within.maximum;
    let without = maximum.without_interval.iter().map(|goal| goal_text(within, *goal));
    let without: Vec<String> = without.collect();
    let is_known = without.is_empty() && maximum.bounds == Bounds::Interval;
    let reason = (!is_known).then(|| match &*without {
        [] if maximum.bounds == Bounds::Runs => {
            "a percentile over runs has the least and the greatest of theirs, and no interval"
                .to_owned()
        }
        [] => "it is where a queue began to grow, which has no interval".to_owned(),
        without => format!("no interval is known of {}", without.join(", ")),
    });
    let (load_ci_reason, requests_per_s_ci_reason) = (reason.clone(), reason);
    let is_of_runs = maximum.bounds == Bounds::Runs;
    let is_tested = maximum.bounds == Bounds::Tested;
    let of = |throughput: &Estimate| HighestJson {
        requests_per_s: throughput.value(),
        requests_per_s_ci: is_known.then_some([throughput.low(), throughput.high()]),
        load_ci_reason,
        requests_per_s_ci_reason,
        ..HighestJson::default()
    };
    match maximum.edge.as_ref().ok()? {
        Edge::Between(found) => {
            let low = (!found.is_open_below).then_some(found.load.low());
            let high = (!found.is_open_above).then_some(found.load.high());
            Some(HighestJson {
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
        Edge::Beyond(found) => Some(HighestJson {
            reached: false,
            load: found.load,
            load_ci: is_known.then_some([Some(found.surely), None]),
            load_over_runs: is_of_runs.then_some([Some(found.surely), None]),
            nearest_level: found.level,
            breaks_first_reason: Some("every goal is kept at the highest load tested"),
            closest_goal: found.closest.map(|(goal, _)| goal_text(within, goal)),
            closest_margin: found.closest.map(|(_, margin)| margin),
            ..of(&found.throughput)
        }),
        Edge::Unmet(_) => None,
    }
}

fn no_highest(within: &Within) -> String {
    match &within.maximum.edge {
        Err(error) => error.to_string(),
        Ok(_) => "no tested level keeps all goals".to_owned(),
    }
}

fn broken(within: &Within, found: &Break) -> BreakJson {
    let Break { limit, level, value, excess } = *found;
    BreakJson { goal: goal_text(within, limit), level, value, excess }
}

fn departure(within: &Within, goal: usize, found: &Departure) -> DepartureJson {
    let Departure { earlier, later, by, errors } = *found;
    DepartureJson {
        goal: goal_text(within, goal),
        earlier_level: earlier,
        later_level: later,
        by,
        standard_errors: errors,
    }
}

fn goal_text(within: &Within, at: usize) -> String {
    let goal = within.slo.goals.get(at);
    goal.map_or_else(|| "no growing queue".to_owned(), ToString::to_string)
}
