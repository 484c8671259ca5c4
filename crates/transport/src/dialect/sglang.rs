//! SGLang's native route: text or token ids in, the text so far or the new text out, with a running count.

use fizeau_core::{Prompt, ServerTiming, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::body::{self, FieldValue, JsonObject, NestedParameters};
use super::fields::{ItemCount, Loose, TextField};
use super::json::{self, WholeCount, counted, error_words, seconds, take_finish};
use super::{BodyInput, Builtin, CumulativeEvents, RequestError, WireEvent};
use crate::backend::LengthForcing;

/// SGLang's `/generate`.
///
/// By default each event repeats all text and token ids so far; a flag of the server
/// (`incremental_streaming_output`) makes them differences. `meta_info.completion_tokens` is the running count in
/// both cases. The repetition costs the client time that grows with the square of the reply's length: set the flag
/// to measure long replies.
pub(super) static GENERATE: Builtin = Builtin {
    varying: Some(&["completion_tokens", "output_ids"]),
    repeats: CumulativeEvents::Perhaps,
    forcing: |_| LengthForcing::Exact,
    reserved: RESERVED,
    ..Builtin::stream(body, |event| json::object_or_done(event, classify))
};

const RESERVED: &[&str] =
    &["input_embeds", "input_ids", "sampling_params.max_new_tokens", "sampling_params.n", "text"];

const SAMPLING: NestedParameters = NestedParameters {
    field: "sampling_params",
    names: &[
        ("frequency_penalty", "frequency_penalty"),
        ("ignore_eos", "ignore_eos"),
        ("min_p", "min_p"),
        ("presence_penalty", "presence_penalty"),
        ("repetition_penalty", "repetition_penalty"),
        ("seed", "sampling_seed"),
        ("stop", "stop"),
        ("temperature", "temperature"),
        ("top_k", "top_k"),
        ("top_p", "top_p"),
    ],
};

fn body(ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
    let object = match &ask.request.prompt {
        Prompt::TokenIds(ids) => JsonObject::default().with("input_ids", FieldValue::Ids(ids)),
        _ => JsonObject::default().with("text", FieldValue::Text(body::plain_text(ask)?)),
    };
    let limit = ask.request.max_output_tokens.get();
    let sampling = JsonObject::default()
        .with("max_new_tokens", FieldValue::Count(limit))
        .ignore_eos("ignore_eos", ask);
    object
        .with("sampling_params", FieldValue::Object(sampling))
        .with("stream", FieldValue::Yes(body::True))
        .encode(ask, RESERVED, Some(&SAMPLING))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SglangChunk<'a> {
    #[serde(borrow)]
    text: TextField<'a>,
    output_ids: ItemCount,
    meta_info: Option<Meta<'a>>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Meta<'a> {
    #[serde(borrow)]
    finish_reason: Option<Reason<'a>>,
    prompt_tokens: WholeCount,
    completion_tokens: WholeCount,
    cached_tokens: WholeCount,
    /// Seconds, where the server keeps metrics.
    queue_time: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reason<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextField<'a>,
    message: Loose<'a>,
}

fn classify(chunk: SglangChunk<'_>) -> WireEvent<'_> {
    let mut event = WireEvent {
        visible: chunk.text.0,
        token_ids: chunk.output_ids.0,
        error: error_words(chunk.error.as_ref()),
        ..WireEvent::default()
    };
    let Some(meta) = chunk.meta_info else {
        return event;
    };
    event.running = meta.completion_tokens.0;
    event.usage = counted(Usage {
        prompt_tokens: meta.prompt_tokens.tokens(),
        completion_tokens: meta.completion_tokens.tokens(),
        cached_tokens: meta.cached_tokens.tokens(),
        reasoning_tokens: None,
    });
    event.timing = meta
        .queue_time
        .and_then(seconds)
        .map(|queue| ServerTiming { queue: Some(queue), ..ServerTiming::default() });
    if let Some(reason) = meta.finish_reason {
        if reason.kind.0 == "abort" && !reason.message.0.is_empty() {
            let words = || reason.message.0.into_owned();
            event.error.get_or_insert_with(words);
        }
        take_finish(&mut event, &reason.kind.0);
    }
    event
}
