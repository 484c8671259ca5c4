//! What a sweep says of the load to run at: for each kind of load, at both ends of the goals.

mod document;

pub(crate) use document::{DecisionDocument, NearestDocument, PointDocument};

use fizeau_metrics::Slo;

use super::maximum::{Maximum, Runs};
use super::operating::{self, OperatingPoint};
use super::places;
use super::profile::Profile;
use fizeau_core::LoadKind;

/// The level to run at and the highest load within the goals, among the levels of one kind of load.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Which kind.
    pub kind: LoadKind,
    /// For the goals, of ranges for their tight ends.
    pub tight: Within,
    /// For the loose ends; none where no goal is a range.
    pub loose: Option<Within>,
}

/// What there is within some goals.
#[derive(Debug, Clone, PartialEq)]
pub struct Within {
    /// The goals, each a plain limit.
    pub slo: Slo,
    /// The level to run at, of those that were tested.
    pub point: OperatingPoint,
    /// The highest load, between those that were tested.
    pub maximum: Maximum,
}

/// One decision for each kind of load that was swept, rates first: they are what people plan with.
pub(super) fn decide(runs: Runs<'_>, slo: &Slo, profile: &Profile) -> Vec<Decision> {
    let levels = runs.levels;
    let decision = |kind: LoadKind| {
        let of_kind = levels.iter().enumerate().filter(|(_, level)| level.load.kind() == kind);
        let of_kind: Vec<usize> = of_kind.map(|(index, _)| index).collect();
        let compared: Vec<usize> = of_kind
            .iter()
            .copied()
            .filter(|&index| levels.get(index).is_some_and(|level| places::point(level).is_ok()))
            .collect();
        let frontier = places::frontier_among(levels, &compared);
        let within = |slo: Slo| {
            let point = operating::choose(runs, &frontier, &slo, profile);
            let maximum = runs.highest(&slo, kind);
            Within { slo, point, maximum }
        };
        let tight = within(slo.tight());
        let loose = slo.is_range().then(|| within(slo.loose()));
        (!of_kind.is_empty()).then_some(Decision { kind, tight, loose })
    };
    [LoadKind::Rate, LoadKind::Concurrency].into_iter().filter_map(decision).collect()
}

impl Decision {
    /// The end that is looked at first: the tight one, unless only the loose one is met.
    #[must_use]
    pub fn foremost(&self) -> &Within {
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
        let met = |within: &Within| within.point.level().is_some();
        met(&self.tight) || self.loose.as_ref().is_some_and(met)
    }
}
