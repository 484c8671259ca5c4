//! What a sweep says of the load to run at: for each kind of load, at both ends of the goals.

mod document;

pub(crate) use document::{DecisionDocument, NearestDocument, PointDocument};

use fizeau_metrics::Slo;

use super::frontier_positions;
use super::maximum::{HighestLoad, Runs};
use super::operating::{self, OperatingPoint};
use super::profile::Profile;
use fizeau_core::LoadKind;

/// The level to run at and the highest load within the goals, among the levels of one kind of load.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatingDecision {
    /// Which kind.
    pub kind: LoadKind,
    /// For the goals, of ranges for their tight ends.
    pub tight: GoalDecision,
    /// For the loose ends; none where no goal is a range.
    pub loose: Option<GoalDecision>,
}

/// What there is within some goals.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GoalDecision {
    /// The goals, each a plain limit.
    pub slo: Slo,
    /// The level to run at, of those that were tested.
    pub point: OperatingPoint,
    /// The highest load, between those that were tested.
    pub maximum: HighestLoad,
}

/// One decision for each kind of load that was swept, rates first: they are what people plan with.
pub(super) fn decide(runs: Runs<'_>, slo: &Slo, profile: &Profile) -> Vec<OperatingDecision> {
    let levels = runs.levels;
    let decision = |kind: LoadKind| {
        let of_kind = levels.iter().enumerate().filter(|(_, level)| level.load.kind() == kind);
        let of_kind: Vec<usize> = of_kind.map(|(index, _)| index).collect();
        let compared: Vec<usize> = of_kind
            .iter()
            .copied()
            .filter(|&index| {
                levels.get(index).is_some_and(|level| frontier_positions::point(level).is_ok())
            })
            .collect();
        // A load that was never in flight is none to run at, unless nothing else was measured.
        let full = compared.iter().copied();
        let full = full.filter(|&at| levels.get(at).is_some_and(|level| !level.is_never_full()));
        let full: Vec<usize> = full.collect();
        let compared = if full.is_empty() { compared } else { full };
        let within = |slo: Slo| {
            let point = operating::choose(runs, &compared, &slo, profile);
            let maximum = runs.highest(&slo, kind);
            GoalDecision { slo, point, maximum }
        };
        let tight = within(slo.tight());
        let loose = slo.is_range().then(|| within(slo.loose()));
        (!of_kind.is_empty()).then_some(OperatingDecision { kind, tight, loose })
    };
    [LoadKind::Rate, LoadKind::Concurrency].into_iter().filter_map(decision).collect()
}

impl OperatingDecision {
    /// The end that is looked at first: the tight one, unless only the loose one is met.
    #[must_use]
    pub fn foremost(&self) -> &GoalDecision {
        match &self.loose {
            Some(loose) if self.is_loose_only() => loose,
            _ => &self.tight,
        }
    }

    /// Whether a level meets the loose ends of the goals and none the tight ones.
    #[must_use]
    pub fn is_loose_only(&self) -> bool {
        self.tight.point.level().is_none() && self.is_met()
    }

    /// Whether a level meets the goals, be it at the loose end of ranges only.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let met = |within: &GoalDecision| within.point.level().is_some();
        met(&self.tight) || self.loose.as_ref().is_some_and(met)
    }
}
