//! How many requests of a level met which goal.

use fizeau_core::{Millis, Tape};
use serde::{Deserialize, Serialize};

use super::parse::spelled;
use super::{GoodputGoals, RequestGoal};
use crate::json::strange;
use crate::{LoadPacing, RequestMetrics};

/// How many requests of a level were good, and how many met each single goal.
///
/// All shares are of all that were due: a failed request met nothing, nor did one that was never sent. A request is good if it met one group, so
/// `good` is at least that of any group, and at most their sum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GoodputAttainment {
    /// All that were sent.
    pub sent: u64,
    /// Those that were due and never sent, because the level ended first.
    pub unsent: u64,
    /// Those that met every goal of at least one group.
    pub good: u64,
    /// Those that would have met one if all figures counted from the sending, as vLLM's goodput does: more than
    /// [`good`](Self::good) where requests of a schedule were sent late.
    pub good_from_sending: u64,
    /// The groups, in the order in which they were given.
    pub groups: Vec<GroupAttainment>,
}

/// How many requests met the goals of one group.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct GroupAttainment {
    /// Those that met all of them.
    pub good: u64,
    /// How many met each goal.
    pub goals: Vec<GoalAttainment>,
}

/// How many requests met one goal, whatever became of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct GoalAttainment {
    /// The goal.
    pub goal: RequestGoal,
    /// Those that met it.
    pub met: u64,
}

impl GoodputAttainment {
    /// The goals that all this is about.
    #[must_use]
    pub fn goals(&self) -> GoodputGoals {
        let goals = |group: &GroupAttainment| group.goals.iter().map(|goal| goal.goal).collect();
        GoodputGoals::any_of(self.groups.iter().map(goals))
    }

    /// Whether some requests would be good ones but for the time that they waited past their instants before they were sent.
    #[must_use]
    pub const fn has_hidden_wait(&self) -> bool {
        self.good_from_sending != self.good
    }

    /// `count` as a share of all that were due, from 0 to 1.
    #[must_use]
    pub fn share(&self, count: u64) -> f64 {
        let due = self.sent + self.unsent;
        if due == 0 { 0.0 } else { count as f64 / due as f64 }
    }
}

impl GroupAttainment {
    /// The goals of the group as they are written: `ttft:500 tpot:50`.
    pub(crate) fn spelled(&self) -> String {
        spelled(self.goals.iter().map(|goal| &goal.goal))
    }
}

json_object!(GoodputAttainment, "How many requests met the goals for single requests.", |all| {
    "goals": told(String, all.goals()),
    "sent": is(sent),
    "unsent": via_if(unsent: u64 = (all.unsent > 0).then_some(all.unsent)),
    "good": is(good),
    "good_share": told(f64, all.share(all.good)),
    "good_from_sending": via_if(sending: u64 = all.has_hidden_wait().then_some(all.good_from_sending)),
    "groups": via(groups: Vec<GroupJson> = all.written()),
} => {
    let group = |group: GroupJson| {
        let goals = group.by_goal.into_iter().map(GoalJson::read).collect::<Result<_, String>>()?;
        Ok(GroupAttainment { good: group.good, goals })
    };
    let groups = groups.into_iter().map(group).collect::<Result<_, String>>()?;
    let unsent = unsent.unwrap_or(0);
    Ok(GoodputAttainment { sent, unsent, good, good_from_sending: sending.unwrap_or(good), groups })
});

/// Goals that a good request meets together.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "GroupAttainment"))]
struct GroupJson {
    goals: String,
    good: u64,
    good_share: f64,
    by_goal: Vec<GoalJson>,
}

/// One goal of a group.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "GoalAttainment"))]
struct GoalJson {
    metric: String,
    limit_ms: Millis,
    met: u64,
    met_share: f64,
}

impl GoalJson {
    fn read(self) -> Result<GoalAttainment, String> {
        let metric = RequestGoal::metrics().find(|metric| RequestGoal::key(*metric) == self.metric);
        let metric = metric.ok_or_else(|| strange(&self.metric))?;
        Ok(GoalAttainment { goal: RequestGoal { metric, limit: self.limit_ms }, met: self.met })
    }
}

impl GoodputAttainment {
    /// The groups, with the shares that follow from their counts.
    fn written(&self) -> Vec<GroupJson> {
        let by_goal = |counted: &GoalAttainment| GoalJson {
            metric: RequestGoal::key(counted.goal.metric).to_owned(),
            limit_ms: counted.goal.limit,
            met: counted.met,
            met_share: self.share(counted.met),
        };
        let group = |group: &GroupAttainment| GroupJson {
            goals: group.spelled(),
            good: group.good,
            good_share: self.share(group.good),
            by_goal: group.goals.iter().map(by_goal).collect(),
        };
        self.groups.iter().map(group).collect()
    }
}

/// The counts behind an [`GoodputAttainment`], filled one tape at a time.
#[derive(Debug, Clone)]
pub(crate) struct GoodTally {
    goals: GoodputGoals,
    counts: GoodputAttainment,
}

impl GoodTally {
    pub(crate) fn new(goals: &GoodputGoals) -> Self {
        let counted = |&goal: &RequestGoal| GoalAttainment { goal, met: 0 };
        let group = |group: &Vec<RequestGoal>| GroupAttainment {
            good: 0,
            goals: group.iter().map(counted).collect(),
        };
        let groups = goals.groups().iter().map(group).collect();
        Self {
            goals: goals.clone(),
            counts: GoodputAttainment { sent: 0, unsent: 0, good: 0, good_from_sending: 0, groups },
        }
    }

    /// Takes a request of a load of that pacing in, and says whether it is a good one; without goals none is.
    pub(crate) fn add(
        &mut self,
        tape: &Tape,
        metrics: &RequestMetrics,
        pacing: LoadPacing,
    ) -> bool {
        if self.goals.is_empty() {
            return false;
        }
        let figures = self.goals.figures(tape, metrics);
        self.counts.sent += 1;
        let (mut good, mut good_from_sending) = (false, false);
        for group in &mut self.counts.groups {
            let (mut all, mut all_from_sending) = (true, true);
            for counted in &mut group.goals {
                let met = figures.meet(&counted.goal, pacing);
                counted.met += u64::from(met);
                all &= met;
                all_from_sending &= figures.meet(&counted.goal, LoadPacing::ClosedLoop);
            }
            group.good += u64::from(all);
            good |= all;
            good_from_sending |= all_from_sending;
        }
        self.counts.good += u64::from(good);
        self.counts.good_from_sending += u64::from(good_from_sending);
        good
    }

    /// Takes in all that `other` has, which must have been counted for the same goals.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.counts.sent += other.counts.sent;
        self.counts.good += other.counts.good;
        self.counts.good_from_sending += other.counts.good_from_sending;
        for (ours, theirs) in self.counts.groups.iter_mut().zip(&other.counts.groups) {
            ours.good += theirs.good;
            for (our, their) in ours.goals.iter_mut().zip(&theirs.goals) {
                our.met += their.met;
            }
        }
    }

    /// None without goals, and where nothing was sent.
    pub(crate) fn summary(&self) -> Option<GoodputAttainment> {
        (self.counts.sent > 0).then(|| self.counts.clone())
    }
}
