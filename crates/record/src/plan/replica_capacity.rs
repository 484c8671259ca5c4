//! What one replica carries within goals.

use fizeau_core::LevelLoad;
use fizeau_metrics::{Goal, Metric};
use fizeau_pareto::{EdgeError, FigureEstimate, LimitBreak, LoadEdge};

use super::level::PlanLevel;
use crate::goal::{GoalLevel, GoalLoads, HighestLoadBasis, is_upper, name, shown};
use crate::sweep::unmet_goals::NEEDS_GOALS;
use crate::text::listed;
use crate::text::percent;

/// The most that one replica carries within goals, from the loads that it was tested at.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReplicaCapacity {
    /// Requests per second: those completed, and of an open loop no more than were asked for.
    pub requests_per_s: FigureEstimate,
    /// What it completes there, in requests per second.
    pub served: FigureEstimate,
    /// What the ends of both are.
    pub bounds: HighestLoadBasis,
    /// Whether even the lowest load that was tested may be too much.
    pub is_open_below: bool,
    /// Whether the highest load that was tested may be less than what it carries.
    pub is_open_above: bool,
    /// The highest tested load that keeps the goals.
    pub nearest: LevelLoad,
    /// The next tested load, which does not; none where all that was tested does.
    pub next: Option<LevelLoad>,
    /// What breaks first beyond it, in words; none where all that was tested keeps the goals.
    pub breaks: Option<String>,
    /// The highest load beyond that kept the goals all the same, which counts for nothing; none where there is none.
    pub kept_beyond: Option<LevelLoad>,
}

/// Why it cannot be known what a replica carries.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoCapacityReason {
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
    /// A load was within the goals as it was measured, and a load below it, or one beside it with which it is evened out, was not.
    #[error(
        "{kept} was within the goals as it was measured, but a neighbouring load was not ({missed}); repeat these loads to see which \
         is right"
    )]
    OneByItself {
        /// The load.
        kept: LevelLoad,
        /// What the load beside it misses, in words.
        missed: String,
    },
    /// No tested load keeps the goals.
    #[error("no tested load meets the goals: {missed}; the nearest that could be met: {nearest}")]
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

impl ReplicaCapacity {
    /// The highest load of `levels` within `goals`, between the loads that were tested ([`fizeau_pareto::edge`]). Levels of an
    /// open loop are preferred, since a plan is for a rate. One whose queue grew to the end counts as too much, and above a load
    /// that breaks a goal beyond the interval of its own figure none counts.
    ///
    /// # Errors
    /// If a goal is about a figure that no level has, no level can be judged, or none keeps the goals.
    pub fn of(levels: &[PlanLevel], goals: &[Goal]) -> Result<Self, NoCapacityReason> {
        let is_open = |level: &&PlanLevel| matches!(level.load, LevelLoad::Rate(_));
        let has_open = levels.iter().any(|level| is_open(&level) && !level.is_failed);
        let chosen = levels.iter().filter(|level| is_open(level) == has_open);
        JudgedLevels { levels: chosen.collect(), goals }.capacity()
    }
}

/// Levels of one kind, and what they are compared with.
struct JudgedLevels<'a> {
    levels: Vec<&'a PlanLevel>,
    goals: &'a [Goal],
}

impl JudgedLevels<'_> {
    fn capacity(&self) -> Result<ReplicaCapacity, NoCapacityReason> {
        let seen = self.levels.iter().enumerate();
        let seen: Vec<GoalLevel> =
            seen.map(|(index, level)| level.seen_by(self.goals, index)).collect();
        let all = GoalLoads::of(self.goals, &seen);
        let mut found = all.highest().map_err(|error| self.no_edge(error))?;
        let mut kept_beyond = None;
        if !matches!(found.edge, LoadEdge::Unmet(_)) {
            let (loads, kept) = all.up_to_broken();
            found = loads.highest().map_err(|error| self.no_edge(error))?;
            kept_beyond = kept;
        }
        let lost = || NoCapacityReason::NoLevel { reasons: Vec::new() };
        let level = |index: usize| self.levels.get(index).ok_or_else(lost);
        match found.edge {
            LoadEdge::Unmet(miss) => {
                let beyond = kept_beyond.map(|kept| (kept, miss.worst));
                Err(match beyond.or(found.by_itself) {
                    Some((kept, breaks)) => NoCapacityReason::OneByItself {
                        kept: level(kept)?.load,
                        missed: self.broken(&breaks),
                    },
                    None => self.unmet(&miss.worst),
                })
            }
            LoadEdge::Beyond(reached) => {
                let nearest = level(reached.level)?.load;
                let sent = FigureEstimate::new(reached.load, reached.surely, reached.load);
                let (sent, served) = (sent.map_err(|_| lost())?, reached.throughput);
                let requests_per_s = in_requests(nearest, sent, served);
                // What is completed has an interval of its own, whatever the figures have.
                let is_of_served = requests_per_s.low() == served.low();
                Ok(ReplicaCapacity {
                    requests_per_s,
                    served,
                    bounds: if is_of_served { HighestLoadBasis::Interval } else { found.bounds },
                    is_open_below: reached.is_open_below,
                    is_open_above: true,
                    nearest,
                    next: None,
                    breaks: None,
                    kept_beyond: None,
                })
            }
            LoadEdge::Between(crossing) => {
                let nearest = level(crossing.below)?.load;
                Ok(ReplicaCapacity {
                    requests_per_s: in_requests(nearest, crossing.load, crossing.throughput),
                    served: crossing.throughput,
                    bounds: found.bounds,
                    is_open_below: crossing.is_open_below,
                    is_open_above: crossing.is_open_above,
                    nearest,
                    next: Some(level(crossing.breaks.level)?.load),
                    breaks: Some(self.broken(&crossing.breaks)),
                    kept_beyond: kept_beyond.map(level).transpose()?.map(|level| level.load),
                })
            }
        }
    }

    fn no_edge(&self, error: EdgeError) -> NoCapacityReason {
        match error {
            EdgeError::NoFigure(index) if index < self.goals.len() => {
                let goal = self.goals.get(index);
                let hint = goal.map_or_else(String::new, |goal| self.hint(goal));
                NoCapacityReason::NoFigure {
                    goal: goal.map_or_else(String::new, Goal::describe),
                    hint,
                }
            }
            EdgeError::NoLevel if self.levels.is_empty() => {
                NoCapacityReason::NoLevel { reasons: Vec::new() }
            }
            other => NoCapacityReason::NoLevel { reasons: vec![other.to_string()] },
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
            None => {
                "; measure more requests per level, or give a goal that was measured".to_owned()
            }
        }
    }

    fn broken(&self, found: &LimitBreak) -> String {
        let level = self.levels.get(found.level);
        let at = level.map_or_else(String::new, |level| level.load.to_string());
        if let Some(level) = level.filter(|level| level.is_failed) {
            return format!("{} of the requests failed at {at}", percent(level.failed));
        }
        match self.goals.get(found.limit) {
            Some(goal) if found.over_limit <= 0.0 => {
                let (name, value) = (name(goal), shown(goal, found.value));
                format!(
                    "{name} at {at}: {value} is within its limit, but not once it is smoothed \
                     over the neighbouring loads"
                )
            }
            Some(goal) => {
                let (name, beyond) = (name(goal), percent(found.over_limit));
                let side = if is_upper(goal.comparison) { "over" } else { "short of" };
                format!("{name} at {at}: {}, {beyond} {side} its limit", shown(goal, found.value))
            }
            None if found.limit == self.goals.len() => format!("the queue grew to the end at {at}"),
            None => format!("{} of the requests failed at {at}", percent(found.value)),
        }
    }

    fn unmet(&self, worst: &LimitBreak) -> NoCapacityReason {
        let missed = self.broken(worst);
        let Some(level) = self.levels.get(worst.level) else {
            return NoCapacityReason::Unmet { missed, nearest: "nothing".to_owned() };
        };
        let broken = |goal: &&Goal| {
            if level.is_failed {
                return false;
            }
            let figure = level.figure(goal).map(|figure| figure.estimate.value());
            figure.is_none_or(|figure| !goal.comparison.holds(figure, goal.limit))
        };
        let could = |goal: &Goal| {
            let sign = if is_upper(goal.comparison) { "at most" } else { "at least" };
            let figure = level.figure(goal).map_or(f64::NAN, |figure| figure.estimate.value());
            format!("{} {sign} {}", name(goal), shown(goal, figure))
        };
        let could: Vec<String> = self.goals.iter().filter(broken).map(could).collect();
        let nearest = match &*could {
            [] => format!("the same below {}", level.load),
            could => format!("{} at {}", listed(could), level.load),
        };
        NoCapacityReason::Unmet { missed, nearest }
    }
}

/// Of a closed loop what it completes; of an open one what was sent, but no more than was completed: requests that were still to
/// be served when a level ended are carried by nobody.
fn in_requests(load: LevelLoad, sent: FigureEstimate, served: FigureEstimate) -> FigureEstimate {
    match load {
        LevelLoad::Rate(_) => {
            let least = |of: fn(&FigureEstimate) -> f64| of(&sent).min(of(&served));
            let ends = (least(FigureEstimate::low), least(FigureEstimate::high));
            // The least of each keeps the order of both.
            FigureEstimate::new(least(FigureEstimate::value), ends.0, ends.1).unwrap_or(served)
        }
        LevelLoad::Concurrency(_) => served,
    }
}
