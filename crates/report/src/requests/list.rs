//! Which columns there are.

use std::borrow::Cow;
use std::sync::LazyLock;

use fizeau_core::{
    Connection, Failure, Finish, Nanos, Outcome, RequestPurpose, Stamp, StampSource, Tokens,
};
use fizeau_metrics::Metric;

use super::RequestValues;
use crate::columns::in_a_sentence;

/// One field of a request.
#[derive(Clone)]
pub(super) struct Column {
    pub(super) name: &'static str,
    /// What it holds, in a few words.
    pub(super) about: Cow<'static, str>,
    pub(super) content: FieldSource,
}

/// Where a field comes from.
#[derive(Clone, Copy)]
pub(super) enum FieldSource {
    Text(for<'a> fn(&RequestValues<'a>) -> Option<Cow<'a, str>>),
    Whole(fn(&RequestValues<'_>) -> Option<u64>),
    Number(fn(&RequestValues<'_>) -> Option<f64>),
    Metric(Metric),
}

use FieldSource::{Number, Text, Whole};

const fn column(name: &'static str, about: &'static str, content: FieldSource) -> Column {
    Column { name, about: Cow::Borrowed(about), content }
}

/// Every column, in order: which request it is, how it ended, its size, its instants, its figures. New ones go to the end.
pub(super) static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let of = |metric: Metric| Column {
        name: metric.entry().json[1],
        about: in_a_sentence(metric.entry().definition).into(),
        content: FieldSource::Metric(metric),
    };
    let (latencies, rates): (Vec<Metric>, Vec<Metric>) = Metric::ALL
        .iter()
        .filter(|metric| metric.is_of_requests() && **metric != ADDED)
        .partition(|metric| metric.is_latency());
    let of_replies = latencies.iter().position(|metric| *metric == Metric::SendLateness);
    let (of_replies, of_sending) = latencies.split_at(of_replies.unwrap_or_default());
    let figures = of_replies.iter().chain(&rates).chain(of_sending).copied().map(of);
    FIRST.iter().cloned().chain(figures).chain(LAST.iter().cloned()).chain([of(ADDED)]).collect()
});

/// A figure that is younger than the columns at the end.
const ADDED: Metric = Metric::Network;

#[rustfmt::skip] // A column a line.
const FIRST: &[Column] = &[
    column("level", "the folder of its level; empty in a run of one", Text(level)),
    column("load_kind", "concurrency, or requests_per_s", Text(|seen| word(seen.row.load.kind().key()))),
    column("load_value", "the load, as requested", Number(|seen| Some(seen.row.load.value()))),
    column("request", "its number in the plan", Whole(|seen| Some(seen.row.tape.request.0))),
    column("session", "its conversation", Whole(|seen| Some(seen.row.tape.session.0))),
    column("turn", "its place there, from 0", Whole(|seen| Some(seen.row.tape.turn.into()))),
    column("part", "load, or probe", Text(part)),
    column("endpoint", "which of several servers, from 0", Whole(|seen| Some(seen.row.tape.endpoint.into()))),
    column("model", "where it is not the endpoint's own", Text(|seen| seen.row.tape.model.as_deref().map(Cow::Borrowed))),
    column("status", "complete, or failed", Text(status)),
    column("ended_by", "the reason of its end, or the class of its failure", Text(ended_by)),
    column("http_status", "of a failure that had one", Whole(|seen| failure(seen)?.status.map(u64::from))),
    column("detail", "what was seen of a failure", Text(detail)),
    column("requested_input_tokens", "as the plan has it", Whole(|seen| count(seen.row.tape.requested.input_tokens))),
    column("requested_output_tokens", "the most to generate", Whole(|seen| Some(seen.row.tape.requested.output_tokens.get()))),
    column("input_tokens", "as the server reports, else as requested", Whole(|seen| count(seen.row.tape.input_tokens()))),
    column("cached_tokens", "of those, from a prefix cache", Whole(|seen| count(seen.row.tape.usage?.cached_tokens))),
    column("output_tokens", "received, of a complete request", Whole(|seen| count(seen.metrics.output_tokens))),
    column("first_event_tokens", "of those, in the first event", Whole(|seen| count(seen.metrics.first_event_tokens))),
    column("events", "generation events received", Whole(|seen| Some(seen.row.tape.arrivals.len() as u64))),
    column("token_source", "where the counts come from", Text(|seen| word(seen.row.tape.token_source.as_str()))),
    column("stamps", "who stamped the arrivals", Text(stamps)),
    column("connection", "how it was come by", Text(connection)),
    column("intended_at_ms", "when it was due to be sent", Number(|seen| at(Some(seen.row.tape.marks.intended)))),
    column("released_at_ms", "when the pacer released it", Number(|seen| at(Some(seen.row.tape.marks.released)))),
    column("send_start_at_ms", "its first byte sent", Number(|seen| at(seen.row.tape.marks.send_start))),
    column("send_end_at_ms", "its last byte sent", Number(|seen| at(seen.row.tape.marks.send_end))),
    column("first_byte_at_ms", "the first byte of the reply", Number(|seen| at(seen.row.tape.marks.first_byte))),
    column("first_token_at_ms", "the first token, on any channel", Number(|seen| at(seen.row.tape.first_token()))),
    column("last_output_at_ms", "the last of the output", Number(|seen| at(seen.row.tape.last_output()))),
    column("end_at_ms", "the reply was over", Number(|seen| at(seen.row.tape.marks.end))),
];

const LAST: &[Column] = &[
    column("longest_gap_ms", "between two events of its reply", Number(longest_gap)),
    column("text_bytes", "of what a reader sees", Whole(text_bytes)),
];

fn word<'a>(word: &'static str) -> Option<Cow<'a, str>> {
    Some(Cow::Borrowed(word))
}

fn count(tokens: Option<Tokens>) -> Option<u64> {
    tokens.map(Tokens::get)
}

fn time(time: Option<Nanos>) -> Option<f64> {
    time.map(Nanos::as_millis_f64)
}

/// An instant as milliseconds since the run's epoch.
fn at(stamp: Option<Stamp>) -> Option<f64> {
    stamp.map(|stamp| stamp.saturating_since(Stamp::EPOCH).as_millis_f64())
}

fn failure<'a>(seen: &RequestValues<'a>) -> Option<&'a Failure> {
    match &seen.row.tape.outcome {
        Outcome::Complete(_) => None,
        Outcome::Failed(failure) => Some(failure),
    }
}

fn level<'a>(seen: &RequestValues<'a>) -> Option<Cow<'a, str>> {
    Some(Cow::Borrowed(seen.row.level)).filter(|level| !level.is_empty())
}

fn part<'a>(seen: &RequestValues<'a>) -> Option<Cow<'a, str>> {
    word(match seen.row.tape.part {
        RequestPurpose::Load => "load",
        RequestPurpose::Probe => "probe",
    })
}

fn status<'a>(seen: &RequestValues<'a>) -> Option<Cow<'a, str>> {
    word(if seen.row.tape.is_success() { "complete" } else { "failed" })
}

fn ended_by<'a>(seen: &RequestValues<'a>) -> Option<Cow<'a, str>> {
    word(match &seen.row.tape.outcome {
        Outcome::Failed(failure) => failure.class.as_str(),
        Outcome::Complete(Finish::Length) => "length",
        Outcome::Complete(Finish::Stop) => "stop",
        Outcome::Complete(Finish::ToolCalls) => "tool_calls",
        Outcome::Complete(Finish::Unstated) => "unstated",
        Outcome::Complete(_) => "other",
    })
}

fn detail<'a>(seen: &RequestValues<'a>) -> Option<Cow<'a, str>> {
    failure(seen).map(|failure| Cow::Borrowed(failure.detail.as_str()))
}

fn stamps<'a>(seen: &RequestValues<'a>) -> Option<Cow<'a, str>> {
    word(match seen.row.tape.stamps {
        StampSource::Kernel => "kernel",
        StampSource::Simulated => "simulated",
        StampSource::User => "user",
    })
}

fn connection<'a>(seen: &RequestValues<'a>) -> Option<Cow<'a, str>> {
    word(match seen.row.tape.connection {
        Connection::Fresh => "fresh",
        Connection::Reused => "reused",
        Connection::ReplacedStale => "replaced_stale",
    })
}

fn longest_gap(seen: &RequestValues<'_>) -> Option<f64> {
    if !seen.row.tape.is_success() {
        return None;
    }
    let pairs = seen.row.tape.arrivals.windows(2);
    let gaps = pairs.filter_map(|pair| pair.get(1)?.at.since(pair.first()?.at));
    time(gaps.max())
}

fn text_bytes(seen: &RequestValues<'_>) -> Option<u64> {
    let arrivals = seen.row.tape.arrivals.iter();
    let visible = arrivals.filter(|arrival| arrival.channel.is_visible());
    Some(visible.map(|arrival| u64::from(arrival.bytes)).sum())
}
