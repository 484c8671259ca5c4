//! Replies that end otherwise than they should.

use std::time::Duration;

use fizeau_core::Nanos;
use serde_json::{Value, json};

use super::Met;
use super::event::{Event, Good};
use super::kind::{Group, Kind};
use super::play::{Act, End};
use crate::http::frames::{Failure, FailureKind};
use crate::http::parsed_request::ParsedRequest;
use crate::http::request::{Method, Peer};
use crate::http::response::{Framing, Refusal, Response, Status};

/// What comes instead of the rest of a reply.
pub(super) struct Ending {
    pub(super) events: Vec<Event>,
    /// Bytes behind them that are no events.
    pub(super) bytes: &'static [u8],
    pub(super) end: End,
}

impl Ending {
    /// The ending of a kind that ends replies, behind token `made`.
    pub(super) fn of(kind: Kind, framing: Framing, good: &Good, made: u64) -> Self {
        // The events that would have come.
        let token = good.token(made.min(good.total().saturating_sub(1))).pop();
        let usage = usage(good, made);
        let chunks = token.as_ref().is_some_and(Event::is_chunk);
        let failed = |kind| good.failed(made, Failure { kind, words: WORDS });
        let whole = |events| Self { events, bytes: b"", end: End::Whole };
        let cut = |bytes, end| Self { events: Vec::new(), bytes, end };
        match kind {
            Kind::Error => whole(failed(FailureKind::Error)),
            Kind::ErrorText => whole(vec![Event::json(json!({ "error": WORDS }))]),
            Kind::ErrorFinish => {
                let mut event = stopped(token, made, "error");
                if let Some(value) = event.as_mut().and_then(Event::value) {
                    value["error"] = json!({"code": 502, "message": WORDS});
                }
                whole(event.into_iter().chain([Event::done()]).collect())
            }
            Kind::ErrorThenUsage => {
                let errors = failed(FailureKind::Error).into_iter().take(1);
                whole(errors.chain(usage).chain([Event::done()]).collect())
            }
            Kind::ContentFilter if chunks => {
                whole(filtered(stopped(token, made, "content_filter"), usage))
            }
            Kind::ContentFilter => whole(failed(FailureKind::Filter)),
            Kind::Abort if chunks => whole(filtered(stopped(token, made, "abort"), usage)),
            Kind::Abort => whole(failed(FailureKind::Abort)),
            // A body without chunks has neither sizes nor an end of its own.
            Kind::BadChunk if framing == Framing::Chunked => cut(b"zz\r\n", End::Close),
            Kind::CutChunk if framing == Framing::Chunked => {
                cut(b"40\r\ndata: {\"choices\":[{", End::Close)
            }
            Kind::BadChunk | Kind::CutChunk => cut(b"data: {\"choices\":[{", End::Close),
            Kind::Fin => cut(b"", End::Fin),
            Kind::Reset => cut(b"", End::Reset),
            _ => whole(Vec::new()),
        }
    }
}

/// What an error says.
const WORDS: &str = "the simulated engine failed as it was told to";

/// The usage of a reply that has `made` tokens, if it is to have one.
fn usage(good: &Good, made: u64) -> Option<Event> {
    let mut event = good.end().into_iter().find(Event::is_usage)?;
    event.usage()?.set("completion_tokens", made);
    Some(event)
}

/// A token's event without its token, ending for `reason`.
fn stopped(token: Option<Event>, made: u64, reason: &str) -> Option<Event> {
    let mut event = Event { tokens: 0, ..token? };
    event.text().into_iter().for_each(String::clear);
    if let Some(mut usage) = event.usage() {
        usage.set("completion_tokens", made);
    }
    let choice = event.choice()?;
    choice.remove("token_ids");
    choice.insert("finish_reason".to_owned(), Value::from(reason));
    Some(event)
}

fn filtered(stopped: Option<Event>, usage: Option<Event>) -> Vec<Event> {
    stopped.into_iter().chain(usage).chain([Event::done()]).collect()
}

/// What comes instead of a reply to `ask`, of the first of `met` that has anything come.
pub(super) fn instead(met: &Met, ask: &ParsedRequest, peer: Peer) -> Vec<Act> {
    let Some(fault) = met.0.iter().find(|fault| fault.kind.kind.is(Group::Instead)) else {
        return Vec::new();
    };
    let refuse = |status, kind| {
        let refusal = Refusal {
            status,
            kind,
            retry_after: fault.time().map(Nanos::as_nanos).map(Duration::from_nanos),
            ..Refusal::bad_request(None, WORDS)
        };
        let response = Response::refusal_on(ask.route, &refusal).echoing(ask.request_id.clone());
        vec![Act::write(response.render(&Method::Post, peer)), Act::End(End::Whole)]
    };
    let cut = |bytes: &[u8]| vec![Act::write(bytes.to_vec()), Act::End(End::Close)];
    match fault.kind.kind {
        Kind::ResetAtOnce => vec![Act::End(End::Reset)],
        Kind::CloseAtOnce => vec![Act::End(End::Close)],
        Kind::Garbage => cut(b"220 mail.example ESMTP\r\n\r\n"),
        Kind::CutHead => cut(b"HTTP/1.1 200 OK\r\ncontent-ty"),
        Kind::TooMany => refuse(Status::TOO_MANY, "TooManyRequestsError"),
        Kind::Unavailable => refuse(Status::UNAVAILABLE, "ServiceUnavailableError"),
        Kind::Internal => refuse(Status::INTERNAL, "InternalServerError"),
        // No reply, ever.
        _ => vec![Act::Pause(None)],
    }
}
