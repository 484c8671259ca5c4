//! What one replica carries within goals.

use fizeau_metrics::{Comparison, Goal, Metric};
use fizeau_pareto::{Break, Edge, EdgeError, Estimate, Limit, Tested, Trend, edge, isotonic};

use super::level::{PlanLevel, is_upper};
use crate::LoadPoint;
use crate::number::{duration_ms, number, percent};
use crate::sweep::lacking::NEEDS_GOALS;
use crate::words::listed;

/// The most that one replica carries within goals, from the loads that it was tested at.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Carried {
    /// Requests per second. Of an open loop those sent, of a closed one those completed.
    pub requests_per_s: Estimate,
    /// Whether even the lowest load that was tested may be too much.
    pub is_open_below: bool,
    /// Whether the highest load that was tested may be less than what it carries.
    pub is_open_above: bool,
    /// The highest tested load that keeps the goals.
    pub nearest: LoadPoint,
    /// What breaks first beyond it, in words; none where all that was tested keeps the goals.
    pub breaks: Option<String>,
}

/// Why there is no telling what a replica carries.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotCarried {
    /// There is no level that could be judged.
    #[error("no level can be judged{}", because(reasons))]
    NoLevel {
        /// Why the levels that there are were left out.
        reasons: Vec<String>,
    },
    /// A goal is about a figure that no level has.
    #[error("{goal}: no level has that figure{hint}")]
    NoFigure {
        /// The goal, in words.
        goal: String,
        /// What there is instead.
        hint: String,
    },
    /// No tested load keeps the goals.
    #[error(
        "the goals are met at no tested load: {missed}; the nearest that could be met: {nearest}"
    )]
    Unmet {
        /// The goal that is missed most at the nearest load, and by how much.
        missed: String,
        /// What could be met there.
        nearest: String,
    },
}

fn because(reasons: &[String]) -> String {
    match reasons {
        [] => ": there is none".to_owned(),
        reasons => format!(": {}", listed(reasons)),
    }
}

impl Carried {
    /// The highest load of `levels` within `goals`, between the loads that were tested ([`fizeau_pareto::edge`]). Levels of an
    /// open loop are preferred, since a plan is for a rate. One whose queue grew to the end counts as too much.
    ///
    /// # Errors
    /// If a goal is about a figure that no level has, no level can be judged, or none keeps the goals.
    pub fn of(levels: &[PlanLevel], goals: &[Goal]) -> Result<Self, NotCarried> {
        let is_open = |level: &&PlanLevel| matches!(level.load, LoadPoint::Rate(_));
        let open: Vec<&PlanLevel> = levels.iter().filter(is_open).collect();
        let chosen = if open.is_empty() { levels.iter().collect() } else { open };
        Chosen { levels: chosen, goals }.carried()
    }
}

/// Levels of one kind, and what they are held against.
struct Chosen<'a> {
    levels: Vec<&'a PlanLevel>,
    goals: &'a [Goal],
}

impl Chosen<'_> {
    fn carried(&self) -> Result<Carried, NotCarried> {
        let (tested, limits) = (self.tested(), self.limits());
        let found = edge(&tested, &limits).map_err(|error| self.no_edge(error))?;
        let level = |index: usize| self.levels.get(index).copied();
        let lost = || NotCarried::NoLevel { reasons: Vec::new() };
        match found {
            Edge::Unmet(miss) => Err(self.unmet(&miss.worst)),
            Edge::Beyond(reached) => {
                let at = level(reached.level).ok_or_else(lost)?;
                let requests_per_s = match at.load {
                    LoadPoint::Rate(_) => Estimate::new(reached.load, reached.surely, reached.load),
                    LoadPoint::Concurrency(_) => Ok(reached.throughput),
                };
                Ok(Carried {
                    requests_per_s: requests_per_s.map_err(|_| lost())?,
                    is_open_below: false,
                    is_open_above: true,
                    nearest: at.load,
                    breaks: None,
                })
            }
            Edge::Between(crossing) => {
                let below = level(crossing.below).ok_or_else(lost)?;
                let requests_per_s = match below.load {
                    LoadPoint::Rate(_) => crossing.load,
                    LoadPoint::Concurrency(_) => crossing.throughput,
                };
                Ok(Carried {
                    requests_per_s,
                    is_open_below: crossing.is_open_below,
                    is_open_above: crossing.is_open_above,
                    nearest: below.load,
                    breaks: Some(self.broken(&crossing.breaks)),
                })
            }
        }
    }

    /// The figures of each goal, and behind them whether the load is too much by its queue.
    fn tested(&self) -> Vec<Tested> {
        let too_much = self.too_much();
        let tested = |(level, too_much): (&&PlanLevel, f64)| {
            let figures = self.goals.iter().map(|goal| level.figure(goal));
            Tested {
                load: level.load.value(),
                throughput: level.requests_per_s,
                figures: figures.chain([Estimate::exact(too_much).ok()]).collect(),
            }
        };
        self.levels.iter().zip(too_much).map(tested).collect()
    }

    /// 1 for a load that is too much by its queue, else 0. One level that came out so by chance, among greater loads that did
    /// not, is outvoted.
    fn too_much(&self) -> Vec<f64> {
        let mut order: Vec<usize> = (0..self.levels.len()).collect();
        let load = |index: &usize| self.levels.get(*index).map_or(0.0, |level| level.load.value());
        order.sort_by(|a, b| load(a).total_cmp(&load(b)));
        let grew = |index: &usize| {
            f64::from(self.levels.get(*index).is_some_and(|level| level.is_saturated))
        };
        let seen: Vec<f64> = order.iter().map(grew).collect();
        let fitted = isotonic(&seen, &vec![1.0; seen.len()], Trend::Rising).unwrap_or(seen);
        let mut too_much = vec![0.0; self.levels.len()];
        for (index, fitted) in order.into_iter().zip(fitted) {
            if let Some(is) = too_much.get_mut(index) {
                *is = f64::from(fitted > 0.5);
            }
        }
        too_much
    }

    fn limits(&self) -> Vec<Limit> {
        self.goals.iter().map(limit).chain([Limit::at_most(0.0)]).collect()
    }

    fn no_edge(&self, error: EdgeError) -> NotCarried {
        match error {
            EdgeError::NoFigure(index) if index < self.goals.len() => {
                let goal = self.goals.get(index);
                let hint = goal.map_or_else(String::new, |goal| self.hint(goal));
                NotCarried::NoFigure { goal: goal.map_or_else(String::new, Goal::describe), hint }
            }
            EdgeError::NoLevel if self.levels.is_empty() => {
                NotCarried::NoLevel { reasons: Vec::new() }
            }
            other => NotCarried::NoLevel { reasons: vec![other.to_string()] },
        }
    }

    /// What there is, where a figure is not.
    fn hint(&self, goal: &Goal) -> String {
        match self.levels.iter().find_map(|level| level.names()) {
            Some(names) if names.is_empty() => "; there are none at all".to_owned(),
            Some(names) => format!("; there are {}", listed(&names)),
            None if matches!(goal.metric, Metric::GoodShare | Metric::GoodputPerSec) => {
                format!("; {NEEDS_GOALS}")
            }
            None => "; it takes more requests a level, or a goal that was measured".to_owned(),
        }
    }

    fn broken(&self, found: &Break) -> String {
        let at = self.levels.get(found.level).map_or_else(String::new, |level| level.load.words());
        match self.goals.get(found.limit) {
            Some(goal) => {
                let (name, beyond) = (name(goal), percent(found.excess));
                let side = if is_upper(goal.comparison) { "over" } else { "short of" };
                format!("{name} at {at}: {}, {beyond} {side} its limit", shown(goal, found.value))
            }
            None => format!("the queue grew to the end at {at}"),
        }
    }

    fn unmet(&self, worst: &Break) -> NotCarried {
        let missed = self.broken(worst);
        let Some(level) = self.levels.get(worst.level) else {
            return NotCarried::Unmet { missed, nearest: "nothing".to_owned() };
        };
        let broken = |goal: &&Goal| {
            let figure = level.figure(goal).map(|figure| figure.value());
            figure.is_none_or(|figure| !goal.comparison.holds(figure, goal.limit))
        };
        let could = |goal: &Goal| {
            let sign = if is_upper(goal.comparison) { "<=" } else { ">=" };
            let figure = level.figure(goal).map_or(f64::NAN, |figure| figure.value());
            format!("{} {sign} {}", name(goal), shown(goal, figure))
        };
        let could: Vec<String> = self.goals.iter().filter(broken).map(could).collect();
        let nearest = match &*could {
            [] => format!("the same below {}", level.load.words()),
            could => format!("{} at {}", listed(could), level.load.words()),
        };
        NotCarried::Unmet { missed, nearest }
    }
}

/// What a goal asks, for the edge.
fn limit(goal: &Goal) -> Limit {
    // A strict limit is met from the next number on, so that "at most" means the same as the goal.
    let limit = match goal.comparison {
        Comparison::Less => Limit::at_most(goal.limit.next_down()),
        Comparison::LessOrEqual => Limit::at_most(goal.limit),
        Comparison::Greater => Limit::at_least(goal.limit.next_up()),
        Comparison::GreaterOrEqual => Limit::at_least(goal.limit),
    };
    // All but the share of good requests rise with the load.
    let falls = goal.metric == Metric::GoodShare;
    limit.with_trend(if falls { Trend::Falling } else { Trend::Rising })
}

/// The figure of a goal, in words: `p99 TTFT`.
pub(super) fn name(goal: &Goal) -> String {
    let name = format!("{} {}", goal.statistic.as_str(), goal.metric.label());
    name.trim_start().to_owned()
}

pub(super) fn shown(goal: &Goal, value: f64) -> String {
    match goal.metric.unit() {
        "ms" => duration_ms(value),
        unit => format!("{} {unit}", number(value)).trim_end().to_owned(),
    }
}
