//! Triton's generate extension in front of TensorRT-LLM: text in, text out, and little else.

use serde::Deserialize;
use serde_json::Value;

use super::body::{self, FieldValue, JsonObject};
use super::fields::TextField;
use super::json::{self, error_words};
use super::{BodyInput, Builtin, CumulativeEvents, EndRule, EventError, RequestError, WireEvent};
use crate::backend::LengthForcing;
use crate::event::RawEvent;

/// Triton's `/v2/models/MODEL/generate_stream`, with the field names of TensorRT-LLM's model repository.
///
/// The server tells neither counts nor a reason for the end: tokens are a count of events, and the end of the body
/// is the end. A length is forced by a `min_length` that equals the cap. Models that accumulate
/// (`accumulate_tokens`) repeat all text so far in each event, which the reader finds out.
pub(super) static GENERATE: Builtin = Builtin {
    end: EndRule::Body,
    varying: Some(&[]),
    repeats: CumulativeEvents::Perhaps,
    forcing: |_| LengthForcing::Exact,
    reserved: RESERVED,
    ..Builtin::stream(body, read)
};

const RESERVED: &[&str] = &["text_input"];

fn body(ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
    let limit = ask.request.max_output_tokens.get();
    let least = ask.request.eos == fizeau_core::EosRule::Ignore;
    JsonObject::default()
        .with("text_input", FieldValue::Text(body::plain_text(ask)?))
        .with("max_tokens", FieldValue::Count(limit))
        .maybe("min_length", least.then_some(FieldValue::Count(limit)))
        .with("stream", FieldValue::Yes(body::True))
        .encode(ask, RESERVED, None)
}

fn read<'a>(event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
    json::object(event, |chunk: TritonChunk<'a>| WireEvent {
        visible: chunk.text_output.0,
        error: error_words(chunk.error.as_ref()),
        ..WireEvent::default()
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TritonChunk<'a> {
    #[serde(borrow)]
    text_output: TextField<'a>,
    error: Option<Value>,
}
