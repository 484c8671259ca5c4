//! Replies that end otherwise than they should.

use std::time::Duration;

use fizeau_core::Nanos;
use serde_json::{Value, json};

use super::Met;
use super::event::Event;
use super::kind::Kind;
use super::play::{Act, End};
use crate::http::ask::Ask;
use crate::http::refusal::{Refusal, Status};
use crate::http::request::{Method, Peer};
use crate::http::response::{Framing, Response};

/// What comes instead of the rest of a reply.
pub(super) struct Ending {
    pub(super) events: Vec<Event>,
    /// Bytes behind them that are no events.
    pub(super) bytes: &'static [u8],
    pub(super) end: End,
}

impl Ending {
    /// The ending of a kind that ends replies. `token` and `usage` are the events that would have come.
    pub(super) fn of(
        kind: Kind,
        framing: Framing,
        token: Option<Event>,
        usage: Option<Event>,
    ) -> Self {
        let whole = |events| Self { events, bytes: b"", end: End::Whole };
        let cut = |bytes, end| Self { events: Vec::new(), bytes, end };
        match kind {
            Kind::Error => whole(error(token.as_ref())),
            Kind::ErrorText => whole(vec![Event::json(json!({ "error": WORDS }))]),
            Kind::ErrorFinish => {
                let mut event = stopped(token, "error");
                if let Some(value) = event.as_mut().and_then(Event::value) {
                    value["error"] = json!({"code": 502, "message": WORDS});
                }
                whole(event.into_iter().chain([Event::done()]).collect())
            }
            Kind::ErrorThenUsage => {
                let errors = error(token.as_ref()).into_iter().take(1);
                whole(errors.chain(usage).chain([Event::done()]).collect())
            }
            Kind::ContentFilter => whole(filtered(token, "content_filter", usage)),
            Kind::Abort => whole(filtered(token, "abort", usage)),
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

/// As vLLM writes it; or, where events have names, as Anthropic and OpenAI's responses do.
fn error(token: Option<&Event>) -> Vec<Event> {
    if token.is_some_and(|token| token.name.is_some()) {
        let error = json!({"type": "api_error", "message": WORDS});
        let event = Event::json(json!({"type": "error", "message": WORDS, "error": error}));
        return vec![Event { name: Some("error".to_owned()), ..event }];
    }
    let error = json!({"error": {
        "message": WORDS, "type": "InternalServerError", "param": null, "code": 500,
    }});
    vec![Event::json(error), Event::done()]
}

/// A token's event without its token, ending for `reason`.
fn stopped(token: Option<Event>, reason: &str) -> Option<Event> {
    let mut event = Event { tokens: 0, ..token? };
    event.text().into_iter().for_each(String::clear);
    if let Some(mut usage) = event.usage() {
        let before = usage.of("completion_tokens").saturating_sub(1);
        usage.set("completion_tokens", before);
    }
    let choice = event.choice()?;
    choice.remove("token_ids");
    choice.insert("finish_reason".to_owned(), Value::from(reason));
    Some(event)
}

fn filtered(token: Option<Event>, reason: &str, usage: Option<Event>) -> Vec<Event> {
    stopped(token, reason).into_iter().chain(usage).chain([Event::done()]).collect()
}

/// What comes instead of a reply to `ask`, of the first of `met` that has anything come.
pub(super) fn instead(met: &Met, ask: &Ask, peer: Peer) -> Vec<Act> {
    let Some(fault) = met.0.iter().find(|fault| fault.kind.kind.replaces_reply()) else {
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
