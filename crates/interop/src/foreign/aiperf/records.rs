//! `profile_export.jsonl`: a line a request.

use fizeau_core::{FailureClass, Tape};
use serde::Deserialize;

use super::summary::explain;
use super::{LATENCIES, TOOL};
use crate::foreign::figures::iso_of_unix;
use crate::foreign::read::{Lenient, Record};
use crate::foreign::statistics::{Single, millis_in};
use crate::foreign::vllm::source;
use crate::foreign::{
    FigureSheet, ForeignError, ForeignFile, ImportedAbout, ImportedCounts, ImportedLevel,
    ImportedLoad, Seen, UnknownFact,
};

/// What the requests of a run did.
pub(super) struct Records {
    all: Vec<Request>,
    /// In the order in which they ended; none where the file does not have all of the events.
    pub(super) tapes: Vec<Tape>,
    /// When the first of them was due or sent, since 1970.
    pub(super) epoch_unix_ns: Option<u64>,
    /// Whether each says of which session it is.
    pub(super) has_sessions: bool,
    /// What is not known because of that.
    pub(super) not_known: Vec<UnknownFact>,
}

/// A line: one request.
#[derive(Debug, Deserialize)]
struct Request {
    metadata: Metadata,
    metrics: Metrics,
    error: Option<ErrorDetails>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    request_start_ns: u64,
    request_end_ns: u64,
    credit_issued_ns: Option<u64>,
    benchmark_phase: Lenient<String>,
    was_cancelled: Lenient<bool>,
    session_num: Lenient<u64>,
    turn_index: Lenient<u32>,
}

/// Latencies in milliseconds, once they are put into these.
#[derive(Debug, Deserialize)]
struct Metrics {
    time_to_first_token: Option<Single<f64>>,
    inter_token_latency: Option<Single<f64>>,
    request_latency: Option<Single<f64>>,
    inter_chunk_latency: Option<Single<Vec<Option<f64>>>>,
    input_sequence_length: Option<Single<u64>>,
    output_sequence_length: Option<Single<u64>>,
    #[serde(default)]
    usage_prompt_cache_read_tokens: Lenient<Single<u64>>,
    #[serde(default)]
    reasoning_token_count: Lenient<Single<u64>>,
}

#[derive(Debug, Deserialize)]
struct ErrorDetails {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    message: Lenient<String>,
    code: Lenient<u64>,
}

impl ErrorDetails {
    /// Whether it came as an event of a reply whose own status was good.
    fn is_within_stream(&self) -> bool {
        self.kind.0.as_deref() == Some("SSEResponseError")
    }
}

impl Metrics {
    /// Puts latencies of other units into milliseconds; of a value without one these are meant.
    fn convert_to_millis(&mut self, record: &Record<'_>) -> Result<(), ForeignError> {
        let scale = |unit: &Lenient<String>, tag: &str| {
            let unit = unit.0.as_deref().unwrap_or("ms");
            millis_in(Some(unit), record, &format!("metrics.{tag}"))
        };
        for (of, tag) in [
            (&mut self.time_to_first_token, "time_to_first_token"),
            (&mut self.inter_token_latency, "inter_token_latency"),
            (&mut self.request_latency, "request_latency"),
        ] {
            let Some(of) = of else { continue };
            let scale = scale(&of.unit, tag)?;
            of.avg.iter_mut().for_each(|value| *value *= scale);
        }
        if let Some(of) = &mut self.inter_chunk_latency {
            let scale = scale(&of.unit, "inter_chunk_latency")?;
            of.avg.iter_mut().flatten().flatten().for_each(|value| *value *= scale);
        }
        Ok(())
    }
}

/// A value, where it is there.
fn of<T: Clone>(metric: &Option<Single<T>>) -> Option<T> {
    metric.as_ref()?.avg.clone()
}

pub(super) fn is_records(file: &ForeignFile<'_>) -> bool {
    let metadata = file.first().and_then(|first| first.get("metadata"));
    file.has(&["metadata", "metrics"])
        && metadata.is_some_and(|metadata| metadata.get("request_start_ns").is_some())
}

/// The requests that were measured: those of a warm-up are left out.
pub(super) fn read(file: &ForeignFile<'_>) -> Result<Records, ForeignError> {
    let mut all = Vec::new();
    let records = Record::all(file, TOOL)?;
    for record in &records {
        let mut request: Request = record.read()?;
        request.metrics.convert_to_millis(record)?;
        if request.metadata.benchmark_phase.0.as_deref() != Some("warmup") {
            all.push(request);
        }
    }
    all.sort_by_key(|request| request.metadata.request_start_ns);
    let mut not_known = vec![
        UnknownFact::new(
            "tokens of each event",
            "the file has the sum of a reply; it is spread over its events",
        ),
        UnknownFact::new("the requested length of each reply", "not in the file"),
        UnknownFact::new(
            "warm-up",
            match records.len() - all.len() {
                0 => "no request of a warm-up is in the file".to_owned(),
                left => format!("{left} requests of a warm-up are left out"),
            },
        ),
    ];
    let tapes = match all.iter().all(Request::has_events) {
        true => tapes(&all, &records)?,
        false => {
            let why = "the file lacks the gaps of some replies (inter_chunk_latency): no figure can be \
             computed again";
            not_known = vec![UnknownFact::new("tapes", why)];
            Vec::new()
        }
    };
    let epoch_unix_ns = all.iter().map(Request::first_ns).min();
    let has_sessions = all.iter().all(|request| request.metadata.session_num.0.is_some());
    Ok(Records { all, tapes, epoch_unix_ns, has_sessions, not_known })
}

impl Request {
    /// A latency, by the tool's name.
    fn ms(&self, tag: &str) -> Option<f64> {
        match tag {
            "time_to_first_token" => of(&self.metrics.time_to_first_token),
            "inter_token_latency" => of(&self.metrics.inter_token_latency),
            _ => of(&self.metrics.request_latency),
        }
    }

    /// What went wrong; none if nothing did.
    fn error(&self) -> Option<String> {
        if self.is_called_off() {
            let why = self.error.as_ref().and_then(|error| error.message.0.as_deref());
            return Some(format!("cancelled: {}", why.unwrap_or("by the client")));
        }
        let words = |error: &ErrorDetails| {
            let class =
                error.is_within_stream().then(|| FailureClass::InStreamError.as_str().to_owned());
            let words = [&error.kind, &error.message].map(|part| part.0.clone());
            class.into_iter().chain(words.into_iter().flatten()).collect::<Vec<_>>().join(": ")
        };
        self.error.as_ref().map(words)
    }

    /// Whether the client cancelled it: that is an error in the file too.
    fn is_called_off(&self) -> bool {
        self.metadata.was_cancelled.0 == Some(true)
    }

    /// The status of the server's reply, where that is what went wrong: the codes of what the client itself cancelled, and of errors within
    /// a stream, are made up.
    fn status(&self) -> Option<u16> {
        let error = self.error.as_ref().filter(|_| !self.is_called_off())?;
        let code = error.code.0.filter(|_| !error.is_within_stream())?;
        u16::try_from(code).ok().filter(|code| (400..600).contains(code))
    }

    /// Whether each of its events is known: a reply of one event has no gap.
    fn has_events(&self) -> bool {
        let (first, last) = (self.ms("time_to_first_token"), self.ms("request_latency"));
        let is_single = first.zip(last).is_some_and(|(first, last)| last - first < 1e-6);
        let has_gaps = || is_single || of(&self.metrics.inter_chunk_latency).is_some();
        self.error().is_some() || (first.is_some() && has_gaps())
    }

    /// When the first of it happened.
    fn first_ns(&self) -> u64 {
        let Metadata { request_start_ns, credit_issued_ns, .. } = self.metadata;
        request_start_ns.min(credit_issued_ns.unwrap_or(u64::MAX))
    }

    /// When the last of its output came.
    fn last_ns(&self) -> u64 {
        let latency = self.ms("request_latency").map(|ms| (ms * 1e6) as u64);
        let Metadata { request_start_ns, request_end_ns, .. } = self.metadata;
        latency.map_or(request_end_ns, |ns| request_start_ns.saturating_add(ns))
    }

    fn seen(&self, epoch: u64) -> Seen {
        let Metadata { request_start_ns, request_end_ns, credit_issued_ns, .. } = self.metadata;
        let Metadata { session_num, turn_index, .. } = &self.metadata;
        let seconds = |ns: u64| ns.saturating_sub(epoch) as f64 / 1e9;
        let gaps = of(&self.metrics.inter_chunk_latency).into_iter().flatten().flatten();
        let error = self.error();
        Seen {
            intended: credit_issued_ns.map(seconds),
            sent: seconds(request_start_ns),
            ttft: self.ms("time_to_first_token").map(|ms| ms / 1e3),
            gaps: gaps.map(|ms| ms / 1e3).collect(),
            end: Some(request_end_ns.saturating_sub(request_start_ns) as f64 / 1e9),
            input: of(&self.metrics.input_sequence_length),
            output: of(&self.metrics.output_sequence_length).unwrap_or_default(),
            is_failed: error.is_some(),
            error: error.unwrap_or_default(),
            status: self.status(),
            turn: session_num.0.map(|session| (session, turn_index.0.unwrap_or_default())),
            cached: of(&self.metrics.usage_prompt_cache_read_tokens.0),
            reasoning: of(&self.metrics.reasoning_token_count.0),
            ..Seen::default()
        }
    }
}

fn tapes(all: &[Request], records: &[Record<'_>]) -> Result<Vec<Tape>, ForeignError> {
    let epoch = all.iter().map(Request::first_ns).min().unwrap_or_default();
    let Some(first) = records.first() else { return Ok(Vec::new()) };
    let seen = all.iter().map(|request| request.seen(epoch));
    Seen::tapes(seen, first, |_| "metadata.request_start_ns".to_owned())
}

/// The level of records without a summary beside them.
pub(super) fn level(file: &ForeignFile<'_>) -> Result<ImportedLevel, ForeignError> {
    let records = read(file)?;
    let good: Vec<&Request> =
        records.all.iter().filter(|request| request.error().is_none()).collect();
    let sum = |of: fn(&Request) -> Option<u64>| -> u64 {
        good.iter().filter_map(|request| of(request)).fold(0, u64::saturating_add)
    };
    let input = sum(|request| of(&request.metrics.input_sequence_length));
    let output = sum(|request| of(&request.metrics.output_sequence_length));
    let start = good.iter().map(|request| request.metadata.request_start_ns).min();
    let end = good.iter().map(|request| request.last_ns()).max();
    let duration = start.zip(end).map(|(start, end)| end.saturating_sub(start) as f64 / 1e9);
    let mut sheet = FigureSheet::new(good.len() as u64);
    let rate = |count: u64| duration.filter(|s| *s > 0.0).map(|s| count as f64 / s);
    sheet.put("requests_per_s", rate(good.len() as u64));
    sheet.put("output_tps", rate(output));
    sheet.put("total_tps", rate(input.saturating_add(output)));
    for (metric, tag) in LATENCIES {
        sheet.sample(metric, good.iter().filter_map(|request| request.ms(tag)));
    }
    explain(&mut sheet);
    let mut not_known = records.not_known;
    let why = "profile_export_aiperf.json, which has it, is missing";
    not_known.push(UnknownFact::new("the load, the model and the data set", why));
    // An epoch that nobody knew is no date.
    let began =
        records.all.first().map(|request| request.metadata.request_start_ns / 1_000_000_000);
    let began = began.filter(|at| *at > 1_000_000_000).and_then(iso_of_unix);
    let level = ImportedLevel {
        load: ImportedLoad::from_rate_and_cap(None, None),
        about: ImportedAbout { date: began, ..ImportedAbout::default() },
        counts: ImportedCounts {
            completed: good.len() as u64,
            failed: Some((records.all.len() - good.len()) as u64),
            input_tokens: Some(input),
            output_tokens: Some(output),
            duration_s: duration,
            held_back: None,
        },
        not_known,
        has_sessions: records.has_sessions,
        epoch_unix_ns: records.epoch_unix_ns,
        tapes: records.tapes,
        ..ImportedLevel::of(source(file, "aiperf", TOOL), "{}".to_owned())
    };
    Ok(sheet.finish(level))
}
