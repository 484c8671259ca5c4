//! Anthropic's messages.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::content::TokenForm;
use crate::http::app::App;
use crate::http::frames::{
    self, ReplyContents, ReplyFailure, ReplyFailureKind, StreamWriter, push, push_named,
};
use crate::http::length::{LengthLimits, ReplyEnding};
use crate::http::parsed_request::{Delivery, GeneratingRoute, ParsedRequest, PromptSource};
use crate::http::prompt::{self, PromptMessage, ServedPrompt};
use crate::http::response::{self, Refusal};
use crate::serve::JobId;

/// The body, as far as it matters; all other fields are ignored.
#[derive(Deserialize)]
struct AnthropicBody {
    model: Option<String>,
    max_tokens: Option<u64>,
    messages: Option<Vec<PromptMessage>>,
    system: Option<Value>,
    stream: Option<bool>,
    /// No field of Anthropic's, whose models end when they will.
    ignore_eos: Option<bool>,
}

impl AnthropicBody {
    fn read(app: &App, body: &[u8]) -> Result<(Self, PromptSource, ServedPrompt), Refusal> {
        let mut body: Self = response::parsed(body)?;
        let source = PromptSource::of(app, body.model.take(), None)?;
        let system = body.system.take().map(|content| PromptMessage::new("system", content));
        let messages = match body.messages.take() {
            Some(messages) if !messages.is_empty() => messages,
            _ => {
                let message = "messages: at least one message is required";
                return Err(Refusal::bad_request(Some("messages"), message));
            }
        };
        let messages: Vec<_> = system.into_iter().chain(messages).collect();
        let prompt = prompt::read(&messages, source.chain(TokenForm::Chat));
        Ok((body, source, prompt))
    }
}

pub(in super::super) fn parse(app: &App, body: &[u8]) -> Result<ParsedRequest, Refusal> {
    let (body, source, prompt) = AnthropicBody::read(app, body)?;
    let Some(max_tokens) = body.max_tokens else {
        return Err(Refusal::bad_request(Some("max_tokens"), "max_tokens: Field required"));
    };
    let limits = LengthLimits {
        field: "max_tokens",
        most: Some(max_tokens),
        least: None,
        default: max_tokens,
        ignore_eos: body.ignore_eos,
    };
    let ask = ParsedRequest::new(app, GeneratingRoute::Messages, source, prompt, limits)?;
    Ok(ParsedRequest { delivery: Delivery::of(body.stream), ..ask })
}

/// The answer to `count_tokens`.
pub(in super::super) fn count(app: &App, body: &[u8]) -> Result<Value, Refusal> {
    let (_, _, prompt) = AnthropicBody::read(app, body)?;
    Ok(json!({"input_tokens": prompt.tokens}))
}

pub(in super::super) struct AnthropicEvents {
    /// The message as it starts.
    message: Value,
}

impl AnthropicEvents {
    pub(in super::super) fn new(ask: &ParsedRequest, number: JobId) -> Self {
        Self { message: message(ask, &frames::reply_id(ask, number)) }
    }
}

impl StreamWriter for AnthropicEvents {
    fn start(&self, reply: &ReplyContents, to: &mut Vec<u8>) {
        let mut message = self.message.clone();
        // The count of output is a stand-in, as Anthropic sends it.
        message["usage"] = usage(reply, 1);
        push_named(to, "message_start", &json!({"message": message}));
        push_named(to, "ping", &json!({}));
        let block = json!({"type": "text", "text": ""});
        push_named(to, "content_block_start", &json!({"index": 0, "content_block": block}));
    }

    /// A token without text has no event.
    fn tokens(&self, reply: &ReplyContents, range: Range<u64>, to: &mut Vec<u8>) {
        const OPEN: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\
                            \"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"";
        if range.clone().any(|index| !reply.word(index).is_empty()) {
            push(to, OPEN);
            reply.push_words(range, to);
            push(to, "\"}}\n\n");
        }
    }

    fn end(&self, reply: &ReplyContents, to: &mut Vec<u8>) {
        push_named(to, "content_block_stop", &json!({"index": 0}));
        let delta = json!({"stop_reason": reason(reply.ending), "stop_sequence": null});
        let usage = usage(reply, reply.tokens);
        push_named(to, "message_delta", &json!({"delta": delta, "usage": usage}));
        push_named(to, "message_stop", &json!({}));
    }

    /// Anthropic knows no abort: that is an error too.
    fn fail(&self, reply: &ReplyContents, made: u64, failure: ReplyFailure, to: &mut Vec<u8>) {
        if failure.kind != ReplyFailureKind::Filter {
            let error = json!({"type": "api_error", "message": failure.words});
            return push_named(to, "error", &json!({"error": error}));
        }
        push_named(to, "content_block_stop", &json!({"index": 0}));
        let delta = json!({"stop_reason": "refusal", "stop_sequence": null});
        push_named(to, "message_delta", &json!({"delta": delta, "usage": usage(reply, made)}));
        push_named(to, "message_stop", &json!({}));
    }
}

/// A reply in one piece.
pub(in super::super) fn whole(ask: &ParsedRequest, reply: &ReplyContents, id: &str) -> Value {
    let mut message = message(ask, id);
    message["content"] = json!([{"type": "text", "text": reply.text()}]);
    message["stop_reason"] = reason(reply.ending).into();
    message["usage"] = usage(reply, reply.tokens);
    message
}

fn message(ask: &ParsedRequest, id: &str) -> Value {
    json!({
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": ask.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

/// What was read from the cache is not among the tokens of the input.
fn usage(reply: &ReplyContents, tokens: u64) -> Value {
    let cached = reply.cached_tokens.unwrap_or_default();
    let mut usage = json!({
        "input_tokens": reply.prompt_tokens.saturating_sub(cached),
        "output_tokens": tokens,
    });
    if reply.cached_tokens.is_some() {
        usage["cache_creation_input_tokens"] = 0.into();
        usage["cache_read_input_tokens"] = cached.into();
    }
    usage
}

const fn reason(ending: ReplyEnding) -> &'static str {
    match ending {
        ReplyEnding::Length => "max_tokens",
        ReplyEnding::Stop => "end_turn",
    }
}
