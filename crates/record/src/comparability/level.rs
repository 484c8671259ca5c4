//! One level of a run that is compared.

use fizeau_metrics::{ComparedRequests, GoodputGoals, Pace};

use crate::reading::LevelAhead;
use crate::{DocumentFields, FrontierPoint, RunDocument, StoredError, StoredLevel};

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
    /// Its place in the frontier of its sweep, if it has one.
    pub(super) point: Option<FrontierPoint>,
}

impl Level {
    /// Of a level whose run was killed there is no summary: its load is then what was asked.
    pub(super) fn read(stored: &StoredLevel, run: &RunDocument) -> Result<Self, StoredError> {
        let summary = stored.summary()?;
        let index = index(stored, run);
        let stored = stored.clone();
        let Some(summary) = summary else {
            let load = LevelAhead::of(run, &stored).load;
            let load =
                load.map_or_else(|| "the load of its schedule".to_owned(), |load| load.to_string());
            let notes = vec!["cut short: there is no summary.json".to_owned()];
            return Ok(Self { stored, load, index, notes, invalid: None, point: None });
        };
        let (load, notes) = (load(&summary), notes(&summary));
        let (invalid, point) = (invalid(&summary), FrontierPoint::of_summary(&summary));
        Ok(Self { stored, load, index, notes, invalid, point })
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
    ) -> Result<ComparedRequests, StoredError> {
        let mut requests = ComparedRequests::new(pace, goals);
        let mut tapes = self.stored.tapes()?;
        for tape in &mut tapes {
            requests.add(&tape?);
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
        None => LevelAhead::of(run, stored).index,
    }
}

/// The load of a summary, in words.
pub(super) fn load(summary: &DocumentFields) -> String {
    let slots = summary.whole("load.concurrency");
    let rate = summary.number("load.requests_per_s");
    match (slots, rate) {
        (Some(slots), _) => format!("concurrency {slots}"),
        (None, Some(rate)) => format!("{rate} requests/s"),
        (None, None) => "the load of its schedule".to_owned(),
    }
}

/// That a summary is of a part of what was asked, or not to be believed.
pub(super) fn notes(summary: &DocumentFields) -> Vec<String> {
    let mut notes = Vec::new();
    if summary.text("status").as_deref() == Some("partial") {
        let reason = summary.text("status_reason");
        let reason = reason.as_deref().unwrap_or("no reason is recorded");
        notes.push(format!("a part of what was asked: {reason}"));
    }
    let verdict = summary.text("validity.verdict");
    if let Some(verdict @ ("suspect" | "invalid")) = verdict.as_deref() {
        notes.push(format!("{verdict}: {}", reasons(summary)));
    }
    notes
}

/// Why it is not a measurement, if it is not.
pub(super) fn invalid(summary: &DocumentFields) -> Option<String> {
    let is_invalid = summary.text("validity.verdict").as_deref() == Some("invalid");
    is_invalid.then(|| reasons(summary))
}

/// Why a verdict is not good.
fn reasons(summary: &DocumentFields) -> String {
    let text = |index: u32| summary.text(&format!("validity.reasons[{index}].text"));
    (0..).map_while(text).collect::<Vec<_>>().join("; ")
}
