//! What shards amount to: figures from the tapes of all, judged again, with the worst of what their clients saw.

use fizeau::core::PerSec;
use fizeau::interop::{RequestRate, VllmRun};
use fizeau::metrics::{
    ClientProof, ClientWatch, Concern, Ending, Expectations, Headroom, LevelTally, Reason, Room,
    Thresholds, Verdict, judge,
};
use fizeau::record::{
    Asked, AskedArrivals, Checklist, LevelReport, LevelStatus, LoadPoint, SpeedOfLight, WarmUp,
};
use fizeau::record::{DocumentFields, StoredEnding};

use super::check::Shares;
use super::shard::MeasuredShard;
use crate::exit::Fail;

/// What was asked of all shards together.
pub(super) fn asked(shards: &[MeasuredShard], shares: Shares) -> Asked {
    let rate = |shard: &MeasuredShard| shard.asked().arrivals?.rate.map(PerSec::get);
    let rates = shards.iter().map(rate).collect::<Option<Vec<f64>>>();
    let rate = rates.map(|rates| PerSec::new(rates.iter().sum()));
    // A gap of one shard is the sum of so many of the whole, so that its law has so many times less variance.
    let cv_squared = match shares {
        Shares::All(count) => {
            let one = shards.iter().find_map(MeasuredShard::cv_squared);
            one.map(|cv_squared| cv_squared * count as f64)
        }
        Shares::Some => None,
    };
    let is_open = |shard: &MeasuredShard| shard.asked().arrivals.is_some();
    let cache = shards.first().map(|first| first.asked().cache).unwrap_or_default();
    let arrivals = shards.iter().all(is_open).then_some(AskedArrivals { rate, cv_squared });
    Asked { arrivals, cache }
}

/// What was found while shards were merged.
pub(super) struct Found {
    /// Of each file that was cut in mid-line, what is left of it.
    pub(super) cuts: Vec<String>,
    /// Why they ought not to have been merged, where that was forced.
    pub(super) forced: Vec<String>,
    /// That the shards did not run together.
    pub(super) apart: Option<Reason>,
    /// How they were put on one axis of time, where that is a guess.
    pub(super) note: Option<&'static str>,
}

/// The report of what `tally` has of all shards.
pub(super) fn report(
    shards: &[MeasuredShard],
    tally: &LevelTally,
    asked: Asked,
    found: Found,
) -> Result<LevelReport, Fail> {
    let mut summary = tally.summary();
    summary.requests.held_back = sum(shards, "requests.held_back");
    summary.requests.abandoned = sum(shards, "requests.abandoned");
    let status = status(shards, &found.cuts);
    let is_whole = status == LevelStatus::Finished;
    let client = tally.proof(watch(shards));
    let expected = Expectations {
        thresholds: thresholds(shards)?,
        held_back: summary.requests.held_back,
        cache: asked.cache,
        abandoned: summary.requests.abandoned,
        ending: if is_whole { Ending::Finished } else { Ending::Interrupted },
        ..Expectations::default()
    };
    let mut validity = judge(&summary, &client, &expected);
    validity.notes.extend(found.note.map(str::to_owned));
    let forced = found.forced.into_iter().map(|text| Reason {
        verdict: Verdict::Suspect,
        about: Concern::Shards,
        // In one line: below each other they are for a terminal.
        text: format!(
            "merged by --force: {}",
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        ),
    });
    for reason in forced.chain(found.apart) {
        validity.verdict = validity.verdict.max(reason.verdict);
        validity.reasons.push(reason);
    }
    // A shard to which no request fell is invalid by itself, and takes nothing from the others.
    for reason in shards.iter().filter(|shard| !shard.is_empty()).filter_map(worst) {
        if reason.verdict > validity.verdict {
            validity.verdict = reason.verdict;
            validity.reasons.push(reason);
        }
    }
    let mut report = LevelReport {
        until: None,
        load: load(shards),
        asked,
        summary,
        client: ClientProof { ..client },
        validity,
        speed_of_light: SpeedOfLight::Absent { reason: "not computed of merged shards".to_owned() },
        status,
        warm_up: warm_up(shards),
        checklist: None,
        unseen: None,
        folder: None,
        detail: None,
    };
    // What differs from shard to shard is as the first had it.
    let setup = shards.first().map(|first| &first.document().setup);
    report.checklist = setup.map(|setup| Checklist::of(setup, std::slice::from_ref(&report)));
    Ok(report)
}

/// What was sent before all shards; none if one does not say.
fn warm_up(shards: &[MeasuredShard]) -> Option<WarmUp> {
    let count = |shard: &MeasuredShard, name: &str| {
        shard.summary.as_ref()?.whole(&format!("warm_up.{name}"))
    };
    let sum = |name| shards.iter().map(|shard| count(shard, name)).sum::<Option<u64>>();
    Some(WarmUp { sent: sum("sent")?, failed: sum("failed")? })
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

/// The load of all shards: rates and concurrencies add up.
fn load(shards: &[MeasuredShard]) -> LoadPoint {
    let measured = |shard: &MeasuredShard, name: &str| shard.summary.as_ref()?.number(name);
    let rate = |shard: &MeasuredShard| {
        let planned = || shard.asked().arrivals?.rate.map(PerSec::get);
        measured(shard, "load.requests_per_s").or_else(planned)
    };
    if let Some(rate) = shards.iter().map(rate).sum::<Option<f64>>() {
        return LoadPoint::Rate(PerSec::new(rate));
    }
    let slots = |shard: &MeasuredShard| {
        measured(shard, "load.concurrency").or_else(|| shard.planned.cap.map(f64::from))
    };
    let slots = shards.iter().map(slots).sum::<Option<f64>>().unwrap_or_default();
    LoadPoint::Concurrency(slots as u32)
}

/// The cap on requests in flight of all shards; none if one has none.
pub(super) fn cap(shards: &[MeasuredShard]) -> Option<u32> {
    let cap = |shard: &MeasuredShard| shard.planned.cap.map(u64::from);
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
    let summaries = || shards.iter().filter_map(|shard| shard.summary.as_ref());
    let greatest =
        |name: &str| summaries().filter_map(|summary| summary.number(name)).max_by(f64::total_cmp);
    let headroom = Headroom {
        file_descriptors: scarcest(summaries(), "client.headroom.file_descriptors"),
        ports: scarcest(summaries(), "client.headroom.ports"),
    };
    let is_known = headroom != Headroom::default();
    ClientWatch {
        threads: u32::try_from(threads(shards)).unwrap_or(u32::MAX),
        cpu_share: greatest("client.cpu_share"),
        run_delay_share: greatest("client.run_delay_share"),
        headroom: is_known.then_some(headroom),
        ceiling: None,
    }
}

/// The room of which most is needed.
fn scarcest<'a>(summaries: impl Iterator<Item = &'a DocumentFields>, name: &str) -> Option<Room> {
    let room = |summary: &DocumentFields| {
        let figure = |part: &str| summary.whole(&format!("{name}.{part}"));
        Some(Room { needed: figure("needed")?, limit: figure("limit")? })
    };
    let need = |room: &Room| room.needed as f64 / room.limit.max(1) as f64;
    summaries.filter_map(room).max_by(|a, b| need(a).total_cmp(&need(b)))
}

/// What weighs most against a shard by itself; none if nothing does.
fn worst(shard: &MeasuredShard) -> Option<Reason> {
    let summary = shard.summary.as_ref()?;
    let verdict = |path: &str| match summary.text(path)?.as_str() {
        "suspect" => Some(Verdict::Suspect),
        "invalid" => Some(Verdict::Invalid),
        _ => None,
    };
    let worst = verdict("validity.verdict")?;
    let mut reasons = (0..).map(|n| format!("validity.reasons[{n}]"));
    let text = reasons.find_map(|path| match summary.text(&format!("{path}.verdict")) {
        None => Some(None),
        Some(_) if verdict(&format!("{path}.verdict")) == Some(worst) => {
            Some(summary.text(&format!("{path}.text")))
        }
        Some(_) => None,
    });
    let text = text.flatten().unwrap_or_else(|| "its summary does not say why".to_owned());
    Some(Reason {
        verdict: worst,
        about: Concern::Shards,
        text: format!("{}: {text}", shard.name()),
    })
}

fn thresholds(shards: &[MeasuredShard]) -> Result<Thresholds, Fail> {
    let Some(first) = shards.first() else {
        return Ok(Thresholds::default());
    };
    let texts = first.document().client.as_ref().map(|client| client.thresholds.join(","));
    texts.unwrap_or_default().parse().map_err(|error| {
        Fail::usage(format!("{}: client.thresholds: {error}", first.run.document_path().display()))
    })
}

fn sum(shards: &[MeasuredShard], name: &str) -> u64 {
    let of = |shard: &MeasuredShard| shard.summary.as_ref()?.whole(name);
    shards.iter().filter_map(of).sum()
}

/// The heading of vLLM's block, as far as the shards have it.
pub(super) fn vllm_run(shards: &[MeasuredShard], asked: Asked) -> VllmRun {
    let setup = shards.first().map(|first| first.document().setup.clone()).unwrap_or_default();
    VllmRun {
        date: setup.started,
        backend: setup.endpoint.backend,
        label: None,
        model_id: setup.endpoint.model,
        tokenizer_id: None,
        metadata: Vec::new(),
        request_rate: match load(shards) {
            LoadPoint::Rate(rate) => RequestRate::Limited(rate),
            LoadPoint::Concurrency(_) => RequestRate::Unlimited,
        },
        burstiness: asked.arrivals.and_then(|law| law.cv_squared).map_or(1.0, |cv| 1.0 / cv),
        max_concurrency: cap(shards),
    }
}
