//! The single requests of a benchmark.

use fizeau_core::{Nanos, Tape};
use serde::Deserialize;

use super::{Groups, Totals};
use crate::foreign::read::{Lenient, Record};
use crate::foreign::{FigureSheet, ForeignError, Seen};

/// What each request did.
pub(super) struct Requests {
    all: Vec<Sent>,
    /// How many of those listed failed, before they were sent or after.
    failed: u64,
}

/// One that was sent. Instants are seconds since 1970.
struct Sent {
    start: f64,
    timings: Timings,
    end: f64,
    input: Option<u64>,
    output: u64,
    error: Option<String>,
    text: Option<String>,
}

/// A request as the file has it.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    #[serde(default)]
    info: Info,
    input_metrics: Option<Usage>,
    output_metrics: Option<Usage>,
    output: Lenient<String>,
    // What version 0.3 and those before it have in place of `info` and the metrics of its parts.
    #[serde(default)]
    scheduler_info: Lenient<Scheduled>,
    start_time: Option<f64>,
    end_time: Option<f64>,
    first_token_time: Option<f64>,
    last_token_time: Option<f64>,
    prompt_tokens: Option<u64>,
    output_tokens: Option<u64>,
    #[serde(default)]
    error: Lenient<String>,
}

#[derive(Debug, Deserialize)]
struct Scheduled {
    targeted_start_time: Lenient<f64>,
}

#[derive(Debug, Default, Deserialize)]
struct Info {
    #[serde(default)]
    timings: Timings,
    #[serde(default)]
    error: Lenient<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Timings {
    /// Its scheduler may start before the zero of its clock: a time below zero is no time at which a request was due.
    #[serde(default)]
    targeted_start: Lenient<f64>,
    request_start: Option<f64>,
    first_token_iteration: Option<f64>,
    last_token_iteration: Option<f64>,
    request_end: Option<f64>,
    resolve_end: Option<f64>,
    token_iterations: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Usage {
    total_tokens: Option<u64>,
    text_tokens: Option<u64>,
}

impl Requests {
    /// Those of a benchmark; one that failed before it was sent is none.
    pub(super) fn of(groups: Groups, record: &Record<'_>) -> Result<Self, ForeignError> {
        let mut all = Vec::new();
        for (index, request) in groups.successful.into_iter().flatten().enumerate() {
            let missing = || {
                let field = format!("requests.successful[{index}].info.timings.request_start");
                record.missing(&field)
            };
            all.push(request.sent(None).ok_or_else(missing)?);
        }
        let mut failed = 0;
        for request in groups.errored.into_iter().flatten() {
            failed += 1;
            let error = request.info.error.0.as_ref().or(request.error.0.as_ref());
            let error = error.cloned().unwrap_or_default();
            all.extend(request.sent(Some(error)));
        }
        Ok(Self { all, failed })
    }

    /// Whether all requests of a benchmark with these totals are here, and not only a sample of them.
    pub(super) fn are_whole(&self, totals: &Totals) -> bool {
        self.completed() == totals.successful && self.failed == totals.errored.unwrap_or_default()
    }

    pub(super) fn completed(&self) -> u64 {
        self.good().count() as u64
    }

    fn good(&self) -> impl Iterator<Item = &Sent> {
        self.all.iter().filter(|request| request.error.is_none())
    }

    /// By our definitions: the end of a reply is its last token.
    pub(super) fn figures(&self, sheet: &mut FigureSheet) {
        let ms = |from: f64, to: Option<f64>| Some((to? - from) * 1e3);
        sheet.sample(
            "ttft",
            self.good().filter_map(|own| ms(own.start, own.timings.first_token_iteration)),
        );
        sheet.sample(
            "e2el",
            self.good().filter_map(|own| ms(own.start, own.timings.last_token_iteration)),
        );
        let pace = |own: &Sent| {
            let Timings { first_token_iteration, last_token_iteration, .. } = own.timings;
            let decoding = ms(first_token_iteration?, last_token_iteration)?;
            (own.output > 1).then(|| decoding / (own.output - 1) as f64)
        };
        sheet.sample("tpot", self.good().filter_map(pace));
        sheet.caveat(
            "TPOT divides by all tokens but one; ours leaves out every token of the first event",
        );
        sheet.caveat("GuideLLM stamps by the wall clock: a step of it is in the figures");
        sheet.not_known("itl", "GuideLLM does not keep when each token came");
    }

    /// The same without when each was due: of a strategy without a clock that is no instant of a plan.
    pub(super) fn unplanned(mut self) -> Self {
        self.all.iter_mut().for_each(|own| own.timings.targeted_start = Lenient(None));
        self
    }

    /// When the first of them was due or sent.
    fn epoch(&self) -> f64 {
        let due =
            |own: &Sent| own.timings.targeted_start.0.map_or(own.start, |at| at.min(own.start));
        self.all.iter().map(due).fold(f64::INFINITY, f64::min)
    }

    /// The same in nanoseconds.
    pub(super) fn epoch_unix_ns(&self) -> Option<u64> {
        Nanos::from_secs_f64(self.epoch()).ok().map(Nanos::as_nanos)
    }

    /// The tapes of the requests, in the order in which they ended.
    pub(super) fn tapes(&self, record: &Record<'_>) -> Result<Vec<Tape>, ForeignError> {
        let epoch = self.epoch();
        let seen = self.all.iter().map(|own| own.seen(epoch));
        Seen::tapes(seen, record, |_| "requests".to_owned())
    }
}

/// The most events that a reply is given here: no reply has more.
const MOST: u64 = 1 << 20;

impl Sent {
    fn seen(&self, epoch: f64) -> Seen {
        let (targeted_start, first) =
            (self.timings.targeted_start.0, self.timings.first_token_iteration);
        let decoding = first.zip(self.timings.last_token_iteration);
        let decoding = decoding.map(|(first, last)| (last - first).max(0.0));
        let chunks = self.timings.token_iterations.unwrap_or_default();
        let later = chunks.clamp(1, MOST) - 1;
        let gap = decoding.map_or(0.0, |decoding| decoding / later.max(1) as f64);
        Seen {
            intended: targeted_start.map(|at| (at - epoch).max(0.0)),
            sent: self.start - epoch,
            ttft: first.map(|first| (first - self.start).max(0.0)),
            gaps: (0..later).map(|_| gap).collect(),
            end: Some((self.end - self.start).max(0.0)),
            input: self.input,
            output: self.output,
            error: self.error.clone().unwrap_or_default(),
            is_failed: self.error.is_some(),
            text: self.text.clone(),
            ..Seen::default()
        }
    }
}

impl Request {
    /// As any version has them. Version 0.3 does not say how many chunks a reply had; one for each token stands in.
    fn timings(&self) -> Timings {
        if self.info.timings.request_start.is_some() || self.start_time.is_none() {
            return self.info.timings.clone();
        }
        let targeted = self.scheduler_info.0.as_ref().and_then(|own| own.targeted_start_time.0);
        Timings {
            targeted_start: Lenient(targeted),
            request_start: self.start_time,
            first_token_iteration: self.first_token_time,
            last_token_iteration: self.last_token_time,
            request_end: self.end_time,
            resolve_end: None,
            token_iterations: self.output_tokens,
        }
    }

    /// None of a request that was never sent.
    fn sent(self, error: Option<String>) -> Option<Sent> {
        let tokens =
            |usage: Option<Usage>| usage.and_then(|own| own.total_tokens.or(own.text_tokens));
        let timings = self.timings();
        let start = timings.request_start?;
        let end = timings.request_end.or(timings.resolve_end).or(timings.last_token_iteration);
        let chunks = timings.token_iterations.unwrap_or_default();
        Some(Sent {
            start,
            end: end.unwrap_or(start),
            input: tokens(self.input_metrics).or(self.prompt_tokens),
            output: tokens(self.output_metrics).unwrap_or(chunks),
            error,
            text: self.output.0,
            timings,
        })
    }
}
