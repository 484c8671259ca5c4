//! OpenAI's embeddings route: text or token ids in, a vector out, in one piece.

use std::fmt;

use fizeau_core::{Prompt, Usage};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;

use super::body::{self, FieldValue, GivenBody, JsonObject};
use super::fields::FewItems;
use super::json::{self, WholeCount, counted, error_words};
use super::{BodyInput, Builtin, EndRule, EventError, RequestError, WireEvent};
use crate::event::RawEvent;
use crate::framing::Framing;

/// `/v1/embeddings` as OpenAI, vLLM, SGLang, llama.cpp's server and TEI speak it, and vLLM's `/pooling`.
///
/// The reply is one JSON body and no stream: a tape of it has a single arrival, on
/// [`Channel::Embedding`](fizeau_core::Channel::Embedding), as its last byte came. No token is generated, and the asked
/// length plays no part. The vector is looked at only to see that there is one. A body given whole goes out as it is,
/// but for the model.
pub(super) static EMBEDDINGS: Builtin = Builtin {
    end: EndRule::Body,
    framing: Framing::Whole,
    reserved: RESERVED,
    ..Builtin::stream(body, read)
};

const RESERVED: &[&str] = &["input"];

fn body(ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
    let input = match &ask.request.prompt {
        Prompt::Body(json) => return GivenBody::parse(json)?.encode(ask, JsonObject::default()),
        Prompt::TokenIds(ids) if ask.backend.takes().token_ids => FieldValue::Ids(ids),
        _ => FieldValue::Text(body::plain_text(ask)?),
    };
    JsonObject::default()
        .with("model", FieldValue::Text(ask.model))
        .with("input", input)
        .with("encoding_format", FieldValue::Text("float"))
        .encode(ask, RESERVED, None)
}

fn read<'a>(event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
    json::object(event, |reply: EmbeddingsReply| classify(reply, event.data.len()))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EmbeddingsReply {
    data: FewItems<EmbeddingsItem>,
    usage: Option<EmbeddingsUsage>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EmbeddingsItem {
    embedding: Vector,
    /// On vLLM's `/pooling`.
    data: Vector,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EmbeddingsUsage {
    prompt_tokens: WholeCount,
}

fn classify(reply: EmbeddingsReply, len: usize) -> WireEvent<'static> {
    let first = reply.data.into_iter().next().unwrap_or_default();
    let has_vector = first.embedding.or(first.data) == Vector::Filled;
    WireEvent {
        embedded: has_vector.then_some(len as u64),
        usage: reply.usage.and_then(|usage| {
            counted(Usage { prompt_tokens: usage.prompt_tokens.tokens(), ..Usage::default() })
        }),
        error: error_words(reply.error.as_ref()),
        ..WireEvent::default()
    }
}

/// A vector: a list (of numbers, or of one list a token), or base64 text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Vector {
    #[default]
    Empty,
    Filled,
}

impl Vector {
    fn or(self, other: Self) -> Self {
        if self == Self::Filled { self } else { other }
    }
}

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct VectorVisitor;

        impl<'de> Visitor<'de> for VectorVisitor {
            type Value = Vector;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list, base64 text, or null")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(if text.is_empty() { Vector::Empty } else { Vector::Filled })
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Vector::Empty)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut vector = Vector::Empty;
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    vector = Vector::Filled;
                }
                Ok(vector)
            }
        }

        from.deserialize_any(VectorVisitor)
    }
}
