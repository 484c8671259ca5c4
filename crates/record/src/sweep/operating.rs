//! The level to run at.

use fizeau_core::LoadKind;
use fizeau_metrics::{Comparison, Slo};
use fizeau_pareto::{Knee, OperatingCandidate, OperatingChoice, back_off};

use super::frontier_positions;
use super::maximum::Runs;
use super::profile::Profile;
use super::unmet_goals;
use crate::goal::{GoalResult, name};
use crate::text::{number, percent, supported};
use crate::{LevelReport, request_rate};

/// The level to run at for the goals: of those that meet every goal, the one with the most requests per second, unless it is not
/// worth its latency or a profile puts something else first. One that another of them beats in both throughput and tail latency is
/// never chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum OperatingPoint {
    /// No goal was given.
    NoGoal,
    /// No level may be compared with others, so there is none to choose from.
    NoLevel,
    /// No level has the figure that a goal is about.
    Unjudged {
        /// Which goal, why, and what there is instead, in plain words.
        reason: String,
    },
    /// A level meets every goal, and its queue did not grow to the end: then the goals would not hold for long.
    Met {
        /// Its index.
        level: usize,
        /// Why this one.
        why: OperatingChoiceReason,
        /// The smallest distance of a figure from its limit, as a share of the limit.
        margin: f64,
        /// How each goal came out there.
        goals: Vec<GoalResult>,
    },
    /// No level meets every goal without its queue growing to the end.
    Missed {
        /// The index of the level that misses least; absent if no level has all the figures that the goals are about.
        nearest: Option<usize>,
        /// How each goal came out there; empty if there is none.
        goals: Vec<GoalResult>,
    },
}

/// Why a level was chosen among those that meet every goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OperatingChoiceReason {
    /// It gives the most requests per second within the goals.
    Goals,
    /// A higher level meets the goals too and is not worth its latency.
    Rule {
        /// The first level that costs too much.
        beyond: usize,
        /// The relative gain in requests per second from the chosen level to that one.
        gain: f64,
        /// What the tail of E2EL is multiplied by.
        cost: f64,
    },
    /// A profile puts something else first.
    Profile,
    /// It is the load that a search confirmed by a long level.
    Confirmed,
}

/// A level, judged.
struct JudgedLevel<'a> {
    index: usize,
    level: &'a LevelReport,
    goals: Vec<GoalResult>,
}

/// Chooses among the levels `compared`.
pub(super) fn choose(
    runs: Runs<'_>,
    compared: &[usize],
    slo: &Slo,
    profile: &Profile,
) -> OperatingPoint {
    let levels = runs.levels;
    let judged = compared.iter().filter_map(|&index| {
        let level = levels.get(index)?;
        Some(JudgedLevel { index, level, goals: runs.results(slo, level) })
    });
    let judged: Vec<JudgedLevel<'_>> = judged.collect();
    if judged.is_empty() {
        return OperatingPoint::NoLevel;
    }
    if let Some(reason) = unmet_goals::reason(slo, levels, compared) {
        return OperatingPoint::Unjudged { reason };
    }
    let is_kept = |one: &JudgedLevel<'_>| one.is_met() && !runs.is_saturated(one.level);
    let kept: Vec<usize> = judged.iter().filter(|one| is_kept(one)).map(|one| one.index).collect();
    if kept.is_empty() {
        return missed(judged);
    }
    let confirmed =
        judged.iter().find(|one| kept.contains(&one.index) && Some(one.level.load) == runs.answer);
    if let Some(confirmed) = confirmed {
        return confirmed.chosen(OperatingChoiceReason::Confirmed);
    }
    // A level that misses the goals may beat one that keeps them in what the frontier is about.
    let best = frontier_positions::frontier_among(levels, &kept);
    let mut met: Vec<&JudgedLevel<'_>> =
        judged.iter().filter(|one| best.contains(&one.index)).collect();
    // On a frontier latency rises with throughput.
    met.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
    let points: Vec<[f64; 2]> = met
        .iter()
        .map(|one| frontier_positions::point(one.level).unwrap_or([f64::NAN; 2]))
        .collect();
    let stay = profile.rule.and_then(|rule| back_off(&points, rule));
    let highest = stay.map_or(met.len() - 1, |knee| knee.at);
    let allowed: Vec<&LevelReport> = met.iter().take(highest + 1).map(|one| one.level).collect();
    let at = profile.prefer(&allowed).unwrap_or(highest);
    // Of equals the first is taken, which gives up nothing.
    let is_highest = points.get(at) == points.get(highest);
    let why = match stay {
        Some(Knee { beyond, gain, cost, .. }) if is_highest => {
            let beyond = met.get(beyond).map_or(at, |one| one.index);
            OperatingChoiceReason::Rule { beyond, gain, cost }
        }
        None if is_highest => OperatingChoiceReason::Goals,
        _ => OperatingChoiceReason::Profile,
    };
    let Some(chosen) = met.get(at) else { return OperatingPoint::NoLevel };
    chosen.chosen(why)
}

/// The level that misses least.
fn missed(judged: Vec<JudgedLevel<'_>>) -> OperatingPoint {
    let candidate = |one: &JudgedLevel<'_>| OperatingCandidate {
        objective: one.rate(),
        constraints: one.goals.iter().map(GoalResult::constraint).collect(),
    };
    let candidates: Vec<OperatingCandidate> = judged.iter().map(candidate).collect();
    let nearest = match fizeau_pareto::operating_point(&candidates) {
        // One that meets all of them was saturated.
        OperatingChoice::Met { index: nearest, .. }
        | OperatingChoice::Unmet { nearest: Some(nearest), .. } => judged.into_iter().nth(nearest),
        _ => None,
    };
    let (nearest, goals) = nearest.map(|one| (one.index, one.goals)).unzip();
    OperatingPoint::Missed { nearest, goals: goals.unwrap_or_default() }
}

impl JudgedLevel<'_> {
    fn is_met(&self) -> bool {
        self.goals.iter().all(GoalResult::is_met)
    }

    /// It as the level to run at.
    fn chosen(&self, why: OperatingChoiceReason) -> OperatingPoint {
        let margins = self.goals.iter().filter_map(GoalResult::margin);
        let margin = margins.fold(f64::INFINITY, f64::min);
        OperatingPoint::Met { level: self.index, why, margin, goals: self.goals.clone() }
    }

    fn rate(&self) -> f64 {
        self.level.summary.throughput.requests_per_s.get()
    }
}

impl OperatingPoint {
    /// The index of the level that meets every goal.
    #[must_use]
    pub const fn level(&self) -> Option<usize> {
        match self {
            Self::Met { level, .. } => Some(*level),
            _ => None,
        }
    }

    /// How each goal came out at the chosen level, or at the nearest.
    #[must_use]
    pub fn goals(&self) -> &[GoalResult] {
        match self {
            Self::NoGoal | Self::NoLevel | Self::Unjudged { .. } => &[],
            Self::Met { goals, .. } | Self::Missed { goals, .. } => goals,
        }
    }

    /// The choice in plain words, the goals apart.
    #[must_use]
    pub fn words(&self, levels: &[LevelReport], profile: &Profile) -> String {
        let load =
            |i: &usize| levels.get(*i).map_or_else(String::new, |level| level.load.to_string());
        match self {
            Self::NoGoal => "none, since no goal was given".to_owned(),
            Self::NoLevel => format!("none, since no level can be compared{}", left_out(levels)),
            Self::Unjudged { reason } => format!("none, since {reason}"),
            Self::Met { level, why, goals, .. } => match levels.get(*level) {
                Some(level) => met(level, why, goals, levels, profile),
                None => String::new(),
            },
            Self::Missed { nearest: Some(nearest), goals }
                if goals.iter().all(GoalResult::is_met) =>
            {
                let nearest = load(nearest);
                format!(
                    "none, since the queue grew to the end at every level that meets every goal, \
                     {nearest} among them: the goals would not hold for longer; try a lower load"
                )
            }
            Self::Missed { nearest: Some(nearest), goals } => {
                let nearest = load(nearest);
                let failed = goals.iter().filter_map(|goal| goal.outcome.failures);
                if let Some(failed) = failed.reduce(f64::max) {
                    let failed = percent(failed);
                    return format!(
                        "none, since no level meets every goal; at the nearest, {nearest}, {failed} of the requests failed"
                    );
                }
                let could = unmet_goals::could_be_met(goals).join(" and ");
                format!(
                    "none, since no level meets every goal; the nearest is {nearest}, where {could} can be met"
                )
            }
            Self::Missed { nearest: None, .. } => {
                "none, since no level has all the figures that the goals are about".to_owned()
            }
        }
    }
}

/// The chosen level, what was served there, why it was chosen, and which goal is nearest to its limit.
fn met(
    level: &LevelReport,
    why: &OperatingChoiceReason,
    goals: &[GoalResult],
    levels: &[LevelReport],
    profile: &Profile,
) -> String {
    let rate = level.summary.throughput.requests_per_s.get();
    let rate = supported(rate, request_rate::requests_interval(&level.summary));
    let load = match level.load.kind() {
        LoadKind::Rate => format!("{} offered, {rate} completed", level.load),
        LoadKind::Concurrency => format!("{}, {rate} requests/s completed", level.load),
    };
    let margin = closest(goals);
    match why {
        OperatingChoiceReason::Goals => {
            let candidates = candidates(level.load.kind(), levels);
            format!("{load}: the most requests/s {candidates}{margin}")
        }
        OperatingChoiceReason::Rule { beyond, gain, cost } => {
            let beyond = levels.get(*beyond).map_or_else(String::new, |level| level.load.number());
            let (gain, cost) = (100.0 * gain, number(*cost));
            format!(
                "{load}{margin}; {beyond} meets the goals too, but gives only {gain:+.1} % requests/s for {cost} times the tail E2EL"
            )
        }
        OperatingChoiceReason::Confirmed => {
            format!("{load}: the load that the search found and a long level confirmed{margin}")
        }
        OperatingChoiceReason::Profile => {
            let (name, puts) = (profile.name, profile.words());
            format!("{load}{margin}; higher levels meet the goals too, but {name} puts {puts}")
        }
    }
}

/// Among which levels one was chosen: where there are loads of both kinds, those of one.
fn candidates(kind: LoadKind, levels: &[LevelReport]) -> &'static str {
    match (kind, levels.iter().all(|level| level.load.kind() == kind)) {
        (_, true) => "within the goals",
        (LoadKind::Rate, false) => {
            "of the tested rates within the goals; closed loops are not candidates"
        }
        (LoadKind::Concurrency, false) => "of the tested concurrencies within the goals",
    }
}

/// The goal that has least to spare: `; the tightest goal is p99 TPOT, 27 % below its limit`.
fn closest(goals: &[GoalResult]) -> String {
    let margins = goals.iter().filter_map(|goal| Some((goal, goal.margin()?)));
    let least = margins.reduce(|a, b| if b.1 < a.1 { b } else { a });
    let words = |(goal, margin): (&GoalResult, f64)| {
        let goal = &goal.outcome.goal;
        let side = match goal.comparison {
            Comparison::Less | Comparison::LessOrEqual => "below",
            Comparison::Greater | Comparison::GreaterOrEqual => "above",
        };
        format!("; the tightest goal is {}, {} {side} its limit", name(goal), percent(margin))
    };
    least.filter(|(_, margin)| margin.is_finite()).map(words).unwrap_or_default()
}

/// Why there is none to compare.
const fn left_out(levels: &[LevelReport]) -> &'static str {
    match levels {
        [] => ": none was measured",
        _ => ": every level was left out",
    }
}
