//! Where a further level tells most, by what was measured.

use fizeau_core::{LevelLoad, Millis};
use fizeau_harness::Measure;
use fizeau_metrics::Slo;
use fizeau_pareto::{StepRule, knee};
use fizeau_record::LevelReport;

use super::SweepScheduler;
use crate::event::Watcher;
use crate::sweep::{TriedLoad, load_between};

impl<M: Measure, W: Watcher> SweepScheduler<'_, M, W> {
    /// The load between those that were measured which tells most of `slo`, of the kind that has been
    /// refined least.
    pub(super) fn next_load(&self, slo: Option<&Slo>) -> Option<LevelLoad> {
        let mut kinds: Vec<Vec<LevelLoad>> = Vec::new();
        for load in self.loads() {
            match kinds.last_mut() {
                Some(kind) if is_alike(kind, load) => kind.push(load),
                _ => kinds.push(vec![load]),
            }
        }
        kinds.sort_by_key(Vec::len);
        kinds.iter().find_map(|kind| {
            let runs: Vec<&LevelReport> =
                kind.iter().filter_map(|load| self.run_of(*load)).collect();
            let tried = kind.iter().zip(&runs);
            let tried: Vec<TriedLoad> = tried
                .map(|(&load, run)| TriedLoad { load, within: self.prepared.is_within(slo, run) })
                .collect();
            let points: Vec<[f64; 2]> = runs.iter().map(|run| point(run)).collect();
            let bend = knee(&points, StepRule::KNEE).map(|knee| knee.at);
            load_between(&tried, bend)
        })
    }
}

fn is_alike(kind: &[LevelLoad], load: LevelLoad) -> bool {
    let first = kind.first().copied();
    first.is_some_and(|first| first.concurrency().is_some() == load.concurrency().is_some())
}

/// Requests per second against the mean latency; what has none is a NaN, which is passed over.
fn point(run: &LevelReport) -> [f64; 2] {
    let latency = run.summary.metrics.e2el.mean.map_or(f64::NAN, Millis::get);
    [run.summary.throughput.requests_per_s.get(), latency]
}
