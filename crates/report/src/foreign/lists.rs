//! Lists of one value a request, as vLLM's and SGLang's clients write them on request (`--save-detailed`, `--output-details`).

use fizeau_core::{Nanos, Outcome, Tape, Tokens};
use serde_json::Value;

use super::{Fields, FigureSheet, ForeignError, Object, Seen};
use crate::vllm::figures as by_vllm;

/// The lists of a record. All are as long as `ttfts`, or empty where the record has none of the kind.
#[derive(Debug, Default)]
pub(super) struct Lists {
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    ttfts: Vec<f64>,
    gaps: Vec<Vec<f64>>,
    errors: Vec<String>,
    texts: Vec<String>,
    starts: Vec<f64>,
    latencies: Vec<f64>,
    queued: Vec<f64>,
}

/// The fields that hold them; what of a record becomes tapes.
pub(super) const LISTS: [&str; 9] = [
    "input_lens",
    "output_lens",
    "ttfts",
    "itls",
    "errors",
    "generated_texts",
    "start_times",
    "latencies",
    "queue_times",
];

impl Lists {
    /// Those of a record; none where it does not have what each request did.
    pub(super) fn read(fields: &Fields<'_>) -> Result<Option<Self>, ForeignError> {
        let plain = |list: Option<Vec<Option<f64>>>| -> Vec<f64> {
            list.unwrap_or_default().into_iter().map(Option::unwrap_or_default).collect()
        };
        let Some(gaps) = fields.number_lists("itls")? else { return Ok(None) };
        if !fields.has("ttfts") || !fields.has("output_lens") {
            return Ok(None);
        }
        let lists = Self {
            inputs: fields.wholes("input_lens")?.unwrap_or_default(),
            outputs: fields.wholes("output_lens")?.unwrap_or_default(),
            ttfts: plain(fields.numbers("ttfts")?),
            gaps,
            errors: fields.texts("errors")?.unwrap_or_default(),
            texts: fields.texts("generated_texts")?.unwrap_or_default(),
            starts: plain(fields.numbers("start_times")?),
            latencies: plain(fields.numbers("latencies")?),
            queued: plain(fields.numbers("queue_times")?),
        };
        let lengths = [
            ("input_lens", lists.inputs.len()),
            ("output_lens", lists.outputs.len()),
            ("itls", lists.gaps.len()),
            ("errors", lists.errors.len()),
            ("generated_texts", lists.texts.len()),
            ("start_times", lists.starts.len()),
            ("latencies", lists.latencies.len()),
            ("queue_times", lists.queued.len()),
        ];
        let all = lists.ttfts.len();
        let odd = lengths.into_iter().find(|(_, length)| *length != all && *length != 0);
        match odd {
            Some((name, length)) => {
                let found = Value::from(format!("a list of {length}, and ttfts one of {all}"));
                Err(fields.wrong(name, &found, "one entry for each request"))
            }
            None => Ok(Some(lists)),
        }
    }

    /// Whether a request failed: it has an error, or neither a first token nor a length.
    fn is_failed(&self, index: usize) -> bool {
        let error = self.errors.get(index).is_some_and(|error| !error.is_empty());
        let nothing = self.ttfts.get(index) == Some(&0.0) && self.outputs.get(index) == Some(&0);
        error || nothing
    }

    /// Latencies of the requests that succeeded, by our definitions: the lists have each event. The first event counts as one
    /// token, which the caveat says.
    pub(super) fn figures(&self, sheet: &mut FigureSheet) {
        let good = || (0..self.ttfts.len()).filter(|index| !self.is_failed(*index));
        let ttft = |index: usize| self.ttfts.get(index).copied().unwrap_or_default() * 1e3;
        let later =
            |index: usize| self.gaps.get(index).map_or(0.0, |gaps| gaps.iter().sum::<f64>()) * 1e3;
        let pace = |index: usize| {
            let tokens = self.outputs.get(index).copied().unwrap_or_default();
            (tokens > 1).then(|| later(index) / (tokens - 1) as f64)
        };
        sheet.sample("ttft", good().map(ttft));
        sheet.sample("tpot", good().filter_map(pace));
        sheet.sample("e2el", good().map(|index| ttft(index) + later(index)));
    }

    /// The tapes of the requests, in the order in which they ended; none where the record does not say when each began.
    pub(super) fn tapes(self, fields: &Fields<'_>) -> Result<Vec<Tape>, ForeignError> {
        if self.starts.is_empty() {
            return Ok(Vec::new());
        }
        let due = |index: usize| {
            let queued = self.queued.get(index).copied().unwrap_or_default();
            self.starts.get(index).copied().unwrap_or_default() - queued
        };
        let epoch = (0..self.starts.len()).map(due).fold(f64::INFINITY, f64::min);
        let mut tapes = Vec::with_capacity(self.starts.len());
        for (index, &start) in self.starts.iter().enumerate() {
            let is_failed = self.is_failed(index);
            let ttft = self.ttfts.get(index).copied();
            let gaps = self.gaps.get(index).cloned().unwrap_or_default();
            let has_output = ttft.is_some_and(|ttft| ttft > 0.0) || !gaps.is_empty();
            let latency = self.latencies.get(index).copied();
            let seen = Seen {
                intended: Some(due(index) - epoch),
                sent: start - epoch,
                ttft: ttft.filter(|_| has_output),
                gaps,
                end: latency.filter(|latency| *latency > 0.0),
                input: self.inputs.get(index).copied(),
                output: self.outputs.get(index).copied().unwrap_or_default(),
                error: self.errors.get(index).cloned().unwrap_or_default(),
                is_failed,
                text: self.texts.get(index).cloned(),
            };
            let tape = seen.tape(index as u64).map_err(|error| {
                let found = Value::from(error.to_string());
                fields.wrong(&format!("start_times[{index}]"), &found, "an instant of the run")
            })?;
            tapes.push(tape);
        }
        tapes.sort_by_key(|tape| tape.marks.end);
        Ok(tapes)
    }
}

/// Puts the lists of `tapes`, which are in the order of the requests, into a record.
pub(super) fn write(object: &mut Object, tapes: &[&Tape]) {
    let each = |of: &dyn Fn(&Tape) -> Value| tapes.iter().map(|tape| of(tape)).collect::<Vec<_>>();
    let seconds = |span: Option<Nanos>| span.map_or(0.0, Nanos::as_secs_f64);
    object.set("input_lens", each(&|tape| tape.input_tokens().map_or(0, Tokens::get).into()));
    let length = |tape: &Tape| if tape.is_success() { by_vllm::output_len(tape) } else { 0 };
    object.set("output_lens", each(&|tape| length(tape).into()));
    let ttft = |tape: &Tape| {
        let first = tape.first_token().filter(|_| tape.is_success());
        seconds(first.and_then(|first| first.since(by_vllm::sent(tape))))
    };
    object.set("ttfts", each(&|tape| ttft(tape).into()));
    let gaps = |tape: &Tape| -> Vec<f64> {
        by_vllm::gaps(tape).filter(|_| tape.is_success()).map(Nanos::as_secs_f64).collect()
    };
    object.set("itls", each(&|tape| gaps(tape).into()));
    object.set("generated_texts", each(&|tape| tape.text.clone().unwrap_or_default().into()));
    let error = |tape: &Tape| match &tape.outcome {
        Outcome::Complete(_) => String::new(),
        Outcome::Failed(failure) => failure.to_string(),
    };
    object.set("errors", each(&|tape| error(tape).into()));
}

/// When each was sent, in seconds since the first release; and how long each took, to the last of its output.
pub(super) fn write_times(object: &mut Object, tapes: &[&Tape]) {
    let epoch = tapes.iter().map(|tape| tape.marks.released).min().unwrap_or_default();
    let start = |tape: &&Tape| by_vllm::sent(tape).saturating_since(epoch).as_secs_f64();
    let start_times: Vec<f64> = tapes.iter().map(start).collect();
    object.set("start_times", start_times);
    let latency = |tape: &&Tape| {
        let latency = by_vllm::latency(tape).filter(|_| tape.is_success());
        latency.map_or(0.0, Nanos::as_secs_f64)
    };
    object.set("latencies", tapes.iter().map(latency).collect::<Vec<f64>>());
}

/// How long each waited for its release, in seconds.
pub(super) fn write_queued(object: &mut Object, tapes: &[&Tape]) {
    let queued =
        |tape: &&Tape| tape.marks.released.saturating_since(tape.marks.intended).as_secs_f64();
    object.set("queue_times", tapes.iter().map(queued).collect::<Vec<f64>>());
}

/// The tapes of the load in the order of the requests, as the tools write them.
pub(super) fn by_request(tapes: &[Tape]) -> Vec<&Tape> {
    let mut all: Vec<&Tape> =
        tapes.iter().filter(|tape| tape.part == fizeau_core::Part::Load).collect();
    all.sort_by_key(|tape| tape.request);
    all
}
