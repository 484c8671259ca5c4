//! Hugging Face TGI's native route: text in, one event a token out.

use fizeau_core::{Finish, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::body::{self, FieldValue, JsonObject, NestedParameters};
use super::fields::{Loose, TextField};
use super::json::{self, WholeCount, counted, error_words, take_finish};
use super::{BodyInput, Builtin, EndRule, RequestError, WireEvent};

/// TGI's `/generate_stream`.
///
/// Each event holds one token with its id. The last one also says why the generation ended; there is no end
/// marker, so a body that ends before it was cut off. Generating past the model's own end cannot be asked for.
pub(super) static GENERATE: Builtin = Builtin {
    end: EndRule::FinishThenBody,
    varying: Some(&["id", "index", "logprob"]),
    reserved: RESERVED,
    ..Builtin::stream(body, |event| json::object(event, classify))
};

const RESERVED: &[&str] =
    &["inputs", "parameters.best_of", "parameters.details", "parameters.max_new_tokens"];

const SAMPLING: NestedParameters = NestedParameters {
    field: "parameters",
    names: &[
        ("frequency_penalty", "frequency_penalty"),
        ("repetition_penalty", "repetition_penalty"),
        ("seed", "seed"),
        ("stop", "stop"),
        ("temperature", "temperature"),
        ("top_k", "top_k"),
        ("top_p", "top_p"),
    ],
};

fn body(ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
    let limit = ask.request.max_output_tokens.get();
    let parameters = JsonObject::default()
        .with("max_new_tokens", FieldValue::Count(limit))
        .with("details", FieldValue::Yes(body::True));
    JsonObject::default()
        .with("inputs", FieldValue::Text(body::plain_text(ask)?))
        .with("parameters", FieldValue::Object(parameters))
        .encode(ask, RESERVED, Some(&SAMPLING))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TgiChunk<'a> {
    #[serde(borrow)]
    token: Option<Token<'a>>,
    details: Option<TgiDetails<'a>>,
    /// The whole text again, on the last event.
    generated_text: Option<Loose<'a>>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Token<'a> {
    #[serde(borrow)]
    text: TextField<'a>,
    /// One that is no part of the text, such as the end-of-sequence token.
    special: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TgiDetails<'a> {
    #[serde(borrow)]
    finish_reason: TextField<'a>,
    generated_tokens: WholeCount,
    input_length: WholeCount,
}

fn classify(chunk: TgiChunk<'_>) -> WireEvent<'_> {
    let mut event = WireEvent { error: error_words(chunk.error.as_ref()), ..WireEvent::default() };
    if let Some(token) = chunk.token {
        event.token_ids = 1;
        if !token.special {
            event.visible = token.text.0;
        }
    }
    event.finish = chunk.generated_text.map(|_| Finish::Unstated);
    if let Some(details) = chunk.details {
        event.usage = counted(Usage {
            prompt_tokens: details.input_length.tokens(),
            completion_tokens: details.generated_tokens.tokens(),
            ..Usage::default()
        });
        take_finish(&mut event, &details.finish_reason.0);
    }
    event
}
