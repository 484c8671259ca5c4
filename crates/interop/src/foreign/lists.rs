//! Lists of one value a request, read as figures and as tapes.

use fizeau_core::{RequestPurpose, Tape};

use super::read::Record;
use super::{FigureSheet, ForeignError, ImportedLoad, Seen};
use crate::vllm::lists::Lists;

/// Those of a record; none where it does not have what each request did.
pub(super) fn read(record: &Record<'_>) -> Result<Option<Lists>, ForeignError> {
    if !["itls", "ttfts", "output_lens"].iter().all(|list| record.has(list)) {
        return Ok(None);
    }
    let lists: Lists = record.read()?;
    match lists.odd() {
        Some((name, length)) => {
            let found = format!("\"a list of {length}, and ttfts one of {}\"", lists.ttfts.len());
            Err(record.wrong(name, &found, "one entry for each request"))
        }
        None => Ok(Some(lists)),
    }
}

/// Whether a request failed: it has an error, or neither a first token nor a length.
fn is_failed(lists: &Lists, index: usize) -> bool {
    let error = lists.errors.get(index).is_some_and(|error| !error.is_empty());
    let nothing = lists.ttfts.get(index) == Some(&0.0) && lists.output_lens.get(index) == Some(&0);
    error || nothing
}

/// Latencies of the requests that succeeded, by our definitions: the lists have each event. The first event counts as one
/// token, which the caveat says.
pub(super) fn figures(lists: &Lists, sheet: &mut FigureSheet) {
    let good = || (0..lists.ttfts.len()).filter(|index| !is_failed(lists, *index));
    let ttft = |index: usize| lists.ttfts.get(index).copied().unwrap_or_default() * 1e3;
    let later =
        |index: usize| lists.itls.get(index).map_or(0.0, |gaps| gaps.iter().sum::<f64>()) * 1e3;
    let pace = |index: usize| {
        let tokens = lists.output_lens.get(index).copied().unwrap_or_default();
        (tokens > 1).then(|| later(index) / (tokens - 1) as f64)
    };
    sheet.sample("ttft", good().map(ttft));
    sheet.sample("tpot", good().filter_map(pace));
    sheet.sample("e2el", good().map(|index| ttft(index) + later(index)));
}

/// The tapes of the requests, in the order in which they ended; none where the record does not say when each began.
pub(super) fn tapes(
    lists: &Lists,
    record: &Record<'_>,
    load: ImportedLoad,
) -> Result<Vec<Tape>, ForeignError> {
    // Each waits for the cap from when it was due by the rate; without a rate nothing was due.
    let is_due = load.requests_per_s.is_some();
    let due = |(index, start): (usize, &f64)| {
        let wait = lists.queue_times.get(index).filter(|_| is_due);
        start - wait.copied().unwrap_or_default()
    };
    let starts = || lists.start_times.iter().enumerate();
    let epoch = starts().map(due).fold(f64::INFINITY, f64::min);
    let seen = |(index, start): (usize, &f64)| {
        let ttft = lists.ttfts.get(index).copied();
        let gaps = lists.itls.get(index).cloned().unwrap_or_default();
        let has_output = ttft.is_some_and(|ttft| ttft > 0.0) || !gaps.is_empty();
        let latency = lists.latencies.get(index).copied();
        Seen {
            intended: is_due.then(|| due((index, start)) - epoch),
            sent: start - epoch,
            ttft: ttft.filter(|_| has_output),
            gaps,
            // A request that failed has a zero there, whenever it was over.
            end: latency.filter(|latency| *latency > 0.0),
            input: lists.input_lens.get(index).copied(),
            output: lists.output_lens.get(index).copied().unwrap_or_default(),
            error: lists.errors.get(index).cloned().unwrap_or_default(),
            is_failed: is_failed(lists, index),
            text: lists.generated_texts.get(index).cloned(),
            ..Seen::default()
        }
    };
    Seen::tapes(starts().map(seen), record, |index| format!("start_times[{index}]"))
}

/// The tapes of the load in the order of the requests, as the tools write them.
pub(super) fn by_request(tapes: &[Tape]) -> Vec<&Tape> {
    let mut all: Vec<&Tape> =
        tapes.iter().filter(|tape| tape.part == RequestPurpose::Load).collect();
    all.sort_by_key(|tape| tape.request);
    all
}
