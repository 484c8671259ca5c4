//! What the bodies of OpenAI's completions and chat have in common.

use fizeau_core::{EosRule, Prompt};
use serde::Serialize;
use serde_json::{Map, Value};

use super::body::{self, ChatMessages, FieldValue, GivenBody, JsonObject, True};
use super::{BodyInput, Builtin, RequestError, chunk};
use crate::backend::SupportedFields;

/// Fields of every request. A field that the user's extra body names is left to it.
#[derive(Debug, Serialize)]
pub(super) struct Common<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore_eos: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_token_ids: Option<bool>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    continuous_usage_stats: Option<bool>,
}

impl<'a> Common<'a> {
    pub(super) fn of(ask: &BodyInput<'a>) -> Self {
        let takes = ask.backend.takes();
        let extra = ask.extra.fields();
        let yes = |wanted: bool, name: &str| (wanted && !extra.contains_key(name)).then_some(true);
        Self {
            model: ask.model,
            stream: true,
            stream_options: takes.include_usage.then_some(StreamOptions {
                include_usage: true,
                continuous_usage_stats: takes.continuous_usage.then_some(true),
            }),
            ignore_eos: yes(ignores_eos(ask), "ignore_eos"),
            return_token_ids: yes(wants_ids(*takes), "return_token_ids"),
            extra,
        }
    }
}

/// Ids are asked for only where nothing cheaper is exact: on vLLM they come with a copy of the whole prompt in the first
/// chunk, which would burden the very latency that is measured.
const fn wants_ids(takes: SupportedFields) -> bool {
    takes.return_token_ids && !takes.continuous_usage
}

fn ignores_eos(ask: &BodyInput<'_>) -> bool {
    ask.backend.takes().ignore_eos && ask.request.eos == EosRule::Ignore
}

/// The names of the length, of which a body needs one.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// A body given whole as `json`, which must have a `subject`, made measurable: streamed, with usage, one reply. The length
/// is called `limit` where the body has none.
pub(super) fn whole(
    ask: &BodyInput<'_>,
    json: &str,
    subject: &'static str,
    limit: &'static str,
) -> Result<Vec<u8>, RequestError> {
    let given = GivenBody::parse(json)?;
    given.check_subject(subject)?;
    for name in ["n", "best_of"] {
        given.check_single(name)?;
    }
    let takes = *ask.backend.takes();
    let yes = |wanted: bool, name| (wanted && !given.has(name)).then_some(FieldValue::Yes(True));
    let has_limit = LIMITS.iter().any(|name| given.has(name));
    let count = FieldValue::Count(ask.request.max_output_tokens.get());
    let options = takes.include_usage.then(|| FieldValue::Owned(stream_options(&given, takes)));
    let ours = JsonObject::default()
        .with("stream", FieldValue::Yes(True))
        .maybe("stream_options", options)
        .maybe(limit, (!has_limit).then_some(count))
        .maybe("ignore_eos", yes(ignores_eos(ask), "ignore_eos"))
        .maybe("return_token_ids", yes(wants_ids(takes), "return_token_ids"));
    given.encode(ask, ours)
}

/// The body's own options, with usage.
fn stream_options(given: &GivenBody<'_>, takes: SupportedFields) -> Value {
    let mut options = given.object("stream_options").unwrap_or_default();
    options.insert("include_usage".to_owned(), Value::Bool(true));
    if takes.continuous_usage {
        options.insert("continuous_usage_stats".to_owned(), Value::Bool(true));
    }
    Value::Object(options)
}

// OpenAI's chat route: messages in, deltas of a message out.

/// `/v1/chat/completions` as OpenAI and all who follow it speak it.
///
/// A prompt of plain text becomes one message of the user. A body given whole goes out as it is, but for what makes it
/// measurable: see [`Prompt::Body`].
pub(super) static CHAT: Builtin = openai(chat_body);

/// What both routes read, and how they end.
const fn openai(body: fn(&BodyInput<'_>) -> Result<Vec<u8>, RequestError>) -> Builtin {
    Builtin {
        varying: Some(chunk::VARYING),
        forcing: |backend| backend.takes().forcing(),
        ..Builtin::stream(body, chunk::read)
    }
}

#[derive(Serialize)]
struct ChatBody<'a> {
    #[serde(flatten)]
    common: Common<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    messages: ChatMessages<'a>,
}

fn chat_body(ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
    let new_name = ask.backend.takes().max_completion_tokens;
    if let Prompt::Body(json) = &ask.request.prompt {
        let limit = if new_name { "max_completion_tokens" } else { "max_tokens" };
        return whole(ask, json, "messages", limit);
    }
    let messages = body::messages(ask)?;
    let limit = ask.request.max_output_tokens.get();
    body::encode(&ChatBody {
        common: Common::of(ask),
        max_tokens: (!new_name).then_some(limit),
        max_completion_tokens: new_name.then_some(limit),
        messages,
    })
}

// OpenAI's completions route: plain text or token ids in, text out.

/// `/v1/completions` as OpenAI, vLLM, SGLang, TensorRT-LLM, LMDeploy and llama.cpp's server speak it.
///
/// A conversation of one message is sent as its text. A body given whole goes out as it is, but for what makes it
/// measurable: see [`Prompt::Body`].
pub(super) static COMPLETIONS: Builtin = openai(completions_body);

#[derive(Serialize)]
struct CompletionsBody<'a> {
    #[serde(flatten)]
    common: Common<'a>,
    max_tokens: u64,
    prompt: PromptField<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PromptField<'a> {
    Text(&'a str),
    Ids(&'a [u32]),
}

fn completions_body(ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
    let prompt = match &ask.request.prompt {
        Prompt::Body(json) => return whole(ask, json, "prompt", "max_tokens"),
        Prompt::TokenIds(ids) if ask.backend.takes().token_ids => PromptField::Ids(ids),
        _ => PromptField::Text(body::plain_text(ask)?),
    };
    body::encode(&CompletionsBody {
        common: Common::of(ask),
        max_tokens: ask.request.max_output_tokens.get(),
        prompt,
    })
}
