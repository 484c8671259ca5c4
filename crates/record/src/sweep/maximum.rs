//! The highest load within the goals, between the levels that were tested.

use fizeau_metrics::{Goal, Slo};
use fizeau_pareto::{EdgeError, LoadEdge, MonotoneDeparture};

use super::LoadRepeats;
use crate::LevelReport;
use crate::goal::GoalResult;
use crate::goal::{GoalLevel, GoalLoads, HighestLoadBasis, figure, served};
use fizeau_core::{LevelLoad, LoadKind};

/// The highest load of one kind within the goals. Indices of levels are those of the sweep, of limits those of the goals; the
/// limit behind the goals is that of the queue, which must not grow to the end, and the one behind it that of requests that fail,
/// which must be no more than any goal allows.
///
/// A load that was measured more than once counts by all of its runs ([`LoadRepeats`]).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HighestLoad {
    /// Where it is, or why it cannot be known. Of slots only whole ones. What breaks beyond it is what was measured there;
    /// where it is not over its limit, only the figures evened out over the loads beside it break.
    pub edge: Result<LoadEdge, EdgeError>,
    /// What the ends of the load are, where it lies between tested ones.
    pub bounds: HighestLoadBasis,
    /// The goals whose figure does not go one way as the load rises, beyond what chance explains, with where it does not.
    pub not_monotone: Vec<(usize, MonotoneDeparture)>,
    /// The goals whose figures next to the edge come without an interval.
    pub without_interval: Vec<usize>,
}

/// Levels, and what else was measured at their loads.
#[derive(Clone, Copy)]
pub(super) struct Runs<'a> {
    pub(super) levels: &'a [LevelReport],
    pub(super) repeats: &'a [LoadRepeats],
    /// The load that a search confirmed.
    pub(super) answer: Option<LevelLoad>,
}

impl Runs<'_> {
    /// All runs of the load that `level` stands for.
    fn of<'b>(&'b self, level: &'b LevelReport) -> &'b [LevelReport] {
        let repeats = self.repeats.iter().find(|all| all.load() == Some(level.load));
        repeats.map_or_else(|| std::slice::from_ref(level), LoadRepeats::runs)
    }

    /// How the goals came out at a load, by all of its runs that tell what the server carries.
    pub(super) fn results(&self, slo: &Slo, level: &LevelReport) -> Vec<GoalResult> {
        slo.goals.iter().map(|goal| self.result(goal, level)).collect()
    }

    /// The same of one goal.
    pub(super) fn result(&self, goal: &Goal, level: &LevelReport) -> GoalResult {
        GoalResult::over_runs(goal, &level.summary, self.compared(level).map(|run| &run.summary))
    }

    /// Whether the queue grew to the end in most runs of a load.
    pub(super) fn is_saturated(&self, level: &LevelReport) -> bool {
        let (grew, did_not): (Vec<bool>, Vec<bool>) =
            self.compared(level).map(LevelReport::is_saturated).partition(|grew| *grew);
        grew.len() > did_not.len()
    }

    fn compared<'b>(&'b self, level: &'b LevelReport) -> impl Iterator<Item = &'b LevelReport> {
        self.of(level).iter().filter(|run| run.left_out().is_none() || run.is_failed())
    }

    /// The highest load of one kind within `slo`.
    pub(super) fn highest(&self, slo: &Slo, kind: LoadKind) -> HighestLoad {
        let of_kind = self.levels.iter().enumerate().filter(|(_, level)| level.load.kind() == kind);
        let measured: Vec<GoalLevel> = of_kind
            .flat_map(|(index, level)| {
                self.of(level).iter().filter_map(move |run| measured(slo, index, run))
            })
            .collect();
        let loads = GoalLoads::of(&slo.goals, &measured);
        let not_monotone = loads.not_monotone();
        match loads.highest() {
            Ok(found) => HighestLoad {
                edge: Ok(found.edge),
                bounds: found.bounds,
                not_monotone,
                without_interval: found.without_interval,
            },
            Err(error) => HighestLoad {
                edge: Err(error),
                bounds: HighestLoadBasis::Interval,
                not_monotone,
                without_interval: Vec::new(),
            },
        }
    }
}

/// A run as goals see it; none that tells nothing of what the server carries, or whose load was never there.
fn measured(slo: &Slo, index: usize, run: &LevelReport) -> Option<GoalLevel> {
    if run.is_never_full() {
        return None;
    }
    if run.is_failed() {
        return Some(GoalLevel::failed(index, run.load, &run.summary));
    }
    (run.left_out().is_none()).then_some(GoalLevel {
        index,
        load: run.load,
        served: served(&run.summary)?,
        is_saturated: run.is_saturated(),
        failed: run.summary.requests.failed_share().unwrap_or_default(),
        figures: slo.goals.iter().map(|goal| figure(goal, &run.summary)).collect(),
    })
}
