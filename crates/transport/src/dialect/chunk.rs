//! The chunks of both OpenAI routes, read by their values and never by the presence of a key: servers send
//! every key with null, several things in one chunk, and the same thing in several places.

use std::borrow::Cow;

use fizeau_core::{Finish, Nanos, ServerTiming, Tokens, Usage};
use serde::Deserialize;
use serde_json::Value;

use self::fields::{Content, Count, Few, Text};
use super::{EventError, WireEvent};
use crate::sse::SseEvent;

mod fields;

/// What `event` says, on either route.
pub(crate) fn read<'a>(event: &SseEvent<'a>) -> Result<WireEvent<'a>, EventError> {
    let data = event.data.trim_ascii();
    if event.name == b"error" {
        return Ok(failed(message(data)));
    }
    match data {
        b"[DONE]" => Ok(WireEvent {
            done: true,
            ..WireEvent::default()
        }),
        // llama.cpp's server opens a stream of several prompts with the bare word.
        b"" | b"null" => Ok(WireEvent::default()),
        // A derived reader would take an array for an object, field by field.
        [b'{', ..] => {
            let chunk: Chunk<'a> = serde_json::from_slice(data)
                .map_err(|error| EventError::new(format!("{error}, in {}", excerpt(data))))?;
            Ok(classify(chunk))
        }
        _ => Err(EventError::new(excerpt(data))),
    }
}

/// The words of an error body or error object; its text as it is where it has no known shape.
pub(crate) fn message(data: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(data).ok();
    let words = value.as_ref().and_then(words);
    words.unwrap_or_else(|| String::from_utf8_lossy(data).into_owned())
}

/// The words of the error in a 200 reply's JSON body, if it holds one.
pub(crate) fn error_in(data: &[u8]) -> Option<String> {
    let chunk: Chunk<'_> = serde_json::from_slice(data).ok()?;
    chunk.error_words()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Few<Choice<'a>>,
    usage: Option<UsageField>,
    error: Option<Value>,
    #[serde(borrow)]
    object: Text<'a>,
    /// Only looked at beside `"object": "error"`.
    message: Option<Value>,
    /// llama.cpp's server.
    timings: Option<Timings>,
    /// Groq.
    x_groq: Option<Groq>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    finish_reason: Text<'a>,
    /// vLLM.
    token_ids: Count,
    /// LMDeploy.
    output_ids: Count,
    logprobs: Option<Logprobs>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    reasoning: Text<'a>,
    #[serde(borrow)]
    reasoning_content: Text<'a>,
    #[serde(borrow)]
    reasoning_details: Few<Detail<'a>>,
    #[serde(borrow)]
    refusal: Text<'a>,
    #[serde(borrow)]
    tool_calls: Few<ToolCall<'a>>,
    #[serde(borrow)]
    function_call: Option<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Detail<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
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
    #[serde(borrow)]
    arguments: Text<'a>,
}

/// `content` on the chat route, `tokens` on the completions route.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Logprobs {
    content: Count,
    tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UsageField {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    /// SGLang has it at the top.
    reasoning_tokens: Option<u64>,
    /// Groq, in seconds, with the two below.
    queue_time: Option<f64>,
    prompt_time: Option<f64>,
    completion_time: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

/// llama.cpp's own account, in milliseconds and tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Timings {
    prompt_ms: Option<f64>,
    predicted_ms: Option<f64>,
    prompt_n: Option<u64>,
    predicted_n: Option<u64>,
    cache_n: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Groq {
    error: Option<Value>,
    usage: Option<UsageField>,
}

fn classify(chunk: Chunk<'_>) -> WireEvent<'_> {
    let mut event = WireEvent {
        error: chunk.error_words(),
        timing: chunk.timing(),
        usage: chunk.usage(),
        ..WireEvent::default()
    };
    let mut has_choice = false;
    for choice in chunk.choices {
        has_choice = true;
        take_choice(&mut event, choice);
    }
    let running = event.usage.and_then(|usage| usage.completion_tokens);
    event.running = running.map(Tokens::get).filter(|_| has_choice);
    event
}

fn take_choice<'a>(event: &mut WireEvent<'a>, choice: Choice<'a>) {
    append(&mut event.visible, choice.text.0);
    if let Some(delta) = choice.delta {
        take_delta(event, delta);
    }
    event.token_ids += choice.token_ids.0.max(choice.output_ids.0);
    if let Some(logprobs) = choice.logprobs {
        event.logprobs += logprobs.content.0.max(logprobs.tokens.0);
    }
    match &*choice.finish_reason.0 {
        "" => {}
        "length" | "max_tokens" => event.finish = Some(Finish::Length),
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => {
            event.finish = Some(Finish::Stop);
        }
        "tool_calls" | "function_call" | "tool_use" => event.finish = Some(Finish::ToolCalls),
        reason @ ("abort" | "content_filter" | "error" | "parse_error") => {
            let words = || format!("the server ended the reply with the finish reason `{reason}`");
            event.error.get_or_insert_with(words);
        }
        _ => event.finish = Some(Finish::Other),
    }
}

fn take_delta<'a>(event: &mut WireEvent<'a>, delta: Delta<'a>) {
    append(&mut event.visible, delta.content.text);
    append(&mut event.refusal, delta.refusal.0);
    let calls = delta
        .tool_calls
        .into_iter()
        .filter_map(|call| call.function);
    for function in calls.chain(delta.function_call) {
        append(&mut event.tool_call, function.name.0);
        append(&mut event.tool_call, function.arguments.0);
    }
    // One thought under several names is still one: servers in transition send the old and the new key.
    let mut reasoning = delta.reasoning.0;
    if reasoning.is_empty() {
        reasoning = delta.reasoning_content.0;
    }
    if reasoning.is_empty() {
        for detail in delta.reasoning_details {
            append(&mut reasoning, detail.text.0);
            append(&mut reasoning, detail.summary.0);
        }
    }
    append(&mut event.reasoning, delta.content.thinking);
    append(&mut event.reasoning, reasoning);
}

impl Chunk<'_> {
    fn error_words(&self) -> Option<String> {
        let groq = self.x_groq.as_ref().and_then(|groq| groq.error.as_ref());
        let plain = self.message.as_ref().filter(|_| self.object.0 == "error");
        let mut errors = [self.error.as_ref(), groq, plain].into_iter().flatten();
        errors.find_map(words)
    }

    /// The usage, if it is anything but zeros: some servers put an empty one on every chunk.
    fn usage(&self) -> Option<Usage> {
        let groq = || self.x_groq.as_ref().and_then(|groq| groq.usage.as_ref());
        let field = self.usage.as_ref().or_else(groq).map(UsageField::to_usage);
        let counted = field.filter(|usage| !is_zero(usage));
        counted.or_else(|| self.timings.as_ref().and_then(Timings::to_usage))
    }

    fn timing(&self) -> Option<ServerTiming> {
        let groq = self.x_groq.as_ref().and_then(|groq| groq.usage.as_ref());
        let own = self.timings.as_ref().map(|timings| ServerTiming {
            queue: None,
            prefill: timings.prompt_ms.and_then(|ms| seconds(ms / 1e3)),
            decode: timings.predicted_ms.and_then(|ms| seconds(ms / 1e3)),
        });
        let usages = [self.usage.as_ref(), groq].into_iter().flatten();
        let of_usage = usages.map(|usage| ServerTiming {
            queue: usage.queue_time.and_then(seconds),
            prefill: usage.prompt_time.and_then(seconds),
            decode: usage.completion_time.and_then(seconds),
        });
        let mut timings = own.into_iter().chain(of_usage);
        timings.find(|timing| *timing != ServerTiming::default())
    }
}

impl UsageField {
    fn to_usage(&self) -> Usage {
        let prompt = self.prompt_tokens_details.as_ref();
        let completion = self.completion_tokens_details.as_ref();
        let reasoning = completion.and_then(|details| details.reasoning_tokens);
        Usage {
            prompt_tokens: self.prompt_tokens.map(Tokens::new),
            completion_tokens: self.completion_tokens.map(Tokens::new),
            cached_tokens: prompt.and_then(|d| d.cached_tokens).map(Tokens::new),
            reasoning_tokens: reasoning.or(self.reasoning_tokens).map(Tokens::new),
        }
    }
}

impl Timings {
    /// The counts beside the times: llama.cpp's server gives them even where it gives no usage.
    fn to_usage(&self) -> Option<Usage> {
        let processed = self.prompt_n?;
        let usage = Usage {
            prompt_tokens: Some(Tokens::new(processed) + Tokens::new(self.cache_n.unwrap_or(0))),
            completion_tokens: self.predicted_n.map(Tokens::new),
            cached_tokens: self.cache_n.map(Tokens::new),
            reasoning_tokens: None,
        };
        Some(usage).filter(|usage| !is_zero(usage))
    }
}

fn is_zero(usage: &Usage) -> bool {
    let counts = [usage.prompt_tokens, usage.completion_tokens];
    counts
        .into_iter()
        .flatten()
        .all(|count| count == Tokens::ZERO)
}

fn seconds(secs: f64) -> Option<Nanos> {
    Nanos::from_secs_f64(secs).ok()
}

fn append<'a>(to: &mut Cow<'a, str>, more: Cow<'a, str>) {
    if to.is_empty() {
        *to = more;
    } else if !more.is_empty() {
        to.to_mut().push_str(&more);
    }
}

/// The words of an error value, however it is wrapped; none if the value says that there is no error.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Array(items) => items.iter().find_map(words),
        Value::Object(fields) if fields.is_empty() => None,
        Value::Object(fields) => {
            let known = ["error", "message", "detail", "msg"];
            let inner = known
                .iter()
                .filter_map(|name| fields.get(*name))
                .find_map(words);
            Some(inner.unwrap_or_else(|| value.to_string()))
        }
        other => Some(other.to_string()),
    }
}

fn failed(words: String) -> WireEvent<'static> {
    WireEvent {
        error: Some(words),
        ..WireEvent::default()
    }
}

/// The start of `data`, to be named in an error. Longer than a tape keeps, so that secrets in it are scrubbed
/// whole.
fn excerpt(data: &[u8]) -> String {
    let start = data.get(..300).unwrap_or(data);
    let dots = if start.len() < data.len() { "..." } else { "" };
    format!("`{}{dots}`", String::from_utf8_lossy(start))
}
