//! `per_request_lifecycle_metrics.json`: a list of the requests, with when each token came.

use fizeau_core::Tape;
use serde_json::Value;

use super::TOOL;
use crate::foreign::{Fields, ForeignError, ForeignFile, Seen};

/// What each request did.
pub(super) struct Requests {
    /// In the order in which they ended.
    pub(super) tapes: Vec<Tape>,
    /// What the first request names.
    pub(super) model: Option<String>,
}

pub(super) fn is_requests(file: &ForeignFile<'_>) -> bool {
    let info = file.first().and_then(|first| first.get("info"));
    file.has(&["start_time", "end_time"]) && info.is_some_and(Value::is_object)
}

impl Requests {
    pub(super) fn read(file: &ForeignFile<'_>) -> Result<Self, ForeignError> {
        let all = Fields::all(file, TOOL)?;
        let mut seen = Vec::with_capacity(all.len());
        for fields in &all {
            seen.push((request(fields)?, fields));
        }
        seen.sort_by(|a, b| a.0.sent.total_cmp(&b.0.sent));
        let epoch = seen.first().map_or(0.0, |(first, _)| first.sent);
        let mut tapes = Vec::with_capacity(seen.len());
        for (index, (own, fields)) in seen.into_iter().enumerate() {
            let own = Seen { sent: own.sent - epoch, ..own };
            tapes.push(own.tape(index as u64).map_err(|error| {
                let found = Value::from(error.to_string());
                fields.wrong("start_time", &found, "an instant of the run")
            })?);
        }
        tapes.sort_by_key(|tape| tape.marks.end);
        let body = all.first().and_then(|first| first.text("request"));
        let body: Option<Value> = body.and_then(|body| serde_json::from_str(&body).ok());
        let model = body.and_then(|body| body.get("model")?.as_str().map(str::to_owned));
        Ok(Self { tapes, model })
    }

    fn good(&self) -> impl Iterator<Item = &Tape> {
        self.tapes.iter().filter(|tape| tape.is_success())
    }

    pub(super) fn completed(&self) -> u64 {
        self.good().count() as u64
    }

    pub(super) fn input_tokens(&self) -> u64 {
        let lengths = self.good().filter_map(Tape::input_tokens);
        lengths.fold(0, |sum, tokens| sum.saturating_add(tokens.get()))
    }

    pub(super) fn output_tokens(&self) -> u64 {
        self.good().fold(0, |sum, tape| sum.saturating_add(tape.output_tokens().get()))
    }
}

/// Tokens of one chunk have one instant, which is one event here.
fn request(fields: &Fields<'_>) -> Result<Seen, ForeignError> {
    let info = fields.object("info")?.ok_or_else(|| fields.missing("info"))?;
    let (start, end) = (fields.number("start_time")?, fields.number("end_time")?);
    let times = info.numbers("output_token_times")?.unwrap_or_default();
    let mut times: Vec<f64> = times.into_iter().flatten().collect();
    let tokens = times.len() as u64;
    times.dedup();
    let error = fields.object("error")?.map(|error| {
        let words = [error.words("error_type"), error.words("error_msg")];
        words.into_iter().flatten().collect::<Vec<_>>().join(": ")
    });
    let gaps = times.iter().zip(times.iter().skip(1)).map(|(from, to)| (to - from).max(0.0));
    Ok(Seen {
        intended: None,
        sent: start,
        ttft: times.first().map(|first| (first - start).max(0.0)),
        gaps: gaps.collect(),
        end: Some((end - start).max(0.0)),
        input: info.maybe_whole("input_tokens")?,
        output: info.maybe_whole("output_tokens")?.unwrap_or(tokens),
        is_failed: error.is_some(),
        error: error.unwrap_or_default(),
        text: None,
    })
}
