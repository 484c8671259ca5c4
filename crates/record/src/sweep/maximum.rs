//! The highest load within the goals, between the levels that were tested.

use fizeau_metrics::{Goal, Interval, Slo};
use fizeau_pareto::{Departure, Edge, EdgeError};

use super::Repeats;
use crate::LevelReport;
use crate::goal::GoalResult;
use crate::goal::OverRuns;
use crate::goal::{Bounds, Ends, Figure, Loads, Measured, figure, over, served};
use fizeau_core::LoadKind;

/// The highest load of one kind within the goals. Indices of levels are those of the sweep, of limits those of the goals; the
/// limit behind the goals is that of the queue, which must not grow to the end.
///
/// A load that was measured more than once counts by all of its runs ([`Repeats`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Maximum {
    /// Where it is, or why there is no telling. Of slots only whole ones. What breaks beyond it is what was measured there;
    /// where its excess is not above 0, only the figures evened out over the loads beside it break.
    pub edge: Result<Edge, EdgeError>,
    /// What the ends of the load are, where it lies between tested ones.
    pub bounds: Bounds,
    /// The goals whose figure does not go one way as the load rises, beyond what chance explains, with where it does not.
    pub not_monotone: Vec<(usize, Departure)>,
    /// The goals whose figures next to the edge come without an interval.
    pub without_interval: Vec<usize>,
}

/// Levels, and what else was measured at their loads.
#[derive(Clone, Copy)]
pub(super) struct Runs<'a> {
    pub(super) levels: &'a [LevelReport],
    pub(super) repeats: &'a [Repeats],
}

impl Runs<'_> {
    /// All runs of the load that `level` stands for.
    fn of<'b>(&'b self, level: &'b LevelReport) -> &'b [LevelReport] {
        let repeats = self.repeats.iter().find(|all| all.load() == Some(level.load));
        repeats.map_or_else(|| std::slice::from_ref(level), Repeats::runs)
    }

    /// How the goals came out at a load, by all of its runs that may be compared.
    pub(super) fn results(&self, slo: &Slo, level: &LevelReport) -> Vec<GoalResult> {
        slo.goals.iter().map(|goal| self.result(goal, level)).collect()
    }

    /// The same of one goal.
    pub(super) fn result(&self, goal: &Goal, level: &LevelReport) -> GoalResult {
        let mut result = GoalResult::of(*goal, &level.summary);
        let figures = self.compared(level).filter_map(|run| figure(goal, &run.summary));
        let figures: Vec<Figure> = figures.collect();
        let over_runs = OverRuns::of(&figures);
        if let (Some(_), Some(Figure { estimate, ends })) = (over_runs, over(goal, &figures)) {
            result.outcome.measured = Some(estimate.value());
            let (low, high) = (estimate.low(), estimate.high());
            let is_interval = ends == Ends::Interval;
            result.outcome.interval = is_interval.then_some(Interval::p95(low, high));
            result.over_runs = over_runs;
        }
        result
    }

    /// Whether the queue grew to the end in most runs of a load.
    pub(super) fn is_saturated(&self, level: &LevelReport) -> bool {
        let (grew, did_not): (Vec<bool>, Vec<bool>) =
            self.compared(level).map(LevelReport::is_saturated).partition(|grew| *grew);
        grew.len() > did_not.len()
    }

    fn compared<'b>(&'b self, level: &'b LevelReport) -> impl Iterator<Item = &'b LevelReport> {
        self.of(level).iter().filter(|run| run.left_out().is_none())
    }

    /// The highest load of one kind within `slo`.
    pub(super) fn highest(&self, slo: &Slo, kind: LoadKind) -> Maximum {
        let of_kind = self.levels.iter().enumerate().filter(|(_, level)| level.load.kind() == kind);
        let measured: Vec<Measured> = of_kind
            .flat_map(|(index, level)| {
                self.of(level).iter().filter_map(move |run| measured(slo, index, run))
            })
            .collect();
        let loads = Loads::of(&slo.goals, &measured);
        let not_monotone = loads.not_monotone();
        match loads.highest() {
            Ok(found) => Maximum {
                edge: Ok(found.edge),
                bounds: found.bounds,
                not_monotone,
                without_interval: found.without_interval,
            },
            Err(error) => Maximum {
                edge: Err(error),
                bounds: Bounds::Interval,
                not_monotone,
                without_interval: Vec::new(),
            },
        }
    }
}

/// A run as goals see it; none that may not be compared.
fn measured(slo: &Slo, index: usize, run: &LevelReport) -> Option<Measured> {
    if run.left_out().is_some() {
        return None;
    }
    Some(Measured {
        index,
        load: run.load,
        served: served(&run.summary)?,
        is_saturated: run.is_saturated(),
        figures: slo.goals.iter().map(|goal| figure(goal, &run.summary)).collect(),
    })
}
