//! OpenAI's responses: events that have types and are numbered.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::content::TokenForm;
use crate::http::app::App;
use crate::http::frames::{
    self, ReplyContents, ReplyFailure, ReplyFailureKind, StreamWriter, push, push_named,
    push_number,
};
use crate::http::length::{LengthLimits, ReplyEnding};
use crate::http::parsed_request::{Delivery, GeneratingRoute, ParsedRequest, PromptSource};
use crate::http::prompt::{self, PromptMessage};
use crate::http::response::{self, Refusal};
use crate::serve::{JobId, Priority};

/// The body, as far as it matters; all other fields are ignored.
#[derive(Deserialize)]
struct ResponsesBody {
    model: Option<String>,
    input: Option<ResponsesInput>,
    instructions: Option<String>,
    max_output_tokens: Option<u64>,
    stream: Option<bool>,
    // vLLM's and llama.cpp's extras.
    ignore_eos: Option<bool>,
    min_tokens: Option<u64>,
    priority: Option<i64>,
    cache_salt: Option<String>,
    request_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ResponsesInput {
    Text(String),
    Items(Vec<PromptMessage>),
}

pub(in super::super) fn parse(app: &App, body: &[u8]) -> Result<ParsedRequest, Refusal> {
    let body: ResponsesBody = response::parsed(body)?;
    let source = PromptSource::of(app, body.model, body.cache_salt)?;
    let items = match body.input {
        Some(ResponsesInput::Text(text)) => vec![PromptMessage::new("user", text.into())],
        Some(ResponsesInput::Items(items)) if !items.is_empty() => items,
        _ => {
            let message = "`input` is missing or empty: a text, or a list of messages";
            return Err(Refusal::bad_request(Some("input"), message));
        }
    };
    let instructions = body.instructions.map(|text| PromptMessage::new("system", text.into()));
    let messages: Vec<_> = instructions.into_iter().chain(items).collect();
    let prompt = prompt::read(&messages, source.chain(TokenForm::Chat));
    let limits = LengthLimits {
        field: "max_output_tokens",
        most: body.max_output_tokens,
        least: body.min_tokens,
        default: 128,
        ignore_eos: body.ignore_eos,
    };
    Ok(ParsedRequest {
        delivery: Delivery::of(body.stream),
        priority: Priority(body.priority.unwrap_or_default()),
        request_id: body.request_id,
        ..ParsedRequest::new(app, GeneratingRoute::Responses, source, prompt, limits)?
    })
}

/// The numbers that events have before the first delta: two when the request is taken, two with the first token.
const BEFORE: u64 = 4;

pub(in super::super) struct ResponsesEvents {
    number: JobId,
    /// What is said of the response on each event about it.
    facts: Value,
    /// What an event of a token begins with, up to its number, and goes on with from there to its text.
    delta: (&'static str, String),
}

impl ResponsesEvents {
    /// `created` is in seconds since 1970.
    pub(in super::super) fn new(ask: &ParsedRequest, number: JobId, created: u64) -> Self {
        let open = "event: response.output_text.delta\ndata: \
                    {\"type\":\"response.output_text.delta\",\"sequence_number\":";
        let item = item_id(number);
        let place = format!(r#","item_id":"{item}","output_index":0,"content_index":0,"delta":""#);
        Self { number, facts: facts(ask, number, created), delta: (open, place) }
    }

    /// The response as it is before its end.
    fn unfinished(&self) -> Value {
        let mut response = self.facts.clone();
        response["status"] = "in_progress".into();
        response["output"] = json!([]);
        response["usage"] = Value::Null;
        response
    }
}

impl StreamWriter for ResponsesEvents {
    fn opening(&self, _: &ReplyContents, to: &mut Vec<u8>) {
        for (number, name) in ["response.created", "response.in_progress"].into_iter().enumerate() {
            let response = self.unfinished();
            push_named(to, name, &json!({"sequence_number": number, "response": response}));
        }
    }

    fn start(&self, _: &ReplyContents, to: &mut Vec<u8>) {
        let mut item = item(self.number, "in_progress", "");
        item["content"] = json!([]);
        let added = json!({"sequence_number": 2, "output_index": 0, "item": item});
        push_named(to, "response.output_item.added", &added);
        let mut added = place(self.number, 3);
        added["part"] = part("");
        push_named(to, "response.content_part.added", &added);
    }

    /// An event a token, also of those that leave together: the number of an event follows from its token's.
    fn tokens(&self, reply: &ReplyContents, range: Range<u64>, to: &mut Vec<u8>) {
        for index in range {
            push(to, self.delta.0);
            push_number(to, BEFORE + index);
            push(to, &self.delta.1);
            push(to, reply.word(index));
            push(to, "\",\"logprobs\":[]}\n\n");
        }
    }

    fn end(&self, reply: &ReplyContents, to: &mut Vec<u8>) {
        let text = reply.text();
        let number = |behind: u64| BEFORE + reply.tokens + behind;
        let mut done = place(self.number, number(0));
        done["text"] = text.as_str().into();
        done["logprobs"] = json!([]);
        push_named(to, "response.output_text.done", &done);
        let mut done = place(self.number, number(1));
        done["part"] = part(&text);
        push_named(to, "response.content_part.done", &done);
        let status = status(reply.ending);
        let item = item(self.number, status, &text);
        let done = json!({"sequence_number": number(2), "output_index": 0, "item": item});
        push_named(to, "response.output_item.done", &done);
        let response = finished(self.facts.clone(), reply, self.number);
        let end = json!({"sequence_number": number(3), "response": response});
        push_named(to, &format!("response.{status}"), &end);
    }

    fn fail(&self, reply: &ReplyContents, made: u64, failure: ReplyFailure, to: &mut Vec<u8>) {
        let number = BEFORE + made;
        if failure.kind == ReplyFailureKind::Error {
            let error = json!({"sequence_number": number, "code": "server_error", "param": null,
                "message": failure.words});
            return push_named(to, "error", &error);
        }
        let (status, error, why) = match failure.kind {
            ReplyFailureKind::Filter => {
                ("incomplete", Value::Null, json!({"reason": "content_filter"}))
            }
            _ => {
                let error = json!({"code": "server_error", "message": failure.words});
                ("failed", error, Value::Null)
            }
        };
        let text: String = (0..made).map(|index| reply.word(index)).collect();
        let mut response = self.facts.clone();
        response["status"] = status.into();
        response["error"] = error;
        response["incomplete_details"] = why;
        response["output"] = json!([item(self.number, "incomplete", &text)]);
        response["usage"] = usage(reply, made);
        let end = json!({"sequence_number": number, "response": response});
        push_named(to, &format!("response.{status}"), &end);
    }
}

/// A reply in one piece.
pub(in super::super) fn whole(
    ask: &ParsedRequest,
    reply: &ReplyContents,
    number: JobId,
    created: u64,
) -> Value {
    finished(facts(ask, number, created), reply, number)
}

/// What is known of a response from the first.
fn facts(ask: &ParsedRequest, number: JobId, created: u64) -> Value {
    json!({
        "id": frames::reply_id(ask, number),
        "object": "response",
        "created_at": created,
        "model": ask.model,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "tool_choice": "auto",
        "tools": [],
    })
}

fn finished(mut response: Value, reply: &ReplyContents, number: JobId) -> Value {
    let status = status(reply.ending);
    response["status"] = status.into();
    if reply.ending == ReplyEnding::Length {
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    }
    response["output"] = json!([item(number, status, &reply.text())]);
    response["usage"] = usage(reply, reply.tokens);
    response
}

fn usage(reply: &ReplyContents, tokens: u64) -> Value {
    json!({
        "input_tokens": reply.prompt_tokens,
        "input_tokens_details": {"cached_tokens": reply.cached_tokens.unwrap_or_default()},
        "output_tokens": tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.prompt_tokens.saturating_add(tokens),
    })
}

const fn status(ending: ReplyEnding) -> &'static str {
    match ending {
        ReplyEnding::Length => "incomplete",
        ReplyEnding::Stop => "completed",
    }
}

fn item_id(number: JobId) -> String {
    format!("msg_{}", number.0)
}

/// The one message of a response.
fn item(number: JobId, status: &str, text: &str) -> Value {
    json!({
        "id": item_id(number),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": [part(text)],
    })
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

/// Which part of which item an event is about.
fn place(number: JobId, sequence: u64) -> Value {
    json!({
        "sequence_number": sequence,
        "item_id": item_id(number),
        "output_index": 0,
        "content_index": 0,
    })
}
