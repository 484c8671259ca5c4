//! What shards amount to: figures from the tapes of all, judged again, with the worst of what their clients saw.

use fizeau::core::PerSec;
use fizeau::harness::{RunRecord, StoredEnding};
use fizeau::metrics::{
    CacheExpectation, ClientProof, ClientWatch, Ending, Expectations, Headroom, LevelTally, Reason,
    Room, Thresholds, Verdict, judge,
};
use fizeau::report::{
    Asked, AskedArrivals, LevelReport, LevelStatus, LoadPoint, RequestRate, SpeedOfLight, VllmRun,
};

use super::check::Shares;
use super::shard::MeasuredShard;
use crate::exit::Fail;

/// What was asked of all shards together.
pub(super) fn asked(shards: &[MeasuredShard], shares: Shares) -> Asked {
    let of = |name: &str| {
        let path = format!("setup.workload.asked.{name}");
        shards.iter().map(|shard| shard.record().number(&path)).collect::<Option<Vec<f64>>>()
    };
    let rate = of("arrivals.rate_per_s").map(|rates| PerSec::new(rates.iter().sum()));
    // A gap of one shard is the sum of so many of the whole, so that its law has so many times less variance.
    let cv_squared = match shares {
        Shares::All(count) => of("arrivals.cv_squared")
            .and_then(|each| each.first().map(|first| first * count as f64)),
        Shares::Some => None,
    };
    let is_open = |shard: &MeasuredShard| {
        shard.record().get("setup.workload.asked.arrivals").is_none_or(|text| text != "null")
    };
    let record = shards.first().map(MeasuredShard::record);
    let text = |name| record.and_then(|record| record.text(name));
    let share = record.and_then(|record| record.number("setup.workload.asked.cached_share"));
    let cache = match (text("setup.workload.asked.cache").as_deref(), share) {
        (Some("share"), Some(share)) => CacheExpectation::Share(share),
        (Some("share" | "reuse"), _) => CacheExpectation::Reuse,
        _ => CacheExpectation::None,
    };
    let arrivals = shards.iter().all(is_open).then_some(AskedArrivals { rate, cv_squared });
    Asked { arrivals, cache }
}

/// The report of what `tally` has of all shards.
pub(super) fn report(
    shards: &[MeasuredShard],
    tally: &LevelTally,
    asked: Asked,
    is_cut: bool,
) -> Result<LevelReport, Fail> {
    let mut summary = tally.summary();
    summary.requests.held_back = sum(shards, "requests.held_back");
    summary.requests.abandoned = sum(shards, "requests.abandoned");
    let unfinished = shards.iter().filter(|shard| shard.ending != StoredEnding::Finished).count();
    let is_whole = unfinished == 0 && !is_cut;
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
    for reason in shards.iter().filter_map(worst) {
        if reason.verdict > validity.verdict {
            validity.verdict = reason.verdict;
            validity.reasons.push(reason);
        }
    }
    Ok(LevelReport {
        until: None,
        load: load(shards),
        asked,
        summary,
        client: ClientProof { ..client },
        validity,
        speed_of_light: SpeedOfLight::Absent { reason: "not computed of merged shards".to_owned() },
        status: match is_whole {
            true => LevelStatus::Finished,
            false => LevelStatus::Partial {
                reason: format!("{unfinished} of {} shards did not finish", shards.len()),
            },
        },
        folder: None,
    })
}

/// The load of all shards: rates and concurrencies add up.
fn load(shards: &[MeasuredShard]) -> LoadPoint {
    let each = |name: &str, planned: &str| {
        let of = |shard: &MeasuredShard| {
            let measured = shard.summary.as_ref().and_then(|summary| summary.number(name));
            measured.or_else(|| shard.record().number(planned))
        };
        shards.iter().map(of).sum::<Option<f64>>()
    };
    let planned_rate = "setup.workload.asked.arrivals.rate_per_s";
    if let Some(rate) = each("load.requests_per_s", planned_rate) {
        return LoadPoint::Rate(PerSec::new(rate));
    }
    let slots = each("load.concurrency", "levels[0].max_in_flight").unwrap_or_default();
    LoadPoint::Concurrency(slots as u32)
}

/// The worst of what the clients' machines saw, as far as they could tell. A ceiling is each client's own: what it came to is among a shard's reasons.
fn watch(shards: &[MeasuredShard]) -> ClientWatch {
    let summaries = || shards.iter().filter_map(|shard| shard.summary.as_ref());
    let greatest =
        |name: &str| summaries().filter_map(|summary| summary.number(name)).max_by(f64::total_cmp);
    let threads = |shard: &MeasuredShard| shard.record().whole("client.threads").unwrap_or(1);
    let threads: u64 = shards.iter().map(threads).sum();
    let headroom = Headroom {
        file_descriptors: scarcest(summaries(), "client.headroom.file_descriptors"),
        ports: scarcest(summaries(), "client.headroom.ports"),
    };
    let is_known = headroom != Headroom::default();
    ClientWatch {
        threads: u32::try_from(threads).unwrap_or(u32::MAX),
        cpu_share: greatest("client.cpu_share"),
        run_delay_share: greatest("client.run_delay_share"),
        headroom: is_known.then_some(headroom),
        ceiling: None,
    }
}

/// The room of which most is needed.
fn scarcest<'a>(summaries: impl Iterator<Item = &'a RunRecord>, name: &str) -> Option<Room> {
    let room = |summary: &RunRecord| {
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
    Some(Reason { verdict: worst, text: format!("{}: {text}", shard.name()) })
}

fn thresholds(shards: &[MeasuredShard]) -> Result<Thresholds, Fail> {
    let Some(first) = shards.first() else {
        return Ok(Thresholds::default());
    };
    let texts = first.record().texts("client.thresholds").join(",");
    texts.parse().map_err(|error| {
        Fail::usage(format!("{}: client.thresholds: {error}", first.run.document().display()))
    })
}

fn sum(shards: &[MeasuredShard], name: &str) -> u64 {
    let of = |shard: &MeasuredShard| shard.summary.as_ref()?.whole(name);
    shards.iter().filter_map(of).sum()
}

/// The heading of vLLM's block, as far as the shards have it.
pub(super) fn vllm_run(shards: &[MeasuredShard]) -> VllmRun {
    let first = shards.first().map(MeasuredShard::record);
    let text = |path| first.and_then(|record| record.text(path)).unwrap_or_default();
    let cap = |shard: &MeasuredShard| shard.record().whole("levels[0].max_in_flight");
    let cap = shards.iter().map(cap).sum::<Option<u64>>();
    VllmRun {
        date: text("setup.started"),
        backend: text("setup.endpoint.backend"),
        label: None,
        model_id: text("setup.endpoint.model"),
        tokenizer_id: None,
        metadata: Vec::new(),
        request_rate: match load(shards) {
            LoadPoint::Rate(rate) => RequestRate::Limited(rate),
            LoadPoint::Concurrency(_) => RequestRate::Unlimited,
        },
        burstiness: 1.0,
        max_concurrency: cap.and_then(|cap| u32::try_from(cap).ok()),
    }
}
