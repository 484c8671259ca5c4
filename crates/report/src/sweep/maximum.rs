//! The highest load within the goals, between the levels that were tested.

use fizeau_metrics::Slo;
use fizeau_pareto::{Departure, Edge, EdgeError};

use super::Repeats;
use crate::goal::{Bounds, Loads, Measured, figure, served};
use crate::{LevelReport, LoadKind};

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
    /// The highest load of one kind within `slo`.
    pub(super) fn highest(&self, slo: &Slo, kind: LoadKind) -> Maximum {
        let of_kind = self.levels.iter().enumerate().filter(|(_, level)| level.load.kind() == kind);
        let measured: Vec<Measured> = of_kind
            .flat_map(|(index, level)| {
                let repeats = self.repeats.iter().find(|all| all.load() == Some(level.load));
                let runs = repeats.map_or(std::slice::from_ref(level), Repeats::runs);
                runs.iter().filter_map(move |run| measured(slo, index, run))
            })
            .collect();
        let loads = Loads::of(slo.goals(), &measured);
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
        figures: slo.goals().iter().map(|goal| figure(goal, &run.summary)).collect(),
    })
}
