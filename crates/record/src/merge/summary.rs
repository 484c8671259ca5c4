//! What shards amount to: figures from the tapes of all, judged again, with the worst of what their clients saw.

use fizeau_core::{LevelLoad, LoadKind, PerSec, WarmUp};
use fizeau_metrics::{ClientWatch, LevelTally, SystemHeadroom};

use super::check::{CheckedShards, PlanCoverage};
use super::senders::ShardSenders;
use super::shard::{MeasuredShard, share};
use crate::{
    ArrivalMoments, Checklist, LevelContext, LevelOutcome, LevelReport, LevelStatus, MergeDoubt,
    NoReference, RequestedLoad, ShardRecord, ShardsReport, StoredEnding, StoredError, TailShares,
};

/// What was asked of all shards together.
pub(super) fn requested_load(shards: &[MeasuredShard], shares: PlanCoverage) -> RequestedLoad {
    let rate = |shard: &MeasuredShard| shard.requested_load().arrivals?.rate.map(PerSec::get);
    let rates = shards.iter().map(rate).collect::<Option<Vec<f64>>>();
    let rate = rates.map(|rates| PerSec::new(rates.iter().sum()));
    // A gap of one shard is the sum of so many of the whole, so that its law has so many times less variance.
    let cv_squared = match shares {
        PlanCoverage::All(count) => {
            let one = shards.iter().find_map(MeasuredShard::cv_squared);
            one.map(|cv_squared| cv_squared * count as f64)
        }
        PlanCoverage::Some => None,
    };
    let is_open = |shard: &MeasuredShard| shard.requested_load().arrivals.is_some();
    let cache = shards.first().map(|first| first.requested_load().cache).unwrap_or_default();
    let arrivals = shards.iter().all(is_open).then_some(ArrivalMoments { rate, cv_squared });
    RequestedLoad { arrivals, cache }
}

/// What was found while shards were merged.
pub(super) struct MergeFindings {
    /// Of each file that was cut, what is left of it.
    pub(super) cuts: Vec<String>,
    /// Why they ought not to have been merged, where that was forced.
    pub(super) forced: Vec<String>,
    /// What forced it.
    pub(super) forced_by: String,
    /// That the shards did not run together, by their tapes.
    pub(super) apart: Option<String>,
    /// How each of them fared.
    pub(super) shards: ShardsReport,
    /// How they were put on one axis of time, where that is a guess.
    pub(super) note: Option<&'static str>,
}

/// What is said where servers were asked.
const NOT_MERGED: &str = "server metrics are not merged; the folder of each shard has its own";

/// The report of what `tally` has of all shards.
pub(super) fn report(
    shards: &[MeasuredShard],
    first: &MeasuredShard,
    tally: &LevelTally,
    requested: RequestedLoad,
    found: MergeFindings,
) -> Result<LevelReport, StoredError> {
    let mut run = LevelOutcome::new(tally.summary(), tally.proof(watch(shards)));
    let requests = || shards.iter().filter_map(MeasuredShard::requests);
    run.summary.requests.held_back = requests().map(|requests| requests.held_back).sum();
    run.summary.requests.abandoned = requests().map(|requests| requests.abandoned).sum();
    run.summary.note_unsent(requests().map(|requests| requests.unsent).sum());
    run.status = status(shards, &found.cuts);
    run.warm_up = warm_up(shards);
    let mut shards_report = found.shards;
    // Readings of clocks say more than tapes.
    let apart = found.apart.filter(|_| shards_report.start_skew_ms.is_none());
    let forced = found.forced.into_iter().map(|text| {
        // In one line: below each other they are for a terminal.
        let text = text.replacen(":\n", "; ", 1).replace('\n', ",");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        MergeDoubt::Forced { by: found.forced_by.clone(), past: text }
    });
    let mut doubts: Vec<MergeDoubt> = forced.chain(apart.map(MergeDoubt::Found)).collect();
    for doubt in shards.iter().flat_map(MeasuredShard::doubts) {
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
    }
    shards_report.doubts = Some(doubts);
    run.shards = Some(shards_report);
    let mut context = LevelContext::new(requested);
    context.light = Err(NoReference::MergedShards);
    context.thresholds = first.run.thresholds()?;
    let mut report = LevelReport::from_run(load(shards), run, &context);
    let validity = &mut report.validity;
    validity.notes.extend(found.note.map(str::to_owned));
    let is_told = shards.iter().any(MeasuredShard::has_telemetry);
    validity.notes.extend(is_told.then(|| NOT_MERGED.to_owned()));
    // What differs from shard to shard is as the first had it.
    let setup = &first.document().setup;
    report.checklist = Some(Checklist::of(setup, std::slice::from_ref(&report)));
    Ok(report)
}

/// What was sent before all shards; none if one does not say.
fn warm_up(shards: &[MeasuredShard]) -> Option<WarmUp> {
    let all = shards.iter().map(|shard| shard.summary.as_ref()?.warm_up);
    all.reduce(|one, other| {
        let (one, other) = (one?, other?);
        Some(WarmUp { sent: one.sent + other.sent, failed: one.failed + other.failed })
    })?
}

/// Whether all of them are whole, and if not why.
fn status(shards: &[MeasuredShard], cuts: &[String]) -> LevelStatus {
    let unfinished = shards.iter().filter(|shard| shard.ending != StoredEnding::Finished).count();
    let unfinished =
        (unfinished > 0).then(|| format!("{unfinished} of {} shards did not finish", shards.len()));
    let reasons: Vec<String> = unfinished.into_iter().chain(cuts.iter().cloned()).collect();
    match reasons.is_empty() {
        true => LevelStatus::Finished,
        false => LevelStatus::Partial { reason: reasons.join("; ") },
    }
}

/// The load of all shards: rates and concurrencies add up. A shard without a cap had all its requests in flight at once, and one that
/// stood by, for which no slot was left, none, though its own level says one, the least there is.
fn load(shards: &[MeasuredShard]) -> LevelLoad {
    let measured = |shard: &MeasuredShard, kind: LoadKind| {
        let load = shard.summary.as_ref()?.load;
        (load.kind() == kind).then(|| load.value())
    };
    let rate = |shard: &MeasuredShard| {
        let planned = || shard.requested_load().arrivals?.rate.map(PerSec::get);
        measured(shard, LoadKind::Rate).or_else(planned)
    };
    if let Some(rate) = shards.iter().map(rate).sum::<Option<f64>>() {
        return LevelLoad::Rate(PerSec::new(rate));
    }
    let slots = |shard: &MeasuredShard| {
        let planned = || shard.ahead.cap.map_or(shard.ahead.requests as f64, f64::from);
        match shard.ahead.cap {
            Some(0) => 0.0,
            _ => measured(shard, LoadKind::Concurrency).unwrap_or_else(planned),
        }
    };
    LoadKind::Concurrency.at(shards.iter().map(slots).sum())
}

/// The cap on requests in flight of all shards; none if one has none.
pub(super) fn cap(shards: &[MeasuredShard]) -> Option<u32> {
    let cap = |shard: &MeasuredShard| shard.ahead.cap.map(u64::from);
    let cap = shards.iter().map(cap).sum::<Option<u64>>()?;
    u32::try_from(cap).ok()
}

/// How many threads measured, of all shards.
pub(super) fn threads(shards: &[MeasuredShard]) -> usize {
    let threads = |shard: &MeasuredShard| shard.document().client.as_ref().map(|of| of.threads);
    shards.iter().map(|shard| threads(shard).unwrap_or(1)).sum()
}

/// The worst of what the clients' machines saw, as far as they could tell. A ceiling is each client's own: what it came to is among a shard's reasons.
fn watch(shards: &[MeasuredShard]) -> ClientWatch {
    let seen =
        || shards.iter().filter_map(|shard| Some(shard.summary.as_ref()?.client.proof()?.watch));
    let greatest = |of: fn(&ClientWatch) -> Option<f64>| {
        seen().filter_map(|watch| of(&watch)).max_by(f64::total_cmp)
    };
    ClientWatch {
        threads: u32::try_from(threads(shards)).unwrap_or(u32::MAX),
        cpu_share: greatest(|watch| watch.cpu_share),
        run_delay_share: greatest(|watch| watch.run_delay_share),
        steal_share: greatest(|watch| watch.steal_share),
        headroom: SystemHeadroom::scarcest(seen().filter_map(|watch| watch.headroom)),
        ceiling: None,
    }
}

/// How the shards fared, of each of whose files so many tapes were read; `tail` has them by the places that `senders` knows. They stand in
/// the order of their shares, in however many steps they were merged.
pub(super) fn shards(
    shards: &[MeasuredShard],
    checked: &CheckedShards,
    tapes: &[u64],
    senders: &ShardSenders,
    tail: &TailShares,
) -> ShardsReport {
    let files = shards.iter().zip(tapes).enumerate();
    let known = files.flat_map(|(file, (shard, tapes))| {
        let is_known = senders.are_known(file);
        shard.records(*tapes).into_iter().map(move |record| (record, is_known))
    });
    let mut all: Vec<(ShardRecord, Option<f64>)> = known
        .enumerate()
        .map(|(place, (record, is_known))| (record, tail.share(place).filter(|_| is_known)))
        .collect();
    all.sort_by_cached_key(|(record, _)| share(&record.health.shard));
    let (records, shares): (Vec<ShardRecord>, Vec<Option<f64>>) = all.into_iter().unzip();
    let count = (records.len() + checked.missing.len()) as u64;
    let mut report = ShardsReport::of_parts(count, &records, tail);
    for (health, share) in report.health.iter_mut().zip(shares) {
        health.tail_share = share;
    }
    let missing = checked.missing.iter();
    report.missing = missing.map(|share| format!("{share}: it was not merged")).collect();
    report
}
