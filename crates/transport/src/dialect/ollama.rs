//! Ollama's native routes: NDJSON, with counts and durations on the last line.

use fizeau_core::{Finish, Nanos, ServerTiming, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::body::{self, FieldValue, JsonObject, NestedParameters};
use super::fields::{FewItems, TextField};
use super::json::{self, WholeCount, append, append_arguments, counted, error_words, take_finish};
use super::{BodyInput, Builtin, RequestError, WireEvent};
use crate::framing::Framing;

/// Ollama's `/api/chat`. A prompt of plain text becomes one message of the user. Generating past the model's own end
/// cannot be asked for, here and on the other route.
pub(super) static CHAT: Builtin = ollama(|ask| {
    let messages = FieldValue::Messages(body::messages(ask)?);
    body(ask, JsonObject::default().with("messages", messages))
});

/// Ollama's `/api/generate`. The prompt is sent `raw`, past the model's template, so that its length is what was asked; the
/// extra body can say otherwise.
pub(super) static GENERATE: Builtin = ollama(|ask| {
    let prompt = FieldValue::Text(body::plain_text(ask)?);
    body(ask, JsonObject::default().with("prompt", prompt).with("raw", FieldValue::Yes(body::True)))
});

const fn ollama(body: fn(&BodyInput<'_>) -> Result<Vec<u8>, RequestError>) -> Builtin {
    Builtin {
        framing: Framing::Ndjson,
        varying: Some(&["created_at"]),
        reserved: RESERVED,
        ..Builtin::stream(body, |event| json::object(event, classify))
    }
}

const RESERVED: &[&str] = &["options.num_predict"];

const SAMPLING: NestedParameters = NestedParameters {
    field: "options",
    names: &[
        ("frequency_penalty", "frequency_penalty"),
        ("min_p", "min_p"),
        ("presence_penalty", "presence_penalty"),
        ("repetition_penalty", "repeat_penalty"),
        ("seed", "seed"),
        ("stop", "stop"),
        ("temperature", "temperature"),
        ("top_k", "top_k"),
        ("top_p", "top_p"),
    ],
};

fn body<'a>(ask: &BodyInput<'a>, prompt: JsonObject<'a>) -> Result<Vec<u8>, RequestError> {
    let limit = ask.request.max_output_tokens.get();
    let options = JsonObject::default().with("num_predict", FieldValue::Count(limit));
    prompt
        .with("model", FieldValue::Text(ask.model))
        .with("options", FieldValue::Object(options))
        .with("stream", FieldValue::Yes(body::True))
        .encode(ask, RESERVED, Some(&SAMPLING))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OllamaLine<'a> {
    #[serde(borrow)]
    response: TextField<'a>,
    thinking: TextField<'a>,
    message: Option<OllamaMessage<'a>>,
    done: Option<bool>,
    done_reason: TextField<'a>,
    prompt_eval_count: WholeCount,
    eval_count: WholeCount,
    /// Nanoseconds, as the one below.
    prompt_eval_duration: WholeCount,
    eval_duration: WholeCount,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OllamaMessage<'a> {
    #[serde(borrow)]
    content: TextField<'a>,
    thinking: TextField<'a>,
    tool_calls: FewItems<OllamaToolCall<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OllamaToolCall<'a> {
    #[serde(borrow)]
    function: Option<OllamaFunction<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OllamaFunction<'a> {
    #[serde(borrow)]
    name: TextField<'a>,
    arguments: Option<Value>,
}

fn classify(line: OllamaLine<'_>) -> WireEvent<'_> {
    let mut event = WireEvent {
        visible: line.response.0,
        reasoning: line.thinking.0,
        error: error_words(line.error.as_ref()),
        // What is zero is left out by the server: a prompt that was cached whole has no count.
        usage: counted(Usage {
            prompt_tokens: line.prompt_eval_count.tokens(),
            completion_tokens: line.eval_count.tokens(),
            ..Usage::default()
        }),
        ..WireEvent::default()
    };
    let timing = ServerTiming {
        queue: None,
        prefill: line.prompt_eval_duration.0.map(Nanos::from_nanos),
        decode: line.eval_duration.0.map(Nanos::from_nanos),
    };
    event.timing = Some(timing).filter(|timing| *timing != ServerTiming::default());
    if let Some(message) = line.message {
        append(&mut event.visible, message.content.0);
        append(&mut event.reasoning, message.thinking.0);
        let calls = message.tool_calls.into_iter();
        for function in calls.filter_map(|call| call.function) {
            append(&mut event.tool_call, function.name.0);
            append_arguments(&mut event.tool_call, function.arguments.as_ref());
        }
    }
    if line.done == Some(true) {
        event.done = true;
        event.finish = Some(Finish::Unstated);
        take_finish(&mut event, &line.done_reason.0);
    }
    event
}
