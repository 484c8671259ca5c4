//! Replies that end otherwise than they should.

use std::time::Duration;

use fizeau_core::Nanos;
use serde_json::{Value, json};

use super::AssignedFaults;
use super::event::{FaultlessEvents, StreamEvent};
use super::kind::{FaultGroup, Kind};
use super::play::{FaultAction, FaultedEnd};
use crate::http::frames::{ReplyFailure, ReplyFailureKind};
use crate::http::parsed_request::ParsedRequest;
use crate::http::request::{Method, PeerAbilities};
use crate::http::response::{ReadyResponse, Refusal, Status, StreamFraming};

/// What comes instead of the rest of a reply.
pub(super) struct EndingFault {
    pub(super) events: Vec<StreamEvent>,
    /// Bytes behind them that are no events.
    pub(super) bytes: &'static [u8],
    pub(super) end: FaultedEnd,
}

impl EndingFault {
    /// The ending of a kind that ends replies, behind token `made`.
    pub(super) fn of(
        kind: Kind,
        framing: StreamFraming,
        good: &FaultlessEvents,
        made: u64,
    ) -> Self {
        // The events that would have come.
        let token = good.token(made.min(good.total().saturating_sub(1))).pop();
        let usage = usage(good, made);
        let chunks = token.as_ref().is_some_and(StreamEvent::is_chunk);
        let failed = |kind| good.failed(made, ReplyFailure { kind, words: WORDS });
        let whole = |events| Self { events, bytes: b"", end: FaultedEnd::Whole };
        let cut = |bytes, end| Self { events: Vec::new(), bytes, end };
        match kind {
            Kind::Error => whole(failed(ReplyFailureKind::Error)),
            Kind::ErrorText => whole(vec![StreamEvent::json(json!({ "error": WORDS }))]),
            Kind::ErrorFinish => {
                let mut event = stopped(token, made, "error");
                if let Some(value) = event.as_mut().and_then(StreamEvent::value) {
                    value["error"] = json!({"code": 502, "message": WORDS});
                }
                whole(event.into_iter().chain([StreamEvent::done()]).collect())
            }
            Kind::ErrorThenUsage => {
                let errors = failed(ReplyFailureKind::Error).into_iter().take(1);
                whole(errors.chain(usage).chain([StreamEvent::done()]).collect())
            }
            Kind::ContentFilter if chunks => {
                whole(filtered(stopped(token, made, "content_filter"), usage))
            }
            Kind::ContentFilter => whole(failed(ReplyFailureKind::Filter)),
            Kind::Abort if chunks => whole(filtered(stopped(token, made, "abort"), usage)),
            Kind::Abort => whole(failed(ReplyFailureKind::Abort)),
            // A body without chunks has neither sizes nor an end of its own.
            Kind::BadChunk if framing == StreamFraming::Chunked => {
                cut(b"zz\r\n", FaultedEnd::Close)
            }
            Kind::CutChunk if framing == StreamFraming::Chunked => {
                cut(b"40\r\ndata: {\"choices\":[{", FaultedEnd::Close)
            }
            Kind::BadChunk | Kind::CutChunk => cut(b"data: {\"choices\":[{", FaultedEnd::Close),
            Kind::Fin => cut(b"", FaultedEnd::Fin),
            Kind::Reset => cut(b"", FaultedEnd::Reset),
            _ => whole(Vec::new()),
        }
    }
}

/// What an error says.
const WORDS: &str = "the simulated engine failed as it was told to";

/// The usage of a reply that has `made` tokens, if it is to have one.
fn usage(good: &FaultlessEvents, made: u64) -> Option<StreamEvent> {
    let mut event = good.end().into_iter().find(StreamEvent::is_usage)?;
    event.usage()?.set("completion_tokens", made);
    Some(event)
}

/// A token's event without its token, ending for `reason`.
fn stopped(token: Option<StreamEvent>, made: u64, reason: &str) -> Option<StreamEvent> {
    let mut event = StreamEvent { tokens: 0, ..token? };
    event.text().into_iter().for_each(String::clear);
    if let Some(mut usage) = event.usage() {
        usage.set("completion_tokens", made);
    }
    let choice = event.choice()?;
    choice.remove("token_ids");
    choice.insert("finish_reason".to_owned(), Value::from(reason));
    Some(event)
}

fn filtered(stopped: Option<StreamEvent>, usage: Option<StreamEvent>) -> Vec<StreamEvent> {
    stopped.into_iter().chain(usage).chain([StreamEvent::done()]).collect()
}

/// What comes instead of a reply to `ask`, of the first of `met` that has anything come.
pub(super) fn instead(
    met: &AssignedFaults,
    ask: &ParsedRequest,
    peer: PeerAbilities,
) -> Vec<FaultAction> {
    let Some(fault) = met.0.iter().find(|fault| fault.kind.kind.is(FaultGroup::Instead)) else {
        return Vec::new();
    };
    let refuse = |status, kind| {
        let refusal = Refusal {
            status,
            kind,
            retry_after: fault.time().map(Nanos::as_nanos).map(Duration::from_nanos),
            ..Refusal::bad_request(None, WORDS)
        };
        let response =
            ReadyResponse::refusal_on(ask.route, &refusal).echoing(ask.request_id.clone());
        vec![
            FaultAction::write(response.render(&Method::Post, peer)),
            FaultAction::End(FaultedEnd::Whole),
        ]
    };
    let cut = |bytes: &[u8]| {
        vec![FaultAction::write(bytes.to_vec()), FaultAction::End(FaultedEnd::Close)]
    };
    match fault.kind.kind {
        Kind::ResetAtOnce => vec![FaultAction::End(FaultedEnd::Reset)],
        Kind::CloseAtOnce => vec![FaultAction::End(FaultedEnd::Close)],
        Kind::Garbage => cut(b"220 mail.example ESMTP\r\n\r\n"),
        Kind::CutHead => cut(b"HTTP/1.1 200 OK\r\ncontent-ty"),
        Kind::TooMany => refuse(Status::TOO_MANY, "TooManyRequestsError"),
        Kind::Unavailable => refuse(Status::UNAVAILABLE, "ServiceUnavailableError"),
        Kind::Internal => refuse(Status::INTERNAL, "InternalServerError"),
        // No reply, ever.
        _ => vec![FaultAction::Pause(None)],
    }
}
