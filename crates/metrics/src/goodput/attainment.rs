//! How many requests of a level met which goal.

use fizeau_core::Tape;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::parse::spelled;
use super::{GoodputGoals, RequestGoal};
use crate::RequestMetrics;

/// How many requests of a level were good, and how many met each single goal.
///
/// All counts are held against all that were *sent*: a failed request met nothing. A request is good if it met one group, so
/// `good` is at least that of any group, and at most their sum.
#[derive(Debug, Clone, PartialEq)]
pub struct Attainment {
    /// All that were sent.
    pub sent: u64,
    /// Those that met every goal of at least one group.
    pub good: u64,
    /// The groups, in the order in which they were given.
    pub groups: Vec<GroupAttainment>,
}

/// How many requests met the goals of one group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupAttainment {
    /// Those that met all of them.
    pub good: u64,
    /// How many met each goal.
    pub goals: Vec<GoalAttainment>,
}

/// How many requests met one goal, whatever became of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalAttainment {
    /// The goal.
    pub goal: RequestGoal,
    /// Those that met it.
    pub met: u64,
}

impl Attainment {
    /// The goals that all this is about.
    #[must_use]
    pub fn goals(&self) -> GoodputGoals {
        let goals = |group: &GroupAttainment| group.goals.iter().map(|goal| goal.goal).collect();
        GoodputGoals::any_of(self.groups.iter().map(goals))
    }

    /// `count` as a share of all that were sent, from 0 to 1.
    #[must_use]
    pub fn share(&self, count: u64) -> f64 {
        if self.sent == 0 { 0.0 } else { count as f64 / self.sent as f64 }
    }
}

impl GroupAttainment {
    /// The goals of the group as they are written: `ttft:500 tpot:50`.
    #[must_use]
    pub fn spelled(&self) -> String {
        spelled(self.goals.iter().map(|goal| &goal.goal))
    }
}

impl Serialize for Attainment {
    /// An object of `goals` (their text), `sent`, `good`, `good_share` and `groups`, each of which has `goals`, `good`,
    /// `good_share` and `by_goal`: `metric`, `limit_ms`, `met`, `met_share`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Group {
            goals: String,
            good: u64,
            good_share: f64,
            by_goal: Vec<Goal>,
        }
        #[derive(Serialize)]
        struct Goal {
            metric: &'static str,
            limit_ms: fizeau_core::Millis,
            met: u64,
            met_share: f64,
        }
        let by_goal = |counted: &GoalAttainment| Goal {
            metric: counted.goal.metric.key(),
            limit_ms: counted.goal.limit,
            met: counted.met,
            met_share: self.share(counted.met),
        };
        let group = |group: &GroupAttainment| Group {
            goals: group.spelled(),
            good: group.good,
            good_share: self.share(group.good),
            by_goal: group.goals.iter().map(by_goal).collect(),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("goals", &self.goals())?;
        map.serialize_entry("sent", &self.sent)?;
        map.serialize_entry("good", &self.good)?;
        map.serialize_entry("good_share", &self.share(self.good))?;
        map.serialize_entry("groups", &self.groups.iter().map(group).collect::<Vec<_>>())?;
        map.end()
    }
}

/// The counts behind an [`Attainment`], filled one tape at a time.
#[derive(Debug, Clone)]
pub(crate) struct GoodTally {
    goals: GoodputGoals,
    counts: Attainment,
}

impl GoodTally {
    pub(crate) fn new(goals: &GoodputGoals) -> Self {
        let counted = |&goal: &RequestGoal| GoalAttainment { goal, met: 0 };
        let group = |group: &Vec<RequestGoal>| GroupAttainment {
            good: 0,
            goals: group.iter().map(counted).collect(),
        };
        let groups = goals.groups().iter().map(group).collect();
        Self { goals: goals.clone(), counts: Attainment { sent: 0, good: 0, groups } }
    }

    /// Takes a request in, and says whether it is a good one; without goals none is.
    pub(crate) fn add(&mut self, tape: &Tape, metrics: &RequestMetrics) -> bool {
        if self.goals.is_empty() {
            return false;
        }
        let figures = self.goals.figures(tape, metrics);
        self.counts.sent += 1;
        let mut good = false;
        for group in &mut self.counts.groups {
            let mut all = true;
            for counted in &mut group.goals {
                let met = figures.meet(&counted.goal);
                counted.met += u64::from(met);
                all &= met;
            }
            group.good += u64::from(all);
            good |= all;
        }
        self.counts.good += u64::from(good);
        good
    }

    /// Takes in all that `other` has, which must have been counted for the same goals.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.counts.sent += other.counts.sent;
        self.counts.good += other.counts.good;
        for (ours, theirs) in self.counts.groups.iter_mut().zip(&other.counts.groups) {
            ours.good += theirs.good;
            for (our, their) in ours.goals.iter_mut().zip(&theirs.goals) {
                our.met += their.met;
            }
        }
    }

    /// None without goals, and where nothing was sent.
    pub(crate) fn summary(&self) -> Option<Attainment> {
        (self.counts.sent > 0).then(|| self.counts.clone())
    }
}
