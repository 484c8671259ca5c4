//! Replies that end otherwise than they should.

use serde_json::{Value, json};

use super::event::Event;
use super::kind::Kind;
use super::play::{Act, End};
use crate::http::response::Framing;

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

/// What comes instead of a reply, if one of `has` does.
pub(super) fn instead(
    has: impl Fn(Kind) -> bool,
    wait_s: impl Fn(Kind) -> u64,
) -> Option<Vec<Act>> {
    let write = |bytes: &[u8]| Act::Write { bytes: bytes.to_vec(), tokens: 0 };
    let status = |line: &str, wait: Option<u64>| {
        let wait = wait.map(|wait| format!("retry-after: {wait}\r\n")).unwrap_or_default();
        let code = line.split(' ').next().and_then(|code| code.parse::<u16>().ok());
        let body = json!({"error": {"message": WORDS, "type": "ServerError", "param": null, "code": code}});
        let body = body.to_string();
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {line}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{wait}\r\n"
        );
        vec![write(&[head.as_bytes(), body.as_bytes()].concat()), Act::End(End::Whole)]
    };
    let cases: [(Kind, &dyn Fn() -> Vec<Act>); 8] = [
        (Kind::ResetAtOnce, &|| vec![Act::End(End::Reset)]),
        (Kind::CloseAtOnce, &|| vec![Act::End(End::Close)]),
        (Kind::NoReply, &|| vec![Act::Pause(None)]),
        (Kind::Garbage, &|| vec![write(b"220 mail.example ESMTP\r\n\r\n"), Act::End(End::Close)]),
        (Kind::CutHead, &|| vec![write(b"HTTP/1.1 200 OK\r\ncontent-ty"), Act::End(End::Close)]),
        (Kind::TooMany, &|| status("429 Too Many Requests", Some(wait_s(Kind::TooMany)))),
        (Kind::Unavailable, &|| status("503 Service Unavailable", Some(wait_s(Kind::Unavailable)))),
        (Kind::Internal, &|| status("500 Internal Server Error", None)),
    ];
    cases.into_iter().find(|(kind, _)| has(*kind)).map(|(_, acts)| acts())
}
