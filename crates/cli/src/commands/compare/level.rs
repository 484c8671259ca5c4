//! One level of a run that is compared.

use std::fs;

use fizeau::metrics::{ComparedRequests, GoodputGoals, Pace};
use fizeau::record::{DocumentFields, RunDocument, StoredLevel};
use serde_json::Value;

use crate::commands::shared::planned::Planned;
use crate::exit::Fail;

/// A level, and what its summary says of it.
#[derive(Debug, Clone)]
pub(super) struct Level {
    stored: StoredLevel,
    /// In words: `concurrency 8`, `10 requests/s`.
    pub(super) load: String,
    /// Its place among the levels of `run.json`.
    pub(super) index: usize,
    /// That it is a part of what was asked, or suspect.
    pub(super) notes: Vec<String>,
    /// Why it is not a measurement, if it is not.
    pub(super) invalid: Option<String>,
}

impl Level {
    /// Of a level whose run was killed there is no summary: its load is then what was asked.
    pub(super) fn read(stored: &StoredLevel, run: &RunDocument) -> Result<Self, Fail> {
        let path = stored.path().join("summary.json");
        let summary: Option<Value> = match fs::read(&path) {
            Ok(text) => {
                let read = serde_json::from_slice(&text);
                Some(read.map_err(|error| Fail::usage(format!("{}: {error}", path.display())))?)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(Fail::usage(format!("cannot read {}: {error}", path.display())));
            }
        };
        let index = index(stored, run);
        let stored = stored.clone();
        let Some(summary) = summary else {
            let load = Planned::of(run, &stored).load;
            let load =
                load.map_or_else(|| "the load of its schedule".to_owned(), |load| load.to_string());
            let notes = vec!["cut short: there is no summary.json".to_owned()];
            return Ok(Self { stored, load, index, notes, invalid: None });
        };
        let (load, notes) = (load(&summary), notes(&summary));
        let invalid = invalid(&summary);
        Ok(Self { stored, load, index, notes, invalid })
    }

    /// What was asked of it under `field`, in JSON.
    pub(super) fn asked<'a>(&self, record: &'a DocumentFields, field: &str) -> Option<&'a str> {
        record.get(&format!("levels[{}].{field}", self.index))
    }

    /// Its requests, from the tapes; `side` is for what is said of a file that was cut in mid-line.
    pub(super) fn requests(
        &self,
        pace: Pace,
        goals: &GoodputGoals,
        side: &str,
        notes: &mut Vec<String>,
    ) -> Result<ComparedRequests, Fail> {
        let mut requests = ComparedRequests::new(pace, goals);
        let mut tapes = self.stored.tapes().map_err(Fail::usage)?;
        for tape in &mut tapes {
            requests.add(&tape.map_err(Fail::usage)?);
        }
        if let Some(cut) = tapes.cut() {
            let (whole, rest) = (cut.whole, cut.rest_bytes);
            notes.push(format!(
                "{side}: tapes.jsonl was cut: {whole} whole tapes used, {rest} bytes left over"
            ));
        }
        Ok(requests)
    }
}

/// The place of a level in `run.json`, by the name of its folder: of a sweep `concurrency-0008`, of an A/B run `b-03`, whose
/// two turns a round were asked the same.
fn index(stored: &StoredLevel, run: &RunDocument) -> usize {
    let name = stored.name();
    let round = name.strip_prefix("a-").or_else(|| name.strip_prefix("b-"));
    match round.and_then(|round| round.parse::<usize>().ok()) {
        Some(round) => 2 * round.saturating_sub(1),
        None => Planned::of(run, stored).index,
    }
}

/// The load of a summary, in words.
pub(super) fn load(summary: &Value) -> String {
    let slots = summary["load"]["concurrency"].as_u64();
    let rate = summary["load"]["requests_per_s"].as_f64();
    match (slots, rate) {
        (Some(slots), _) => format!("concurrency {slots}"),
        (None, Some(rate)) => format!("{rate} requests/s"),
        (None, None) => "the load of its schedule".to_owned(),
    }
}

/// That a summary is of a part of what was asked, or not to be believed.
pub(super) fn notes(summary: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    if summary["status"] == "partial" {
        let reason = summary["status_reason"].as_str().unwrap_or("no reason is recorded");
        notes.push(format!("a part of what was asked: {reason}"));
    }
    if let Some(verdict @ ("suspect" | "invalid")) = summary["validity"]["verdict"].as_str() {
        notes.push(format!("{verdict}: {}", reasons(summary)));
    }
    notes
}

/// Why it is not a measurement, if it is not.
pub(super) fn invalid(summary: &Value) -> Option<String> {
    (summary["validity"]["verdict"] == "invalid").then(|| reasons(summary))
}

/// Why a verdict is not good.
fn reasons(summary: &Value) -> String {
    let reasons = summary["validity"]["reasons"].as_array();
    let texts = reasons.into_iter().flatten().filter_map(|reason| reason["text"].as_str());
    texts.collect::<Vec<_>>().join("; ")
}
