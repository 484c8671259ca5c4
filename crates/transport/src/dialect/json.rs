//! What the dialects share in reading JSON: whatever is no object of theirs, errors in all their wrappings, the
//! reasons for an end.

use std::borrow::Cow;

use fizeau_core::{Finish, Nanos, ServerTiming, Tokens, Usage};
use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::Value;

use super::fields::{Lenient, lenient};
use super::{EventError, WireEvent};
use crate::event::RawEvent;

/// What `event` says if it holds an object, by `classify`. An event named `error` is one, whatever it holds; an
/// empty one, a bare `null` (llama.cpp's server opens a stream of several prompts with it) and the end marker of
/// the OpenAI routes, which copies of other protocols add, say nothing.
pub(super) fn object<'a, T: Deserialize<'a>>(
    event: &RawEvent<'a>,
    classify: impl FnOnce(T) -> WireEvent<'a>,
) -> Result<WireEvent<'a>, EventError> {
    let data = event.data.trim_ascii();
    if event.name == b"error" {
        return Ok(failed(message(data)));
    }
    match data {
        b"" | b"null" | DONE => Ok(WireEvent::default()),
        // A derived reader would take an array for an object, field by field.
        [b'{', ..] => serde_json::from_slice(data)
            .map(classify)
            .map_err(|error| EventError::new(format!("{error}, in {}", excerpt(data)))),
        _ => Err(EventError::new(excerpt(data))),
    }
}

/// As [`object`], for protocols that end with `[DONE]`.
pub(super) fn object_or_done<'a, T: Deserialize<'a>>(
    event: &RawEvent<'a>,
    classify: impl FnOnce(T) -> WireEvent<'a>,
) -> Result<WireEvent<'a>, EventError> {
    let done = event.data.trim_ascii() == DONE;
    object(event, classify).map(|wire| WireEvent { done: done || wire.done, ..wire })
}

const DONE: &[u8] = b"[DONE]";

/// The words of an error body or error object; its text as it is where it has no known shape.
pub(crate) fn message(data: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(data).ok();
    let words = value.as_ref().and_then(words);
    words.unwrap_or_else(|| String::from_utf8_lossy(data).into_owned())
}

/// The words of an error value, however it is wrapped; none if the value says that there is no error.
pub(super) fn words(value: &Value) -> Option<String> {
    match value {
        nothing if is_nothing(nothing) => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => items.iter().find_map(words),
        Value::Object(fields) => {
            let known = ["error", "message", "detail", "msg"];
            let inner = known.iter().filter_map(|name| fields.get(*name)).find_map(words);
            Some(inner.unwrap_or_else(|| value.to_string()))
        }
        other => Some(other.to_string()),
    }
}

/// Whether `value` says that there is none of what its field is for: null, false, 0, empty, or made of such alone.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.iter().all(is_nothing),
        Value::Object(fields) => fields.values().all(is_nothing),
    }
}

/// The most bytes of an error; the first chunk of a good reply may hold the whole prompt.
const LONGEST_FAULT: usize = 16 << 10;

/// The words of an error in another shape than an `error` field, in an object that has neither output nor usage: those of a choice
/// (OpenRouter's), a list of `errors` (Cloudflare's), a text beside a code or a mark that says what it is, or a `detail` alone (FastAPI's).
pub(super) fn plain_fault(data: &[u8]) -> Option<String> {
    if data.len() > LONGEST_FAULT {
        return None;
    }
    let value: Value = serde_json::from_slice(data).ok()?;
    let fields = value.as_object()?;
    let field = |name: &str| fields.get(name).filter(|value| !is_nothing(value));
    if let Some(Value::Array(choices)) = field("choices") {
        return choices.iter().filter_map(|choice| choice.get("error")).find_map(words);
    }
    if field("usage").is_some() {
        return None;
    }
    let text = |names: &[&str]| names.iter().filter_map(|name| field(name)).find_map(words);
    let is_marked =
        ["code", "error_code", "status_code"].iter().any(|name| is_bad_code(fields.get(*name)))
            || ["object", "type"]
                .iter()
                .any(|name| field(name).and_then(Value::as_str) == Some("error"))
            || fields.get("success") == Some(&Value::Bool(false));
    // MiniMax's is behind a name of its own.
    let base = field("base_resp").filter(|base| is_bad_code(base.get("status_code")));
    text(&["errors"])
        .or_else(|| base.and_then(|base| base.get("status_msg")).and_then(words))
        .or_else(|| text(&["message", "detail", "msg"]).filter(|_| is_marked))
        .or_else(|| text(&["detail"]).filter(|_| fields.len() == 1))
        // FastChat's.
        .or_else(|| text(&["text"]).filter(|_| is_bad_code(fields.get("error_code"))))
}

/// Whether `code` is that of a fault: neither nothing nor a word or a status of success.
fn is_bad_code(code: Option<&Value>) -> bool {
    let word = match code {
        Some(Value::String(word)) => word.to_ascii_lowercase(),
        Some(Value::Number(number)) => number.to_string(),
        _ => return false,
    };
    let is_status = word.len() == 3 && word.starts_with('2') && word.parse::<u16>().is_ok();
    !is_status && !["", "0", "ok", "success"].contains(&&*word)
}

/// What one JSON body in place of a stream of events holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PlainBody {
    /// An error, in these words.
    Error(String),
    /// A reply in one piece.
    Reply,
    /// Neither; it begins so.
    Other(String),
}

impl PlainBody {
    /// What `data` is.
    pub(crate) fn of(data: &[u8]) -> Self {
        let data = data.trim_ascii();
        let value: Option<Value> = serde_json::from_slice(data).ok();
        // Google wraps errors in a list.
        let first = match &value {
            Some(Value::Array(items)) => items.first(),
            value => value.as_ref(),
        };
        let field = |name: &str| first.and_then(|value| value.get(name));
        let own = field("error").and_then(words).or_else(|| plain_fault(data));
        let is_reply = || {
            let names = [
                "candidates",
                "choices",
                "content",
                "generated_text",
                "message",
                "meta_info",
                "output",
                "response",
                "text_output",
            ];
            value.as_ref().is_some_and(|whole| names.iter().any(|name| whole.get(*name).is_some()))
        };
        match own {
            Some(words) => Self::Error(words),
            None if is_reply() => Self::Reply,
            None => Self::Other(excerpt(data)),
        }
    }
}

/// The words of an optional error field.
pub(super) fn error_words(field: Option<&Value>) -> Option<String> {
    field.and_then(words)
}

/// Takes note of why the generation ended, by the names of all dialects; an empty one is none. A reply that a
/// filter or a fault cut short is an error: its pace is not that of a whole one.
pub(super) fn take_finish(event: &mut WireEvent<'_>, reason: &str) {
    if reason.is_empty() {
        return;
    }
    event.finish = Some(match &*reason.to_ascii_lowercase() {
        // The last two are Mistral's and Anthropic's for the end of the model's context.
        "length"
        | "limit"
        | "max_tokens"
        | "max_output_tokens"
        | "model_length"
        | "model_context_window_exceeded" => Finish::Length,
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "word" => Finish::Stop,
        "tool_calls" | "function_call" | "tool_use" => Finish::ToolCalls,
        lower if is_failing(lower) => {
            event.error.get_or_insert_with(|| ended_with(reason));
            return;
        }
        _ => Finish::Other,
    });
}

/// Whether a reply that ends for `reason`, in lower case, was cut short by a filter or a fault. Gemini's OpenAI route says what its
/// filter found behind a colon, and gateways hand its own reasons on.
fn is_failing(reason: &str) -> bool {
    const FAILING: &[&str] = &[
        "abort",
        "cancelled",
        "error",
        "failed",
        "parse_error",
        "refusal",
        // TensorRT-LLM's (executor/result.py) for a request that its executor cut off.
        "timeout",
        // DeepSeek's.
        "insufficient_system_resource",
        // Z.ai's.
        "network_error",
        "sensitive",
        // Gemini's (`FinishReason` of its API).
        "blocklist",
        "image_other",
        "image_prohibited_content",
        "image_recitation",
        "image_safety",
        "language",
        "malformed_function_call",
        "malformed_response",
        "no_image",
        "prohibited_content",
        "recitation",
        "safety",
        "spii",
        "unexpected_tool_call",
    ];
    FAILING.contains(&reason) || reason.starts_with("content_filter")
}

/// The words for a reply that ended with `reason`, where that is a failure.
pub(super) fn ended_with(reason: &str) -> String {
    format!("the server ended the reply with the finish reason `{reason}`")
}

/// `usage`, if it is anything but zeros: some servers put an empty one on every event.
pub(super) fn counted(usage: Usage) -> Option<Usage> {
    let counts = [usage.prompt_tokens, usage.completion_tokens];
    let says = counts.into_iter().flatten().any(|count| count > Tokens::ZERO);
    says.then_some(usage)
}

pub(super) fn seconds(secs: f64) -> Option<Nanos> {
    Nanos::from_secs_f64(secs).ok()
}

pub(super) fn append<'a>(to: &mut Cow<'a, str>, more: Cow<'a, str>) {
    if to.is_empty() {
        *to = more;
    } else if !more.is_empty() {
        to.to_mut().push_str(&more);
    }
}

/// Arguments of a tool call: the text of a string, the JSON of an object.
pub(super) fn append_arguments(to: &mut Cow<'_, str>, arguments: Option<&Value>) {
    match arguments {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => to.to_mut().push_str(text),
        Some(other) => to.to_mut().push_str(&other.to_string()),
    }
}

fn failed(words: String) -> WireEvent<'static> {
    WireEvent { error: Some(words), ..WireEvent::default() }
}

/// The start of `data`, to be named in an error. Longer than a tape keeps, so that secrets in it are scrubbed
/// whole.
fn excerpt(data: &[u8]) -> String {
    let start = data.get(..300).unwrap_or(data);
    let dots = if start.len() < data.len() { "..." } else { "" };
    format!("`{}{dots}`", String::from_utf8_lossy(start))
}

// Counts as foreign JSON writes them.

/// A count. One that is written as a fraction is taken if it is whole; what cannot be a count is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WholeCount(pub(super) Option<u64>);

impl WholeCount {
    pub(super) fn tokens(self) -> Option<Tokens> {
        self.0.map(Tokens::new)
    }
}

impl Lenient<'_> for WholeCount {
    fn of_count(count: u64) -> Self {
        Self(Some(count))
    }

    fn of_fraction(number: f64) -> Self {
        // Beyond this not every whole number is an `f64`, and no count goes so far.
        const MOST: f64 = 9_007_199_254_740_992.0;
        let whole = number.fract() == 0.0 && (0.0..=MOST).contains(&number);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole and within range"
        )]
        Self(whole.then_some(number as u64))
    }
}

impl<'de> Deserialize<'de> for WholeCount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

// llama.cpp's own account of a reply, on all its routes.

/// `timings`, in milliseconds and tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Timings {
    prompt_ms: Option<f64>,
    predicted_ms: Option<f64>,
    prompt_n: WholeCount,
    predicted_n: WholeCount,
    pub(super) cache_n: WholeCount,
}

impl Timings {
    pub(super) fn to_timing(&self) -> ServerTiming {
        ServerTiming {
            queue: None,
            prefill: self.prompt_ms.and_then(|ms| seconds(ms / 1e3)),
            decode: self.predicted_ms.and_then(|ms| seconds(ms / 1e3)),
        }
    }

    /// The counts beside the times: they are there even where the server gives no usage.
    pub(super) fn to_usage(&self) -> Option<Usage> {
        let processed = self.prompt_n.tokens()?;
        counted(Usage {
            prompt_tokens: Some(processed + self.cache_n.tokens().unwrap_or(Tokens::ZERO)),
            completion_tokens: self.predicted_n.tokens(),
            cached_tokens: self.cache_n.tokens(),
            reasoning_tokens: None,
        })
    }
}
