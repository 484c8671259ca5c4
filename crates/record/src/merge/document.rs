//! `run.json` of shards together.

use super::check::{CheckedShards, PlanCoverage};
use super::clock_offsets::ClockOffsets;
use super::shard::{MeasuredShard, share};
use super::summary;
use crate::{LevelPlan, MergedShard, RequestedLoad, RunDocument};

/// The first shard's document, with what all of them are.
pub(super) fn merged(
    shards: &[MeasuredShard],
    first: &MeasuredShard,
    axis: &ClockOffsets,
    checked: &CheckedShards,
    requested: RequestedLoad,
) -> RunDocument {
    let from = shards.iter().zip(&axis.onto);
    let mut from: Vec<MergedShard> =
        from.flat_map(|(shard, onto)| entries(shard, onto.later_ns())).collect();
    from.sort_by_cached_key(|entry| entry.shard.as_deref().and_then(share));
    let mut document = first.run.written().clone();
    document.shard = named_shares(&from, checked.shares);
    document.epoch_unix_ns = axis.epoch_unix_ns;
    if let Some(level) = level(&document, shards, checked.shares) {
        document.levels = vec![level];
    }
    if let Some(client) = &mut document.client {
        client.threads = summary::threads(shards);
    }
    document.merged = from;
    document.merged_though.clone_from(&checked.objections);
    document.setup.workload.requested = requested;
    document
}

/// What is said of a shard, or of each of those that were merged into it: what came of shards does not depend on the order in which
/// they were merged.
fn entries(shard: &MeasuredShard, later_ns: i64) -> Vec<MergedShard> {
    let document = shard.document();
    if !document.merged.is_empty() {
        let put_later = |entry: &MergedShard| MergedShard {
            put_later_ns: entry.put_later_ns.saturating_add(later_ns),
            ..entry.clone()
        };
        return document.merged.iter().map(put_later).collect();
    }
    let setup = document.setup.clone();
    vec![MergedShard {
        folder: shard.name(),
        shard: document.shard.clone(),
        cv_squared: setup.workload.requested.arrivals.and_then(|law| law.cv_squared),
        started: setup.started,
        host: setup.host,
        base_url: setup.endpoint.base_url,
        command_line: setup.command_line,
        put_later_ns: later_ns,
    }]
}

/// All shares are no share; some of them are named.
fn named_shares(from: &[MergedShard], shares: PlanCoverage) -> Option<String> {
    let named: Vec<&str> = from.iter().filter_map(|entry| entry.shard.as_deref()).collect();
    (shares == PlanCoverage::Some && !named.is_empty()).then(|| named.join(", "))
}

/// The level that was merged, of however many the first shard had, with the cap of all of them. All shards together have the sessions of
/// one client.
fn level(
    document: &RunDocument,
    shards: &[MeasuredShard],
    shares: PlanCoverage,
) -> Option<LevelPlan> {
    let level = document.levels.get(shards.first()?.ahead.index)?.clone();
    let max_in_flight = summary::cap(shards).or(level.max_in_flight);
    let slots_of_all = level.slots_of_all.filter(|_| shares == PlanCoverage::Some);
    Some(LevelPlan { max_in_flight, slots_of_all, ..level })
}
