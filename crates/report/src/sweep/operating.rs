//! The level to run at.

use fizeau_metrics::{Comparison, Slo};
use fizeau_pareto::{Candidate, Choice, Constraint, Relation};

use super::goals::{GoalResult, results};
use crate::LevelReport;
use crate::number::{number, percent};

/// The level to run at for the goals: of those on the frontier that meet every goal, the one with the most
/// requests per second.
#[derive(Debug, Clone, PartialEq)]
pub enum OperatingPoint {
    /// No goal was given.
    NoGoal,
    /// No level is on the frontier, so there is none to choose from.
    NoLevel,
    /// A level meets every goal.
    Met {
        /// Its index.
        level: usize,
        /// The smallest distance of a figure from its limit, as a share of the limit.
        margin: f64,
        /// How each goal came out there.
        goals: Vec<GoalResult>,
    },
    /// No level on the frontier meets every goal.
    Missed {
        /// The index of the level that misses least; absent if no level has the figures that the goals are about.
        nearest: Option<usize>,
        /// How each goal came out there; empty if there is none.
        goals: Vec<GoalResult>,
    },
}

/// Chooses among the levels of `frontier`.
pub(super) fn choose(
    levels: &[LevelReport],
    frontier: &[usize],
    slo: Option<&Slo>,
) -> OperatingPoint {
    let Some(slo) = slo else {
        return OperatingPoint::NoGoal;
    };
    let on_frontier = frontier.iter().filter_map(|&i| Some((i, levels.get(i)?)));
    let judged: Vec<(usize, f64, Vec<GoalResult>)> = on_frontier
        .map(|(i, level)| {
            let rate = level.summary.throughput.requests_per_s.get();
            (i, rate, results(slo, &level.summary))
        })
        .collect();
    let candidate = |(_, rate, goals): &(usize, f64, Vec<GoalResult>)| Candidate {
        objective: *rate,
        constraints: goals.iter().map(constraint).collect(),
    };
    let candidates: Vec<Candidate> = judged.iter().map(candidate).collect();
    let judged = |index: usize| judged.get(index).map(|(i, _, goals)| (*i, goals.clone()));
    match fizeau_pareto::operating_point(&candidates) {
        Choice::NoCandidates => OperatingPoint::NoLevel,
        Choice::Met { index, margin } => match judged(index) {
            Some((level, goals)) => OperatingPoint::Met { level, margin, goals },
            None => OperatingPoint::NoLevel,
        },
        Choice::Unmet { nearest, .. } => {
            let (nearest, goals) = nearest.and_then(judged).unzip();
            OperatingPoint::Missed { nearest, goals: goals.unwrap_or_default() }
        }
    }
}

fn constraint(result: &GoalResult) -> Constraint {
    let goal = result.outcome.goal;
    // A strict limit is met from the next number on, so that "at most" means the same as the goal.
    let (relation, limit) = match goal.comparison {
        Comparison::Less => (Relation::AtMost, goal.limit.next_down()),
        Comparison::LessOrEqual => (Relation::AtMost, goal.limit),
        Comparison::Greater => (Relation::AtLeast, goal.limit.next_up()),
        Comparison::GreaterOrEqual => (Relation::AtLeast, goal.limit),
    };
    Constraint { value: result.outcome.measured, relation, limit }
}

impl OperatingPoint {
    /// The index of the level that meets every goal.
    #[must_use]
    pub const fn level(&self) -> Option<usize> {
        match self {
            Self::Met { level, .. } => Some(*level),
            Self::NoGoal | Self::NoLevel | Self::Missed { .. } => None,
        }
    }

    /// How each goal came out at the chosen level, or at the nearest.
    #[must_use]
    pub fn goals(&self) -> &[GoalResult] {
        match self {
            Self::NoGoal | Self::NoLevel => &[],
            Self::Met { goals, .. } | Self::Missed { goals, .. } => goals,
        }
    }

    /// The choice in plain words, the goals apart.
    pub(crate) fn words(&self, levels: &[LevelReport]) -> String {
        let load = |i: &usize| levels.get(*i).map_or_else(String::new, |level| level.load.words());
        match self {
            Self::NoGoal => "none, since no goal was given".to_owned(),
            Self::NoLevel => "none, since no level is on the frontier".to_owned(),
            Self::Met { level, margin, .. } => {
                let summary = levels.get(*level).map(|level| &level.summary);
                let rate = summary.map_or(f64::NAN, |s| s.throughput.requests_per_s.get());
                let (load, rate, margin) = (load(level), number(rate), percent(*margin));
                format!("{load}: {rate} requests/s, the most within the goals, margin {margin}")
            }
            Self::Missed { nearest: Some(nearest), .. } => {
                let nearest = load(nearest);
                format!(
                    "none, since no level on the frontier meets every goal; the nearest is {nearest}"
                )
            }
            Self::Missed { nearest: None, .. } => {
                "none, since no level on the frontier has the figures that the goals are about"
                    .to_owned()
            }
        }
    }
}
