//! llama.cpp's native route: text or token ids in; text, a running count and the server's own timings out.

use fizeau_core::{Finish, Prompt, Usage};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::body::{self, FieldValue, JsonObject};
use super::fields::{ItemCount, TextField};
use super::json::{self, Timings, WholeCount, counted, error_words, take_finish};
use super::{BodyInput, Builtin, RequestError, WireEvent};
use crate::backend::LengthForcing;

/// `/completion` of llama.cpp's server.
///
/// `tokens_predicted` is the running count; an event whose `stop` is true ends the reply and holds the server's
/// timings. The server reuses the cache of an earlier prompt unless the extra body says `"cache_prompt": false`;
/// what it reused is in the usage.
pub(super) static COMPLETION: Builtin = Builtin {
    varying: Some(&["tokens", "tokens_predicted"]),
    forcing: |_| LengthForcing::Exact,
    reserved: RESERVED,
    ..Builtin::stream(body, |event| json::object(event, classify))
};

const RESERVED: &[&str] = &["n_cmpl", "n_predict"];

fn body(ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
    let prompt = match &ask.request.prompt {
        Prompt::TokenIds(ids) => FieldValue::Ids(ids),
        _ => FieldValue::Text(body::plain_text(ask)?),
    };
    let limit = ask.request.max_output_tokens.get();
    JsonObject::default()
        .with("prompt", prompt)
        .with("n_predict", FieldValue::Count(limit))
        .ignore_eos("ignore_eos", ask)
        .with("stream", FieldValue::Yes(body::True))
        .encode(ask, RESERVED, None)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LlamaCppChunk<'a> {
    #[serde(borrow)]
    content: TextField<'a>,
    tokens: ItemCount,
    stop: Option<bool>,
    stop_type: TextField<'a>,
    tokens_predicted: WholeCount,
    tokens_evaluated: WholeCount,
    timings: Option<Timings>,
    /// Of an event about the prompt, which comes before any token.
    prompt_progress: Option<IgnoredAny>,
    error: Option<Value>,
}

fn classify(chunk: LlamaCppChunk<'_>) -> WireEvent<'_> {
    let timings = chunk.timings.as_ref();
    let mut event = WireEvent {
        visible: chunk.content.0,
        timing: timings.map(Timings::to_timing),
        error: error_words(chunk.error.as_ref()),
        ..WireEvent::default()
    };
    if chunk.prompt_progress.is_none() {
        event.token_ids = chunk.tokens.0;
        event.running = chunk.tokens_predicted.0;
        event.usage = counted(Usage {
            prompt_tokens: chunk.tokens_evaluated.tokens(),
            completion_tokens: chunk.tokens_predicted.tokens(),
            cached_tokens: timings.and_then(|timings| timings.cache_n.tokens()),
            reasoning_tokens: None,
        });
    }
    if chunk.stop == Some(true) {
        event.done = true;
        event.finish = Some(Finish::Unstated);
        take_finish(&mut event, chunk.stop_type.0.trim_start_matches("none"));
    }
    event
}
