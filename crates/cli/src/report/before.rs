//! What is known of a stored level beside its tapes: what was asked, and what the client saw of itself.

use std::path::Path;

use fizeau::core::PerSec;
use fizeau::harness::{StoredLevel, StoredRun};
use fizeau::metrics::{
    CacheExpectation, Ceiling, ClientWatch, Headroom, OnTimeLimit, Room, Thresholds,
};
use fizeau::report::{Asked, AskedArrivals, LevelStatus, LoadPoint};
use serde_json::Value;

use super::{concurrency, setup};
use crate::exit::{Fail, Named};

/// What is known of a level beside its tapes.
pub(super) struct Before {
    pub(super) load: LoadPoint,
    pub(super) asked: Asked,
    /// The cap on requests in flight.
    pub(super) cap: Option<u32>,
    pub(super) thresholds: Thresholds,
    pub(super) watch: ClientWatch,
    pub(super) held_back: u64,
    pub(super) abandoned: u64,
    pub(super) status: LevelStatus,
    /// Notes of the verdict, some of which only the run itself could know.
    pub(super) notes: Vec<String>,
    /// Why there was no speed of light.
    pub(super) no_bound: Option<String>,
}

impl Before {
    pub(super) fn read(run: &StoredRun, level: &StoredLevel) -> Result<Self, Fail> {
        let record = run.record();
        let summary = json(&level.path().join("summary.json"))?.unwrap_or(Value::Null);
        let asked = match summary.get("asked") {
            Some(asked) => of_asked(asked),
            None => of_asked(&setup::asked(record)),
        };
        let slots = concurrency(&folder_name(level));
        let cap = slots.or_else(|| setup::planned(record).first().copied());
        let thresholds = setup::list(record, "client.thresholds").join(",");
        let text = |path: &str| summary.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let count = |path: &str| summary.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let notes = summary.pointer("/validity/notes").and_then(Value::as_array);
        let notes = notes.into_iter().flatten().filter_map(Value::as_str);
        Ok(Self {
            load: load(&summary, &asked, slots.or(cap), setup::requests(record)),
            asked,
            cap,
            thresholds: thresholds.parse().named("run.json: client.thresholds")?,
            watch: of_watch(&summary["client"]),
            held_back: count("/requests/held_back"),
            abandoned: count("/requests/abandoned"),
            status: status(&summary, text("/status_reason").as_deref()),
            notes: notes.map(str::to_owned).collect(),
            no_bound: text("/speed_of_light_reason"),
        })
    }
}

/// A JSON file; none if there is none.
pub(super) fn json(path: &Path) -> Result<Option<Value>, Fail> {
    let name = path.display().to_string();
    match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        read => serde_json::from_slice(&read.named(&name)?).map(Some).named(&name),
    }
}

/// A level of a sweep that is opened by itself has no name but its folder's.
fn folder_name(level: &StoredLevel) -> String {
    let folder = level.path().canonicalize().unwrap_or_else(|_| level.path().to_path_buf());
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// As the summary has it, else as it was asked for.
fn load(summary: &Value, asked: &Asked, slots: Option<u32>, requests: u64) -> LoadPoint {
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let load = &summary["load"];
    if let Some(slots) = load["concurrency"].as_u64() {
        return LoadPoint::Concurrency(small(slots));
    }
    let rate = load["requests_per_s"].as_f64().map(PerSec::new);
    match rate.or_else(|| asked.arrivals?.rate) {
        Some(rate) => LoadPoint::Rate(rate),
        None => LoadPoint::Concurrency(slots.unwrap_or_else(|| small(requests))),
    }
}

fn status(summary: &Value, reason: Option<&str>) -> LevelStatus {
    let partial = |reason: &str| LevelStatus::Partial { reason: reason.to_owned() };
    match summary["status"].as_str() {
        Some("finished") => LevelStatus::Finished,
        Some(_) => partial(reason.unwrap_or("it is not said why")),
        None => partial("there is no summary.json: it did not come to its end"),
    }
}

pub(super) fn of_asked(asked: &Value) -> Asked {
    Asked {
        arrivals: asked["arrivals"].as_object().map(|law| AskedArrivals {
            rate: law.get("rate_per_s").and_then(Value::as_f64).map(PerSec::new),
            cv_squared: law.get("cv_squared").and_then(Value::as_f64),
        }),
        cache: match (asked["cache"].as_str(), asked["cached_share"].as_f64()) {
            (Some("share"), Some(share)) => CacheExpectation::Share(share),
            (Some("reuse"), _) => CacheExpectation::Reuse,
            _ => CacheExpectation::None,
        },
    }
}

fn of_watch(client: &Value) -> ClientWatch {
    let room = |room: &Value| {
        Some(Room { needed: room["needed"].as_u64()?, limit: room["limit"].as_u64()? })
    };
    let rate = |value: &Value| value.as_f64().map(PerSec::new);
    let on_time = |limit: &Value| {
        let tokens_per_s = rate(&limit["tokens_per_s"])?;
        Some(OnTimeLimit { streams: limit["streams"].as_u64()?, tokens_per_s })
    };
    let ceiling = |ceiling: &Value| {
        let tokens_per_s = rate(&ceiling["tokens_per_s"])?;
        let on_time = on_time(&ceiling["on_time"]);
        Some(Ceiling { streams: ceiling["streams"].as_u64()?, tokens_per_s, on_time })
    };
    ClientWatch {
        threads: client["threads"].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
        cpu_share: client["cpu_share"].as_f64(),
        run_delay_share: client["run_delay_share"].as_f64(),
        headroom: client["headroom"].as_object().map(|_| Headroom {
            file_descriptors: room(&client["headroom"]["file_descriptors"]),
            ports: room(&client["headroom"]["ports"]),
        }),
        ceiling: ceiling(&client["ceiling"]),
    }
}
