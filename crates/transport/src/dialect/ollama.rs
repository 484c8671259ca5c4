//! Ollama's native routes: NDJSON, with counts and durations on the last line.

use fizeau_core::{Finish, Nanos, ServerTiming, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::body::{self, Nest, Object, Part};
use super::fields::{Few, Text};
use super::json::{self, Tally, append, append_arguments, counted, error_words, take_finish};
use super::{Ask, Builtin, RequestError, WireEvent};
use crate::framing::Framing;

/// Ollama's `/api/chat`. A prompt of plain text becomes one message of the user. Generating past the model's own end
/// cannot be asked for, here and on the other route.
pub(super) static CHAT: Builtin = ollama(|ask| {
    let messages = Part::Messages(body::messages(ask)?);
    body(ask, Object::default().with("messages", messages))
});

/// Ollama's `/api/generate`. The prompt is sent `raw`, past the model's template, so that its length is what was asked; the
/// extra body can say otherwise.
pub(super) static GENERATE: Builtin = ollama(|ask| {
    let prompt = Part::Text(body::plain_text(ask)?);
    body(ask, Object::default().with("prompt", prompt).with("raw", Part::Yes(body::True)))
});

const fn ollama(body: fn(&Ask<'_>) -> Result<Vec<u8>, RequestError>) -> Builtin {
    Builtin {
        framing: Framing::Ndjson,
        varying: Some(&["created_at"]),
        reserved: RESERVED,
        ..Builtin::stream(body, |event| json::object(event, classify))
    }
}

const RESERVED: &[&str] = &["options.num_predict"];

const SAMPLING: Nest = Nest {
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

fn body<'a>(ask: &Ask<'a>, prompt: Object<'a>) -> Result<Vec<u8>, RequestError> {
    let limit = ask.request.max_output_tokens.get();
    let options = Object::default().with("num_predict", Part::Count(limit));
    prompt
        .with("model", Part::Text(ask.model))
        .with("options", Part::Object(options))
        .with("stream", Part::Yes(body::True))
        .encode(ask, RESERVED, Some(&SAMPLING))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    response: Text<'a>,
    thinking: Text<'a>,
    message: Option<Message<'a>>,
    done: Option<bool>,
    done_reason: Text<'a>,
    prompt_eval_count: Tally,
    eval_count: Tally,
    /// Nanoseconds, as the one below.
    prompt_eval_duration: Tally,
    eval_duration: Tally,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Text<'a>,
    thinking: Text<'a>,
    tool_calls: Few<ToolCall<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolCall<'a> {
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    arguments: Option<Value>,
}

fn classify(line: Line<'_>) -> WireEvent<'_> {
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
