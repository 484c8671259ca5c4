//! OpenAI's Responses route: text or messages in, typed events out.

use fizeau_core::{Finish, Prompt, Tokens, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::body::{self, FieldValue, GivenBody, JsonObject};
use super::fields::{ItemCount, Loose, TextField};
use super::json::{self, WholeCount, counted, error_words, take_finish};
use super::{BodyInput, Builtin, EventError, RequestError, WireEvent};
use crate::backend::{Backend, LengthForcing};
use crate::event::RawEvent;

/// `/v1/responses` as OpenAI, vLLM and llama.cpp's server speak it.
///
/// A capped reply normally ends with `response.incomplete`, which is a good end. The `*.done` events repeat what
/// the deltas said and are no tokens; the log-probabilities of a delta count its tokens where they are asked for. A body
/// given whole goes out as it is, but for the model, the streaming and, where it names none, the length.
pub(super) static RESPONSES: Builtin = Builtin {
    varying: Some(&["obfuscation", "sequence_number"]),
    forcing,
    reserved: RESERVED,
    ..Builtin::stream(body, read)
};

const RESERVED: &[&str] = &["input", "max_output_tokens"];

fn body(ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
    let input = match &ask.request.prompt {
        Prompt::Body(json) => return whole(ask, json, forcing(ask.backend)),
        Prompt::Text(text) => FieldValue::Text(text),
        _ => FieldValue::Messages(body::messages(ask)?),
    };
    let limit = ask.request.max_output_tokens.get();
    let mut object = JsonObject::default()
        .with("model", FieldValue::Text(ask.model))
        .with("input", input)
        .with("max_output_tokens", FieldValue::Count(limit))
        .with("stream", FieldValue::Yes(body::True));
    if forcing(ask.backend) == LengthForcing::Exact {
        object = object.ignore_eos("ignore_eos", ask);
    }
    object.encode(ask, RESERVED, None)
}

fn read<'a>(event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
    let name = std::str::from_utf8(event.name).unwrap_or_default();
    json::object(event, |said: ResponsesEvent<'a>| classify(said, name))
}

/// A body that is given whole as `json`.
/// llama.cpp's server hands fields that it does not know on to its chat route; OpenAI's own refuses them.
const fn forcing(backend: Backend) -> LengthForcing {
    match backend {
        Backend::LlamaCpp | Backend::LlamaCppChat | Backend::LlamaCppNative => LengthForcing::Exact,
        _ => LengthForcing::CapOnly,
    }
}

fn whole(ask: &BodyInput<'_>, json: &str, forcing: LengthForcing) -> Result<Vec<u8>, RequestError> {
    let given = GivenBody::parse(json)?;
    let mut ours = JsonObject::default().with("stream", FieldValue::Yes(body::True));
    if !given.has("max_output_tokens") {
        let limit = ask.request.max_output_tokens.get();
        ours = ours.with("max_output_tokens", FieldValue::Count(limit));
    }
    if forcing == LengthForcing::Exact && !given.has("ignore_eos") {
        ours = ours.ignore_eos("ignore_eos", ask);
    }
    given.encode(ask, ours)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponsesEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextField<'a>,
    delta: Loose<'a>,
    logprobs: ItemCount,
    item: Option<ResponsesItem<'a>>,
    response: Option<ResponseObject<'a>>,
    error: Option<Value>,
    /// Beside `"type": "error"`.
    message: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponsesItem<'a> {
    #[serde(borrow, rename = "type")]
    kind: Loose<'a>,
    name: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseObject<'a> {
    error: Option<Value>,
    #[serde(borrow)]
    incomplete_details: Option<Incomplete<'a>>,
    usage: Option<ResponsesUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Incomplete<'a> {
    #[serde(borrow)]
    reason: TextField<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponsesUsage {
    input_tokens: WholeCount,
    output_tokens: WholeCount,
    input_tokens_details: Option<ResponsesTokenDetails>,
    output_tokens_details: Option<ResponsesTokenDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponsesTokenDetails {
    cached_tokens: WholeCount,
    reasoning_tokens: WholeCount,
}

/// What an event says; its type is in the JSON or, on some copies, only in the event's `name`.
fn classify<'a>(said: ResponsesEvent<'a>, name: &str) -> WireEvent<'a> {
    let mut event = WireEvent { error: error_words(said.error.as_ref()), ..WireEvent::default() };
    let kind = if said.kind.0.is_empty() { name } else { &*said.kind.0 };
    match kind {
        "response.output_text.delta" => {
            event.visible = said.delta.0;
            event.logprobs = said.logprobs.0;
        }
        "response.refusal.delta" => event.refusal = said.delta.0,
        "response.reasoning_text.delta"
        | "response.reasoning_summary_text.delta"
        | "response.reasoning.delta" => event.reasoning = said.delta.0,
        "response.function_call_arguments.delta"
        | "response.custom_tool_call_input.delta"
        | "response.mcp_call_arguments.delta"
        | "response.code_interpreter_call_code.delta" => event.tool_call = said.delta.0,
        // The name of a call, as the model wrote it; other items have none.
        "response.output_item.added" => {
            let item = said.item.unwrap_or_default();
            event.tool_call = item.name.0;
            // The calls that wait for the client; those of others go on by themselves.
            if matches!(&*item.kind.0, "function_call" | "custom_tool_call") {
                event.finish = Some(Finish::ToolCalls);
            }
        }
        "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
            let ending = kind.trim_start_matches("response.");
            end(&mut event, ending, said.response.unwrap_or_default());
        }
        "error" => {
            let words = error_words(said.message.as_ref());
            let unnamed = || "an error without words".to_owned();
            event.error = event.error.or(words).or_else(|| Some(unnamed()));
        }
        _ => {}
    }
    event
}

fn end(event: &mut WireEvent<'_>, ending: &str, response: ResponseObject<'_>) {
    event.done = true;
    event.usage = response.usage.and_then(|usage| counted(usage.to_usage()));
    event.error = event.error.take().or_else(|| error_words(response.error.as_ref()));
    match ending {
        "completed" => event.finish = Some(Finish::Stop),
        "incomplete" => {
            event.finish = Some(Finish::Unstated);
            let details = response.incomplete_details.unwrap_or_default();
            take_finish(event, &details.reason.0);
        }
        other => take_finish(event, other),
    }
}

impl ResponsesUsage {
    fn to_usage(&self) -> Usage {
        let input = self.input_tokens_details.as_ref();
        let output = self.output_tokens_details.as_ref();
        let cached = input.and_then(|details| details.cached_tokens.0);
        let reasoning = output.and_then(|details| details.reasoning_tokens.0);
        Usage {
            prompt_tokens: self.input_tokens.tokens(),
            completion_tokens: self.output_tokens.tokens(),
            cached_tokens: cached.map(Tokens::new),
            reasoning_tokens: reasoning.map(Tokens::new),
        }
    }
}
